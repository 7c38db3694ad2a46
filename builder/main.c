/* The program: a table of subcommands; a first word that is none of them is the job file of `build`. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "builder/commands.h"
#include "builder/external.h"
#include "builder/usage.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "build", be_cmd_build, "an image of a job; the default" },
	{ "boot", be_cmd_boot, "an image in its QEMU twin, and the result of the run" },
	{ "serve", be_cmd_serve, "images for a lab's machines by PXE, and their results" },
	{ "receive", be_cmd_receive, "a result out of the log of a machine's console" },
	{ "inventory", be_cmd_inventory, "an image that describes the machine it boots on" },
	{ "lava", be_cmd_lava, "a LAVA job definition of an image" },
	{ "show", be_cmd_show, "a manifest for people" },
	{ "verify", be_cmd_verify, "an image against its manifest, and against one built again" },
	{ "pack", be_cmd_pack, "everything that an image is made of, in one file" },
	{ "cache", be_cmd_cache, "what the cache holds, and how it is trimmed" },
	{ "plan", be_cmd_plan, "what an image of a job would do" },
	{ "check", be_cmd_check, "whether this machine's disks may be written for a job" },
	{ "diff", be_cmd_diff, "two manifests or groups of runs compared" },
	{ "scrub", be_cmd_scrub, "a manifest without serial numbers and addresses" },
	{ "import", be_cmd_import, "job and host file of a report mail" },
	{ "jobs", be_cmd_jobs, "the atomic jobs of a job file" },
	{ "explain", be_cmd_explain, "a factor of the catalogue, or the names of all" },
	{ "observe", be_external, "the statement of this machine, or of a recorded one" },
	{ "host", be_external, "the host file of a machine, from what it says of itself" },
};

static void print_help(void)
{
	puts("Usage: mkbenchenv JOB -o IMAGE [OPTION]...\n"
	     "       mkbenchenv COMMAND [ARGUMENT]...\n"
	     "\n"
	     "Turns a kernel test robot's job file into a bootable, reproducible benchmark\n"
	     "environment whose manifest says what was requested, built and observed.\n"
	     "\n"
	     "Commands:");
	for (size_t i = 0; i < BE_ARRAY_LEN(commands); i++)
		printf("  %-9s  %s\n", commands[i].name, commands[i].what);
	puts("\n"
	     "`mkbenchenv COMMAND --help` shows a command's options, `mkbenchenv --version` the\n"
	     "version.\n"
	     "\n"
	     "Exit status: 0 done, 1 failed, 2 wrong usage or input, 3 the environment differs\n"
	     "from a recipe that says `expect: refuse`.");
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* A misspelt command, as opposed to a job file that is not there: no file, no dot, no slash, and near to a name. */
static const char *meant(const char *word)
{
	if (strpbrk(word, "./") || be_exists(word))
		return NULL;
	for (size_t i = 0; i < BE_ARRAY_LEN(commands); i++)
		if (be_distance(commands[i].name, word) <= 2)
			return commands[i].name;
	return NULL;
}

/* Output that could not be written (a full disk, a closed pipe) must not end with status 0. */
static int finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	perror("mkbenchenv: standard output");
	return status == BE_OK ? BE_FAILED : status;
}

static int default_command(int argc, char **argv)
{
	const char *word = argv[1];
	const char *name = meant(word);
	if (name) {
		fprintf(stderr, "mkbenchenv: unknown command \"%s\", did you mean `%s`?\n", word, name);
		return BE_USAGE;
	}
	const struct command *build = find_command("build");
	if (!build) {
		fprintf(stderr, "mkbenchenv: unknown command \"%s\"\n", word);
		return BE_USAGE;
	}
	argv[0] = (char *)build->name;
	return build->run(argc, argv);
}

/*
 * A file that is opened while a standard descriptor is closed takes its number, and messages would land in an image.
 * The wrong direction keeps what was closed an error.
 */
static bool hold_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	if (!hold_standard_descriptors())
		return BE_FAILED;
	if (argc < 2) {
		fputs("mkbenchenv: neither a job file nor a command is given\n`mkbenchenv --help` lists the "
		      "commands.\n",
		      stderr);
		return BE_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help();
		return finish(BE_OK);
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("mkbenchenv " BE_VERSION);
		return finish(BE_OK);
	}
	const struct command *command = find_command(argv[1]);
	return finish(command ? command->run(argc - 1, argv + 1) : default_command(argc, argv));
}
