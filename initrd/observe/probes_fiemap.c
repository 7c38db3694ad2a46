/* How the largest test file lies on its file system: written, allocated or sparse, and in how many extents. */
#include "initrd/observe/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#define MAX_DEPTH 3      /* below the test directory: fio and fs_mark use none or one level */
#define MAX_FILES 100000 /* fs_mark makes many; the largest of the first ones will do */
#define AT_ONCE 256      /* extents asked for in one call */

struct largest {
	char *path;
	off_t size;
	dev_t device;
	unsigned seen;
};

static void search(const char *dir, struct largest *found, int depth)
{
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(NULL, dir, &names) != 0)
		return;
	for (size_t i = 0; i < names.n && found->seen < MAX_FILES; i++) {
		be_autofree char *path = be_strf("%s/%s", dir, names.v[i]);
		struct stat st;
		if (lstat(path, &st) != 0 || st.st_dev != found->device)
			continue;
		found->seen++;
		if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH) {
			search(path, found, depth + 1);
		} else if (S_ISREG(st.st_mode) && st.st_size > found->size) {
			free(found->path);
			found->path = be_steal(&path);
			found->size = st.st_size;
		}
	}
}

struct extents {
	uint64_t count, bytes, unwritten;
};

/* Walks the extents of @fd. Returns 0 or an errno. */
static int walk(int fd, struct extents *all)
{
	be_autofree struct fiemap *map = be_alloc(sizeof(*map) + AT_ONCE * sizeof(map->fm_extents[0]));
	bool last = false;
	for (uint64_t at = 0; !last;) {
		/* Without FIEMAP_FLAG_SYNC: an observation must not write the file out. */
		*map = (struct fiemap){ .fm_start = at,
					.fm_length = FIEMAP_MAX_OFFSET - at,
					.fm_extent_count = AT_ONCE };
		if (ioctl(fd, FS_IOC_FIEMAP, map) != 0)
			return errno;
		for (uint32_t i = 0; i < map->fm_mapped_extents; i++) {
			const struct fiemap_extent *e = &map->fm_extents[i];
			all->count++;
			all->bytes += e->fe_length;
			if (e->fe_flags & FIEMAP_EXTENT_UNWRITTEN)
				all->unwritten += e->fe_length;
			last = e->fe_flags & FIEMAP_EXTENT_LAST;
			at = e->fe_logical + e->fe_length;
		}
		if (!map->fm_mapped_extents)
			break;
	}
	return 0;
}

/* What the file is made of, joined with "+": an overwrite meets each of them at another cost. */
static char *state(const struct extents *all, off_t size)
{
	const struct {
		bool is;
		const char *word;
	} parts[] = {
		{ all->bytes > all->unwritten, "written" },
		{ all->unwritten > 0, "unwritten" },
		{ all->bytes < (uint64_t)size, "sparse" },
	};
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0; i < BE_ARRAY_LEN(parts); i++)
		if (parts[i].is)
			be_buf_addf(&text, "%s%s", text.len ? "+" : "", parts[i].word);
	return be_buf_steal(&text);
}

struct be_reading be_probe_fiemap(const struct be_look *look)
{
	if (be_streq(look->path, "/"))
		return be_reading_not_applicable("the workload's files lie among the files of the initrd");
	be_autofree char *dir = be_root_path(&look->o->root, look->path);
	struct stat st;
	if (stat(dir, &st) != 0)
		return be_reading_absent("no such file %s", look->path);
	struct largest found = { .device = st.st_dev };
	search(dir, &found, 0);
	be_autofree char *path = found.path;
	if (!path)
		return be_reading_absent("no file laid out in %s", look->path);
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct extents all = { 0 };
	int errnum = fd >= 0 ? walk(fd, &all) : errno;
	if (errnum == EOPNOTSUPP || errnum == ENOTTY)
		return be_reading_not_observable("this file system does not tell where files lie (FIEMAP)");
	if (errnum)
		return be_reading_not_observable("%s: FIEMAP: %s", path, strerror(errnum));
	if (be_streq(be_get_str(look->how, "field", "state"), "extents"))
		return be_reading_value(be_node_int((int64_t)all.count));
	be_autofree char *text = state(&all, found.size);
	return be_reading_text(text);
}
