/*
 * LKP job files: recipes with lists, templates and includes, and the expanded files that the robot attaches to its
 * mails. The language is described by the behaviour of lkp-tests' split-job (commit bbbc29c, 2026-07-22).
 */
#ifndef BE_JOB_H
#define BE_JOB_H

#include "base/node.h"

struct be_atom {
	char *name;          /* LKP's file name without .yaml, e.g. fio-basic-4k-performance-2pmem-ext4-... */
	struct be_node *job; /* map: the atomic job, keys in LKP's order */
};

struct be_jobs {
	char *text; /* the file, verbatim */
	struct be_atom *atoms;
	size_t n;
	struct be_strv warnings; /* each begins with its position, "job.yaml:3:1: ..." */
};

struct be_job_options {
	const char *data_dir; /* recipes/: what a list expands over is in its programs.yaml */
	/*
	 * KEY=VALUE or "KEY: VALUE", as LKP's -s; or NULL. The bare name of an option is set where it stands in the
	 * job, or at the program that declares it.
	 */
	const struct be_strv *set;
	/* Of an expanded file keep only what came from the job, and what says when and on what it ran. */
	bool compatible;
	/* For templates that ask the machine (nr_cpu, memory); NULL: the one that the job names. */
	const struct be_node *host;
	/* The file's bytes where they were read before: a pipe gives them once. NULL: read the file. */
	const struct be_buf *content;
};

/* Reads @path and expands it. The caller frees @out, also after a failure. */
int be_jobs_load(const char *path, const struct be_job_options *options, struct be_jobs *out,
		 struct be_error *err) BE_MUST_CHECK;
void be_jobs_free(struct be_jobs *jobs);
#define be_autojobs be_cleanup(be_jobs_free)

#endif
