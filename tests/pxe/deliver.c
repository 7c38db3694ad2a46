/* A machine's delivery without the machine: init's own code sends FILE as a workload's output to URL. */
#include <stdio.h>
#include <string.h>

#include "initrd/deliver.h"
#include "initrd/network/upload.h"

#define OBSERVATION(phase, state) \
	"mkbenchenv: observation\nschema: 1\nphase: " phase "\noutcome: {state: " state "}\nenvironment: {}\n"

static void send_parts(void *data)
{
	be_upload_push_parts(data);
}

static int add_text(struct be_delivery *d, const char *name, const char *text, struct be_error *err)
{
	return be_delivery_add(d, name, text, strlen(text), err);
}

static int deliver(struct be_upload *upload, struct be_delivery *d, const char *file, struct be_error *err)
{
	be_delivery_watch(d, send_parts, upload);
	if (add_text(d, "before.yaml", OBSERVATION("before", "running"), err) != 0 ||
	    be_upload_push(upload, 60, err) != 0 || be_delivery_add_file(d, "workload/file.out", file, err) != 0 ||
	    add_text(d, "kernel.log", "no kernel\n", err) != 0 ||
	    add_text(d, "after.yaml", OBSERVATION("after", "done"), err) != 0 || be_delivery_complete(d, err) != 0 ||
	    be_upload_push(upload, 120, err) != 0)
		return -1;
	return be_upload_end(upload, 120, err);
}

int main(int argc, char **argv)
{
	struct be_upload upload;
	struct be_error err = BE_ERROR_INIT;
	if (argc != 4) {
		fprintf(stderr, "usage: deliver URL FILE STREAM\n");
		return BE_USAGE;
	}
	if (be_upload_open(&upload, argv[1], argv[3], &err) != 0 || be_upload_greet(&upload, 30, &err) != 0) {
		be_error_print(&err, argv[0]);
		return BE_FAILED;
	}
	struct be_delivery *d = be_delivery_open(upload.fd, BE_RAW, &err);
	int rc = d ? deliver(&upload, d, argv[2], &err) : -1;
	if (rc != 0)
		be_error_print(&err, argv[0]);
	be_delivery_free(d);
	be_upload_close(&upload);
	return rc == 0 ? BE_OK : BE_FAILED;
}
