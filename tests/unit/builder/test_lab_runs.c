/* Runs of lab machines, from the token to the result; the servers are not needed for it. */
#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/lab/runs.h"

#define TOKEN_A "0123456789abcdef0123456789abcdef"
#define TOKEN_B "fedcba9876543210fedcba9876543210"
#define MAC "52:54:00:00:00:01"
#define MACHINE "node1"

struct lab {
	char dir[32];
	char *output;
	struct be_site site;
	struct be_table table;
	struct be_runs runs;
};

static void lab_restart(struct lab *lab)
{
	struct be_error err = BE_ERROR_INIT;
	be_runs_close(&lab->runs);
	lab->runs = (struct be_runs){ .site = &lab->site, .table = &lab->table, .output = lab->output, .limit = 100 };
	cr_assert_eq(be_runs_open(&lab->runs, &err), 0, "%s", err.text);
}

static void lab_open(struct lab *lab)
{
	static const char *const folders[] = { BE_LAB_SPOOL, BE_SITE_RUNS };
	struct be_error err = BE_ERROR_INIT;
	*lab = (struct lab){ .dir = "/tmp/be-runs.XXXXXX" };
	cr_assert_not_null(mkdtemp(lab->dir));
	lab->output = be_strf("%s/results", lab->dir);
	lab->site = (struct be_site){ .state = lab->dir, .lock = -1, .web_user = getuid(), .web_group = getgid() };
	be_table_init(&lab->table, true);
	for (size_t i = 0; i < BE_ARRAY_LEN(folders); i++) {
		be_autofree char *path = be_strf("%s/%s", lab->dir, folders[i]);
		cr_assert_eq(be_mkdirs(path, 0755, &err), 0, "%s", err.text);
	}
	lab_restart(lab);
}

static void lab_close(struct lab *lab)
{
	struct be_error err = BE_ERROR_INIT;
	be_runs_close(&lab->runs);
	be_table_free(&lab->table);
	cr_expect_eq(be_remove_tree(lab->dir, &err), 0, "%s", err.text);
	free(lab->output);
}

static void lab_begin(struct lab *lab, const char *token)
{
	struct be_error err = BE_ERROR_INIT;
	const struct be_lab_run run = { .mac = MAC, .machine = MACHINE, .image = "0123456789ab", .turn = 5 };
	cr_assert_eq(be_runs_begin(&lab->runs, token, &run, &err), 0, "%s", err.text);
}

static void lab_put(const struct lab *lab, const char *token, const char *part, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = be_strf("%s/" BE_LAB_SPOOL "/%s/%s", lab->dir, token, part);
	cr_assert_eq(be_write_file(path, text, strlen(text), 0600, &err), 0, "%s", err.text);
}

static bool lab_token_is_good(const struct lab *lab, const char *token)
{
	be_autofree char *path = be_strf("%s/" BE_LAB_SPOOL "/%s", lab->dir, token);
	return be_exists(path);
}

static size_t lab_results(const struct lab *lab)
{
	const struct be_root root = { .prefix = NULL };
	be_autofree char *path = be_strf("%s/" MACHINE, lab->output);
	be_autostrv struct be_strv names = { 0 };
	return be_root_list(&root, path, &names) == 0 ? names.n : 0;
}

/* The least that is an image folder. */
static void lab_image(const struct lab *lab)
{
	static const char nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *dir = be_strf("%s/" BE_LAB_IMAGES "/0123456789ab", lab->dir);
	be_autofree char *manifest = be_strf("mkbenchenv: manifest\nschema: 1\nimage:\n  kernel: {sha256: %s}\n"
					     "  initrd: {sha256: %s}\n",
					     nothing, nothing);
	const char *const files[][2] = { { "vmlinuz", "" },
					 { "initrd.img", "" },
					 { "cmdline", "rw\n" },
					 { "plan.yaml", "mkbenchenv: plan\nschema: 1\n" },
					 { "manifest.yaml", manifest } };
	cr_assert_eq(be_mkdirs(dir, 0755, &err), 0, "%s", err.text);
	for (size_t i = 0; i < BE_ARRAY_LEN(files); i++) {
		be_autofree char *path = be_strf("%s/%s", dir, files[i][0]);
		cr_assert_eq(be_write_file(path, files[i][1], strlen(files[i][1]), 0644, &err), 0, "%s", err.text);
	}
}

