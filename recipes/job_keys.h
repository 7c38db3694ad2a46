/* What the keys of jobs and hosts mean: programs.yaml as a table. Used by the readers of jobs and hosts and the
 * planner. */
#ifndef BE_JOB_KEYS_H
#define BE_JOB_KEYS_H

#include "base/node.h"

enum be_key_use {
	BE_KEY_SETUP = 1 << 0, /* a program of this kind */
	BE_KEY_RUN = 1 << 1,
	BE_KEY_DAEMON = 1 << 2,
	BE_KEY_OPTION = 1 << 3,  /* declared by a program */
	BE_KEY_EXPANDS = 1 << 4, /* a list of it expands whatever programs there are */
	BE_KEY_OURS = 1 << 5,
	BE_KEY_MONITOR = 1 << 6,
	BE_KEY_HOST = 1 << 7,
	BE_KEY_KNOWN = 1 << 8,      /* bookkeeping of queue, scheduler and run */
	BE_KEY_PROVENANCE = 1 << 9, /* kept of an expanded job: on what it ran, and when */
	BE_KEY_NAMED = 1 << 10,     /* an option that a job's name shows as NAME=VALUE */
};
#define BE_KEY_PROGRAM ((unsigned)(BE_KEY_SETUP | BE_KEY_RUN | BE_KEY_DAEMON))
#define BE_KEY_ANY (~0u)

struct be_declarer {
	unsigned short program; /* its number */
	bool expands;           /* a list of the option is a dimension, not the option's value */
};

struct be_key {
	char *name;
	unsigned uses;                 /* of enum be_key_use */
	unsigned program;              /* number of the program, for BE_KEY_PROGRAM */
	struct be_declarer *declarers; /* for BE_KEY_OPTION */
	size_t n_declarers;
};

struct be_keys {
	struct be_key *v; /* sorted by name */
	size_t n;
	unsigned n_programs;
};

/*
 * The table of a data folder, read when it is first asked for; it lives as long as the program. The second one knows
 * the programs and parameters of all workload definitions too; a job needs it only where the first one does not do.
 */
const struct be_keys *be_keys_of(const char *data_dir, struct be_error *err);
const struct be_keys *be_keys_with_workloads(const char *data_dir, struct be_error *err);

const struct be_key *be_key_find(const struct be_keys *keys, const char *name); /* NULL: not known */
bool be_key_is(const struct be_keys *keys, const char *name, unsigned uses);
bool be_key_declared_by(const struct be_key *key, unsigned program);
/* The known name with one of @uses that @name is probably a slip of: at most two letters off; or NULL. */
const char *be_key_nearest(const struct be_keys *keys, const char *name, unsigned uses);
/* The same among the options of one program. */
const char *be_key_nearest_option(const struct be_keys *keys, const char *name, unsigned program);

#endif
