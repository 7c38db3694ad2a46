#include "builder/usage.h"

#include <stdarg.h>

#include "base/str.h"
#include "units.h"

static char *program_of(const char *command)
{
	return be_strf("mkbenchenv %s", command);
}

int be_usage_read(const char *usage, const struct be_option *options, int argc, char **argv)
{
	be_autofree char *program = program_of(argv[0]);
	return be_options_read(program, usage, options, argc, argv);
}

bool be_take_size(void *bytes, const char *value)
{
	return be_parse_size(value, bytes) && *(int64_t *)bytes > 0;
}

int be_usage_error(const char *command, const char *fmt, ...)
{
	be_autofree char *program = program_of(command), *text = NULL;
	va_list args;
	va_start(args, fmt);
	text = be_vstrf(fmt, args);
	va_end(args);
	return be_options_wrong(program, "%s", text);
}

int be_command_failed(const char *command, const struct be_error *err)
{
	be_autofree char *program = program_of(command);
	be_error_print(err, program);
	return err->status == BE_OK ? BE_FAILED : (int)err->status;
}
