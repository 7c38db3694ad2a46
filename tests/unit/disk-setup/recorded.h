/* A recorded system (tests/data/sys/NAME.tree) unpacked into a temporary folder, for be_root. */
#ifndef BE_TEST_RECORDED_H
#define BE_TEST_RECORDED_H

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "disk-setup/setup.h"

static inline void recorded_line(const char *dir, char *line)
{
	struct be_error err = BE_ERROR_INIT;
	char *arrow = strstr(line, " -> "), *equals = strstr(line, " =");
	char *end = arrow && (!equals || arrow < equals) ? arrow : equals;
	cr_assert_not_null(end, "recorded tree: %s", line);
	*end = '\0';
	be_autofree char *path = be_strf("%s%s", dir, line);
	be_autofree char *folder = be_strndup(path, (size_t)(strrchr(path, '/') - path));
	cr_assert_eq(be_mkdirs(folder, 0755, &err), 0, "%s", err.text);
	if (end == arrow) {
		cr_assert_eq(symlink(arrow + 4, path), 0);
		return;
	}
	be_autofd int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	cr_assert_geq(fd, 0);
	if (!equals[2])
		return;
	be_autofree char *text = be_strf("%s\n", equals + 3);
	cr_assert_eq(be_write_fd(fd, path, text, strlen(text), &err), 0, "%s", err.text);
}

/* Makes @setup look at the tree; recorded_free removes it. */
static inline void recorded_load(struct be_setup *setup, const char *file)
{
	struct be_error err = BE_ERROR_INIT;
	be_autobuf struct be_buf text = { 0 };
	char *dir = be_strdup("/tmp/disk-setup-test.XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(be_read_file(file, 1u << 20, &text, &err), 0, "%s", err.text);
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, text.data, "\n");
	for (size_t i = 0; i < lines.n; i++)
		if (lines.v[i][0] != '#')
			recorded_line(dir, lines.v[i]);
	be_setup_init(setup);
	free(setup->root.prefix);
	setup->root.prefix = dir;
	setup->twin = false;
}

static inline void recorded_free(struct be_setup *setup)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_remove_tree(setup->root.prefix, &err), 0, "%s", err.text);
	be_setup_free(setup);
}

/* Runs a program of this machine on a file, e.g. mke2fs; the test fails when it fails. */
static inline void recorded_run(const char *const *argv)
{
	struct be_error err = BE_ERROR_INIT;
	be_autorun struct be_run run = { .argv = (char *const *)(uintptr_t)argv, .timeout = 20 };
	cr_assert_eq(be_run_ok(&run, &err), 0, "%s", err.text);
}

#define RECORDED_DISKS "tests/data/sys/disks.tree"

static inline struct be_node *recorded_plan(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *plan = be_node_load(text, strlen(text), "plan.yaml", &err);
	cr_assert_not_null(plan, "%s", err.text);
	return plan;
}

#endif
