/* PID 1's part of a run: watches the runner, reaps orphans, feeds the watchdog, delivers, and ends the run in time. */
#ifndef BE_SUPERVISOR_H
#define BE_SUPERVISOR_H

#include <sys/types.h>

#include "initrd/deliver.h"
#include "initrd/network/upload.h"
#include "initrd/volume.h"
#include "initrd/watchdog.h"

#define BE_LIMIT_UNTIL_PLAN 600 /* seconds for a run whose plan was not read yet */
#define BE_UNDO_SECONDS 60      /* for unmounting and stopping arrays after the delivery */

struct be_supervisor {
	pid_t runner;                   /* -1: it could not be started */
	int link;                       /* our end of the socket pair; see initrd/link.h */
	const char *state_dir;          /* where the runner leaves what is to be delivered */
	struct be_delivery *delivery;   /* NULL: there is nowhere to deliver to */
	struct be_upload *upload;       /* what @delivery writes goes on to a server; NULL: it goes where it should */
	const struct be_volume *volume; /* the same with a disk or stick, which @stream is copied to */
	int stream;                     /* the file that @delivery writes to, with @volume */
	/* Another place, when the server or the disk is lost: sets @delivery, may leave it NULL. The caller frees
	 * @delivery. */
	void (*fall_back)(struct be_supervisor *s);
	struct be_watchdog watchdog;
	double deadline; /* by be_monotonic(); 0: none */
	char stage[256]; /* what the runner said last */
	bool finished;   /* all is delivered */
	bool reboot;     /* the plan wants the machine to start again, not to power off */
};

/* Returns when the runner has ended or was ended, and all was delivered. */
void be_supervise(struct be_supervisor *s);

/*
 * The after.yaml of a run whose runner cannot write it any more: the runner's last draft at @path, else an empty
 * observation, with the outcome @state and @reason. The result is written back to @path.
 */
int be_conclude(const char *path, const char *state, const char *step, const char *reason,
		struct be_error *err) BE_MUST_CHECK;

#endif
