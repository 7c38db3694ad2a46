/* The names that the expressions of a workload definition see, and the rendering of its texts and lists. */
#ifndef BE_WORKLOAD_SCOPE_H
#define BE_WORKLOAD_SCOPE_H

#include "expr.h"
#include "workload.h"

struct be_variable {
	char *name;
	struct be_value value;
};

struct be_scope {
	const struct be_node *workload; /* the `workload:` of a plan */
	const char *rules;
	struct be_machine_size size;
	struct be_variable *vars; /* later ones hide earlier ones of the same name */
	size_t n, cap;
};

void be_scope_free(struct be_scope *scope);
#define be_autoscope be_cleanup(be_scope_free)
void be_scope_set(struct be_scope *scope, const char *name, struct be_value value); /* takes over @value */

/* The value of the expression @node, a scalar. The error begins with its position. */
int be_scope_eval(struct be_scope *scope, const struct be_node *node, struct be_value *out, struct be_error *err);
/* The same, which must be a whole number. */
int be_scope_eval_int(struct be_scope *scope, const struct be_node *node, int64_t *out, struct be_error *err);
/* @node's text with every ${expression} replaced; NULL on failure, the caller frees. */
char *be_scope_text(struct be_scope *scope, const struct be_node *node, struct be_error *err);
/* Adds the items of the list @node: texts, lists in the list, and maps {if, since, until, each, items, else}. */
int be_scope_list(struct be_scope *scope, const struct be_node *node, struct be_strv *out, struct be_error *err);
/* Do `if`, `since` and `until` of the map @node hold? 1, 0, or -1. */
int be_scope_holds(struct be_scope *scope, const struct be_node *node, struct be_error *err);

/* Sets a variable for every parameter of the definition, typed by its unit, and fills @values and @notes. */
int be_scope_parameters(struct be_scope *scope, struct be_node *values, struct be_strv *notes, struct be_error *err);

#endif
