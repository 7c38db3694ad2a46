/* `disk:`: how many of which kind, and the paths that stand for them on this host. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "layout_parts.h"
#include "rules.h"
#include "units.h"

#define MAX_DEVICES 256

struct asked {
	int64_t hdd, ssd, brd, srd, pmem, nullb, loop, ramdisk_size;
	const struct be_node *node;
};

/* The number before @word in @text, as LKP's expressions (\d+)HDD find it; 0 when it does not occur. */
static int64_t number_before(const char *text, const char *word)
{
	for (const char *at = text; (at = strstr(at, word)); at++) {
		const char *start = at;
		while (start > text && isdigit((unsigned char)start[-1]) && at - start < 6)
			start--;
		int64_t number = 0;
		for (const char *p = start; p < at; p++)
			number = 10 * number + *p - '0';
		if (start < at)
			return number;
	}
	return 0;
}

static int unknown_disk(const struct be_node *node, const char *text, struct be_error *err)
{
	static const char *const kinds[] = { "HDD", "SSD", "BRD", "SRD", "pmem", "NULLB", "LOOP" };
	be_fail_usage(
		err,
		"%s: disk: '%.40s' is no disk set-up; known are nHDD, nSSD, nBRD_xG, nSRD_xG, npmem, nNULLB_xG and "
		"nLOOP_xG",
		be_where(node), text);
	const char *word = text + strspn(text, "0123456789");
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++) {
		be_autofree char *part = be_strndup(word, strlen(kinds[i]));
		if (be_distance(part, kinds[i]) <= 1)
			return be_hint(err, "did you mean %.*s%s?", (int)(word - text), text, kinds[i]);
	}
	return be_hint(err, "for example disk: 1SSD, disk: 3HDD, disk: 4BRD_12G, disk: 2pmem");
}

static int asked_text(struct asked *a, const char *text, struct be_error *err)
{
	a->hdd = number_before(text, "HDD");
	a->ssd = number_before(text, "SSD");
	a->brd = number_before(text, "BRD");
	a->srd = number_before(text, "SRD");
	a->pmem = number_before(text, "pmem");
	a->nullb = number_before(text, "NULLB");
	a->loop = number_before(text, "LOOP");
	int64_t gib = number_before(text, "G");
	a->ramdisk_size = gib << 30;
	if (!a->hdd && !a->ssd && !a->brd && !a->srd && !a->pmem && !a->nullb && !a->loop)
		return unknown_disk(a->node, text, err);
	return 0;
}

static int asked_map(struct asked *a, struct be_error *err)
{
	const struct be_node *size = be_get(a->node, "ramdisk_size");
	a->hdd = be_get_int(a->node, "nr_hdd", 0);
	a->ssd = be_get_int(a->node, "nr_ssd", 0);
	a->brd = be_get_int(a->node, "nr_brd", 0);
	a->srd = be_get_int(a->node, "nr_srd", 0);
	a->pmem = be_get_int(a->node, "nr_pmem", 0);
	a->nullb = be_get_int(a->node, "nr_nullb", 0);
	a->loop = be_get_int(a->node, "nr_loop", 0);
	if (size && (size->kind != BE_SCALAR || !be_parse_size(size->text, &a->ramdisk_size)))
		return be_fail_usage(err, "%s: ramdisk_size is not a size such as 12G", be_where(size));
	if (a->hdd <= 0 && a->ssd <= 0 && a->brd <= 0 && a->srd <= 0 && a->pmem <= 0 && a->nullb <= 0 && a->loop <= 0) {
		be_fail_usage(err, "%s: disk: has none of nr_hdd, nr_ssd, nr_brd, nr_srd, nr_pmem, nr_nullb, nr_loop",
			      be_where(a->node));
		return be_hint(err, "for example disk: {nr_pmem: 1}");
	}
	return 0;
}

