#include "initrd/link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static int send_text(int fd, const char *fmt, va_list args)
{
	char text[BE_LINK_MAX];
	vsnprintf(text, sizeof(text), fmt, args);
	return send(fd, text, strlen(text), MSG_NOSIGNAL) < 0 ? -1 : 0;
}

void be_link_say(int fd, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	send_text(fd, fmt, args);
	va_end(args);
}

int be_link_ask(int fd, struct be_error *err, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	int rc = send_text(fd, fmt, args);
	va_end(args);
	char answer[BE_LINK_MAX];
	ssize_t n = rc == 0 ? recv(fd, answer, sizeof(answer) - 1, 0) : -1;
	if (n < 0)
		return be_fail_errno(err, errno, "PID 1 does not answer");
	answer[n] = '\0';
	return strcmp(answer, BE_LINK_OK) == 0 ? 0 : be_fail(err, "%s", n ? answer : "PID 1 does not answer");
}
