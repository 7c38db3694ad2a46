#include "builder/rebuild/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/hash.h"
#include "builder/progress.h"
#include "builder/lab/boot_files.h"
#include "builder/rebuild/verify_member.h"

void be_verified_free(struct be_verified *verified)
{
	be_strv_free(&verified->problems);
}

bool be_verify_is_image(const char *path)
{
	be_autofree char *initrd = be_strf("%s/initrd.img", path);
	return be_exists(initrd);
}

static const struct be_node *segments_of(const struct be_node *manifest)
{
	const struct be_node *list = be_get_path(manifest, "image.segments");
	return list && list->kind == BE_SEQ ? list : NULL;
}

void be_verify_manifest(const struct be_node *manifest, struct be_verified *verified)
{
	const struct be_node *list = segments_of(manifest), *initrd = be_get_path(manifest, "image.initrd");
	int64_t at = 0;
	if (be_get_path(manifest, "image.segments.file"))
		return; /* the list lies in another file, which is not here */
	if (!list || !list->n) {
		be_strv_add(&verified->problems, "manifest: image.segments is not there");
		return;
	}
	verified->members = list->n;
	for (size_t i = 0; i < list->n; i++) {
		const char *name = be_get_str(list->items[i], "name", "?");
		int64_t size = be_get_int(list->items[i], "size", -1);
		if (be_get_int(list->items[i], "offset", -1) != at || size <= 0 || size % 4 != 0 ||
		    size > INT64_MAX - at)
			be_strv_addf(
				&verified->problems,
				"manifest: member %s does not begin where the one before it ends, or has an odd size",
				name);
		if (!be_hash_is_text(be_get_str(list->items[i], "sha256", NULL)))
			be_strv_addf(&verified->problems, "manifest: member %s has no SHA-256", name);
		at += size > 0 && size <= INT64_MAX - at ? size : 0;
	}
	if (at != be_get_int(initrd, "size", -1))
		be_strv_addf(&verified->problems, "manifest: its members are %lld bytes, its initrd %lld",
			     (long long)at, (long long)be_get_int(initrd, "size", -1));
}

/* One file of the folder by the hash that @stated has under @key. */
static int check_file(const char *dir, const char *file, const struct be_node *stated, const char *key,
		      struct be_buf *lines, struct be_verified *verified, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/%s", dir, file);
	char sha256[BE_HASH_TEXT];
	int64_t size;
	const char *wanted = be_get_str(stated, key, NULL);
	if (be_hash_file(path, sha256, &size, err) != 0)
		return -1;
	if (lines)
		be_buf_addf(lines, "%s  %s\n", sha256, file);
	if (wanted && !be_streq(wanted, sha256))
		be_strv_addf(&verified->problems, "%s: SHA-256 %.12s, the manifest says %.12s", file, sha256, wanted);
	int64_t bytes = be_get_int(stated, "size", size);
	if (be_streq(key, "sha256") && bytes != size)
		be_strv_addf(&verified->problems, "%s: %lld bytes, the manifest says %lld", file, (long long)size,
			     (long long)bytes);
	return 0;
}

static int check_cmdline(const char *dir, const struct be_node *manifest, struct be_verified *verified,
			 struct be_error *err)
{
	be_autofree char *path = be_strf("%s/cmdline", dir);
	be_autobuf struct be_buf text = { 0 };
	if (be_read_file(path, 1u << 20, &text, err) != 0)
		return -1;
	if (!be_streq(be_get_str(be_get(manifest, "image"), "cmdline", ""), text.data ? be_trim(text.data) : ""))
		be_strv_add(&verified->problems, "cmdline: is not the manifest's");
	return 0;
}

static void check_boot_file(const char *dir, const char *name, const struct be_buf *wanted,
			    struct be_verified *verified)
{
	be_autofree char *path = be_strf("%s/%s", dir, name);
	be_autobuf struct be_buf text = { 0 };
	struct be_error why = BE_ERROR_INIT;
	if (be_read_file(path, 1u << 20, &text, &why) != 0)
		be_strv_add(&verified->problems, why.text);
	else if (text.len != wanted->len || memcmp(text.data, wanted->data, text.len) != 0)
		be_strv_addf(&verified->problems, "%s: is not what follows from cmdline", name);
}

/* A loader that is told another command line boots another environment, whatever the hashes of the rest. */
static void check_boot_files(const char *dir, const struct be_node *manifest, struct be_verified *verified)
{
	be_autobuf struct be_buf ipxe = { 0 }, grub = { 0 }, pxelinux = { 0 };
	const char *cmdline = be_get_str(be_get(manifest, "image"), "cmdline", "");
	be_boot_file_ipxe(cmdline, &ipxe);
	be_boot_file_grub(cmdline, &grub);
	be_boot_file_pxelinux(cmdline, "", NULL, &pxelinux);
	check_boot_file(dir, "boot.ipxe", &ipxe, verified);
	check_boot_file(dir, "grub.cfg", &grub, verified);
	check_boot_file(dir, "pxelinux.cfg/default", &pxelinux, verified);
}