struct be_node *be_layout_add_device(struct be_layout_state *s, const char *kind, const char *path, const char *disk,
				     int64_t size)
{
	struct be_node *devices = be_get(s->layout, "devices"), *device = be_node_map();
	be_set(device, "name", be_node_strf("disk%zu", devices->n));
	be_set_str(device, "kind", kind);
	be_set_str(device, "path", path);
	be_set_str(device, "disk", disk);
	if (size > 0)
		be_set_int(device, "size", size);
	be_add(devices, device);
	be_strv_add(&s->partitions, path);
	return device;
}

static int from_host(struct be_layout_state *s, const struct asked *a, bool hdd, struct be_error *err)
{
	int64_t n = hdd ? a->hdd : a->ssd;
	const char *key = hdd ? "hdd_partitions" : "ssd_partitions", *what = hdd ? "HDD" : "SSD";
	be_autostrv struct be_strv paths = { 0 };
	const char *nr_key = hdd ? "nr_hdd_partitions" : "nr_ssd_partitions";
	if (be_layout_paths(s->req->host, key, nr_key, n, s->deviations, &paths, err))
		return -1;
	if ((size_t)n > paths.n) {
		be_fail_usage(err, "%s: disk: asks for %" PRId64 " %s, but host %s has %zu in %s", be_where(a->node), n,
			      what, s->req->host_name, paths.n, key);
		return be_hint(err, "ask for fewer (--set disk=%zu%s), or take a host file that names more partitions",
			       paths.n ? paths.n : 1, what);
	}
	for (int64_t i = 0; i < n; i++) {
		int64_t partition;
		be_autofree char *id = be_layout_disk_id(paths.v[i], &partition);
		struct be_node *disk = (struct be_node *)be_layout_disk(s->req->disks, id);
		if (disk && partition > be_get_int(disk, "partitions", 0)) /* of a glob without a count */
			be_set_int(disk, "partitions", partition);
		be_layout_add_device(s, be_get_str(disk, "kind", hdd ? "hdd" : "ssd"), paths.v[i], id,
				     be_get_int(disk, "size", 0));
	}
	return 0;
}

static void load_command(struct be_layout_state *s, const struct be_strv *argv)
{
	be_add(be_get(s->layout, "load"), be_node_strv(argv));
}

static void ram_disks(struct be_layout_state *s, const struct asked *a)
{
	int64_t size = a->ramdisk_size > 0 ? a->ramdisk_size : INT64_C(1) << 30;
	be_autostrv struct be_strv remove = { 0 }, load = { 0 };
	be_strv_split(&remove, "modprobe -r brd", " ");
	load_command(s, &remove);
	be_strv_split(&load, "modprobe brd", " ");
	be_strv_addf(&load, "rd_nr=%" PRId64, a->brd);
	be_strv_addf(&load, "rd_size=%" PRId64, size / 1024);
	if (!be_rules_since(s->req->date, BE_RULE_BRD_NO_PART_SHOW))
		be_strv_add(&load, "part_show=1");
	load_command(s, &load);
	/* LKP takes them as ls prints them: ram10 before ram2. */
	be_autostrv struct be_strv names = { 0 };
	for (int64_t i = 0; i < a->brd; i++)
		be_strv_addf(&names, "/dev/ram%" PRId64, i);
	be_strv_sort_unique(&names);
	for (size_t i = 0; i < names.n; i++)
		be_layout_add_device(s, "brd", names.v[i], NULL, size);
}

