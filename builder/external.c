#include "builder/external.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/str.h"
#include "builder/paths.h"
#include "builder/usage.h"

static int become(int argc, char **argv, struct be_error *err)
{
	be_autofree char *program = be_paths_program(argv[0]), *data = be_paths_data();
	if (!program) {
		be_fail(err, "the program mkbenchenv-%s that belongs to this one is not found beside it", argv[0]);
		return be_hint(err,
			       "run `make` or `make install`, or set MKBENCHENV_LIBEXEC to the folder that holds it");
	}
	if (data && setenv("MKBENCHENV_DATA", data, 1) != 0)
		return be_fail_errno(err, errno, "MKBENCHENV_DATA");
	be_autofree char *name = be_strf("mkbenchenv %s", argv[0]);
	be_autostrv struct be_strv words = { 0 };
	be_strv_add(&words, name);
	for (int i = 1; i < argc; i++)
		be_strv_add(&words, argv[i]);
	fflush(stdout);
	execv(program, words.v);
	return be_fail_errno(err, errno, "%s", program);
}

int be_external(int argc, char **argv)
{
	struct be_error err = BE_ERROR_INIT;
	return become(argc, argv, &err) == 0 ? BE_OK : be_command_failed(argv[0], &err);
}
