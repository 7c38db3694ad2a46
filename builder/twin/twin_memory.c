/* Memory of the twin: total, NUMA nodes, persistent memory by memmap= and by NVDIMM. */
#include <string.h>

#include "builder/twin/twin_parts.h"
#include "units.h"

#define ALIGN (128 * MIB) /* a memory section of x86-64: what the kernel can add, and give to a node */
#define FOUR_GIB (4 * GIB)
/* Two adjacent regions came up as one device; a stretch of ordinary memory keeps them apart. */
#define REGION_GAP ALIGN
#define PMEM_SIZE (1 * GIB)
#define PER_DISK (32 * MIB) /* what driver, partitions and file system of a disk may take */
#define MIN_MEMORY (512 * MIB)

static int64_t round_up(int64_t value, int64_t to)
{
	return (value + to - 1) / to * to;
}

static bool is_region(const char *word)
{
	return be_starts(word, "memmap=") && strchr(word, '!');
}

/* A device's size in the twin: no larger than on the machine, in whole memory sections. */
static int64_t pmem_size(const struct be_twin_request *request, int64_t asked)
{
	int64_t size = request->disk_size ? request->disk_size : PMEM_SIZE;
	return round_up(!request->disk_size && asked > 0 && asked < size ? asked : size, ALIGN);
}

/* All regions get the size of the smallest. */
static int find_regions(const struct be_twin_request *request, struct twin_memory *m, struct be_error *err)
{
	be_autostrv struct be_strv words = { 0 };
	be_strv_split(&words, request->cmdline, " \t\n");
	for (size_t i = 0; i < words.n; i++) {
		if (!is_region(words.v[i]))
			continue;
		const char *text = words.v[i] + strlen("memmap=");
		be_autofree char *asked = be_strndup(text, strcspn(text, "!"));
		int64_t bytes;
		if (!be_parse_size(asked, &bytes))
			return be_fail(err, "%s: is no SIZE!START", words.v[i]);
		int64_t size = pmem_size(request, bytes);
		if (m->regions == 0 || size < m->region_size)
			m->region_size = size;
		m->regions++;
	}
	return 0;
}

/* Pmem that no memmap= makes is made of NVDIMMs: those that the machine lists, else as many as the layout uses. */
static void find_nvdimms(const struct be_twin_request *request, struct twin_memory *m)
{
	static const char *const lists[] = { "machine.disks", "layout.devices" };
	for (size_t k = 0; k < BE_ARRAY_LEN(lists) && m->nvdimms == 0; k++) {
		const struct be_node *list = be_get_path(request->plan, lists[k]);
		for (size_t i = 0; list && i < list->n && m->nvdimms < TWIN_REGIONS; i++)
			if (strcmp(be_get_str(list->items[i], "kind", ""), "pmem") == 0)
				m->nvdimm[m->nvdimms++] = pmem_size(request, be_get_int(list->items[i], "size", 0));
	}
}

/* What a boot and a scaled test need: the initrd's files stay in memory, beside the archive while it is unpacked. */
static int64_t wanted_memory(const struct be_twin_request *request)
{
	const struct be_node *disks = be_get_path(request->plan, "machine.disks");
	int64_t need = GIB + 2 * request->initrd_unpacked + (disks ? (int64_t)disks->n : 0) * PER_DISK;
	return need > BE_TWIN_MIN_MEMORY ? need : BE_TWIN_MIN_MEMORY;
}

static int choose_base(const struct be_twin_request *request, int64_t for_pmem, int64_t *base, struct be_error *err)
{
	if (request->memory) {
		*base = request->memory;
		if (*base < MIN_MEMORY)
			be_fail_usage(err, "--memory %lld MiB: no twin boots with less than %lld MiB",
				      (long long)(*base / MIB), MIN_MEMORY / MIB);
		return *base < MIN_MEMORY ? -1 : 0;
	}
	int64_t asked = be_get_int(be_get(request->plan, "machine"), "memory", 0);
	int64_t room = request->real_memory / 4 * 3 - for_pmem;
	*base = wanted_memory(request);
	if (asked >= MIN_MEMORY && asked < *base)
		*base = asked;
	if (*base > room)
		*base = room / ALIGN * ALIGN;
	if (*base < MIN_MEMORY) {
		char available[32];
		be_fail(err, "the twin needs at least %lld MiB and %s are available here",
			(MIN_MEMORY + for_pmem) / MIB, be_size_text(request->real_memory, available));
		return be_hint(err, "Free memory, or try with --memory 512M --disk-size 256M.");
	}
	return 0;
}

