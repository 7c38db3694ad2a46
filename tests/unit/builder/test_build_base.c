/* Paths, threads, signals. */
#include "build_test.h"

#include <signal.h>

#include "builder/parallel.h"
#include "builder/paths.h"

Test(paths, environment_wins)
{
	struct bench b;
	struct be_error err = BE_ERROR_INIT;
	struct be_paths paths;
	bench_open(&b);
	be_autofree char *cache = be_strf("%s/new/cache", b.dir);
	setenv("MKBENCHENV_DATA", "/some/data", 1);
	setenv("MKBENCHENV_GUEST", "/some/guest", 1);
	setenv("MKBENCHENV_CACHE", cache, 1);
	cr_assert_eq(be_paths_find(&paths, &err), 0, "%s", err.text);
	cr_expect_str_eq(paths.data, "/some/data");
	cr_expect_str_eq(paths.guest, "/some/guest");
	cr_expect_str_eq(paths.cache, cache);
	cr_expect(be_exists(cache));
	be_paths_free(&paths);
	unsetenv("MKBENCHENV_CACHE");
	setenv("XDG_CACHE_HOME", b.dir, 1);
	cr_assert_eq(be_paths_find(&paths, &err), 0, "%s", err.text);
	be_autofree char *below = be_strf("%s/mkbenchenv", b.dir);
	cr_expect_str_eq(paths.cache, below);
	be_paths_free(&paths);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	cr_expect_eq(be_paths_find(&paths, &err), -1);
	cr_expect(strstr(err.hint, "MKBENCHENV_CACHE"), "%s", err.hint);
	be_paths_free(&paths);
	bench_close(&b);
}

static int work(void *data, size_t i, struct be_error *err)
{
	int *seen = data;
	__atomic_add_fetch(&seen[i], 1, __ATOMIC_SEQ_CST);
	return i >= 70 ? be_fail(err, "item %zu", i) : 0;
}

Test(parallel, each_item_once_and_the_first_error)
{
	static int seen[100];
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_parallel(70, work, seen, &err), 0);
	for (int i = 0; i < 70; i++)
		cr_expect_eq(seen[i], 1);
	cr_expect_eq(be_parallel(100, work, seen, &err), -1);
	cr_expect_str_eq(err.text, "item 70");
	cr_expect_eq(be_parallel(0, work, seen, &err), 0);
}

Test(interrupt, is_an_error_and_then_the_signal, .signal = SIGTERM)
{
	struct be_error err = BE_ERROR_INIT;
	be_interrupt_catch();
	cr_expect_eq(be_interrupted(&err), 0);
	raise(SIGTERM);
	cr_expect_eq(be_interrupted(&err), -1);
	cr_expect_str_eq(err.text, "interrupted by Terminated");
	be_interrupt_release();
	cr_expect_fail("the signal must have ended the process");
}

Test(interrupt, ends_children, .signal = SIGINT, .timeout = 20)
{
	static char *argv[] = { "sh", "-c", "kill -INT $PPID; sleep 100", NULL };
	struct be_error err = BE_ERROR_INIT;
	be_autorun struct be_run run = { .argv = argv };
	signal(SIGINT, SIG_DFL); /* a test run in the background is started with SIGINT ignored */
	be_interrupt_catch();
	cr_expect_eq(be_run_interruptible(&run, &err), -1);
	cr_expect_str_eq(err.text, "interrupted by Interrupt");
	cr_expect(run.seconds < 10);
	be_interrupt_release();
}
