#include "builder/build_matrix.h"

#include <pthread.h>
#include <stdio.h>

#include "base/file.h"
#include "builder/folders.h"
#include "builder/parallel.h"
#include "builder/progress.h"

struct run {
	const struct be_matrix *matrix;
	struct be_recipe recipe;
	struct be_shared *shared; /* NULL: there is one image only */
	struct be_strv folders;   /* of the kernels; none where there is one */
	pthread_mutex_t planning; /* plans are made one at a time: a recipe gathers warnings */
};

static size_t kernels_of(const struct be_matrix *matrix)
{
	return matrix->kernels->n ? matrix->kernels->n : 1;
}

static struct be_node *make_plan(struct run *run, size_t atom, struct be_node **source, struct be_error *err)
{
	pthread_mutex_lock(&run->planning);
	struct be_node *plan = be_recipe_plan(&run->recipe, run->matrix->recipe, atom, source, err);
	be_recipe_warn(&run->recipe, "build");
	pthread_mutex_unlock(&run->planning);
	return plan;
}

/* OUTPUT[/KERNEL][/ATOM] */
static char *folder_of(const struct run *run, size_t kernel, size_t atom)
{
	const struct be_matrix *matrix = run->matrix;
	be_autobuf struct be_buf path = { 0 };
	be_buf_adds(&path, matrix->image->output);
	if (run->folders.n)
		be_buf_addf(&path, "/%s", run->folders.v[kernel]);
	if (matrix->all)
		be_buf_addf(&path, "/%s", run->recipe.jobs.atoms[atom].name);
	return be_buf_steal(&path);
}

static int fail_one(const struct run *run, size_t kernel, size_t atom, struct be_error *err)
{
	if (run->matrix->all)
		be_wrap(err, "%s", run->recipe.jobs.atoms[atom].name);
	if (run->folders.n)
		be_wrap(err, "--kernel %s", run->matrix->kernels->v[kernel]);
	return -1;
}

static int build_one(struct run *run, size_t item, bool quiet, struct be_error *err)
{
	const struct be_matrix *matrix = run->matrix;
	size_t kernel = item / run->recipe.n, atom = run->recipe.first + item % run->recipe.n;
	be_autonode struct be_node *source = NULL;
	be_autonode struct be_node *plan = make_plan(run, atom, &source, err);
	if (!plan)
		return -1;
	be_autofree char *output = folder_of(run, kernel, atom);
	struct be_build_request image = *matrix->image;
	image.output = output;
	image.shared = run->shared;
	image.kernel = kernel < matrix->kernels->n ? matrix->kernels->v[kernel] : NULL;
	image.modules = kernel < matrix->modules->n && *matrix->modules->v[kernel] ? matrix->modules->v[kernel] : NULL;
	image.plan = plan;
	image.programs = matrix->programs;
	image.recipe = source;
	image.paths = &run->recipe.paths;
	image.quiet = quiet;
	if (be_image_build(&image, err) != 0)
		return fail_one(run, kernel, atom, err);
	if (quiet && !matrix->image->quiet)
		fprintf(stderr, "%-10s %s\n", "image", output);
	return 0;
}

static int build_item(void *data, size_t item, struct be_error *err)
{
	return build_one(data, item + 1, true, err);
}

static int make_folders(const struct run *run, struct be_error *err)
{
	const struct be_matrix *matrix = run->matrix;
	if ((matrix->all || run->folders.n) && be_mkdirs(matrix->image->output, 0777, err) != 0)
		return -1;
	for (size_t i = 0; matrix->all && i < run->folders.n; i++) {
		be_autofree char *path = be_strf("%s/%s", matrix->image->output, run->folders.v[i]);
		if (be_mkdirs(path, 0777, err) != 0)
			return -1;
	}
	return 0;
}

/* What the first one fetches and unpacks the others find in the cache. */
static int build_all(struct run *run, struct be_error *err)
{
	struct be_shared shared;
	size_t n = run->recipe.n * kernels_of(run->matrix);
	if (make_folders(run, err) != 0)
		return -1;
	if (n < 2)
		return build_one(run, 0, run->matrix->image->quiet, err);
	be_interrupt_catch();
	int rc = be_shared_open(&shared, run->recipe.paths.cache, err);
	run->shared = &shared;
	if (rc == 0)
		rc = build_one(run, 0, run->matrix->image->quiet, err);
	if (rc == 0)
		rc = be_parallel(n - 1, build_item, run, err);
	run->shared = NULL;
	be_shared_close(&shared);
	be_interrupt_release();
	return rc;
}

int be_matrix_build(const struct be_matrix *matrix, struct be_error *err)
{
	struct run run = { .matrix = matrix, .planning = PTHREAD_MUTEX_INITIALIZER };
	if (matrix->kernels->n > 1)
		be_folder_names(matrix->kernels, &run.folders);
	int rc = be_recipe_load(matrix->recipe, matrix->all, &run.recipe, err);
	if (rc == 0)
		rc = build_all(&run, err);
	be_recipe_free(&run.recipe);
	be_strv_free(&run.folders);
	pthread_mutex_destroy(&run.planning);
	return rc;
}
