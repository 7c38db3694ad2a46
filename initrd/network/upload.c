#include "initrd/network/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "initrd/system.h"

#define PUSH_SECONDS 60.0 /* for parts while the stream grows */
#define PAUSE_FIRST 0.5   /* seconds between two attempts, doubled each time */
#define PAUSE_MOST 15.0
#define CLOCK_OFF 2 /* seconds: the answer's date has no fractions */

int be_upload_open(struct be_upload *upload, const char *url, const char *path, struct be_error *err)
{
	*upload = (struct be_upload){ .fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) };
	if (upload->fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be made", path);
	upload->url = be_strdup(url);
	return 0;
}

void be_upload_close(struct be_upload *upload)
{
	be_close_fd(&upload->fd);
	free(upload->url);
	upload->url = NULL;
}

static void on_tick(void *data, pid_t pid, double elapsed)
{
	const struct be_upload *upload = data;
	(void)pid;
	(void)elapsed;
	if (upload->progress)
		upload->progress(upload->data);
}

/* An HTTP request by curl: what it says of itself is in @run->out. */
static int curl(struct be_upload *upload, struct be_run *run, char *const *arguments, const char *name)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *url = be_strf("%s/%s", upload->url, name);
	be_autostrv struct be_strv argv = { 0 };
	/* A connection that does not move for 20 s is given up; one that does may take its time. */
	be_strv_split(&argv,
		      "curl --silent --globoff --noproxy * --connect-timeout 5 --speed-time 20 --speed-limit 100 "
		      "--output /dev/null",
		      " ");
	for (size_t i = 0; arguments[i]; i++)
		be_strv_add(&argv, arguments[i]);
	be_strv_add(&argv, url);
	run->argv = argv.v;
	run->tick = on_tick;
	run->tick_data = upload;
	int rc = be_run(run, &err);
	if (rc != 0)
		be_log("%s", err.text);
	return rc;
}

/* The status that the server gave, 0 when none came. */
static int put(struct be_upload *upload, const char *name, const void *data, size_t len)
{
	char *arguments[] = { "--request", "PUT",     "--data-binary", "@-",           "--header", "Content-Type:",
			      "--header",  "Expect:", "--write-out",   "%{http_code}", NULL };
	be_autorun struct be_run run = { .stdin_data = data, .stdin_len = len };
	if (curl(upload, &run, arguments, name) != 0)
		return 0;
	return run.status == 0 ? atoi(run.out.data) : 0;
}

static bool taken(int status)
{
	/* 409: it is there already. The answer to an earlier attempt was lost on its way. */
	return status == 201 || status == 204 || status == 409;
}

static bool refused(int status)
{
	return status == 403 || status == 404 || status == 413;
}

static void wait_a_while(struct be_upload *upload, double *pause)
{
	for (double until = be_monotonic() + *pause; be_monotonic() < until;) {
		be_pause(250);
		if (upload->progress)
			upload->progress(upload->data);
	}
	*pause = *pause * 2 < PAUSE_MOST ? *pause * 2 : PAUSE_MOST;
}

static int put_patiently(struct be_upload *upload, const char *name, const void *data, size_t len, double until,
			 struct be_error *err)
{
	double pause = PAUSE_FIRST;
	for (;;) {
		int status = put(upload, name, data, len);
		if (taken(status))
			return 0;
		if (refused(status))
			return be_fail(err, "the server refused the delivery with status %d", status);
		if (be_monotonic() + pause > until)
			return status ? be_fail(err, "the server answered with status %d", status)
				      : be_fail(err, "the server was not reached");
		wait_a_while(upload, &pause);
	}
}

/* Reads up to a part at @offset. -1: error, else its length. */
static ssize_t read_part(const struct be_upload *upload, char *part, off_t offset)
{
	size_t len = 0;
	while (len < BE_UPLOAD_PART) {
		ssize_t n = pread(upload->fd, part + len, BE_UPLOAD_PART - len, offset + (off_t)len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

static int push_one(struct be_upload *upload, double until, struct be_error *err)
{
	be_autofree char *part = be_alloc(BE_UPLOAD_PART);
	ssize_t len = read_part(upload, part, upload->sent);
	if (len <= 0)
		return be_fail_errno(err, len < 0 ? errno : EIO, "the delivery's file cannot be read");
	be_autofree char *name = be_strf("%012lld", (long long)upload->sent);
	if (put_patiently(upload, name, part, (size_t)len, until, err) != 0)
		return -1;
	/* tmpfs can; on another file system the room is given back at the end. */
	if (fallocate(upload->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, upload->sent, len) != 0 &&
	    errno != EOPNOTSUPP)
		be_log("delivery: %s", strerror(errno));
	upload->sent += len;
	return 0;
}

static off_t size_of(const struct be_upload *upload)
{
	struct stat st;
	return fstat(upload->fd, &st) == 0 ? st.st_size : 0;
}

int be_upload_push(struct be_upload *upload, double seconds, struct be_error *err)
{
	double until = be_monotonic() + seconds;
	while (upload->sent < size_of(upload))
		if (push_one(upload, until, err) != 0) {
			upload->lost = true;
			return -1;
		}
	upload->lost = false;
	return 0;
}

void be_upload_push_parts(struct be_upload *upload)
{
	struct be_error err = BE_ERROR_INIT;
	double until = be_monotonic() + PUSH_SECONDS;
	while (!upload->lost && size_of(upload) - upload->sent >= BE_UPLOAD_PART)
		if (push_one(upload, until, &err) != 0) {
			be_log("delivery: %s", err.text);
			upload->lost = true;
		}
}

int be_upload_end(struct be_upload *upload, double seconds, struct be_error *err)
{
	be_autofree char *text = be_strf("%lld\n", (long long)size_of(upload));
	return put_patiently(upload, "end", text, strlen(text), be_monotonic() + seconds, err);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" of the answer's Date (RFC 9110, 5.6.7). */
static void set_clock(const char *date)
{
	struct tm tm = { 0 };
	struct timespec now, server = { 0 };
	const char *end = strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	if (!end)
		return;
	server.tv_sec = timegm(&tm);
	clock_gettime(CLOCK_REALTIME, &now);
	if (llabs((long long)now.tv_sec - (long long)server.tv_sec) <= CLOCK_OFF)
		return;
	if (clock_settime(CLOCK_REALTIME, &server) == 0)
		be_log("clock: set by the server, it was %+lld s off",
		       (long long)now.tv_sec - (long long)server.tv_sec);
	else
		be_log("clock: cannot be set: %s", strerror(errno));
}

int be_upload_greet(struct be_upload *upload, double seconds, struct be_error *err)
{
	char *arguments[] = { "--write-out", "%{http_code} %header{date}", NULL };
	double until = be_monotonic() + seconds, pause = PAUSE_FIRST;
	for (;;) {
		be_autorun struct be_run run = { 0 };
		int status = curl(upload, &run, arguments, "") == 0 && run.status == 0 ? atoi(run.out.data) : 0;
		if (status == 204) {
			set_clock(strchr(run.out.data, ' ') ? strchr(run.out.data, ' ') + 1 : "");
			return 0;
		}
		if (refused(status))
			return be_fail(err, "the server does not know this run (status %d)", status);
		if (be_monotonic() + pause > until)
			return be_fail(err, "the server was not reached");
		wait_a_while(upload, &pause);
	}
}
