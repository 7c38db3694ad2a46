/* `swap:`: devices and files that the kernel may page to. */
#include <inttypes.h>
#include <string.h>

#include "layout_parts.h"
#include "units.h"

#define PRIORITY_MAX 32767 /* swapon(2) */

static void add_swap(struct be_layout_state *s, struct be_node *swap, const char *path)
{
	const struct be_node *job = be_get(s->req->job, "swap");
	be_autostrv struct be_strv argv = { 0 };
	be_strv_add(&argv, "mkswap");
	be_strv_add(&argv, path);
	be_set(swap, "mkswap", be_node_strv(&argv));
	if (be_get(job, "priority"))
		be_set_int(swap, "priority", be_get_int(job, "priority", 0));
	if (!be_get(s->layout, "swaps"))
		be_set(s->layout, "swaps", be_node_seq());
	be_add(be_get(s->layout, "swaps"), swap);
}

static void add_swap_device(struct be_layout_state *s, const char *path)
{
	struct be_node *swap = be_node_map();
	be_set_str(swap, "device", path);
	add_swap(s, swap, path);
}

/* In the first mount point, so that swapping goes through that file system. */
static int add_swap_file(struct be_layout_state *s, const struct be_node *asked, struct be_error *err)
{
	const struct be_node *fs = be_get(s->layout, "filesystems");
	int64_t size;
	if (asked->kind != BE_SCALAR || !be_parse_size(asked->text, &size) || size < 1 << 20)
		return be_fail_usage(err, "%s: swapfile: is no size of at least 1M", be_where(asked));
	if (!fs->n || be_streq(be_get_str(fs->items[0], "kind", NULL), "tmpfs")) {
		be_fail_usage(err, "%s: swapfile: needs a file system on a device", be_where(asked));
		return be_hint(err, "add disk: and fs:, or leave swapfile: out to swap to the devices themselves");
	}
	be_autofree char *path = be_strf("%s/swapfile", be_get_str(fs->items[0], "mount", ""));
	struct be_node *swap = be_node_map();
	be_set_str(swap, "file", path);
	be_set_int(swap, "size", size);
	add_swap(s, swap, path);
	return 0;
}

/* The host file's own swap partitions. What they are on is not stated there: `disks:` says, else hard disks. */
static int add_swap_partitions(struct be_layout_state *s, struct be_error *err)
{
	be_autostrv struct be_strv paths = { 0 };
	if (be_layout_paths(s->req->host, "swap_partitions", "nr_swap_partitions", 0, s->deviations, &paths, err))
		return -1;
	for (size_t i = 0; i < paths.n; i++) {
		int64_t partition;
		be_autofree char *id = be_layout_disk_id(paths.v[i], &partition);
		const struct be_node *disk = be_layout_disk(s->req->disks, id);
		const struct be_node *detail = be_get(be_get(s->req->host, "disks"), id);
		const char *guess = be_starts(id, "nvme")                  ? "nvme"
				    : be_get_bool(detail, "rotational", 1) ? "hdd"
									   : "ssd";
		be_layout_add_device(s, be_get_str(disk, "kind", guess), paths.v[i], id, be_get_int(disk, "size", 0));
		add_swap_device(s, paths.v[i]);
	}
	if (!paths.n)
		be_deviation(s->deviations, "swap",
			     "swap asked: the job has no partition left for it and host %s names no swap_partitions",
			     s->req->host_name);
	return 0;
}

int be_layout_swaps(struct be_layout_state *s, struct be_error *err)
{
	size_t i = 0;
	const struct be_node *job = s->req->job;
	while (i < job->n && strcmp(job->keys[i], "swap") != 0)
		i++;
	if (i == job->n)
		return 0;
	const struct be_node *file = be_get(job->items[i], "swapfile");
	int64_t priority = be_get_int(job->items[i], "priority", 0);
	if (priority < 0 || priority > PRIORITY_MAX)
		return be_fail_usage(err, "%s: swap: priority is not from 0 to %d", be_where(job->items[i]),
				     PRIORITY_MAX);
	if (file)
		return add_swap_file(s, file, err);
	if (be_get(s->layout, "filesystems")->n || !s->partitions.n)
		return add_swap_partitions(s, err);
	for (size_t k = 0; k < s->partitions.n; k++)
		add_swap_device(s, s->partitions.v[k]);
	return 0;
}
