#include "builder/report/scrub.h"

#include <string.h>

#include "builder/report/scrub_words.h"

/* Hashes, versions and names of packages: nothing of a machine. */
static bool is_kept(const char *section)
{
	static const char *const kept[] = { "mkbenchenv", "schema", "program", "rules", "lock", "image" };
	for (size_t i = 0; i < BE_ARRAY_LEN(kept); i++)
		if (strcmp(kept[i], section) == 0)
			return true;
	return false;
}

static void collect(struct be_secrets *secrets, const struct be_node *node)
{
	if (node->kind == BE_SCALAR)
		be_secrets_collect(secrets, node->text);
	for (size_t i = 0; i < node->n; i++) {
		const struct be_node *item = node->items[i];
		const char *key = node->kind == BE_MAP ? node->keys[i] : "";
		be_secrets_collect(secrets, key);
		if (item->kind == BE_SCALAR && (strcmp(key, "serial") == 0 || strcmp(key, "wwn") == 0))
			be_secret_serial(secrets, item->text, strlen(item->text));
		else if (item->kind == BE_SCALAR && strcmp(key, "uuid") == 0)
			be_secret_uuid(secrets, item->text);
		collect(secrets, item);
	}
}

static void replace_text(struct be_secrets *secrets, char **text, bool hosts)
{
	char *clean = be_secrets_replace(secrets, *text, hosts);
	free(*text);
	*text = clean;
}

/* A serial number of any length stands alone below its key. */
static void replace_serial(struct be_secrets *secrets, struct be_node *item)
{
	const char *instead = be_secret_serial(secrets, item->text, strlen(item->text));
	if (!instead)
		return;
	free(item->text);
	item->text = be_strdup(instead);
}

static void replace(struct be_secrets *secrets, struct be_node *node, bool hosts)
{
	if (node->kind == BE_SCALAR)
		replace_text(secrets, &node->text, hosts);
	for (size_t i = 0; i < node->n; i++) {
		struct be_node *item = node->items[i];
		if (node->kind == BE_MAP && item->kind == BE_SCALAR &&
		    (strcmp(node->keys[i], "serial") == 0 || strcmp(node->keys[i], "wwn") == 0))
			replace_serial(secrets, item);
		else if (node->kind == BE_MAP && item->kind == BE_SCALAR && strcmp(node->keys[i], "hostname") == 0)
			be_set_str(node, "hostname", "host");
		else
			replace(secrets, item, hosts);
		if (node->kind == BE_MAP)
			replace_text(secrets, &node->keys[i], hosts);
	}
}

static void collect_all(struct be_secrets *secrets, const struct be_node *manifest)
{
	for (size_t i = 0; i < manifest->n; i++)
		if (!is_kept(manifest->keys[i]))
			collect(secrets, manifest->items[i]);
}

struct be_node *be_scrub(const struct be_node *manifest)
{
	be_cleanup(be_secrets_free) struct be_secrets secrets = { 0 };
	struct be_node *copy = be_node_clone(manifest);
	if (copy->kind != BE_MAP)
		return copy;
	const struct be_node *recipe = be_get(manifest, "recipe");
	if (be_get_bool(recipe, "host_shipped", false))
		be_secrets_publish(&secrets, be_get_str(recipe, "host", ""));
	secrets.counting = true;
	collect_all(&secrets, copy);
	secrets.counting = false;
	collect_all(&secrets, copy);
	for (size_t i = 0; i < copy->n; i++)
		if (!is_kept(copy->keys[i]))
			replace(&secrets, copy->items[i], strcmp(copy->keys[i], "recipe") != 0);
	const struct be_node *after = be_get(copy, "recipe");
	if (recipe && after && !be_node_equal(recipe, after))
		be_set(copy, "scrubbed", be_node_bool(true));
	return copy;
}
