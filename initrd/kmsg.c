#include "initrd/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORD_MAX 8192 /* the kernel's own limit of a record read from /dev/kmsg */

/* "PRIO,SEQ,USEC,FLAGS[,...];TEXT", then lines " KEY=VALUE". */
static bool parse(char *line, struct be_kmsg_record *record)
{
	unsigned prio;
	uint64_t usec;
	char *text = strchr(line, ';');
	if (!text || sscanf(line, "%u,%" SCNu64 ",%" SCNu64, &prio, &record->seq, &usec) != 3)
		return false;
	record->level = (int)(prio & 7);
	record->time = (double)usec / 1e6;
	record->text = text + 1;
	text[1 + strcspn(text + 1, "\n")] = '\0';
	return true;
}

static int each_of_file(int fd, void (*each)(void *, const struct be_kmsg_record *), void *data)
{
	be_autobuf struct be_buf all = { 0 };
	struct be_error err = BE_ERROR_INIT;
	if (be_read_fd(fd, "kmsg", 1u << 20, &all, &err) != 0)
		return -1;
	char *save = NULL;
	for (char *line = strtok_r(all.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct be_kmsg_record record;
		if (parse(line, &record))
			each(data, &record);
	}
	return 0;
}

int be_kmsg_each(const struct be_root *root, void (*each)(void *, const struct be_kmsg_record *), void *data)
{
	be_autofree char *path = be_root_path(root, "/dev/kmsg");
	be_autofd int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0)
		return -1;
	if (S_ISREG(st.st_mode))
		return each_of_file(fd, each, data);
	char line[RECORD_MAX + 1];
	for (;;) {
		ssize_t n = read(fd, line, RECORD_MAX);
		if (n < 0 && (errno == EPIPE || errno == EINTR)) /* EPIPE: records were overwritten; go on */
			continue;
		if (n <= 0)
			return n < 0 && errno != EAGAIN ? -1 : 0;
		line[n] = '\0';
		struct be_kmsg_record record;
		if (parse(line, &record))
			each(data, &record);
	}
}

static void add_line(void *data, const struct be_kmsg_record *record)
{
	be_buf_addf(data, "<%d>[%12.6f] %s\n", record->level, record->time, record->text);
}

int be_kmsg_text(const struct be_root *root, struct be_buf *out)
{
	be_buf_adds(out, "");
	return be_kmsg_each(root, add_line, out);
}

static void keep(void *data, const struct be_kmsg_record *record)
{
	struct be_kmsg *log = data;
	log->times = be_realloc(log->times, log->texts.n + 1, sizeof(*log->times));
	log->times[log->texts.n] = record->time;
	be_strv_add(&log->texts, record->text);
}

void be_kmsg_load(struct be_kmsg *log, const struct be_root *root)
{
	log->read = true;
	log->errnum = be_kmsg_each(root, keep, log) == 0 ? 0 : errno;
}

void be_kmsg_free(struct be_kmsg *log)
{
	be_strv_free(&log->texts);
	free(log->times);
	*log = (struct be_kmsg){ 0 };
}
