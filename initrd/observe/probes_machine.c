/* Probes of the processor. */
#include "base/clock.h"
#include "initrd/observe/probes.h"

#include <cpuid.h>
#include <string.h>
#include <sys/mman.h>

#include "initrd/machine.h"
#include "initrd/system.h"

#define CALIBRATION_SECONDS 0.005 /* for each part; both are done twice a run */
#define COPY_BYTES (512u << 10)   /* two of them: beyond the first cache; the kernel takes long to make more pages */
#define COPY_PIECE (128u << 10)   /* between two looks at the clock */
#define LOOP_STEPS 1000u

static char *topology(const struct be_look *look, const char *cpu, const char *name)
{
	be_autofree char *path = be_strf("/sys/devices/system/cpu/cpu%s/topology/%s", cpu, name);
	return be_root_text(&look->o->root, path);
}

static int64_t distinct(const struct be_look *look, const char *name)
{
	const struct be_instances *cpus = &look->o->scopes->of[BE_SCOPE_CPU];
	be_autostrv struct be_strv seen = { 0 };
	for (size_t i = 0; i < cpus->n; i++) {
		be_autofree char *text = topology(look, cpus->v[i].key, name);
		if (text)
			be_strv_add(&seen, text);
	}
	be_strv_sort_unique(&seen);
	return (int64_t)seen.n;
}

static int64_t most_siblings(const struct be_look *look)
{
	const struct be_instances *cpus = &look->o->scopes->of[BE_SCOPE_CPU];
	int64_t most = 0;
	for (size_t i = 0; i < cpus->n; i++) {
		be_autofree char *list = topology(look, cpus->v[i].key, "thread_siblings_list");
		int64_t count = list ? be_list_count(list) : 0;
		most = count > most ? count : most;
	}
	return most;
}

struct be_reading be_probe_cpu_topology(const struct be_look *look)
{
	const char *field = be_get_str(look->how, "field", "");
	be_autofree char *online = be_root_text(&look->o->root, "/sys/devices/system/cpu/online");
	int64_t value = 0;
	if (be_streq(field, "cpus"))
		value = online ? be_list_count(online) : (int64_t)look->o->scopes->of[BE_SCOPE_CPU].n;
	else if (be_streq(field, "sockets"))
		value = distinct(look, "physical_package_id");
	else if (be_streq(field, "threads_per_core")) {
		value = most_siblings(look);
	} else {
		return be_reading_not_observable("this init does not know the topology's \"%s\"", field);
	}
	return value ? be_reading_value(be_node_int(value))
		     : be_reading_absent("no such files /sys/devices/system/cpu/cpu*/topology");
}

/* What family, model and stepping of the first processor are called, by the factor's `names:`. */
struct be_reading be_probe_cpu_generation(const struct be_look *look)
{
	const struct be_node *names = be_get(look->how, "names");
	be_autofree char *text = be_observe_text(look->o, "/proc/cpuinfo");
	be_autofree char *family = text ? be_field(text, "cpu family") : NULL,
			 *model = text ? be_field(text, "model") : NULL;
	be_autofree char *stepping = text ? be_field(text, "stepping") : NULL;
	if (!family || !model || !stepping)
		return be_reading_absent("/proc/cpuinfo has no CPU family, model and stepping");
	be_autofree char *exact = be_strf("%s/%s/%s", family, model, stepping), *any = be_strf("%s/%s", family, model);
	const char *name = be_get_str(names, exact, be_get_str(names, any, NULL));
	return name ? be_reading_text(name)
		    : be_reading_value(be_node_strf("family %s model %s stepping %s", family, model, stepping));
}

#define CPUID_HYPERVISOR_BIT (1u << 31) /* leaf 1, ECX: a hypervisor is there */
#define CPUID_HYPERVISOR_LEAF 0x40000000u

