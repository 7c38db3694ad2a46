/* Writing: a tree as YAML by libyaml or as JSON by jansson. */
#include <jansson.h>
#include <string.h>
#include <yaml.h>

#include "base/node.h"

#define FLOW_WIDTH 100 /* a sequence of scalars shorter than this stands on one line */

static int add_text(void *data, unsigned char *text, size_t len)
{
	be_buf_add(data, text, len);
	return 1;
}

static bool fits_one_line(const struct be_node *seq)
{
	size_t width = 0;
	for (size_t i = 0; i < seq->n; i++) {
		const struct be_node *item = seq->items[i];
		if (item->kind != BE_SCALAR || strchr(item->text, '\n'))
			return false;
		width += strlen(item->text) + 4;
	}
	return width < FLOW_WIDTH;
}

static int emit_scalar(yaml_emitter_t *e, const char *text, bool is_text)
{
	yaml_event_t event;
	bool plain = !is_text || be_scalar_type(text) == BE_TYPE_TEXT;
	yaml_scalar_style_t style = strchr(text, '\n') ? YAML_LITERAL_SCALAR_STYLE
				    : plain            ? YAML_ANY_SCALAR_STYLE
						       : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), plain, 1,
					    style) &&
	       yaml_emitter_emit(e, &event);
}

static int emit(yaml_emitter_t *e, const struct be_node *node)
{
	yaml_event_t event;
	int ok = 1;
	switch (node->kind) {
	case BE_NULL:
		return emit_scalar(e, "null", false);
	case BE_SCALAR:
		return emit_scalar(e, node->text, node->quoted);
	case BE_SEQ:
		ok = yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
							  fits_one_line(node) ? YAML_FLOW_SEQUENCE_STYLE
									      : YAML_BLOCK_SEQUENCE_STYLE) &&
		     yaml_emitter_emit(e, &event);
		for (size_t i = 0; ok && i < node->n; i++)
			ok = emit(e, node->items[i]);
		return ok && yaml_sequence_end_event_initialize(&event) && yaml_emitter_emit(e, &event);
	case BE_MAP:
		ok = yaml_mapping_start_event_initialize(
			     &event, NULL, NULL, 1, node->n ? YAML_BLOCK_MAPPING_STYLE : YAML_FLOW_MAPPING_STYLE) &&
		     yaml_emitter_emit(e, &event);
		for (size_t i = 0; ok && i < node->n; i++)
			ok = emit_scalar(e, node->keys[i], true) && emit(e, node->items[i]);
		return ok && yaml_mapping_end_event_initialize(&event) && yaml_emitter_emit(e, &event);
	}
	return 0;
}

int be_node_yaml(const struct be_node *node, struct be_buf *out, struct be_error *err)
{
	yaml_emitter_t e;
	yaml_event_t event;
	if (!yaml_emitter_initialize(&e))
		return be_fail(err, "out of memory");
	yaml_emitter_set_output(&e, add_text, out);
	yaml_emitter_set_unicode(&e, 1);
	yaml_emitter_set_width(&e, -1);
	yaml_emitter_set_break(&e, YAML_LN_BREAK);
	int ok = yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) && yaml_emitter_emit(&e, &event) &&
		 yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) && yaml_emitter_emit(&e, &event) &&
		 emit(&e, node) && yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(&e, &event) &&
		 yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(&e, &event);
	int rc = ok ? 0
		    : be_fail(err, "a document cannot be written as YAML: %s", e.problem ? e.problem : "out of memory");
	yaml_emitter_delete(&e);
	return rc;
}

static json_t *scalar_json(const struct be_node *node, bool all_text)
{
	enum be_scalar_type type = node->quoted ? BE_TYPE_TEXT : be_scalar_type(node->text);
	int64_t number;
	if (all_text)
		return json_string(type == BE_TYPE_TRUE ? "true" : type == BE_TYPE_FALSE ? "false" : node->text);
	switch (type) {
	case BE_TYPE_TRUE:
		return json_true();
	case BE_TYPE_FALSE:
		return json_false();
	case BE_TYPE_INT:
		return be_parse_int(node->text, &number) ? json_integer(number) : json_string(node->text);
	case BE_TYPE_REAL:
		return json_real(strtod(node->text, NULL));
	default:
		return json_string(node->text);
	}
}

static json_t *to_json(const struct be_node *node, bool all_text)
{
	json_t *out = NULL;
	switch (node->kind) {
	case BE_NULL:
		return json_null();
	case BE_SCALAR:
		return scalar_json(node, all_text);
	case BE_SEQ:
		out = json_array();
		for (size_t i = 0; i < node->n; i++)
			json_array_append_new(out, to_json(node->items[i], all_text));
		return out;
	case BE_MAP:
		out = json_object();
		for (size_t i = 0; i < node->n; i++)
			json_object_set_new(out, node->keys[i], to_json(node->items[i], all_text));
		return out;
	}
	return out;
}

static int write_json(const struct be_node *node, bool all_text, struct be_buf *out, struct be_error *err)
{
	json_t *json = to_json(node, all_text);
	char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_ENCODE_ANY) : NULL;
	json_decref(json);
	if (!text)
		return be_fail(err, "a document cannot be written as JSON");
	be_buf_adds(out, text);
	be_buf_addc(out, '\n');
	free(text);
	return 0;
}

int be_node_json(const struct be_node *node, struct be_buf *out, struct be_error *err)
{
	return write_json(node, false, out, err);
}

int be_node_json_text(const struct be_node *node, struct be_buf *out, struct be_error *err)
{
	return write_json(node, true, out, err);
}
