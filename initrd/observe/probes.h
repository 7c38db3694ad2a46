/* The probes: observations that need C. One function each; the table is in probes.c. */
#ifndef BE_PROBES_H
#define BE_PROBES_H

#include "initrd/observe/observe.h"

/* probes_file.c: the test file and its file system; `path:` is a directory, for nowait also a block device */
struct be_reading be_probe_nowait(const struct be_look *look);
struct be_reading be_probe_direct_io(const struct be_look *look);
struct be_reading be_probe_statx_dax(const struct be_look *look);
struct be_reading be_probe_fs_usage(const struct be_look *look);
struct be_reading be_probe_btrfs_profiles(const struct be_look *look);

/* probes_fiemap.c: `field: state` or `field: extents` of the largest file below `path:` */
struct be_reading be_probe_file_flags(const struct be_look *look);
struct be_reading be_probe_fiemap(const struct be_look *look);

/* probes_disk.c: `path: /dev/{disk}` */
struct be_reading be_probe_disk_kind(const struct be_look *look);
struct be_reading be_probe_disk_identity(const struct be_look *look);
struct be_reading be_probe_partition(const struct be_look *look);
struct be_reading be_probe_device_write_cache(const struct be_look *look);
struct be_reading be_probe_device_numa_node(const struct be_look *look);
struct be_reading be_probe_device_link(const struct be_look *look);

/* probes_ext.c: `path: /dev/{fsdev}`, `field: features` or `field: journal` */
struct be_reading be_probe_ext_super(const struct be_look *look);
/* Begins to read the superblocks of the test's file systems; be_observer.supers is for that. Freeing waits. */
struct be_supers *be_supers_start(const struct be_observer *o);
void be_supers_free(struct be_supers **supers);

/* probes_machine.c */
struct be_reading be_probe_cpu_topology(const struct be_look *look);   /* `field: cpus, sockets, threads_per_core` */
struct be_reading be_probe_cpu_generation(const struct be_look *look); /* `names:` */
struct be_reading be_probe_hypervisor(const struct be_look *look);
struct be_reading be_probe_crypto_driver(const struct be_look *look); /* `field:` algorithm */
struct be_reading be_probe_calibration(const struct be_look *look);

/* probes_kernel.c */
struct be_reading be_probe_build_id(const struct be_look *look);   /* `path:` of ELF notes */
struct be_reading be_probe_kernel_log(const struct be_look *look); /* `match:` */
struct be_reading be_probe_command_line(const struct be_look *look);
struct be_reading be_probe_entropy(const struct be_look *look);
struct be_reading be_probe_clock(const struct be_look *look);
struct be_reading be_probe_rlimits(const struct be_look *look);
struct be_reading be_probe_process(const struct be_look *look); /* `field:` name */

/* probes_run.c: what was sampled while the workload ran */
struct be_reading be_probe_io_during_run(const struct be_look *look);
struct be_reading be_probe_effective_mhz(const struct be_look *look);
struct be_reading be_probe_task_cgroup(const struct be_look *look);
struct be_reading be_probe_task_status(const struct be_look *look); /* `field:` */
struct be_reading be_probe_numa_policy(const struct be_look *look);
struct be_reading be_probe_perf_events(const struct be_look *look);
struct be_reading be_probe_processes(const struct be_look *look);
struct be_reading be_probe_open_flags(const struct be_look *look);
struct be_reading be_probe_map_flags(const struct be_look *look);

#endif
