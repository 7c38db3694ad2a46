/*
 * From a job to a checked manifest: each test builds an image with the program itself, boots it, and looks at the
 * result. The program is $MKBENCHENV, the folder for images and results $E2E_WORK; both are set by e2e.mk.
 */
#ifndef BE_E2E_LAB_H
#define BE_E2E_LAB_H

#include <criterion/criterion.h>

#include "base/node.h"

struct lab {
	const char *name;    /* of the test: its folder in $E2E_WORK */
	const char *job;     /* file of recipes/jobs without .yaml, or NULL */
	const char *more;    /* lines added to the job, or, without one, the whole job; or NULL */
	const char *host;    /* text of a host file, or NULL: the job's own */
	const char *set[6];  /* --set */
	const char *boot[6]; /* arguments of `boot` */
	int status;          /* exit status that `boot` must have */
	/* out */
	char *result;             /* folder */
	struct be_node *manifest; /* of the result */
};
/* Builds and boots. Fails the test where a command does not end as it must. */
void lab_run(struct lab *lab);
/* Frees, and removes the images and results of a test that came so far. */
void lab_done(struct lab *lab);

/* The entry of a factor, and checks of it. */
const struct be_node *lab_factor(const struct lab *lab, const char *name);
void lab_expect(const struct lab *lab, const char *factor, const char *observed, const char *verdict);
/* The verdict of a factor whose value is compared otherwise. */
void lab_expect_verdict(const struct lab *lab, const char *factor, const char *verdict);
/* A figure of the result that is there and more than 0. */
void lab_expect_metric(const struct lab *lab, const char *name);
/* Some deviation contains @text. */
void lab_expect_deviation(const struct lab *lab, const char *text);
/* `show` of the result prints what @pattern (POSIX extended) matches; it may go over lines. */
void lab_expect_shown(const struct lab *lab, const char *pattern);
/* The state of the result. */
void lab_expect_state(const struct lab *lab, const char *state);

#endif
