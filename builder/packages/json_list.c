#include "builder/packages/json_list.h"

json_t *be_json_list(const struct be_strv *list)
{
	json_t *out = json_array();
	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(out, json_string(list->v[i]));
	return out;
}

void be_json_list_read(const json_t *list, struct be_strv *out)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));
		if (text)
			be_strv_add(out, text);
	}
}
