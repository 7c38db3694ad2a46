#include "builder/progress.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static volatile sig_atomic_t caught;
static struct sigaction before[NSIG];
static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

void be_progress_start(struct be_progress *progress, bool quiet)
{
	*progress = (struct be_progress){ .quiet = quiet, .live = !quiet && isatty(STDERR_FILENO) };
}

void be_progress_clear(struct be_progress *progress)
{
	if (progress->live && progress->open)
		fputs("\r\033[K", stderr);
}

void be_progress_step(struct be_progress *progress, const char *name)
{
	be_progress_clear(progress);
	progress->step = be_monotonic();
	progress->open = true;
	snprintf(progress->name, sizeof(progress->name), "%s", name);
	be_progress_note(progress, "...");
}

void be_progress_note(struct be_progress *progress, const char *fmt, ...)
{
	if (!progress->live)
		return;
	char text[64];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "\r\033[K%-10s %s", progress->name, text);
	fflush(stderr);
}

static void print_line(struct be_progress *progress, const char *name, double seconds, const char *fmt, va_list args)
{
	char text[256];
	be_progress_clear(progress);
	if (progress->quiet)
		return;
	vsnprintf(text, sizeof(text), fmt, args);
	fprintf(stderr, "%-10s %-56s %6.2f s\n", name, text, seconds);
}

void be_progress_done(struct be_progress *progress, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	print_line(progress, progress->name, be_monotonic() - progress->step, fmt, args);
	va_end(args);
	progress->open = false;
}

void be_progress_part(struct be_progress *progress, const char *name, double seconds, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	print_line(progress, name, seconds, fmt, args);
	va_end(args);
}

static void catch (int sig)
{
	caught = sig;
}

void be_interrupt_catch(void)
{
	struct sigaction action = { .sa_handler = catch, .sa_flags = SA_RESTART };
	caught = 0;
	for (size_t i = 0; i < BE_ARRAY_LEN(signals); i++) {
		sigaction(signals[i], NULL, &before[signals[i]]);
		if (before[signals[i]].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

void be_interrupt_release(void)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(signals); i++)
		sigaction(signals[i], &before[signals[i]], NULL);
	if (caught)
		raise(caught);
}

int be_interrupted(struct be_error *err)
{
	int sig = caught;
	return sig ? be_fail(err, "interrupted by %s", strsignal(sig)) : 0;
}

static void pass_on(void *data, pid_t pid, double elapsed)
{
	(void)data;
	(void)elapsed;
	if (caught)
		kill(-pid, SIGTERM);
}

int be_run_interruptible(struct be_run *run, struct be_error *err)
{
	run->tick = pass_on;
	int rc = be_run_ok(run, err);
	return be_interrupted(err) != 0 ? -1 : rc;
}
