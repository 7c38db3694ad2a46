#include "builder/report/manifest_file.h"

#include <string.h>

#include "base/file.h"
#include "builder/image/hash.h"

#define PART_LEAST 2048 /* a shorter one is not worth a file */

/* What may lie beside the manifest, first what is missed least. `part` names the file. */
static const struct {
	const char *path, *part;
} parts[] = {
	{ "actions", "actions" },
	{ "machine.twin.argv", "twin" },
	{ "image.segments", "segments" },
	{ "layout", "layout" },
};

static char *part_path(const char *dir, const char *part)
{
	return be_strf("%s/manifest-%s.yaml", dir, part);
}

static void hash_text(const struct be_buf *text, char sha256[BE_HASH_TEXT])
{
	be_autohash struct be_hash hash = { 0 };
	be_hash_start(&hash);
	be_hash_add(&hash, text->data, text->len);
	be_hash_end(&hash, sha256);
}

static int move_part(struct be_node *manifest, size_t i, const char *dir, struct be_error *err)
{
	struct be_node *part = be_get_path(manifest, parts[i].path);
	be_autobuf struct be_buf text = { 0 };
	be_autofree char *path = part_path(dir, parts[i].part);
	char sha256[BE_HASH_TEXT];
	if (!part || part->n == 0)
		return 0;
	if (be_node_yaml(part, &text, err) != 0)
		return -1;
	if (text.len < PART_LEAST)
		return 0;
	if (be_write_file(path, text.data, text.len, 0644, err) != 0)
		return -1;
	hash_text(&text, sha256);
	struct be_node *stub = be_node_map();
	be_set(stub, "file", be_node_strf("manifest-%s.yaml", parts[i].part));
	be_set_str(stub, "sha256", sha256);
	be_set_int(stub, "bytes", (int64_t)text.len);
	be_set_path(manifest, parts[i].path, stub);
	return 0;
}

int be_manifest_write(const struct be_node *manifest, const char *dir, struct be_error *err)
{
	be_autonode struct be_node *shorter = be_node_clone(manifest);
	be_autofree char *path = be_strf("%s/manifest.yaml", dir);
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = 0;; i++) {
		text.len = 0;
		if (be_node_yaml(shorter, &text, err) != 0)
			return -1;
		if (text.len <= BE_MANIFEST_BYTES || i == BE_ARRAY_LEN(parts))
			return be_write_file(path, text.data, text.len, 0644, err);
		if (move_part(shorter, i, dir, err) != 0)
			return -1;
	}
}

int be_manifest_complete(struct be_node *manifest, const char *dir, struct be_error *err)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(parts); i++) {
		const struct be_node *stub = be_get_path(manifest, parts[i].path);
		be_autofree char *path = part_path(dir, parts[i].part);
		be_autobuf struct be_buf text = { 0 };
		char found[BE_HASH_TEXT];
		if (!stub || stub->kind != BE_MAP || !be_get(stub, "file") || !be_get(stub, "sha256") ||
		    !be_exists(path))
			continue;
		if (be_read_file(path, BE_NODE_MAX_BYTES, &text, err) != 0)
			return -1;
		hash_text(&text, found);
		if (strcmp(found, be_get_str(stub, "sha256", "")) != 0)
			return be_fail(err, "%s: is not the file that the manifest names", path);
		struct be_node *part = be_node_load(text.data, text.len, path, err);
		if (!part)
			return -1;
		be_set_path(manifest, parts[i].path, part);
	}
	return 0;
}
