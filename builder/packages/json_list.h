/* Lists of texts in the cache's JSON. */
#ifndef BE_JSON_LIST_H
#define BE_JSON_LIST_H

#include <jansson.h>

#include "base/str.h"

/* A new reference to an array of strings. */
json_t *be_json_list(const struct be_strv *list);
/* Adds the strings of @list to @out; what is none is passed over, and so is a @list that is no array. */
void be_json_list_read(const json_t *list, struct be_strv *out);

#endif