Test(runs, a_token_is_good_until_the_end)
{
	struct lab lab;
	struct be_error err = BE_ERROR_INIT;
	lab_open(&lab);
	cr_expect_not(lab_token_is_good(&lab, TOKEN_A));
	lab_begin(&lab, TOKEN_A);
	cr_expect(lab_token_is_good(&lab, TOKEN_A));
	lab_put(&lab, TOKEN_A, "000000000000", "x");
	cr_assert_eq(be_runs_part(&lab.runs, TOKEN_A, &err), 0, "%s", err.text);
	lab_put(&lab, TOKEN_A, "end", "1\n");
	cr_assert_eq(be_runs_end(&lab.runs, TOKEN_A, &err), 0, "%s", err.text);
	cr_expect_not(lab_token_is_good(&lab, TOKEN_A));
	cr_expect_eq(lab.runs.results, 1);
	cr_expect_eq(lab.runs.worst, BE_FAILED, "one byte is no delivery");
	cr_expect_eq(lab_results(&lab), 1);
	cr_expect_null(be_runs_find(&lab.runs, TOKEN_A));
	lab_close(&lab);
}

Test(runs, names_that_are_no_tokens_make_nothing)
{
	static const char *const wrong[] = { "", "../x", "0123456789ABCDEF0123456789ABCDEF", TOKEN_A "0" };
	struct lab lab;
	lab_open(&lab);
	for (size_t i = 0; i < BE_ARRAY_LEN(wrong); i++)
		lab_begin(&lab, wrong[i]);
	cr_expect_eq(lab.runs.n, 0);
	lab_close(&lab);
}

Test(runs, a_machine_that_starts_anew_ends_its_run)
{
	struct lab lab;
	lab_open(&lab);
	lab_begin(&lab, TOKEN_A);
	lab_put(&lab, TOKEN_A, "000000000000", "x");
	lab_begin(&lab, TOKEN_B);
	cr_expect_not(lab_token_is_good(&lab, TOKEN_A));
	cr_expect(lab_token_is_good(&lab, TOKEN_B));
	cr_expect_eq(lab_results(&lab), 1, "what came is kept");
	cr_expect_eq(lab.runs.results, 0, "and is none of those that are waited for");
	lab_close(&lab);
}

static int count_ended(void *data, const struct be_lab_run *run, struct be_error *err)
{
	int *count = data;
	cr_expect_eq(run->turn, 5);
	cr_expect(be_streq(run->mac, MAC));
	cr_expect(!err->text[0]);
	++*count;
	return 0;
}

Test(runs, each_end_is_told)
{
	struct lab lab;
	struct be_error err = BE_ERROR_INIT;
	int ended = 0;
	lab_open(&lab);
	lab.runs.ended = count_ended;
	lab.runs.data = &ended;
	lab_begin(&lab, TOKEN_A);
	cr_expect_eq(ended, 0);
	lab_begin(&lab, TOKEN_B);
	cr_expect_eq(ended, 1, "also of one that delivered nothing");
	lab_put(&lab, TOKEN_B, "end", "0\n");
	cr_assert_eq(be_runs_end(&lab.runs, TOKEN_B, &err), 0, "%s", err.text);
	cr_expect_eq(ended, 2);
	lab_close(&lab);
}

Test(runs, nothing_delivered_is_no_result)
{
	struct lab lab;
	lab_open(&lab);
	lab_begin(&lab, TOKEN_A);
	lab_begin(&lab, TOKEN_B);
	cr_expect_eq(lab_results(&lab), 0);
	lab_close(&lab);
}

Test(runs, too_much_ends_a_run)
{
	struct lab lab;
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *much = be_alloc(102);
	memset(much, 'x', 101);
	lab_open(&lab);
	lab_begin(&lab, TOKEN_A);
	lab_put(&lab, TOKEN_A, "000000000000", much);
	cr_assert_eq(be_runs_part(&lab.runs, TOKEN_A, &err), 0, "%s", err.text);
	cr_expect_not(lab_token_is_good(&lab, TOKEN_A));
	lab_close(&lab);
}

Test(runs, too_many_empty_parts_end_a_run)
{
	struct lab lab;
	struct be_error err = BE_ERROR_INIT;
	lab_open(&lab);
	lab_begin(&lab, TOKEN_A);
	for (int i = 0; i <= 16384; i++) {
		be_autofree char *path = be_strf("%s/" BE_LAB_SPOOL "/" TOKEN_A "/%012d", lab.dir, i);
		be_autofd int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		cr_assert_geq(fd, 0);
	}
	cr_assert_eq(be_runs_part(&lab.runs, TOKEN_A, &err), 0, "%s", err.text);
	cr_expect_not(lab_token_is_good(&lab, TOKEN_A));
	lab_close(&lab);
}

