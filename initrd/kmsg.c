#include "initrd/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <unistd.h>

/* Actions of syslog(2). */
#define SYSLOG_READ_ALL 3
#define SYSLOG_SIZE 10

#define RECORD_MAX 8192 /* the kernel's own limit of a record read from /dev/kmsg */

/* "PRIO,SEQ,USEC,FLAGS[,...];TEXT", then lines " KEY=VALUE". */
static bool parse(char *line, struct be_kmsg_record *record)
{
	uint64_t numbers[3];
	char *text = strchr(line, ';'), *at = line;
	if (!text)
		return false;
	for (size_t i = 0; i < BE_ARRAY_LEN(numbers); i++) {
		char *end;
		numbers[i] = strtoull(at, &end, 10);
		if (end == at || *end != ',')
			return false;
		at = end + 1;
	}
	record->level = (int)(numbers[0] & 7);
	record->seq = numbers[1];
	record->time = (double)numbers[2] / 1e6;
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

static int open_log(const struct be_root *root)
{
	be_autofree char *path = be_root_path(root, "/dev/kmsg");
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/* The records that @fd has not given yet. */
static int each_of(int fd, void (*each)(void *, const struct be_kmsg_record *), void *data)
{
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

int be_kmsg_each(const struct be_root *root, void (*each)(void *, const struct be_kmsg_record *), void *data)
{
	be_autofd int fd = open_log(root);
	return each_of(fd, each, data);
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

static void forget(struct be_kmsg *log)
{
	be_strv_free(&log->texts);
	free(log->times);
	log->texts = (struct be_strv){ 0 };
	log->times = NULL;
}

static void keep(void *data, const struct be_kmsg_record *record)
{
	struct be_kmsg *log = data;
	if (record->time <= log->until)
		return;
	log->times = be_realloc(log->times, log->texts.n + 1, sizeof(*log->times));
	log->times[log->texts.n] = record->time;
	be_strv_add(&log->texts, record->text);
}

/* "<PRIO>[SECONDS] TEXT", with the caller in brackets of its own where CONFIG_PRINTK_CALLER is set. */
static bool parse_line(char *line, struct be_kmsg_record *record)
{
	char *end, *text = strstr(line, "] ");
	long priority = *line == '<' ? strtol(line + 1, &end, 10) : -1;
	if (priority < 0 || !text || strncmp(end, ">[", 2) != 0)
		return false;
	*record = (struct be_kmsg_record){ .level = (int)(priority & 7),
					   .time = strtod(end + 2, NULL),
					   .text = text + 2 };
	return true;
}

/*
 * What the log holds by now, by one call and not one for each record, which takes ten times as long in an emulated
 * machine. Where that does not tell times (printk.time=0) or is not allowed, /dev/kmsg is read from its beginning.
 */
static void read_at_once(struct be_kmsg *log)
{
	int size = 2 * klogctl(SYSLOG_SIZE, NULL, 0); /* the text repeats what the buffer keeps as numbers */
	be_autofree char *text = size > 0 ? be_alloc((size_t)size + 1) : NULL;
	if (!text || lseek(log->fd, 0, SEEK_END) < 0)
		return;
	bool known = klogctl(SYSLOG_READ_ALL, text, size) > 0;
	char *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line && known; line = strtok_r(NULL, "\n", &save)) {
		struct be_kmsg_record record;
		known = parse_line(line, &record);
		if (known)
			keep(log, &record);
	}
	if (!known) {
		forget(log);
		lseek(log->fd, 0, SEEK_SET);
	}
	log->until = log->texts.n ? log->times[log->texts.n - 1] : -1;
}

void be_kmsg_update(struct be_kmsg *log, const struct be_root *root)
{
	bool recorded = root->prefix && *root->prefix;
	if (!log->open) {
		log->fd = open_log(root);
		log->open = log->fd >= 0;
		log->until = -1;
		if (log->open && !recorded)
			read_at_once(log);
	}
	log->errnum = each_of(log->fd, keep, log) == 0 ? 0 : errno;
}

void be_kmsg_free(struct be_kmsg *log)
{
	forget(log);
	if (log->open)
		close(log->fd);
	*log = (struct be_kmsg){ 0 };
}