/* What node @i weighs against the others: the size that the host file states for it, in MiB, else 1. */
static int64_t node_weight(const struct be_twin_request *request, int64_t nodes, int64_t i)
{
	const struct be_node *sizes = be_get_path(request->plan, "machine.node_memory");
	int64_t bytes;
	if (!sizes || sizes->kind != BE_SEQ || (int64_t)sizes->n != nodes || !sizes->items[i]->text ||
	    !be_parse_size(sizes->items[i]->text, &bytes) || bytes < MIB)
		return 1;
	return bytes / MIB;
}

/* Shares @base among the nodes. */
static void share(const struct be_twin_request *request, int64_t base, struct twin_memory *m)
{
	int64_t sum = node_weight(request, m->nodes, 0);
	for (int64_t i = 1; i < m->nodes; i++)
		sum += node_weight(request, m->nodes, i);
	for (int64_t i = 0; i < m->nodes; i++) {
		m->node[i] = base / MIB * node_weight(request, m->nodes, i) / sum * MIB / ALIGN * ALIGN;
		if (m->node[i] < ALIGN)
			m->node[i] = ALIGN;
	}
	/* Rounding took a little from each; the first node gets it, it holds the kernel and the initrd. */
	int64_t rest = base;
	for (int64_t i = 1; i < m->nodes; i++)
		rest -= m->node[i];
	m->node[0] = rest > m->node[0] ? rest : m->node[0];
}

/*
 * Persistent memory by memmap= must be RAM in the firmware's map and away from the initrd, which lies high below 4 GiB:
 * so the first node's own memory stays below 4 GiB and all regions lie above, each on its node, as in the lab's
 * two-socket machines.
 */
static void place_regions(struct twin_memory *m)
{
	int64_t at = FOUR_GIB;
	m->below_4g = m->node[0];
	for (int64_t node = 0, next = 0; node < m->nodes; node++) {
		if (node > 0)
			at += m->node[node];
		for (; next < m->regions && next * m->nodes / m->regions == node; next++) {
			m->start[next] = at;
			at += m->region_size + REGION_GAP;
			m->node[node] += m->region_size + REGION_GAP;
		}
	}
}

static int64_t count_nodes(const struct be_twin_request *request, struct be_twin *twin)
{
	int64_t asked = be_get_int(be_get(request->plan, "machine"), "nr_node", 1), nodes = asked < 1 ? 1 : asked;
	if (nodes > twin->cpus)
		nodes = twin->cpus;
	if (nodes > TWIN_NODES)
		nodes = TWIN_NODES;
	if (nodes < asked)
		be_deviation(twin->deviations, "memory.numa_nodes", "NUMA nodes: %lld on the machine, %lld in the twin",
			     (long long)asked, (long long)nodes);
	return nodes;
}

int twin_plan_memory(const struct be_twin_request *request, struct be_twin *twin, struct twin_memory *memory,
		     struct be_error *err)
{
	*memory = (struct twin_memory){ .nodes = count_nodes(request, twin) };
	if (find_regions(request, memory, err) != 0)
		return -1;
	if (memory->regions > TWIN_REGIONS)
		return be_fail(err, "%lld memmap= regions, a twin has at most %d", (long long)memory->regions,
			       TWIN_REGIONS);
	int64_t for_pmem = memory->regions * (memory->region_size + REGION_GAP);
	if (memory->regions == 0)
		find_nvdimms(request, memory);
	int64_t base;
	if (choose_base(request, for_pmem, &base, err) != 0)
		return -1;
	base = round_up(base, ALIGN);
	share(request, base, memory);
	if (memory->regions)
		place_regions(memory);
	for (int64_t i = 0; i < memory->nodes; i++)
		memory->total += memory->node[i];
	twin->memory = base;
	int64_t asked = be_get_int(be_get(request->plan, "machine"), "memory", 0);
	char a[32], b[32];
	if (asked && asked != base)
		be_deviation(twin->deviations, "memory.total", "memory: %s on the machine, %s in the twin",
			     be_size_text(asked, a), be_size_text(base, b));
	return 0;
}

static void add_nodes(const struct twin_memory *m, struct be_twin *twin)
{
	for (int64_t i = 0, first = 0; i < m->nodes; i++) {
		int64_t end = twin->cpus * (i + 1) / m->nodes;
		be_strv_add(&twin->argv, "-object");
		be_strv_addf(&twin->argv, "memory-backend-ram,id=ram%lld,size=%lldM", (long long)i,
			     (long long)(m->node[i] / MIB));
		be_strv_add(&twin->argv, "-numa");
		be_strv_addf(&twin->argv, "node,nodeid=%lld,cpus=%lld-%lld,memdev=ram%lld", (long long)i,
			     (long long)first, (long long)(end - 1), (long long)i);
		first = end;
	}
	for (int64_t i = 0; i < m->nodes; i++) {
		for (int64_t k = 0; k < m->nodes; k++) {
			if (i == k)
				continue;
			be_strv_add(&twin->argv, "-numa");
			be_strv_addf(&twin->argv, "dist,src=%lld,dst=%lld,val=21", (long long)i, (long long)k);
		}
	}
}

