/* The image folder: written beside its place, renamed when complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/image_folder.h"
#include "builder/image/image_parts.h"
#include "builder/image/uki.h"
#include "builder/lab/boot_files.h"

/* By what the manifest says: a folder of somebody else may hold files of the same names. */
static bool is_image(const char *path)
{
	struct be_error ignored = BE_ERROR_INIT;
	be_autofree char *kernel = be_strf("%s/vmlinuz", path);
	be_autonode struct be_node *manifest = be_manifest_load(path, &ignored);
	return manifest && be_exists(kernel);
}

/* "a/b/" -> "a/.b.XXXXXX" */
static char *sibling(const char *path)
{
	be_autofree char *copy = be_strdup(path);
	for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
		copy[n - 1] = '\0';
	char *slash = strrchr(copy, '/');
	if (!slash)
		return be_strf(".%s.XXXXXX", copy);
	*slash = '\0';
	return be_strf("%s/.%s.XXXXXX", copy, slash + 1);
}

/* A build holds a lock on its folder: one that can be locked belongs to a build that was killed. */
static void remove_stale(const char *pattern)
{
	size_t stem = strlen(pattern) - strlen("XXXXXX");
	const char *slash = strrchr(pattern, '/');
	be_autofree char *folder = slash ? be_strndup(pattern, (size_t)(slash - pattern) + 1) : be_strdup("./");
	be_autofree char *start =
		slash ? be_strndup(slash + 1, stem - (size_t)(slash + 1 - pattern)) : be_strndup(pattern, stem);
	struct be_root root = { .prefix = folder };
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&root, "/", &names) != 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		struct be_error ignored = BE_ERROR_INIT;
		if (!be_starts(names.v[i], start) || strlen(names.v[i]) != strlen(start) + strlen("XXXXXX"))
			continue;
		be_autofree char *path = be_strf("%s%s", folder, names.v[i]);
		be_autofd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			be_remove_tree(path, &ignored);
	}
}

/* The folder that the output is written into before it is renamed, and the lock on it. NULL: it cannot be made. The
 * caller frees. */
static char *make_sibling(const char *output, int *lock, struct be_error *err)
{
	char *dir = sibling(output);
	remove_stale(dir);
	/* Another build that looks for stale ones may come between making and locking it. */
	for (int tries = 0; tries < 5 && mkdtemp(dir); tries++) {
		struct stat st;
		*lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (*lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) == 0 && lstat(dir, &st) == 0)
			return dir;
		be_close_fd(lock);
		free(dir);
		dir = sibling(output);
	}
	int errnum = errno;
	free(dir);
	be_fail_errno(err, errnum, "%s: a folder beside it cannot be made", output);
	err->status = BE_USAGE;
	be_hint(err, "the folder that the image goes into must be there and be writable");
	return NULL;
}

/* Whether the image can be written at its place is known before the work, by trying. */
static int check_place(const char *path, struct be_error *err)
{
	be_autofd int lock = -1;
	be_autofree char *dir = make_sibling(path, &lock, err);
	if (!dir)
		return -1;
	return rmdir(dir) == 0 ? 0 : be_fail_errno(err, errno, "%s", dir);
}

int be_image_check_output(const char *path, struct be_error *err)
{
	struct stat st;
	struct be_root root = { .prefix = (char *)path };
	be_autostrv struct be_strv names = { 0 };
	if (!*path)
		return be_fail_usage(err, "the image's name is empty");
	if (lstat(path, &st) != 0)
		return errno == ENOENT || errno == ENOTDIR ? check_place(path, err)
							   : be_fail_errno(err, errno, "%s", path);
	if (S_ISDIR(st.st_mode) && (is_image(path) || (be_root_list(&root, "/", &names) == 0 && !names.n)))
		return check_place(path, err);
	be_fail_usage(err, "%s: is there and is no image, so it is not replaced", path);
	return be_hint(err, "give another name with -o");
}

/* Nothing is synced: the folder appears by one rename, and a file that a power loss took shows by its hash. */
static int write_text(const char *dir, const char *name, const char *data, size_t len, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/%s", dir, name);
	be_autofd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || fchmod(fd, 0644) != 0)
		return be_fail_errno(err, errno, "%s: cannot be created", path);
	return be_write_fd(fd, path, data, len, err);
}