/* All logical units of scsi_debug share one store, so that what is written to one is read from all. */
static void scsi_ram_disks(struct be_layout_state *s, const struct asked *a)
{
	int64_t size = a->ramdisk_size > 0 ? a->ramdisk_size : INT64_C(1) << 30;
	be_autostrv struct be_strv load = { 0 };
	be_strv_split(&load, "modprobe scsi_debug add_host=1", " ");
	be_strv_addf(&load, "num_tgts=%" PRId64, a->srd);
	be_strv_add(&load, "max_luns=1");
	be_strv_addf(&load, "dev_size_mb=%" PRId64, size >> 20);
	load_command(s, &load);
	for (int64_t i = 0; i < a->srd; i++) {
		be_autofree char *path = be_strf("/dev/disk/by-id/scsi-scsi_debug-%" PRId64, i);
		be_layout_add_device(s, "srd", path, NULL, size);
	}
	be_deviation(s->deviations, "disk", "scsi_debug: its %" PRId64 " disks share one store, as with LKP", a->srd);
}

/* Null block devices that keep what is written; the kernel takes their size in whole GiB. */
static int null_disks(struct be_layout_state *s, const struct asked *a, struct be_error *err)
{
	int64_t gib = a->ramdisk_size > 0 ? a->ramdisk_size >> 30 : 1;
	be_autostrv struct be_strv remove = { 0 }, load = { 0 };
	if (gib < 1 || (a->ramdisk_size > 0 && a->ramdisk_size != gib << 30))
		return be_fail_usage(err, "%s: disk: a null block device has whole GiB", be_where(a->node));
	be_strv_split(&remove, "modprobe -r null_blk", " ");
	load_command(s, &remove);
	be_strv_split(&load, "modprobe null_blk memory_backed=1", " ");
	be_strv_addf(&load, "nr_devices=%" PRId64, a->nullb);
	be_strv_addf(&load, "gb=%" PRId64, gib);
	load_command(s, &load);
	for (int64_t i = 0; i < a->nullb; i++) {
		be_autofree char *path = be_strf("/dev/nullb%" PRId64, i);
		be_layout_add_device(s, "nullb", path, NULL, gib << 30);
	}
	return 0;
}

/* Loop devices on files of the initrd, which disk-setup makes. */
static void loop_disks(struct be_layout_state *s, const struct asked *a)
{
	int64_t size = a->ramdisk_size > 0 ? a->ramdisk_size : INT64_C(1) << 30;
	be_autostrv struct be_strv load = { 0 };
	be_strv_split(&load, "modprobe loop", " ");
	load_command(s, &load);
	for (int64_t i = 0; i < a->loop; i++) {
		be_autofree char *path = be_strf("/dev/loop%" PRId64, i);
		struct be_node *device = be_layout_add_device(s, "loop", path, NULL, size);
		be_set(device, "file", be_node_strf("/benchenv/disks/loop%" PRId64, i));
	}
}

/* The memmap=SIZE!START of the job or the host: one pmem each. */
static size_t memmaps(const struct be_layout_state *s, int64_t sizes[16])
{
	const struct be_node *params = be_get(s->req->job, "boot_params");
	if (!params || params->kind != BE_MAP)
		params = be_get(s->req->host, "boot_params");
	size_t n = 0;
	for (size_t i = 0; params && params->kind == BE_MAP && i < params->n && n < 16; i++) {
		if (!strstr(params->keys[i], "memmap") || params->items[i]->kind != BE_SCALAR)
			continue;
		const char *text = params->items[i]->text;
		be_autofree char *size = be_strndup(text, strcspn(text, "!"));
		sizes[n] = 0;
		if (strchr(text, '!') && be_parse_size(size, &sizes[n]))
			n++;
	}
	return n;
}

