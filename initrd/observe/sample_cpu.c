#include "initrd/observe/sample_cpu.h"

#include <fcntl.h>
#include <unistd.h>

/* Model-specific registers: Intel SDM volume 4, AMD APM volume 2. */
#define MSR_TSC 0x10
#define MSR_MPERF 0xe7
#define MSR_APERF 0xe8

static bool read_msr(int fd, off_t number, struct be_node *map, const char *key)
{
	uint64_t value;
	if (pread(fd, &value, sizeof(value), number) != (ssize_t)sizeof(value))
		return false;
	be_set_int(map, key, (int64_t)value);
	return true;
}

struct be_node *be_sample_cpus(const struct be_root *root, const struct be_scopes *scopes)
{
	const struct be_instances *cpus = &scopes->of[BE_SCOPE_CPU];
	struct be_node *all = be_node_map();
	for (size_t i = 0; i < cpus->n; i++) {
		be_autofree char *name = be_strf("/dev/cpu/%s/msr", cpus->v[i].key);
		be_autofree char *path = be_root_path(root, name);
		be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
		be_autonode struct be_node *one = be_node_map();
		if (fd >= 0 && read_msr(fd, MSR_APERF, one, "aperf") && read_msr(fd, MSR_MPERF, one, "mperf") &&
		    read_msr(fd, MSR_TSC, one, "tsc"))
			be_set(all, cpus->v[i].key, be_steal(&one));
	}
	return all;
}

static double moved(const struct be_node *begin, const struct be_node *end, const char *key)
{
	return (double)(uint64_t)(be_get_int(end, key, 0) - be_get_int(begin, key, 0));
}

double be_effective_mhz(const struct be_node *begin, const struct be_node *end, double seconds)
{
	double mperf = moved(begin, end, "mperf");
	if (mperf <= 0 || seconds <= 0)
		return 0;
	return moved(begin, end, "aperf") / mperf * moved(begin, end, "tsc") / seconds / 1e6;
}
