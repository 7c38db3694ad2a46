/* What the host file says of the machine. */
#include <string.h>

#include "layout_parts.h"
#include "plan_parts.h"
#include "units.h"

static int whole_number(const struct be_node *host, const char *key, int64_t *out, struct be_error *err)
{
	const struct be_node *node = be_get(host, key);
	*out = 0;
	if (!node || node->kind == BE_NULL)
		return 0;
	*out = be_get_int(host, key, -1);
	if (*out >= 0 && *out <= 1 << 20)
		return 0;
	return be_fail_usage(err, "%s: %s: '%.40s' is no whole number", be_where(node), key,
			     node->kind == BE_SCALAR ? node->text : "(a list or map)");
}

static int memory_size(const struct be_node *host, int64_t *out, struct be_error *err)
{
	const struct be_node *node = be_get(host, "memory");
	*out = 0;
	if (!node || node->kind == BE_NULL)
		return 0;
	if (node->kind == BE_SCALAR && be_parse_size(node->text, out))
		return 0;
	return be_fail_usage(err, "%s: memory: '%.40s' is not a size such as 256G", be_where(node),
			     node->kind == BE_SCALAR ? node->text : "(a list or map)");
}

static int numbers(struct be_planner *p, struct be_node *machine, struct be_error *err)
{
	static const char *const keys[] = { "nr_cpu", "nr_socket", "nr_node" };
	int64_t values[BE_ARRAY_LEN(keys)];
	for (size_t i = 0; i < BE_ARRAY_LEN(keys); i++) {
		if (whole_number(p->host, keys[i], &values[i], err))
			return -1;
		if (values[i])
			be_set_int(machine, keys[i], values[i]);
	}
	if (memory_size(p->host, &p->size.memory, err))
		return -1;
	if (p->size.memory)
		be_set_int(machine, "memory", p->size.memory);
	p->size.nr_cpu = values[0];
	p->size.nr_node = values[2];
	return 0;
}

static int node_memory(struct be_planner *p, struct be_node *machine, struct be_error *err)
{
	const struct be_node *list = be_get(p->host, "node_memory");
	if (!list || list->kind != BE_SEQ)
		return 0;
	be_autonode struct be_node *sizes = be_node_seq();
	for (size_t i = 0; i < list->n; i++) {
		int64_t bytes;
		if (list->items[i]->kind != BE_SCALAR || !be_parse_size(list->items[i]->text, &bytes))
			return be_fail_usage(err, "%s: node_memory: not a size such as 32G", be_where(list->items[i]));
		be_add(sizes, be_node_int(bytes));
	}
	be_set(machine, "node_memory", be_steal(&sizes));
	return 0;
}

static void assumed(struct be_planner *p, struct be_node *machine)
{
	be_autostrv struct be_strv keys = { 0 };
	be_get_strv(p->host, "assumed", &keys);
	if (!keys.n)
		return;
	be_set(machine, "assumed", be_node_strv(&keys));
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; i < keys.n; i++)
		be_buf_addf(&text, "%s%s", i ? ", " : "", keys.v[i]);
	be_deviation(p->deviations, "host", "no source states these of %s, they are assumed: %s", p->req->host_name,
		     text.data);
}

int be_plan_machine(struct be_planner *p, struct be_error *err)
{
	static const char *const texts[] = {
		"ucode", "bios_version", "bios_date", "board", "pmem_origin", "test_disks"
	};
	struct be_node *machine = be_node_map();
	be_set(p->plan, "machine", machine);
	be_set_str(machine, "host", p->req->host_name);
	be_set_str(machine, "model", be_plan_text_of(p->host, "model"));
	be_set_str(machine, "brand", be_plan_text_of(p->host, "brand"));
	if (numbers(p, machine, err) || node_memory(p, machine, err))
		return -1;
	for (size_t i = 0; i < BE_ARRAY_LEN(texts); i++)
		be_set_str(machine, texts[i], be_plan_text_of(p->host, texts[i]));
	if (!be_get(machine, "ucode"))
		be_set_str(machine, "ucode", be_plan_text_of(p->job, "ucode"));
	be_plan_kconfig(p, machine);
	assumed(p, machine);
	struct be_node *disks = be_layout_disks(p->host, err);
	if (!disks)
		return -1;
	be_set(machine, "disks", disks);
	return 0;
}

/* Persistent memory is no partition of the host file: it appears with the layout that uses it. */
static void add_pmem(struct be_planner *p, const struct be_node *devices)
{
	struct be_node *disks = be_get_path(p->plan, "machine.disks");
	for (size_t i = 0; i < devices->n; i++) {
		const struct be_node *device = devices->items[i];
		if (strcmp(be_get_str(device, "kind", ""), "pmem") != 0)
			continue;
		struct be_node *disk = be_node_map();
		be_set_str(disk, "id", be_get_str(device, "disk", "pmem"));
		be_set_str(disk, "path", be_get_str(device, "path", NULL));
		be_set_str(disk, "kind", "pmem");
		be_set_int(disk, "partitions", 0);
		if (be_get(device, "size"))
			be_set_int(disk, "size", be_get_int(device, "size", 0));
		be_set(disk, "rotational", be_node_bool(false));
		be_add(disks, disk);
	}
}

/* Neither are the disks of swap partitions, unless the host file also tests on them. */
static void add_swap_disks(struct be_planner *p, const struct be_node *devices)
{
	struct be_node *disks = be_get_path(p->plan, "machine.disks");
	for (size_t i = 0; i < devices->n; i++) {
		const struct be_node *device = devices->items[i];
		const char *path = be_get_str(device, "path", ""), *id = be_get_str(device, "disk", NULL);
		int64_t partition;
		if (!id || strcmp(be_get_str(device, "kind", ""), "pmem") == 0 || be_layout_disk(disks, id))
			continue;
		be_autofree char *same = be_layout_disk_id(path, &partition);
		struct be_node *disk = be_node_map();
		be_set_str(disk, "id", id);
		be_set(disk, "path", be_node_strf("%.*s%s", (int)(be_layout_base(path) - path), path, same));
		be_set_str(disk, "kind", be_get_str(device, "kind", NULL));
		be_set_int(disk, "partitions", partition);
		be_set(disk, "rotational", be_node_bool(strcmp(be_get_str(device, "kind", ""), "hdd") == 0));
		be_add(disks, disk);
	}
}

int be_plan_layout(struct be_planner *p, struct be_error *err)
{
	struct be_layout_request request = {
		.job = p->job,
		.host = p->host,
		.host_name = p->req->host_name ? p->req->host_name : "(unnamed)",
		.disks = be_get_path(p->plan, "machine.disks"),
		.date = p->rules.date,
	};
	struct be_node *layout = be_layout_make(&request, p->deviations, err);
	if (!layout)
		return -1;
	be_set(p->plan, "layout", layout);
	add_pmem(p, be_get(layout, "devices"));
	add_swap_disks(p, be_get(layout, "devices"));
	return 0;
}
