/* `lava`: job definitions for LAVA, of one image or of all in a folder. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "builder/commands.h"
#include "builder/lava/lava.h"
#include "builder/usage.h"

static const char usage[] = "Usage: mkbenchenv lava IMAGE [OPTION]...\n"
			    "       mkbenchenv lava --all DIR [OPTION]...\n"
			    "\n"
			    "Prints a LAVA job definition that deploys and boots the image and collects what it\n"
			    "says of steps and figures as test cases. The whole result is in the job's log:\n"
			    "`mkbenchenv receive` takes it out.\n"
			    "\n"
			    "  --all DIR            of every image folder in DIR, as made by `mkbenchenv --all`\n"
			    "  -o, --output PATH    a file; with --all a folder that gets NAME.yaml for each image\n"
			    "  --device-type TYPE   LAVA's device type; default: qemu\n"
			    "  --method METHOD      boot method of types other than qemu; default: ipxe\n"
			    "  --url BASE           where the image folder (with --all: DIR) is served; default: its\n"
			    "                       path on this machine, as file://\n";

struct lava_options {
	struct be_lava_request job;
	const char *folder; /* --all */
	const char *output;
	const char *url;
};

/* BASE/NAME, or the folder's own path as a URL. The caller frees; NULL with an error when there is no such folder. */
static char *url_of(const struct lava_options *o, const char *dir, const char *name, struct be_error *err)
{
	if (o->url) {
		int len = (int)strlen(o->url);
		while (len > 0 && o->url[len - 1] == '/')
			len--;
		return be_strf("%.*s%s%s", len, o->url, name ? "/" : "", name ? name : "");
	}
	be_autofree char *path = realpath(dir, NULL);
	if (path)
		return be_strf("file://%s", path);
	be_fail_usage(err, "%s: %s", dir, strerror(errno));
	return NULL;
}

static int64_t file_size(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* The definition of the image in @dir, called @name below the URL (NULL: the URL is the image's own). */
static int make(const struct lava_options *o, const char *dir, const char *name, struct be_buf *text,
		struct be_error *err)
{
	struct be_lava_request job = o->job;
	struct be_image_folder image = { 0 };
	be_autostrv struct be_strv notes = { 0 };
	be_autonode struct be_node *doc = NULL;
	be_autofree char *url = url_of(o, dir, name, err);
	if (url && be_image_folder_load(dir, &image, err) == 0) {
		job.image = &image;
		job.url = url;
		job.bytes = file_size(image.kernel) + file_size(image.initrd);
		doc = be_lava_job(&job, &notes, err);
	}
	int rc = doc ? be_node_yaml(doc, text, err) : -1;
	for (size_t i = 0; rc == 0 && i < notes.n; i++)
		fprintf(stderr, "lava: %s: %s\n", dir, notes.v[i]);
	be_image_folder_free(&image);
	return rc;
}

static int make_one(const struct lava_options *o, const char *dir, struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	return make(o, dir, NULL, &text, err) == 0 ? be_write_output(o->output, text.data, text.len, err) : -1;
}

/* Names of the folders in @dir that are images: those with a plan. */
static int find_images(const char *dir, struct be_strv *images, struct be_error *err)
{
	be_autostrv struct be_strv names = { 0 };
	struct be_root root = { .prefix = "" };
	if (be_root_list(&root, dir, &names) != 0)
		return be_fail_usage(err, "--all %s: cannot be read: %s", dir, strerror(errno));
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *plan = be_strf("%s/%s/plan.yaml", dir, names.v[i]);
		if (names.v[i][0] != '.' && be_exists(plan))
			be_strv_add(images, names.v[i]);
	}
	if (images->n)
		return 0;
	be_fail_usage(err, "%s: holds no image folder", dir);
	return be_hint(err, "`mkbenchenv JOB --all -o %s` makes one of every atomic job.", dir);
}

static int write_job(const struct lava_options *o, const char *name, const struct be_buf *text, struct be_error *err)
{
	if (!o->output) {
		printf("---\n%s", text->data);
		return 0;
	}
	be_autofree char *path = be_strf("%s/%s.yaml", o->output, name);
	return be_write_file(path, text->data, text->len, 0644, err);
}

static int make_all(const struct lava_options *o, struct be_error *err)
{
	be_autostrv struct be_strv names = { 0 };
	if (find_images(o->folder, &names, err) != 0 || (o->output && be_mkdirs(o->output, 0777, err) != 0))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		be_autobuf struct be_buf text = { 0 };
		be_autofree char *dir = be_strf("%s/%s", o->folder, names.v[i]);
		if (make(o, dir, names.v[i], &text, err) != 0 || write_job(o, names.v[i], &text, err) != 0)
			return -1;
	}
	return 0;
}

int be_cmd_lava(int argc, char **argv)
{
	struct lava_options o = { .job.method = "ipxe" };
	struct be_error err = BE_ERROR_INIT;
	const struct be_option options[] = {
		BE_TEXT("all", 0, &o.folder),
		BE_TEXT("output", 'o', &o.output),
		BE_TEXT("device-type", 0, &o.job.device_type),
		BE_TEXT("method", 0, &o.job.method),
		BE_TEXT("url", 0, &o.url),
		BE_OPTIONS_END,
	};
	int status = be_usage_read(usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind != (o.folder ? 0 : 1))
		return be_usage_error(argv[0], o.folder ? "--all DIR stands for the images" : "needs one image folder");
	int rc = o.folder ? make_all(&o, &err) : make_one(&o, argv[optind], &err);
	return rc == 0 ? BE_OK : be_command_failed(argv[0], &err);
}
