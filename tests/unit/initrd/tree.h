/* A system for tests in a temporary folder: recorded (tests/data/sys/NAME.tree) or written file by file. */
#ifndef BE_TEST_TREE_H
#define BE_TEST_TREE_H

#include "tests/unit/disk-setup/recorded.h"

static inline struct be_root tree_new(void)
{
	char *dir = be_strdup("/tmp/guest-test.XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	return (struct be_root){ .prefix = dir };
}

static inline struct be_root tree_load(const char *file)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_root root = tree_new();
	be_autobuf struct be_buf text = { 0 };
	cr_assert_eq(be_read_file(file, 1u << 20, &text, &err), 0, "%s", err.text);
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, text.data, "\n");
	for (size_t i = 0; i < lines.n; i++)
		if (lines.v[i][0] != '#')
			recorded_line(root.prefix, lines.v[i]);
	return root;
}

static inline void tree_write(const struct be_root *root, const char *path, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *full = be_root_path(root, path);
	be_autofree char *folder = be_strndup(full, (size_t)(strrchr(full, '/') - full));
	cr_assert_eq(be_mkdirs(folder, 0755, &err), 0, "%s", err.text);
	cr_assert_eq(be_write_file(full, text, strlen(text), 0644, &err), 0, "%s", err.text);
}

static inline void tree_link(const struct be_root *root, const char *path, const char *target)
{
	be_autofree char *line = be_strf("%s -> %s", path, target);
	recorded_line(root->prefix, line);
}

static inline void tree_free(struct be_root *root)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_remove_tree(root->prefix, &err), 0, "%s", err.text);
	free(root->prefix);
}

static inline struct be_node *tree_yaml(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *node = be_node_load(text, strlen(text), "test.yaml", &err);
	cr_assert_not_null(node, "%s", err.text);
	return node;
}

/* A node as one line of JSON, for messages and short comparisons; the caller frees. */
static inline char *tree_json(const struct be_node *node)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf text = { 0 };
	if (!node)
		return be_strdup("nothing");
	cr_assert_eq(be_node_json_text(node, &text, &err), 0, "%s", err.text);
	/* The line ends are layout: those in texts are escaped. */
	be_autobuf struct be_buf line = { 0 };
	for (const char *p = be_trim(text.data); *p; p++) {
		if (*p != '\n')
			be_buf_addc(&line, *p);
		else if (p[-1] == ',')
			be_buf_addc(&line, ' ');
		p += *p == '\n' ? strspn(p + 1, " ") : 0;
	}
	return be_buf_steal(&line);
}

#endif
