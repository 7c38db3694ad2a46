/*
 * Expands every *.yaml below the folders given and says how long it took and how much memory. Fails beyond one second
 * of CPU time or 64 MB, or when twice the jobs take much more than twice the time.
 */
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "job.h"

#define MAX_SECONDS 1.0
#define MAX_KIB (64L * 1024)
#define MAX_GROWTH 3.0 /* of time, for twice the jobs; 2 is linear, 4 quadratic */

static struct be_strv files;

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_F && be_ends(path, ".yaml"))
		be_strv_add(&files, path);
	return 0;
}

static double cpu_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Number of atomic jobs; a file that cannot be read is said and counts as a failure. */
static size_t expand(const char *path, bool *failed)
{
	struct be_job_options options = { .data_dir = "recipes" };
	struct be_error err = BE_ERROR_INIT;
	be_autojobs struct be_jobs jobs = { 0 };
	if (be_jobs_load(path, &options, &jobs, &err) != 0) {
		be_error_print(&err, "bench_jobs");
		*failed = true;
	}
	return jobs.n;
}

static bool bench_files(void)
{
	bool failed = false;
	size_t atoms = 0;
	double start = cpu_seconds();
	for (size_t i = 0; i < files.n; i++)
		atoms += expand(files.v[i], &failed);
	double seconds = cpu_seconds() - start;
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("%zu job files, %zu atomic jobs: %.3f s of CPU time, %.1f MB at most\n", files.n, atoms, seconds,
	       (double)usage.ru_maxrss / 1024);
	return !failed && seconds < MAX_SECONDS && usage.ru_maxrss < MAX_KIB;
}

/* CPU time of a job of 80 * @n atoms; the least of three runs. */
static double time_matrix(unsigned n, bool *failed)
{
	be_autobuf struct be_buf text = { 0 };
	static const char *const options[] = { "bs", "iodepth" };
	be_buf_adds(&text, "suite: fio-basic\nfs: [btrfs, ext4, xfs, f2fs]\nfio-setup-basic:\n  test_size: 1G\n");
	for (size_t k = 0; k < BE_ARRAY_LEN(options); k++) {
		be_buf_addf(&text, "  %s:\n", options[k]);
		for (unsigned i = 0; i < (k ? n : 20); i++)
			be_buf_addf(&text, "  - %u\n", i + 1);
	}
	char path[] = "/tmp/be-bench-XXXXXX";
	be_autofd int fd = mkstemp(path);
	struct be_error err = BE_ERROR_INIT;
	double best = 1e9;
	if (fd < 0 || be_write_fd(fd, path, text.data, text.len, &err) != 0)
		*failed = true;
	for (int run = 0; run < 3 && !*failed; run++) {
		double start = cpu_seconds();
		*failed = expand(path, failed) != 4 * 20 * n;
		double seconds = cpu_seconds() - start;
		best = seconds < best ? seconds : best;
	}
	unlink(path);
	return best;
}

static bool bench_growth(void)
{
	bool failed = false;
	double once = time_matrix(40, &failed), twice = time_matrix(80, &failed);
	printf("3200 jobs of one file: %.3f s, 6400: %.3f s, %.1f times as long\n", once, twice, twice / once);
	return !failed && twice / once < MAX_GROWTH;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (nftw(argv[i], visit, 16, FTW_PHYS) != 0) {
			perror(argv[i]);
			return 1;
		}
	bool ok = bench_files();
	ok = bench_growth() && ok;
	be_strv_free(&files);
	return ok ? 0 : 1;
}
