#include "builder/twin/boot_runs.h"

#include <stdio.h>

#include "base/file.h"
#include "builder/folders.h"
#include "builder/image/image_folder.h"

/* One run; its status is added to @status. */
static int run(const struct be_runs_request *r, size_t image, const char *name, int64_t number, enum be_status *status,
	       struct be_error *err)
{
	struct be_boot_request boot = *r->boot;
	enum be_status one = BE_OK;
	be_autofree char *output = be_strf("%s/%s/%lld", r->output, name, (long long)number);
	boot.image = r->images->v[image];
	boot.output = output;
	if (!boot.quiet)
		fprintf(stderr, "boot: %s, run %lld of %lld\n", name, (long long)number, (long long)r->runs);
	if (be_boot(&boot, &one, err) != 0)
		return be_wrap(err, "%s, run %lld", name, (long long)number);
	if (one != BE_OK && *status != BE_FAILED)
		*status = one;
	return 0;
}

/* The command that compares the runs of the first two images. */
static void tell_next(const struct be_runs_request *r, const struct be_strv *names)
{
	be_autobuf struct be_buf line = { 0 };
	for (size_t i = 0; i < 2 && i < names->n; i++) {
		be_buf_adds(&line, i ? "/* -- " : "");
		be_autofree char *folder = be_strf("%s/%s", r->output, names->v[i]);
		be_buf_add_shell(&line, folder);
	}
	if (names->n >= 2)
		fprintf(stderr, "boot: compare by: mkbenchenv diff %s/*\n", line.data);
}

/* All images are read before the first boot: the last one is not found to be none after hours. */
static int check_images(const struct be_strv *images, struct be_error *err)
{
	for (size_t i = 0; i < images->n; i++) {
		struct be_image_folder image;
		int rc = be_image_folder_load(images->v[i], &image, err);
		be_image_folder_free(&image);
		if (rc != 0)
			return -1;
	}
	return 0;
}

int be_boot_runs(const struct be_runs_request *r, enum be_status *status, struct be_error *err)
{
	be_autostrv struct be_strv names = { 0 };
	*status = BE_OK;
	be_folder_names(r->images, &names);
	if (check_images(r->images, err) != 0 || be_folder_is_free(r->output, err) != 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *folder = be_strf("%s/%s", r->output, names.v[i]);
		if (be_mkdirs(folder, 0777, err) != 0)
			return -1;
	}
	for (int64_t number = 1; number <= r->runs; number++)
		for (size_t i = 0; i < names.n; i++)
			if (run(r, i, names.v[i], number, status, err) != 0)
				return -1;
	if (!r->boot->quiet)
		tell_next(r, &names);
	return 0;
}
