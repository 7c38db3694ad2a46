/*
 * The runs of lab machines: each begins when a machine asks what to boot, and ends when its delivery is whole, when the
 * machine boots anew, or when nothing can come any more. What is known of one lies in a file, so that a server that is
 * started again goes on with it.
 */
#ifndef BE_RUNS_H
#define BE_RUNS_H

#include <stdint.h>

#include "builder/lab/site.h"
#include "builder/lab/table.h"

#define BE_TOKEN_LENGTH 32

struct be_lab_run {
	char token[BE_TOKEN_LENGTH + 1];
	char *machine;    /* the folder of its results: its name, or its address with hyphens */
	char *mac;        /* "52:54:00:12:34:56" */
	char *image;      /* id */
	int64_t turn;     /* of the machine's images */
	int64_t begun;    /* seconds of the epoch */
	int64_t deadline; /* and when nothing is waited for any more */
};

struct be_runs {
	const struct be_site *site;
	struct be_table *table;
	const char *output; /* folder of the results */
	int64_t limit;      /* bytes of one delivery */
	/* Nothing more comes of this run. Called before its result is written: its machine may already ask anew. */
	int (*ended)(void *data, const struct be_lab_run *run, struct be_error *err);
	void *data;
	struct be_lab_run *v;
	size_t n;
	int64_t results;      /* deliveries that came to their end */
	enum be_status worst; /* of their exit statuses */
};

/* Takes up what an earlier server left. */
int be_runs_open(struct be_runs *runs, struct be_error *err) BE_MUST_CHECK;
void be_runs_close(struct be_runs *runs);
/*
 * A machine was told to boot: from now on @token is good. An earlier run of the machine ends. @asked says which
 * machine, image and turn, and is copied.
 */
int be_runs_begin(struct be_runs *runs, const char *token, const struct be_lab_run *asked,
		  struct be_error *err) BE_MUST_CHECK;
struct be_lab_run *be_runs_find(const struct be_runs *runs, const char *token); /* NULL: there is none */
/* A part came; a delivery that became too large ends here. */
int be_runs_part(struct be_runs *runs, const char *token, struct be_error *err) BE_MUST_CHECK;
/* The delivery is at its end, by the machine's word. */
int be_runs_end(struct be_runs *runs, const char *token, struct be_error *err) BE_MUST_CHECK;
/* Ends those of which nothing can come any more. */
int be_runs_expire(struct be_runs *runs, int64_t now, struct be_error *err) BE_MUST_CHECK;

#endif
