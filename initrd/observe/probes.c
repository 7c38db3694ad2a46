#include "initrd/observe/probes.h"

static const struct probe {
	const char *name;
	be_look_fn look;
	bool live; /* asks more than files of /proc, /sys and /dev */
} probes[] = {
	{ "btrfs_profiles", be_probe_btrfs_profiles, false },
	{ "build_id", be_probe_build_id, false },
	{ "calibration", be_probe_calibration, true },
	{ "clock", be_probe_clock, true },
	{ "command_line", be_probe_command_line, false },
	{ "cpu_generation", be_probe_cpu_generation, false },
	{ "cpu_topology", be_probe_cpu_topology, false },
	{ "crypto_driver", be_probe_crypto_driver, false },
	{ "device_link", be_probe_device_link, true },
	{ "device_numa_node", be_probe_device_numa_node, false },
	{ "device_write_cache", be_probe_device_write_cache, true },
	{ "direct_io", be_probe_direct_io, true },
	{ "disk_identity", be_probe_disk_identity, false },
	{ "disk_kind", be_probe_disk_kind, false },
	{ "effective_mhz", be_probe_effective_mhz, true },
	{ "entropy", be_probe_entropy, true },
	{ "ext_super", be_probe_ext_super, true },
	{ "fiemap", be_probe_fiemap, true },
	{ "file_flags", be_probe_file_flags, true },
	{ "fs_usage", be_probe_fs_usage, true },
	{ "hypervisor", be_probe_hypervisor, true },
	{ "io_during_run", be_probe_io_during_run, false },
	{ "kernel_log", be_probe_kernel_log, true },
	{ "map_flags", be_probe_map_flags, false },
	{ "nowait", be_probe_nowait, true },
	{ "numa_policy", be_probe_numa_policy, false },
	{ "open_flags", be_probe_open_flags, false },
	{ "partition", be_probe_partition, false },
	{ "perf_events", be_probe_perf_events, false },
	{ "process", be_probe_process, true },
	{ "processes", be_probe_processes, false },
	{ "rlimits", be_probe_rlimits, true },
	{ "statx_dax", be_probe_statx_dax, true },
	{ "task_cgroup", be_probe_task_cgroup, false },
	{ "task_status", be_probe_task_status, false },
};

static const struct probe *find(const char *name)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(probes); i++)
		if (be_streq(probes[i].name, name))
			return &probes[i];
	return NULL;
}

be_look_fn be_probe(const char *name)
{
	const struct probe *probe = find(name);
	return probe ? probe->look : NULL;
}

bool be_probe_is_live(const char *name)
{
	const struct probe *probe = find(name);
	return probe && probe->live;
}