static void add_nvdimms(const struct twin_memory *m, struct be_twin *twin)
{
	for (int64_t i = 0; i < m->nvdimms; i++) {
		be_autofree char *name = be_strf("pmem%lld", (long long)i);
		const char *path = twin_add_file(twin, name, m->nvdimm[i], 0);
		be_strv_add(&twin->argv, "-object");
		be_strv_addf(&twin->argv, "memory-backend-file,id=%s,share=on,mem-path=%s,size=%lldM", name, path,
			     (long long)(m->nvdimm[i] / MIB));
		be_strv_add(&twin->argv, "-device");
		be_strv_addf(&twin->argv, "nvdimm,memdev=%s,id=nv%s,node=%lld", name, name,
			     (long long)(i * m->nodes / m->nvdimms));
	}
}

static void deviate_nvdimms(const struct be_twin_request *request, const struct twin_memory *m, struct be_twin *twin)
{
	const struct be_node *disks = be_get_path(request->plan, "machine.disks");
	for (size_t i = 0, n = 0; disks && i < disks->n; i++) {
		if (strcmp(be_get_str(disks->items[i], "kind", ""), "pmem") != 0 || (int64_t)n >= m->nvdimms)
			continue;
		int64_t asked = be_get_int(disks->items[i], "size", 0), given = m->nvdimm[n++];
		char a[32], b[32];
		if (asked != given)
			be_deviation(twin->deviations, "pmem.size", "%s: %s on the machine, %s in the twin",
				     be_get_str(disks->items[i], "id", "pmem"), be_size_text(asked, a),
				     be_size_text(given, b));
	}
}

void twin_add_memory(const struct be_twin_request *request, const struct twin_memory *m, struct be_twin *twin)
{
	int64_t most = m->total;
	for (int64_t i = 0; i < m->nvdimms; i++)
		most += m->nvdimm[i];
	be_strv_add(&twin->argv, "-m");
	if (m->nvdimms)
		be_strv_addf(&twin->argv, "%lldM,slots=%lld,maxmem=%lldM", (long long)(m->total / MIB),
			     (long long)m->nvdimms, (long long)(most / MIB));
	else
		be_strv_addf(&twin->argv, "%lldM", (long long)(m->total / MIB));
	if (m->nodes > 1 || m->nvdimms)
		add_nodes(m, twin);
	add_nvdimms(m, twin);
	deviate_nvdimms(request, m, twin);
}

/* Arguments that hold an address or a device of the lab machine's hardware and would break any other. */
static bool is_foreign(const char *word)
{
	return be_starts(word, "acpi_rsdp=") || be_starts(word, "console=") || be_starts(word, "earlyprintk=") ||
	       (be_starts(word, "memmap=") && !is_region(word));
}

void twin_make_cmdline(const struct be_twin_request *request, const struct twin_memory *m, struct be_twin *twin)
{
	be_autostrv struct be_strv words = { 0 };
	be_strv_split(&words, request->cmdline, " \t\n");
	be_autobuf struct be_buf out = { 0 };
	int64_t region = 0;
	for (size_t i = 0; i < words.n; i++) {
		if (is_foreign(words.v[i])) {
			be_deviation(twin->deviations, "kernel.cmdline",
				     "%s belongs to the machine's hardware, the twin has none", words.v[i]);
			continue;
		}
		if (!is_region(words.v[i])) {
			be_buf_addf(&out, "%s ", words.v[i]);
			continue;
		}
		be_autofree char *scaled = be_strf("memmap=%lldM!%lldM", (long long)(m->region_size / MIB),
						   (long long)(m->start[region++] / MIB));
		be_deviation(twin->deviations, "pmem.size", "%s on the machine, %s in the twin", words.v[i], scaled);
		be_buf_addf(&out, "%s ", scaled);
	}
	be_buf_adds(&out, "console=ttyS0");
	if (request->append && *request->append) {
		be_buf_addf(&out, " %s", request->append);
		be_deviation(twin->deviations, "kernel.cmdline", "--append: %s", request->append);
	}
	twin->cmdline = be_buf_steal(&out);
}