/* Over the lines that `sha256sum vmlinuz initrd.img cmdline plan.yaml` prints: who has an image can compute it. */
static void make_id(struct be_build *build)
{
	be_autohash struct be_hash id = { 0 };
	const struct be_buf *texts[] = { &build->cmdline, &build->plan };
	static const char *const names[] = { "cmdline", "plan.yaml" };
	be_autobuf struct be_buf lines = { 0 };
	be_buf_addf(&lines, "%s  vmlinuz\n%s  initrd.img\n", build->kernel.image.sha256, build->initrd_sha256);
	for (size_t i = 0; i < BE_ARRAY_LEN(texts); i++) {
		be_autohash struct be_hash hash = { 0 };
		char sha256[BE_HASH_TEXT];
		be_hash_start(&hash);
		be_hash_add(&hash, texts[i]->data, texts[i]->len);
		be_hash_end(&hash, sha256);
		be_buf_addf(&lines, "%s  %s\n", sha256, names[i]);
	}
	be_hash_start(&id);
	be_hash_add(&id, lines.data, lines.len);
	be_hash_end(&id, build->id);
}

/* What the usual network boot loaders read, so that the folder can be served as it is. */
static int write_boot_files(const struct be_build *build, const char *dir, struct be_error *err)
{
	be_autobuf struct be_buf ipxe = { 0 }, grub = { 0 }, pxelinux = { 0 };
	be_autofree char *text = be_strdup(build->cmdline.data), *folder = be_strf("%s/pxelinux.cfg", dir);
	const char *cmdline = be_trim(text);
	be_boot_file_ipxe(cmdline, &ipxe);
	be_boot_file_grub(cmdline, &grub);
	be_boot_file_pxelinux(cmdline, "", NULL, &pxelinux);
	if (mkdir(folder, 0755) != 0 || chmod(folder, 0755) != 0)
		return be_fail_errno(err, errno, "%s: cannot be made", folder);
	if (write_text(dir, "boot.ipxe", ipxe.data, ipxe.len, err) != 0 ||
	    write_text(dir, "grub.cfg", grub.data, grub.len, err) != 0)
		return -1;
	return write_text(folder, "default", pxelinux.data, pxelinux.len, err);
}

static int write_files(struct be_build *build, const char *dir, struct be_error *err)
{
	if (be_image_write_initrd(build, dir, err) != 0 ||
	    write_text(dir, "cmdline", build->cmdline.data, build->cmdline.len, err) != 0 ||
	    write_text(dir, "plan.yaml", build->plan.data, build->plan.len, err) != 0 ||
	    write_boot_files(build, dir, err) != 0)
		return -1;
	make_id(build);
	if (build->request->uki && be_uki_write(build, dir, err) != 0)
		return -1;
	be_autonode struct be_node *manifest = be_image_manifest(build, err);
	be_autobuf struct be_buf text = { 0 };
	if (!manifest || be_node_yaml(manifest, &text, err) != 0)
		return -1;
	return write_text(dir, "manifest.yaml", text.data, text.len, err);
}

/* The old image, if there is one, is exchanged in one step and removed after it. */
static int put_in_place(const char *dir, const char *path, struct be_error *err)
{
	if (chmod(dir, 0755) != 0)
		return be_fail_errno(err, errno, "%s: mode cannot be set", dir);
	if (rename(dir, path) == 0)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return be_fail_errno(err, errno, "%s: cannot be put in place", path);
	if (renameat2(AT_FDCWD, dir, AT_FDCWD, path, RENAME_EXCHANGE) != 0)
		return be_fail_errno(err, errno, "%s: cannot be replaced", path);
	return be_remove_tree(dir, err);
}

int be_image_write(struct be_build *build, struct be_error *err)
{
	const char *output = build->request->output;
	be_autofd int lock = -1;
	be_autofree char *dir = make_sibling(output, &lock, err);
	if (!dir)
		return -1;
	int rc = write_files(build, dir, err);
	if (rc == 0)
		rc = put_in_place(dir, output, err);
	if (rc != 0) {
		struct be_error ignored = BE_ERROR_INIT;
		be_remove_tree(dir, &ignored);
		be_hint(err, "make room where %s goes, or give another place with -o", output);
	}
	return rc;
}
