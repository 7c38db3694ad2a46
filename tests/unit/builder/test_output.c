/* What the commands that print a document do with the file that -o names. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/commands.h"

struct place {
	char dir[32];
	char *image, *out;
};

static void put(const char *dir, const char *name, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = be_strf("%s/%s", dir, name);
	cr_assert_eq(be_write_file(path, text, strlen(text), 0644, &err), 0, "%s", err.text);
}

/* The least that is an image folder. */
static struct place place_new(void)
{
	static const char nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	struct place p = { .dir = "/tmp/be-output.XXXXXX" };
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *manifest = be_strf("mkbenchenv: manifest\nschema: 1\nimage:\n  id: 0123456789ab\n"
					     "  kernel: {sha256: %s}\n  initrd: {sha256: %s}\n",
					     nothing, nothing);
	cr_assert_not_null(mkdtemp(p.dir));
	p.image = be_strf("%s/image", p.dir);
	p.out = be_strf("%s/out", p.dir);
	cr_assert_eq(be_mkdirs(p.image, 0755, &err), 0, "%s", err.text);
	put(p.image, "vmlinuz", "");
	put(p.image, "initrd.img", "");
	put(p.image, "cmdline", "rw\n");
	put(p.image, "plan.yaml", "mkbenchenv: plan\nschema: 1\nname: n\n");
	put(p.image, "manifest.yaml", manifest);
	return p;
}

static void place_free(struct place *p)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_remove_tree(p->dir, &err), 0, "%s", err.text);
	free(p->image);
	free(p->out);
}

static int run(int (*command)(int, char **), const char *name, const struct place *p)
{
	char *argv[] = { (char *)name, p->image, "-o", p->out, NULL };
	optind = 0;
	return command(4, argv);
}

static const struct {
	const char *name;
	int (*command)(int, char **);
	const char *start; /* of what it prints */
} commands[] = { { "scrub", be_cmd_scrub, "mkbenchenv: manifest\n" }, { "lava", be_cmd_lava, "" } };

Test(output, a_regular_file_is_replaced)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(commands); i++) {
		struct place p = place_new();
		struct be_error err = BE_ERROR_INIT;
		be_autobuf struct be_buf text = { 0 };
		put(p.dir, "out", "old");
		cr_expect_eq(run(commands[i].command, commands[i].name, &p), BE_OK, "%s", commands[i].name);
		cr_assert_eq(be_read_file(p.out, 1 << 20, &text, &err), 0, "%s", err.text);
		cr_expect(be_starts(text.data, commands[i].start) && text.len > 3, "%s: %s", commands[i].name,
			  text.data);
		place_free(&p);
	}
}

Test(output, nothing_else_is)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(commands); i++) {
		struct place p = place_new();
		struct stat st;
		cr_assert_eq(mkfifo(p.out, 0600), 0);
		cr_expect_eq(run(commands[i].command, commands[i].name, &p), BE_USAGE, "%s", commands[i].name);
		cr_expect(lstat(p.out, &st) == 0 && S_ISFIFO(st.st_mode), "%s", commands[i].name);
		cr_assert_eq(unlink(p.out), 0);
		cr_assert_eq(mkdir(p.out, 0755), 0);
		cr_expect_eq(run(commands[i].command, commands[i].name, &p), BE_USAGE, "%s", commands[i].name);
		cr_expect(lstat(p.out, &st) == 0 && S_ISDIR(st.st_mode), "%s", commands[i].name);
		place_free(&p);
	}
}
