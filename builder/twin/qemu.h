/* Running the twin: one QEMU process with an upper limit of time, its console shown as it goes, and why it ended. */
#ifndef BE_QEMU_H
#define BE_QEMU_H

#include <stdbool.h>

#include "base/str.h"

struct be_qemu {
	/* in */
	const struct be_strv *argv;
	const char *folder;  /* QEMU's working directory */
	int control;         /* our end of the control channel, or -1 */
	double timeout;      /* seconds, of the whole run */
	const char *console; /* file that QEMU writes the serial console to */
	bool quiet;          /* do not show init's progress */
	/* out */
	double seconds;
	bool timed_out, interrupted;
	bool failed;     /* QEMU itself did not work; `ended` holds its own words */
	char ended[512]; /* why the machine is off, for people */
};

/* A pair of descriptors for QEMU's control protocol: [0] ours, [1] for the option `fd=`; it is inherited. */
int be_qemu_channel(int fds[2], struct be_error *err) BE_MUST_CHECK;
/* Runs to the end. -1 only when QEMU could not be started. */
int be_qemu_run(struct be_qemu *qemu, struct be_error *err) BE_MUST_CHECK;

/* What a kernel said when it panicked, from a console log; NULL when it did not. The caller frees. */
char *be_console_panic(const char *path);
/* The last @lines lines of a console log that are worth a look; a kernel's panic line comes first where there is one.
 */
char *be_console_tail(const char *path, size_t lines);

#endif