/* `id` is over the lines that sha256sum prints of kernel, initrd, cmdline and plan. */
static int check_files(const char *dir, const struct be_node *manifest, struct be_verified *verified,
		       struct be_error *err)
{
	be_autohash struct be_hash id = { 0 };
	char text[BE_HASH_TEXT];
	const struct be_node *image = be_get(manifest, "image"), *kernel = be_get_path(manifest, "lock.kernel");
	const char *stated = be_get_str(image, "id", "");
	be_autobuf struct be_buf lines = { 0 };
	if (check_file(dir, "vmlinuz", be_get(image, "kernel"), "sha256", &lines, verified, err) != 0 ||
	    check_file(dir, "initrd.img", be_get(image, "initrd"), "sha256", &lines, verified, err) != 0 ||
	    check_file(dir, "cmdline", NULL, "sha256", &lines, verified, err) != 0 ||
	    check_file(dir, "plan.yaml", NULL, "sha256", &lines, verified, err) != 0 ||
	    (be_get(kernel, "config_sha256") &&
	     check_file(dir, "kernel.config", kernel, "config_sha256", NULL, verified, err) != 0))
		return -1;
	be_hash_start(&id);
	be_hash_add(&id, lines.data, lines.len);
	be_hash_end(&id, text);
	if (strlen(stated) < 12 || strncmp(stated, text, 12) != 0)
		be_strv_addf(&verified->problems, "id: the files give %.12s, the manifest says %s", text, stated);
	check_boot_files(dir, manifest, verified);
	return check_cmdline(dir, manifest, verified, err);
}

static int check_member(const char *dir, int fd, const struct be_node *stated, struct be_unpacked *unpacked, bool last,
			struct be_verified *verified, struct be_error *err)
{
	const char *name = be_get_str(stated, "name", "?");
	int64_t offset = be_get_int(stated, "offset", -1), size = be_get_int(stated, "size", -1);
	be_automember struct be_member member = { 0 };
	be_autohash struct be_hash hash = { 0 };
	char sha256[BE_HASH_TEXT];
	struct be_error why = BE_ERROR_INIT;
	be_hash_start(&hash);
	if (offset < 0 || size <= 0 || be_hash_add_range(&hash, fd, offset, size, name, &why) != 0) {
		be_strv_addf(&verified->problems, "member %s: lies beyond the end of %s/initrd.img", name, dir);
		return 0;
	}
	be_hash_end(&hash, sha256);
	if (!be_streq(sha256, be_get_str(stated, "sha256", NULL)))
		be_strv_addf(&verified->problems, "member %s: SHA-256 %.12s, the manifest says %.12s", name, sha256,
			     be_get_str(stated, "sha256", ""));
	if (be_member_read(&member, fd, offset, size, name, &why) != 0) {
		be_strv_addf(&verified->problems, "member %s", why.text);
		return be_interrupted(err);
	}
	verified->entries += member.n;
	verified->unpacked += member.unpacked;
	be_unpacked_add(unpacked, name, &member, &verified->problems);
	if (last)
		be_unpacked_end(unpacked, &member, &verified->problems);
	return 0;
}

static int check_initrd(const char *dir, const struct be_node *manifest, struct be_verified *verified,
			struct be_error *err)
{
	const struct be_node *list = segments_of(manifest);
	be_autofree char *path = be_strf("%s/initrd.img", dir), *plan = be_strf("%s/plan.yaml", dir);
	be_autounpacked struct be_unpacked unpacked = { .manifest = manifest };
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", path);
	if (be_hash_file(plan, unpacked.plan, NULL, err) != 0)
		return -1;
	for (size_t i = 0; list && i < list->n; i++)
		if (check_member(dir, fd, list->items[i], &unpacked, i + 1 == list->n, verified, err) != 0)
			return -1;
	int64_t stated = be_get_int(be_get_path(manifest, "image.initrd"), "unpacked", -1);
	if (stated != verified->unpacked)
		be_strv_addf(&verified->problems, "initrd.img: %lld bytes unpacked, the manifest says %lld",
			     (long long)verified->unpacked, (long long)stated);
	return 0;
}

int be_verify_image(const char *dir, const struct be_node *manifest, struct be_verified *verified, struct be_error *err)
{
	be_verify_manifest(manifest, verified);
	return check_files(dir, manifest, verified, err) != 0 ? -1 : check_initrd(dir, manifest, verified, err);
}
