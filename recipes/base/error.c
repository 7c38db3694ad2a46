#include "base/error.h"

#include <stdio.h>
#include <string.h>

static void set_text(struct be_error *err, enum be_status status, const char *fmt, va_list args)
{
	err->status = status;
	err->hint[0] = '\0';
	vsnprintf(err->text, sizeof(err->text), fmt, args);
}

int be_fail(struct be_error *err, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	set_text(err, BE_FAILED, fmt, args);
	va_end(args);
	return -1;
}

int be_fail_usage(struct be_error *err, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	set_text(err, BE_USAGE, fmt, args);
	va_end(args);
	return -1;
}

int be_fail_errno(struct be_error *err, int errnum, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	set_text(err, BE_FAILED, fmt, args);
	va_end(args);
	size_t len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(errnum));
	return -1;
}

int be_wrap(struct be_error *err, const char *fmt, ...)
{
	char context[sizeof(err->text)];
	va_list args;
	va_start(args, fmt);
	int n = vsnprintf(context, sizeof(context), fmt, args);
	va_end(args);
	if (n < 0)
		return -1;
	size_t len = strlen(context);
	char old[sizeof(err->text)];
	memcpy(old, err->text, sizeof(old));
	snprintf(err->text, sizeof(err->text), "%s", context);
	if (len + 3 < sizeof(err->text))
		snprintf(err->text + len, sizeof(err->text) - len, ": %s", old);
	return -1;
}

int be_hint(struct be_error *err, const char *fmt, ...)
{
	if (err->hint[0])
		return -1;
	va_list args;
	va_start(args, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, args);
	va_end(args);
	return -1;
}

/* Texts of documents end up in messages: no control character of theirs may reach a terminal. */
static void print_line(const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '\n')
			fputs("\n  ", stderr);
		else if (c == '\t' || (c >= 0x20 && c != 0x7f))
			fputc(c, stderr);
		else
			fprintf(stderr, "\\x%02x", c);
	}
	fputc('\n', stderr);
}

void be_error_print(const struct be_error *err, const char *program)
{
	fprintf(stderr, "%s: ", program);
	print_line(err->text[0] ? err->text : "failed without saying why");
	if (err->hint[0]) {
		fputs("  ", stderr);
		print_line(err->hint);
	}
}
