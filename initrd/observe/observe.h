/*
 * Observation: every factor of the plan's catalogue read from the system that is there (SCHEMA.md, section 3). All
 * reads go through one root, so that tests replay recorded trees. A factor gets one honest value, or the true reason
 * why not.
 */
#ifndef BE_OBSERVE_H
#define BE_OBSERVE_H

#include "base/file.h"
#include "base/node.h"
#include "initrd/kmsg.h"
#include "initrd/observe/sample.h"
#include "initrd/observe/scopes.h"

struct libmnt_table;

enum be_phase { BE_BEFORE, BE_AFTER };

struct be_observer {
	struct be_root root;
	const struct be_node *plan;
	const struct be_scopes *scopes;
	const struct be_node *facts;    /* what the runner itself knows: factor -> value, for kinds `run` */
	const struct be_sample *sample; /* what was seen while the workload ran; NULL before it */
	const struct be_node
		*readings; /* of a recorded tree: the factors that no file tells; NULL: look at the system */
	const struct be_node *earlier; /* environment observed in the same phase before, or NULL: what is to be read
					* `once:` is taken from it */
	struct be_kmsg *log;           /* what earlier observations read of it; NULL: be_observe reads it for itself */
	/* be_observe's own: what many factors or instances are read from is read once */
	struct be_node *tools;       /* outputs of programs that were run already */
	struct be_node *tables;      /* of disks, file systems and processes, by name of the table */
	struct be_node *texts;       /* of files of /proc, by path */
	struct be_supers *supers;    /* NULL, or being read */
	struct libmnt_table *mounts; /* NULL: they cannot be read */
};

/* The `environment:` of an observation document: all factors that belong to @phase. Never fails. */
struct be_node *be_observe(const struct be_observer *o, enum be_phase phase);

enum be_reading_state {
	BE_READ,
	BE_ABSENT, /* what was looked for does not exist: the factor's `absent:` is its value, if it has one */
	BE_NOT_APPLICABLE,
	BE_NOT_OBSERVABLE,
};

/* What one look at one instance gave. */
struct be_reading {
	enum be_reading_state state;
	struct be_node *value; /* BE_READ */
	char *text;            /* else: why */
};
struct be_reading be_reading_value(struct be_node *value); /* takes ownership */
struct be_reading be_reading_text(const char *text);
struct be_reading be_reading_absent(const char *fmt, ...) BE_PRINTF(1, 2);
struct be_reading be_reading_not_observable(const char *fmt, ...) BE_PRINTF(1, 2);
struct be_reading be_reading_not_applicable(const char *fmt, ...) BE_PRINTF(1, 2);
void be_reading_free(struct be_reading *reading);

/* One look: which factor, how, and at what. */
struct be_look {
	const struct be_observer *o;
	const struct be_node *how; /* the factor's `observe:` */
	enum be_scope scope;
	const struct be_instance *at;
	const char *path; /* `path:` for this instance, or NULL */
};
typedef struct be_reading (*be_look_fn)(const struct be_look *look);

/* The observe kinds (observe_kinds.c) and the probes (probes.c) by name; NULL for an unknown one. */
be_look_fn be_observe_kind(const char *kind);
be_look_fn be_probe(const char *name);
bool be_probe_is_live(const char *name); /* does it ask more than files? */

/* Does only the running system tell, however its files were recorded? */
bool be_observe_is_live(const struct be_node *factor);

/* be_root_text, of files of /proc once: many factors are lines of one file. The caller frees. */
char *be_observe_text(const struct be_observer *o, const char *path);

/* The table called @key, made by @make when it is first asked for: once, not once a disk or file system. */
const struct be_node *be_observe_table(const struct be_observer *o, const char *key,
				       struct be_node *(*make)(const struct be_observer *o));

/* The first group of the extended regular expression @pattern in @text, or NULL. The caller frees. */
char *be_match(const char *pattern, const char *text);
/* The value of the first line "FIELD: value" or "FIELD value" of @text, trimmed, or NULL. The caller frees. */
char *be_field(const char *text, const char *field);
/* The name of a file system by the f_type of statfs(2); the number as text for an unknown one. The caller frees. */
char *be_fs_name(unsigned long type);

#endif
