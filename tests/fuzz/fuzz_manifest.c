/* Manifests of any kind, as people get them by mail: shown, scrubbed, and compared with another in both
 * directions. */
#include <stdint.h>
#include <stdlib.h>

#include "builder/report/diff.h"
#include "builder/report/manifest.h"
#include "builder/report/scrub.h"
#include "factor.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct be_node *factors, *other;

static struct be_node *side(const struct be_node *manifest)
{
	struct be_node *runs = be_node_seq(), *run = be_node_map();
	be_set_str(run, "path", "run");
	be_set(run, "manifest", be_node_clone(manifest));
	be_add(runs, run);
	return runs;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	struct be_error err = BE_ERROR_INIT;
	factors = be_factors_load("recipes", &err);
	be_autonode struct be_node *manifest = be_node_load_file("tests/threads/manifest.yaml", &err);
	if (!factors || !manifest)
		abort();
	other = side(manifest);
	return 0;
}

static void compare(const struct be_node *a, const struct be_node *b)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_diff_input input = { .a = a, .b = b, .factors = factors };
	be_autobuf struct be_buf text = { 0 };
	be_autonode struct be_node *diff = be_diff_make(&input);
	if (be_diff_text(diff, true, &text, &err) != 0 || be_node_json(diff, &text, &err) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *manifest = be_node_load((const char *)data, size, "manifest", &err);
	if (!manifest)
		return 0;
	be_autobuf struct be_buf text = { 0 };
	struct be_manifest_view view = { .full = true }, brief = { .full = false };
	if (be_manifest_text(manifest, factors, &view, &text, &err) != 0 ||
	    be_manifest_text(manifest, factors, &brief, &text, &err) != 0)
		return 0;
	be_autonode struct be_node *clean = be_scrub(manifest);
	if (be_node_yaml(clean, &text, &err) != 0)
		return 0;
	be_autonode struct be_node *runs = side(manifest);
	compare(runs, other);
	compare(other, runs);
	compare(runs, runs);
	return 0;
}