/* The hypervisor's own word, by CPUID; the instruction asks this machine, so a recorded tree has no answer. */
struct be_reading be_probe_hypervisor(const struct be_look *look)
{
	static const char *const names[][2] = {
		{ "TCGTCGTCGTCG", "TCG" },       { "KVMKVMKVM", "KVM" },       { "Linux KVM Hv", "KVM" },
		{ "Microsoft Hv", "Hyper-V" },   { "VMwareVMware", "VMware" }, { "VBoxVBoxVBox", "VirtualBox" },
		{ " lrpepyh  vr", "Parallels" }, { "XenVMMXenVMM", "Xen" },    { "bhyve bhyve ", "bhyve" },
		{ " QNXQVMBSQG ", "QNX" },       { "ACRNACRNACRN", "ACRN" },
	};
	unsigned a, b, c, d;
	if (look->o->root.prefix && *look->o->root.prefix)
		return be_reading_not_observable("a recorded tree holds no CPUID");
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & CPUID_HYPERVISOR_BIT))
		return be_reading_text("none");
	unsigned signature[4] = { 0 };
	__cpuid(CPUID_HYPERVISOR_LEAF, a, signature[0], signature[1], signature[2]);
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++)
		if (be_streq(names[i][0], (const char *)signature))
			return be_reading_text(names[i][1]);
	return be_reading_value(be_node_strf("other: %s", (const char *)signature));
}

/* One paragraph of /proc/crypto: does it describe a driver of @algorithm better than @priority? */
static char *better_driver(const char *entry, const char *algorithm, long *priority)
{
	be_autofree char *name = be_field(entry, "name"), *driver = be_field(entry, "driver");
	be_autofree char *text = be_field(entry, "priority");
	long own = text ? strtol(text, NULL, 10) : 0;
	if (!be_streq(name, algorithm) || !driver || own < *priority)
		return NULL;
	*priority = own;
	return be_steal(&driver);
}

/* The driver with the highest priority: that is the one which callers get. */
struct be_reading be_probe_crypto_driver(const struct be_look *look)
{
	const char *algorithm = be_get_str(look->how, "field", "");
	be_autofree char *all = be_root_text(&look->o->root, "/proc/crypto");
	if (!all)
		return be_reading_absent("no such file /proc/crypto");
	be_autofree char *best = NULL;
	long priority = -1;
	for (char *entry = all, *next; entry; entry = next) {
		next = strstr(entry, "\n\n");
		if (next) {
			*next = '\0';
			next += 2;
		}
		char *driver = better_driver(entry, algorithm, &priority);
		if (driver) {
			free(best);
			best = driver;
		}
	}
	return be_reading_text(best ? best : "not registered");
}

/* Steps of a fixed chain of dependent operations in a fixed time. */
static double loop_rate(void)
{
	volatile uint64_t sink;
	uint64_t x = 88172645463325252u, steps = 0;
	double begin = be_monotonic(), now = begin;
	while (now - begin < CALIBRATION_SECONDS) {
		for (unsigned i = 0; i < LOOP_STEPS; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
		}
		steps += LOOP_STEPS;
		now = be_monotonic();
	}
	sink = x;
	(void)sink;
	return (double)steps / (now - begin);
}

static double copy_rate(void)
{
	/* A page never written is one shared page of zeros: the kernel makes real ones, quicker than faults would. */
	char *from =
		mmap(NULL, 2 * COPY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (from == MAP_FAILED)
		return 0;
	char *to = from + COPY_BYTES;
	uint64_t bytes = 0;
	double begin = be_monotonic(), now = begin;
	while (now - begin < CALIBRATION_SECONDS) {
		size_t at = bytes % COPY_BYTES;
		memcpy(to + at, from + at, COPY_PIECE);
		from[at] = to[COPY_BYTES / 2];
		bytes += COPY_PIECE;
		now = be_monotonic();
	}
	munmap(from, 2 * COPY_BYTES);
	return (double)bytes / (now - begin);
}

struct be_reading be_probe_calibration(const struct be_look *look)
{
	(void)look;
	struct be_node *map = be_node_map();
	be_set_int(map, "loop_per_second", (int64_t)loop_rate());
	double copied = copy_rate();
	if (copied > 0)
		be_set_int(map, "copy_bytes_per_second", (int64_t)copied);
	return be_reading_value(map);
}
