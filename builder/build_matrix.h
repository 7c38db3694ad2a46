/* All images of one command: several atoms, several kernels. */
#ifndef BE_BUILD_MATRIX_H
#define BE_BUILD_MATRIX_H

#include "builder/image/image.h"
#include "builder/recipe.h"

struct be_matrix {
	const struct be_recipe_request *recipe;
	const struct be_build_request *image; /* output: the folder of all; what else every image has in common */
	const struct be_strv *programs;       /* --program */
	const struct be_strv *kernels;        /* of several, one folder each */
	const struct be_strv *modules;        /* modules->v[i] belongs to kernels->v[i]; "": none */
	bool all;                             /* every atom, each in a folder of its own */
};
/*
 * Builds them. What they have in common is resolved, verified and hashed once: by the first; the others follow, several
 * at once. Ends with the first that fails; those that are complete stay.
 */
int be_matrix_build(const struct be_matrix *matrix, struct be_error *err) BE_MUST_CHECK;

#endif