Test(runs, a_server_that_is_started_again_goes_on)
{
	struct lab lab;
	lab_open(&lab);
	lab_begin(&lab, TOKEN_A);
	lab_put(&lab, TOKEN_A, "000000000000", "x");
	lab_restart(&lab);
	const struct be_lab_run *run = be_runs_find(&lab.runs, TOKEN_A);
	cr_assert_not_null(run);
	cr_expect_str_eq(run->mac, MAC);
	cr_expect_str_eq(run->machine, MACHINE);
	cr_expect_eq(run->turn, 5);
	cr_expect(lab_token_is_good(&lab, TOKEN_A));
	/* The end came while nobody read the log. */
	lab_put(&lab, TOKEN_A, "end", "1\n");
	lab_restart(&lab);
	cr_expect_eq(lab.runs.n, 0);
	cr_expect_eq(lab.runs.results, 1);
	cr_expect_eq(lab_results(&lab), 1);
	lab_close(&lab);
}

/* The server ended between taking the parts away and writing the result. */
Test(runs, a_result_that_was_being_made_is_made)
{
	struct lab lab;
	lab_open(&lab);
	lab_begin(&lab, TOKEN_A);
	lab_put(&lab, TOKEN_A, "000000000000", "x");
	lab_put(&lab, TOKEN_A, "end", "1\n");
	be_autofree char *spool = be_strf("%s/" BE_LAB_SPOOL "/" TOKEN_A, lab.dir);
	be_autofree char *parts = be_strf("%s/" BE_SITE_RUNS "/" TOKEN_A ".parts", lab.dir);
	cr_assert_eq(rename(spool, parts), 0);
	lab_restart(&lab);
	cr_expect_eq(lab.runs.n, 0);
	cr_expect_eq(lab_results(&lab), 1);
	cr_expect_not(be_exists(parts));
	lab_close(&lab);
}

Test(runs, what_waits_too_long_ends)
{
	struct lab lab;
	struct be_error err = BE_ERROR_INIT;
	lab_open(&lab);
	lab_begin(&lab, TOKEN_A);
	cr_assert_eq(be_runs_expire(&lab.runs, lab.runs.v[0].deadline, &err), 0, "%s", err.text);
	cr_expect_eq(lab.runs.n, 1);
	cr_assert_eq(be_runs_expire(&lab.runs, lab.runs.v[0].deadline + 1, &err), 0, "%s", err.text);
	cr_expect_eq(lab.runs.n, 0);
	cr_expect_not(lab_token_is_good(&lab, TOKEN_A));
	lab_close(&lab);
}

/* One machine's delivery must not end the server of all others. */
Test(runs, a_delivery_of_another_image_is_a_bad_result)
{
	static const char before[] = "mkbenchenv: observation\nschema: 1\nphase: before\nplan_sha256: \"00\"\n";
	struct lab lab;
	struct be_error err = BE_ERROR_INIT;
	lab_open(&lab);
	lab.runs.limit = 1 << 20;
	lab_image(&lab);
	lab_begin(&lab, TOKEN_A);
	be_autofree char *spool = be_strf("%s/" BE_LAB_SPOOL "/" TOKEN_A "/000000000000", lab.dir);
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	archive_write_set_format_ustar(archive);
	cr_assert_eq(archive_write_open_filename(archive, spool), ARCHIVE_OK);
	archive_entry_set_pathname(entry, "before.yaml");
	archive_entry_set_mode(entry, AE_IFREG | 0644);
	archive_entry_set_size(entry, (la_int64_t)strlen(before));
	cr_assert_eq(archive_write_header(archive, entry), ARCHIVE_OK);
	cr_assert_eq(archive_write_data(archive, before, strlen(before)), (la_ssize_t)strlen(before));
	archive_entry_free(entry);
	cr_assert_eq(archive_write_free(archive), ARCHIVE_OK);
	cr_assert_eq(be_runs_end(&lab.runs, TOKEN_A, &err), 0, "%s", err.text);
	cr_expect_eq(lab_results(&lab), 1);
	cr_expect_eq(lab.runs.worst, BE_FAILED);
	lab_close(&lab);
}
