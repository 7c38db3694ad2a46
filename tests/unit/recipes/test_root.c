/* A recorded machine comes from somebody else: nothing outside of its folder is read, and nothing in it hangs. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

struct place {
	char dir[32];
	char *inside;
	struct be_root root;
};

static void add_link(const struct place *p, const char *path, const char *target)
{
	be_autofree char *full = be_strf("%s%s", p->inside, path);
	cr_assert_eq(symlink(target, full), 0, "%s", path);
}

static void add_file(const char *folder, const char *path, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *full = be_strf("%s%s", folder, path);
	cr_assert_eq(be_write_file(full, text, strlen(text), 0644, &err), 0, "%s", err.text);
}

/* DIR/inside is the recording; DIR/secret is none of its business. */
static void set_up(struct place *p)
{
	struct be_error err = BE_ERROR_INIT;
	*p = (struct place){ .dir = "/tmp/be-root.XXXXXX" };
	cr_assert_not_null(mkdtemp(p->dir));
	p->inside = be_strf("%s/inside", p->dir);
	p->root = (struct be_root){ .prefix = p->inside, .recorded = true };
	be_autofree char *sys = be_strf("%s/sys/devices/sda", p->inside);
	cr_assert_eq(be_mkdirs(sys, 0755, &err), 0, "%s", err.text);
	add_file(p->dir, "/secret", "secret");
	add_file(p->inside, "/sys/devices/sda/size", "8");
}

static void tear_down(struct place *p)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_remove_tree(p->dir, &err), 0, "%s", err.text);
	free(p->inside);
}

static void expect_text(const struct place *p, const char *path, const char *text)
{
	be_autofree char *got = be_root_text(&p->root, path);
	cr_expect_str_eq(got ? got : "nothing", text, "%s", path);
}

Test(root, links_stay_inside)
{
	struct place p;
	set_up(&p);
	be_autofree char *secret = be_strf("%s/secret", p.dir);
	add_link(&p, "/sys/absolute", secret);
	add_link(&p, "/sys/up", "../../secret");
	add_link(&p, "/sys/folder", p.dir);
	add_link(&p, "/sys/loop", "loop");
	add_link(&p, "/sys/sda", "/sys/devices/sda");
	add_link(&p, "/sys/up-to-sda", "../../../sys/devices/sda");
	expect_text(&p, "/sys/absolute", "nothing");
	expect_text(&p, "/sys/up", "nothing");
	expect_text(&p, "/sys/folder/secret", "nothing");
	expect_text(&p, "/sys/devices/../../../secret", "nothing");
	expect_text(&p, "/../secret", "nothing");
	expect_text(&p, "/sys/loop", "nothing");
	expect_text(&p, "/sys/sda/size", "8");
	expect_text(&p, "/sys/up-to-sda/size", "8");
	be_autostrv struct be_strv names = { 0 };
	cr_expect_eq(be_root_list(&p.root, "/sys/folder", &names), -1);
	cr_expect_not(be_root_exists(&p.root, "/sys/up"));
	tear_down(&p);
}

Test(root, where_links_lead)
{
	struct place p;
	set_up(&p);
	add_link(&p, "/sys/sda", "/sys/devices/sda");
	add_link(&p, "/sys/devices/sda/up", "..");
	add_link(&p, "/sys/nowhere", "devices/sdb");
	be_autofree char *real = be_root_real(&p.root, "sys/./sda//up/sda/");
	cr_expect_str_eq(real, "/sys/devices/sda");
	be_autofree char *nowhere = be_root_real(&p.root, "/sys/nowhere");
	cr_expect_null(nowhere);
	be_autofree char *target = be_root_link(&p.root, "/sys/sda/up");
	cr_expect_str_eq(target, "..");
	be_autofree char *top = be_root_real(&p.root, "/..");
	cr_expect_str_eq(top, "/");
	tear_down(&p);
}

Test(root, only_plain_files_are_read, .timeout = 5)
{
	struct place p;
	set_up(&p);
	be_autofree char *pipe = be_strf("%s/sys/pipe", p.inside);
	cr_assert_eq(mkfifo(pipe, 0600), 0);
	expect_text(&p, "/sys/pipe", "nothing");
	cr_expect_eq(errno, EINVAL);
	expect_text(&p, "/sys", "nothing");
	cr_expect_eq(errno, EISDIR);
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_root_check(&p.root, "x", &err), 0);
	cr_expect_eq(be_root_check(&(struct be_root){ .prefix = pipe }, "x", &err), -1);
	cr_expect_eq(err.status, BE_USAGE);
	tear_down(&p);
}
