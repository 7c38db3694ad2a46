/*
 * Preloaded into a build: lets one call that changes files fail. FAULT_AT=N is the number of the call, counted over the
 * whole process; FAULT_KIND is EIO, ENOSPC or SHORT (half of a write is done, which a program must go on from).
 * FAULT_LOG=FILE gets the number of calls when the process ends. Standard output and error are left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long calls;

static bool is_now(void)
{
	const char *at = getenv("FAULT_AT");
	return atomic_fetch_add(&calls, 1) + 1 == (at ? strtol(at, NULL, 10) : -1);
}

static bool is_short(void)
{
	const char *kind = getenv("FAULT_KIND");
	return kind && strcmp(kind, "SHORT") == 0;
}

static int error_number(void)
{
	const char *kind = getenv("FAULT_KIND");
	return kind && strcmp(kind, "ENOSPC") == 0 ? ENOSPC : EIO;
}

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("FAULT_LOG");
	char text[32];
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
	if (fd < 0)
		return;
	int n = snprintf(text, sizeof(text), "%ld\n", atomic_load(&calls));
	if (REAL(write)(fd, text, (size_t)n) != n)
		abort();
	close(fd);
}

ssize_t write(int fd, const void *data, size_t len)
{
	if (fd > 2 && is_now()) {
		if (is_short())
			return REAL(write)(fd, data, len > 1 ? len / 2 : len);
		errno = error_number();
		return -1;
	}
	return REAL(write)(fd, data, len);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	if (is_now()) {
		if (is_short())
			return REAL(pwrite)(fd, data, len > 1 ? len / 2 : len, at);
		errno = error_number();
		return -1;
	}
	return REAL(pwrite)(fd, data, len, at);
}

ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t len, unsigned flags)
{
	if (is_now()) {
		if (is_short())
			return REAL(copy_file_range)(from, from_at, to, to_at, len > 1 ? len / 2 : len, flags);
		errno = error_number();
		return -1;
	}
	return REAL(copy_file_range)(from, from_at, to, to_at, len, flags);
}

int rename(const char *from, const char *to)
{
	if (is_now() && !is_short()) {
		errno = error_number();
		return -1;
	}
	return REAL(rename)(from, to);
}

int ftruncate(int fd, off_t len)
{
	if (is_now() && !is_short()) {
		errno = error_number();
		return -1;
	}
	return REAL(ftruncate)(fd, len);
}
