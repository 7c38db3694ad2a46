/* What a person sees while a build runs, and how a signal stops it: at the next step, with nothing left behind. */
#ifndef BE_PROGRESS_H
#define BE_PROGRESS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/process.h"

struct be_progress {
	bool quiet, live; /* live: stderr is a terminal, so that the current step can be shown as it goes */
	bool open;        /* a step has begun and not ended */
	double step;      /* when it began, seconds of the monotonic clock */
	char name[24];
};
void be_progress_start(struct be_progress *progress, bool quiet);
/* Begins a step; its name is one or two words. A step that is open ends without a line. */
void be_progress_step(struct be_progress *progress, const char *name);
/* What the step is doing now; shown on a terminal only. */
void be_progress_note(struct be_progress *progress, const char *fmt, ...) BE_PRINTF(2, 3);
/* Ends the step with its line: name, what was done, time. */
void be_progress_done(struct be_progress *progress, const char *fmt, ...) BE_PRINTF(2, 3);
/* A line of its own for a part of a step that ran beside others. */
void be_progress_part(struct be_progress *progress, const char *name, double seconds, const char *fmt, ...)
	BE_PRINTF(4, 5);
/* Clears a live line, before something else is printed. */
void be_progress_clear(struct be_progress *progress);

/* From here on SIGINT, SIGTERM and SIGHUP are remembered and no longer end the process. */
void be_interrupt_catch(void);
/* Restores what was; a signal that came in between ends the process now, as it would have. */
void be_interrupt_release(void);
/* -1 with an error when such a signal came. Long loops call it once a block. Safe from any thread. */
int be_interrupted(struct be_error *err);
/* be_run_ok for a child that is to end when we are interrupted. */
int be_run_interruptible(struct be_run *run, struct be_error *err) BE_MUST_CHECK;

#endif
