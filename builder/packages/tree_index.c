/* The index of an archive as JSON: [[path, type, mode, size, target, elf, offset], ...]; elf is null or
 * [needed, wanted, runpath, interpreter, oldest kernel]. */
#include <jansson.h>
#include <string.h>

#include "builder/packages/json_list.h"
#include "builder/packages/tree.h"

static json_t *elf_json(const struct be_elf *elf)
{
	if (!elf)
		return json_null();
	return json_pack("[oos?s?s?]", be_json_list(&elf->needed), be_json_list(&elf->wanted), elf->runpath,
			 elf->interpreter, elf->oldest_kernel);
}

char *be_tree_text(const struct be_tree *tree, bool offsets)
{
	json_t *list = json_array();
	bool ok = true;
	for (size_t i = 0; i < tree->n; i++) {
		const struct be_entry *e = &tree->entries[i];
		char type[2] = { (char)e->type, '\0' };
		json_t *item = json_pack("[ssiIs?oI]", e->path, type, (int)e->mode, (json_int_t)e->size, e->target,
					 elf_json(e->elf), (json_int_t)(offsets ? e->offset : -1));
		ok = json_array_append_new(list, item) == 0 && ok;
	}
	char *text = ok ? json_dumps(list, JSON_COMPACT) : NULL;
	json_decref(list);
	return text;
}

static struct be_elf *read_elf(json_t *json)
{
	if (!json_is_array(json))
		return NULL;
	struct be_elf *elf = be_alloc(sizeof(*elf));
	be_json_list_read(json_array_get(json, 0), &elf->needed);
	be_json_list_read(json_array_get(json, 1), &elf->wanted);
	elf->runpath = be_strdup(json_string_value(json_array_get(json, 2)));
	elf->interpreter = be_strdup(json_string_value(json_array_get(json, 3)));
	elf->oldest_kernel = be_strdup(json_string_value(json_array_get(json, 4)));
	return elf;
}

static bool read_entry(json_t *json, struct be_entry *entry)
{
	const char *path = json_string_value(json_array_get(json, 0)),
		   *type = json_string_value(json_array_get(json, 1));
	if (!path || !type || !*type || !strchr("fdlh", *type))
		return false;
	*entry = (struct be_entry){ .path = be_strdup(path),
				    .type = (enum be_entry_type) * type,
				    .mode = (unsigned)json_integer_value(json_array_get(json, 2)),
				    .size = json_integer_value(json_array_get(json, 3)),
				    .offset = json_integer_value(json_array_get(json, 6)),
				    .target = be_strdup(json_string_value(json_array_get(json, 4))),
				    .elf = read_elf(json_array_get(json, 5)) };
	return true;
}

bool be_tree_parse(struct be_tree *tree, const char *text, size_t len)
{
	json_t *list = json_loadb(text, len, 0, NULL), *item;
	size_t i;
	bool ok = json_is_array(list);
	if (ok)
		tree->entries = be_alloc((json_array_size(list) + 1) * sizeof(*tree->entries));
	json_array_foreach(list, i, item)
	{
		ok = ok && read_entry(item, &tree->entries[tree->n]);
		tree->n += ok;
	}
	json_decref(list);
	return ok;
}