static int pmem(struct be_layout_state *s, const struct asked *a, struct be_error *err)
{
	int64_t sizes[16] = { 0 };
	size_t known = memmaps(s, sizes);
	int64_t n = a->pmem;
	if (!known && !be_get(s->req->host, "pmem_origin")) {
		be_deviation(s->deviations, "disk",
			     "neither job nor host says where persistent memory comes from: memmap= or NVDIMMs");
	} else if ((int64_t)known < n && known) {
		be_deviation(s->deviations, "disk", "%" PRId64 " pmem asked, %zu there: LKP silently takes %zu", n,
			     known, known);
		n = (int64_t)known;
	} else if (!known) {
		be_fail_usage(err, "%s: disk: asks for %" PRId64 " pmem, but host %s names no size of any",
			      be_where(a->node), n, s->req->host_name);
		return be_hint(err, "add boot_params: {bp1_memmap: SIZE!START} to the host file or the job");
	}
	be_autostrv struct be_strv load = { 0 };
	be_strv_split(&load, "modprobe nd_e820", " ");
	load_command(s, &load);
	/* A host file may say which namespaces are meant: the numbers of pmem devices follow the order of probing. */
	be_autostrv struct be_strv uuids = { 0 };
	be_get_strv(s->req->host, "pmem_namespaces", &uuids);
	for (int64_t i = 0; i < n; i++) {
		be_autofree char *disk = be_strf("pmem%" PRId64, i);
		be_autofree char *path =
			(size_t)i < uuids.n ? be_strf("/dev/disk/by-id/pmem-%s", uuids.v[i]) : be_strf("/dev/%s", disk);
		be_layout_add_device(s, "pmem", path, disk, i < 16 ? sizes[i] : 0);
	}
	return 0;
}

/* `nvdimm: {mode: fsdax, nr_dev: N}`: LKP makes namespaces on real NVDIMMs, which give N pmem devices. */
static int nvdimms(struct be_layout_state *s, struct be_error *err)
{
	const struct be_node *node = be_get(s->req->job, "nvdimm");
	const char *mode = be_get_str(node, "mode", "fsdax");
	struct asked a = { .node = node, .pmem = be_get_int(node, "nr_dev", 1) };
	if (!node || node->kind != BE_MAP)
		return 0;
	if (strcmp(mode, "fsdax") != 0 && strcmp(mode, "raw") != 0) {
		be_deviation(s->deviations, "nvdimm", "mode %s asked: no such namespaces are made", mode);
		return 0;
	}
	if (a.pmem < 1 || a.pmem > MAX_DEVICES)
		return be_fail_usage(err, "%s: nvdimm: nr_dev must be from 1 to %d", be_where(node), MAX_DEVICES);
	return pmem(s, &a, err);
}

/* LKP's order of precedence when a job asks for several kinds; the others are left unused. */
int be_layout_devices(struct be_layout_state *s, struct be_error *err)
{
	struct asked a = { .node = be_get(s->req->job, "disk") };
	if (!a.node || a.node->kind == BE_NULL)
		return nvdimms(s, err);
	if (a.node->kind == BE_SEQ)
		return be_fail_usage(err, "%s: disk: is a list; an atomic job has one", be_where(a.node));
	if (a.node->kind == BE_MAP ? asked_map(&a, err) : asked_text(&a, a.node->text, err))
		return -1;
	int64_t all[] = { a.hdd, a.ssd, a.brd, a.srd, a.pmem, a.nullb, a.loop }, kinds = 0;
	for (size_t i = 0; i < BE_ARRAY_LEN(all); i++) {
		kinds += all[i] > 0;
		if (all[i] > MAX_DEVICES)
			return be_fail_usage(err, "%s: disk: %" PRId64 " devices are more than %d", be_where(a.node),
					     all[i], MAX_DEVICES);
	}
	if (kinds > 1)
		be_deviation(s->deviations, "disk",
			     "several kinds of disk asked: as with LKP the first of HDD, SSD, "
			     "BRD, SRD, pmem, NULLB, LOOP is used, the others are not");
	if (a.hdd > 0 || a.ssd > 0)
		return from_host(s, &a, a.hdd > 0, err);
	if (a.brd > 0)
		ram_disks(s, &a);
	else if (a.srd > 0)
		scsi_ram_disks(s, &a);
	else if (a.pmem > 0)
		return pmem(s, &a, err);
	else if (a.nullb > 0)
		return null_disks(s, &a, err);
	else
		loop_disks(s, &a);
	return 0;
}
