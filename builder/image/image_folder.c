#include "builder/image/image_folder.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/report/manifest_file.h"

#define CMDLINE_MAX 65536

void be_image_folder_free(struct be_image_folder *image)
{
	free(image->kernel);
	free(image->initrd);
	free(image->cmdline);
	be_node_free(image->plan);
	be_node_free(image->manifest);
	*image = (struct be_image_folder){ 0 };
}

static struct be_node *load_document(const char *path, const char *kind, struct be_error *err)
{
	be_autonode struct be_node *doc = be_node_load_file(path, err);
	if (!doc) {
		err->status = BE_USAGE; /* the user named it */
		return NULL;
	}
	if (strcmp(be_get_str(doc, "mkbenchenv", ""), kind) != 0) {
		be_fail_usage(err, "%s: is no %s of mkbenchenv", path, kind);
		return NULL;
	}
	if (be_get_int(doc, "schema", 0) != 1) {
		be_fail_usage(err, "%s: has schema %s, this mkbenchenv reads schema 1", path,
			      be_get_str(doc, "schema", "none"));
		return NULL;
	}
	return be_steal(&doc);
}

/* Every document of ours begins with its kind. */
bool be_is_manifest(const char *path)
{
	static const char mark[] = "mkbenchenv: manifest\n";
	char head[sizeof(mark)] = "";
	be_autofree char *below = be_strf("%s/manifest.yaml", path);
	struct stat st;
	if (stat(path, &st) != 0)
		return false;
	bool folder = S_ISDIR(st.st_mode);
	if (!folder && !S_ISREG(st.st_mode))
		return false;
	be_autofd int fd = open(folder ? below : path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, head, sizeof(head) - 1) == (ssize_t)(sizeof(head) - 1) && be_streq(head, mark);
}

struct be_node *be_manifest_load(const char *path, struct be_error *err)
{
	struct stat st;
	if (!*path) {
		be_fail_usage(err, "the name of a manifest is empty");
		return NULL;
	}
	be_autofree char *below = be_strf("%s/manifest.yaml", path);
	bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	be_autonode struct be_node *manifest = load_document(folder ? below : path, "manifest", err);
	if (!manifest) {
		be_hint(err, "Give a manifest file, or a folder made by `mkbenchenv` or `mkbenchenv boot`.");
		return NULL;
	}
	const char *slash = strrchr(path, '/');
	be_autofree char *beside = !slash ? be_strdup(".") : be_strndup(path, (size_t)(slash - path) + 1);
	return be_manifest_complete(manifest, folder ? path : beside, err) == 0 ? be_steal(&manifest) : NULL;
}

static int check_hash(const char *path, const struct be_node *stated, struct be_error *err)
{
	char found[BE_HASH_TEXT];
	const char *wanted = be_get_str(stated, "sha256", NULL);
	if (be_hash_file(path, found, NULL, err) != 0)
		return -1;
	if (!wanted || strcmp(wanted, found) != 0) {
		be_fail(err, "%s: is not the file that the manifest names", path);
		return be_hint(err, "Its SHA-256 is %s. Build the image again.", found);
	}
	return 0;
}

static int load(const char *dir, struct be_image_folder *out, struct be_error *err)
{
	be_autofree char *plan = be_strf("%s/plan.yaml", dir), *cmdline = be_strf("%s/cmdline", dir);
	be_autofree char *manifest = be_strf("%s/manifest.yaml", dir);
	be_autobuf struct be_buf line = { 0 };
	out->kernel = be_strf("%s/vmlinuz", dir);
	out->initrd = be_strf("%s/initrd.img", dir);
	out->plan = load_document(plan, "plan", err);
	if (!out->plan || be_hash_file(plan, out->plan_sha256, NULL, err) != 0)
		return -1;
	out->manifest = load_document(manifest, "manifest", err);
	if (!out->manifest || be_read_file(cmdline, CMDLINE_MAX, &line, err) != 0)
		return -1;
	out->cmdline = be_strdup(be_trim(line.data));
	return check_hash(out->kernel, be_get_path(out->manifest, "image.kernel"), err) != 0
		       ? -1
		       : check_hash(out->initrd, be_get_path(out->manifest, "image.initrd"), err);
}

int be_image_folder_load(const char *dir, struct be_image_folder *out, struct be_error *err)
{
	*out = (struct be_image_folder){ 0 };
	if (load(dir, out, err) == 0)
		return 0;
	be_hint(err, "IMAGE is a folder made by `mkbenchenv JOB -o IMAGE`.");
	return -1;
}
