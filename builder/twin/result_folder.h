/* A result folder: manifest, observations, logs and the workload's files of one run, whatever way they arrived by. */
#ifndef BE_RESULT_FOLDER_H
#define BE_RESULT_FOLDER_H

#include "builder/image/image_folder.h"
#include "builder/twin/result.h"

/* What there is of a run. */
struct be_run_source {
	const struct be_image_folder *image; /* NULL: not at hand, and the folder gets no manifest */
	const char *delivery;                /* file with the tar stream */
	const char *console;                 /* console log; it is moved into the folder. NULL: there is none */
	const char *damage;                  /* what was lost on the way, or NULL: the stream is as it was received */
	const char *ended;                   /* why the machine is off, for people */
	bool timed_out;                      /* it was stopped from outside */
	const struct be_node *twin;          /* for `machine.twin:`, or NULL */
	const struct be_node *deviations;    /* of the twin, or NULL */
};

/*
 * Makes the folder @dir. @result is then the manifest's `result:`, which the caller frees; be_result_status() tells
 * the exit status that the run deserves. -1 when @dir cannot be written.
 */
int be_result_write(const struct be_run_source *run, const char *dir, struct be_node **result,
		    struct be_error *err) BE_MUST_CHECK;

/* Checks that @path can become a result: nothing is there, or an empty folder, or a result of ours. */
int be_result_check_output(const char *path, struct be_error *err) BE_MUST_CHECK;
/* Makes an empty folder beside @path to work in; the caller frees its name and removes it. NULL on error. */
char *be_result_work_folder(const char *path, struct be_error *err);
/* Puts the folder @made, in the work folder @work, in the place of @path. What was there goes only when that is done.
 */
int be_result_place(const char *work, const char *made, const char *path, struct be_error *err) BE_MUST_CHECK;

#endif
