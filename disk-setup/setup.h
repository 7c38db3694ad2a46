/* From a plan's layout to devices, arrays and mounted file systems: exactly the stated layout, or nothing and why. */
#ifndef BE_SETUP_H
#define BE_SETUP_H

#include "base/file.h"
#include "base/node.h"

/* The virtio-serial port for results: only the twin of `mkbenchenv boot` has one of this name. */
#define BE_TWIN_PORT_NAME "org.mkbenchenv.result"

struct be_setup {
	struct be_root root;     /* "" on a real system */
	struct be_node *actions; /* sequence, filled as actions run: what, argv, seconds, status, version */
	struct be_node *found;   /* map: plan device name -> {path, kernel, size, rotational, model, serial, ...} */
	struct be_node *layout;  /* read back: devices, arrays, filesystems */
	struct be_node *deviations;
	struct be_node *versions; /* map: tool -> its version, asked once */
	/* The machine is a twin: its disks have other sizes than stated and virtio's say that they rotate, of which
	 * `mkbenchenv boot` has told. be_setup_init sets it where the twin's result port is there. */
	bool twin;
	void (*log)(const char *line); /* progress, or NULL */
};
void be_setup_init(struct be_setup *setup); /* real root, empty trees */
void be_setup_free(struct be_setup *setup);

/* Waits for the plan's devices and checks every one (design: disk safety). Writes nothing to any device. */
int be_setup_check(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;
/* What be_setup_check or be_setup_run decided on each device, for people: setup->found as lines of text. */
void be_decisions_text(const struct be_node *found, struct be_buf *out);
/* Checks, then makes arrays and file systems, mounts them and reads them back. */
int be_setup_run(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;
/* Unmounts and stops what be_setup_run made, in reverse order. */
int be_setup_undo(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;

#endif
