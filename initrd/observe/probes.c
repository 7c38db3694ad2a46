#include "initrd/observe/probes.h"

be_look_fn be_probe(const char *name)
{
	static const struct {
		const char *name;
		be_look_fn look;
	} probes[] = {
		{ "btrfs_profiles", be_probe_btrfs_profiles },
		{ "build_id", be_probe_build_id },
		{ "calibration", be_probe_calibration },
		{ "clock", be_probe_clock },
		{ "command_line", be_probe_command_line },
		{ "cpu_topology", be_probe_cpu_topology },
		{ "crypto_driver", be_probe_crypto_driver },
		{ "device_numa_node", be_probe_device_numa_node },
		{ "device_write_cache", be_probe_device_write_cache },
		{ "direct_io", be_probe_direct_io },
		{ "disk_identity", be_probe_disk_identity },
		{ "disk_kind", be_probe_disk_kind },
		{ "effective_mhz", be_probe_effective_mhz },
		{ "entropy", be_probe_entropy },
		{ "ext_super", be_probe_ext_super },
		{ "fiemap", be_probe_fiemap },
		{ "file_flags", be_probe_file_flags },
		{ "fs_usage", be_probe_fs_usage },
		{ "hypervisor", be_probe_hypervisor },
		{ "io_during_run", be_probe_io_during_run },
		{ "kernel_log", be_probe_kernel_log },
		{ "map_flags", be_probe_map_flags },
		{ "nowait", be_probe_nowait },
		{ "numa_policy", be_probe_numa_policy },
		{ "open_flags", be_probe_open_flags },
		{ "partition", be_probe_partition },
		{ "perf_events", be_probe_perf_events },
		{ "process", be_probe_process },
		{ "processes", be_probe_processes },
		{ "rlimits", be_probe_rlimits },
		{ "statx_dax", be_probe_statx_dax },
		{ "task_cgroup", be_probe_task_cgroup },
		{ "task_status", be_probe_task_status },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(probes); i++)
		if (be_streq(probes[i].name, name))
			return probes[i].look;
	return NULL;
}
