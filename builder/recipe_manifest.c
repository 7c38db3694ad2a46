/* The recipe that a manifest holds, in the place of a job file and its host file. */
#include "builder/recipe.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"

static const struct be_node *recipe_of(const struct be_node *manifest)
{
	return be_get(manifest, "recipe");
}

int be_recipe_of_manifest(struct be_recipe_request *request, const struct be_node *manifest, struct be_error *err)
{
	const struct be_node *recipe = recipe_of(manifest);
	if (!be_get_str(recipe, "job", NULL)) {
		be_fail_usage(err, "manifest: recipe.job is not there, so that nothing can be built from it");
		return be_hint(err, "the manifest of an image or a result has it, the mail form has not");
	}
	request->manifest = manifest;
	request->pick = be_get_str(recipe, "pick", NULL);
	request->compatible = be_get_bool(recipe, "compatible", false);
	be_get_strv(recipe, "set", &request->set);
	return 0;
}

/* Names of job and host file are part of the plan; they become part of a path here. */
static const char *file_name(const struct be_node *recipe, const char *key, const char *fallback)
{
	const char *name = be_get_str(recipe, key, be_get_str(be_get(recipe, "resolved"), fallback, NULL));
	return name && *name && !be_streq(name, ".") && !be_streq(name, "..") && !strchr(name, '/') ? name : fallback;
}

static int write_text(const char *path, const char *text, struct be_error *err)
{
	return be_write_file(path, text, strlen(text), 0600, err);
}

int be_recipe_manifest(const struct be_recipe_request *request, struct be_recipe *out, struct be_error *err)
{
	const struct be_node *recipe = recipe_of(request->manifest), *rules = be_get(request->manifest, "rules");
	const char *host = be_get_str(recipe, "host", NULL), *tmp = getenv("TMPDIR");
	be_autofree char *dir = be_strf("%s/mkbenchenv-recipe-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (out->mail_dir) /* a second reading, now that the host is known */
		return 0;
	if (!mkdtemp(dir))
		return be_fail_errno(err, errno, "%s", dir);
	out->mail_dir = be_steal(&dir);
	out->mail_job = be_strf("%s/%s.yaml", out->mail_dir, file_name(recipe, "job_name", "testcase"));
	if (be_streq(be_get_str(rules, "from", NULL), "today"))
		out->rules_date = be_strdup(be_get_str(rules, "date", NULL));
	if (write_text(out->mail_job, be_get_str(recipe, "job", ""), err) != 0)
		return -1;
	if (!host)
		return 0;
	be_autofree char *folder = be_strf("%s/host", out->mail_dir);
	if (be_mkdirs(folder, 0700, err) != 0)
		return -1;
	out->mail_host = be_strf("%s/host/%s", out->mail_dir, file_name(recipe, "host_name", "tbox_group"));
	return write_text(out->mail_host, host, err);
}

/* By its name and, of several with one name, by its keys. */
int be_recipe_pick_of_manifest(const struct be_recipe_request *request, struct be_recipe *recipe, struct be_error *err)
{
	const char *name = be_get_str(request->manifest, "name", NULL);
	const struct be_node *resolved = be_get(recipe_of(request->manifest), "resolved");
	bool found = false;
	for (size_t i = 0; i < recipe->jobs.n; i++) {
		const struct be_atom *atom = &recipe->jobs.atoms[i];
		bool same = be_node_equal(atom->job, resolved);
		if (!be_streq(atom->name, name) || (found && !same))
			continue;
		recipe->first = i;
		found = true;
		if (same)
			break;
	}
	recipe->n = 1;
	return found ? 0
		     : be_fail(err, "the manifest's recipe gives no atomic job of the name %s with this mkbenchenv",
			       name ? name : "(none)");
}
