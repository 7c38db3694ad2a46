/* `cache`: what the cache holds, and trimming it. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "builder/commands.h"
#include "builder/image/cache.h"
#include "builder/paths.h"
#include "builder/progress.h"
#include "builder/usage.h"
#include "units.h"

static const char usage[] = "Usage: mkbenchenv cache [--prune AGE|SIZE]\n"
			    "\n"
			    "Says where the cache is and what it holds.\n"
			    "\n"
			    "  --prune AGE   removes what no build used for that time: 30d, 12h\n"
			    "  --prune SIZE  removes what was used longest ago until so much is left: 2G\n"
			    "\n"
			    "What was removed is downloaded or made again when a build needs it.\n";

struct limits {
	int64_t age, bytes; /* < 0: none */
};

/* A time has a unit in lower case, a size in upper case: 10m are minutes, 10M are bytes. */
static bool take_limit(void *to, const char *text)
{
	struct limits *limits = to;
	size_t n = strlen(text);
	if (n > 1 && strchr("smhdw", text[n - 1]))
		return be_parse_time(text, &limits->age) && limits->age >= 0;
	return be_parse_size(text, &limits->bytes) && limits->bytes >= 0;
}

static double megabytes(int64_t bytes)
{
	return (double)bytes / 1e6;
}

static int show(struct be_cache *cache, struct be_error *err)
{
	struct be_cache_use use;
	if (be_cache_measure(cache, &use, err) != 0)
		return -1;
	printf("%s\n", cache->dir);
	printf("%10.1f MB in %zu objects, with %zu keys to them\n", megabytes(use.bytes), use.objects, use.keys);
	printf("%10.1f MB of package lists\n", megabytes(use.lists));
	if (use.temporary)
		printf("%10zu temporary files of builds that run or were killed\n", use.temporary);
	return 0;
}

static int prune(struct be_cache *cache, const struct limits *limits, struct be_error *err)
{
	struct be_cache_use removed;
	if (be_cache_prune(cache, limits->age, limits->bytes, &removed, err) != 0)
		return -1;
	printf("removed %.1f MB: %zu objects, %zu keys, %zu temporary files\n", megabytes(removed.bytes),
	       removed.objects, removed.keys, removed.temporary);
	return 0;
}

static int run(const struct limits *limits, struct be_error *err)
{
	be_autopaths struct be_paths paths = { 0 };
	struct be_cache cache = { 0 };
	if (be_paths_find(&paths, err) != 0)
		return -1;
	be_interrupt_catch();
	int rc = be_cache_open(&cache, paths.cache, err);
	if (rc == 0 && (limits->age >= 0 || limits->bytes >= 0))
		rc = prune(&cache, limits, err);
	if (rc == 0)
		rc = show(&cache, err);
	be_cache_close(&cache);
	be_interrupt_release();
	return rc;
}

int be_cmd_cache(int argc, char **argv)
{
	struct limits limits = { -1, -1 };
	struct be_error err = BE_ERROR_INIT;
	const struct be_option options[] = {
		BE_TAKE("prune", take_limit, &limits, "is neither an age (30d, 12h) nor a size (2G)"),
		BE_OPTIONS_END,
	};
	int status = be_usage_read(usage, options, argc, argv);
	if (status >= 0)
		return status;
	if (optind != argc)
		return be_usage_error(argv[0], "takes no argument");
	return run(&limits, &err) == 0 ? BE_OK : be_command_failed(argv[0], &err);
}
