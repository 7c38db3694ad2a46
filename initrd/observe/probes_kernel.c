/* Probes of the running kernel and of what it gives to a process. */
#include "initrd/observe/probes.h"

#include <elf.h>
#include <errno.h>
#include <regex.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>

#include "initrd/kmsg.h"
#include "initrd/observe/procs.h"

#define NT_GNU_BUILD_ID 3

static size_t padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Words of the place of boot that tell the loader and init where things are, and nothing to the kernel. */
static bool of_the_delivery(const char *word)
{
	static const char *const prefixes[] = { "BOOTIF=", "benchenv.deliver=", "initrd=", "ip=" };
	for (size_t i = 0; i < BE_ARRAY_LEN(prefixes); i++)
		if (be_starts(word, prefixes[i]))
			return true;
	return false;
}

struct be_reading be_probe_command_line(const struct be_look *look)
{
	be_autofree char *text = be_observe_text(look->o, "/proc/cmdline");
	be_autostrv struct be_strv words = { 0 };
	be_autobuf struct be_buf line = { 0 };
	if (!text)
		return be_reading_absent("no such file /proc/cmdline");
	be_strv_split(&words, text, " ");
	for (size_t i = 0; i < words.n; i++)
		if (!of_the_delivery(words.v[i]))
			be_buf_addf(&line, "%s%s", line.len ? " " : "", words.v[i]);
	return be_reading_text(line.data ? line.data : "");
}

/* ELF notes: a header, the owner's name, the description, each padded to four bytes. */
struct be_reading be_probe_build_id(const struct be_look *look)
{
	be_autobuf struct be_buf notes = { 0 };
	struct be_error err = BE_ERROR_INIT;
	if (be_root_read(&look->o->root, look->path, &notes, &err) != 0)
		return be_reading_absent("%s", err.text);
	for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.len;) {
		Elf64_Nhdr note;
		memcpy(&note, notes.data + at, sizeof(note));
		size_t name = at + sizeof(note), desc = name + padded(note.n_namesz);
		if (desc > notes.len || note.n_descsz > notes.len - desc)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes.data + name, "GNU", 4) == 0) {
			be_autobuf struct be_buf hex = { 0 };
			for (size_t i = 0; i < note.n_descsz; i++)
				be_buf_addf(&hex, "%02x", (unsigned char)notes.data[desc + i]);
			return be_reading_text(hex.data ? hex.data : "");
		}
		at = desc + padded(note.n_descsz);
	}
	return be_reading_absent("%s holds no build ID", look->path);
}

/* How many lines of the kernel's log match: of the whole boot before the workload, afterwards of the time since its
 * start, and then also what the first one says. */
struct be_reading be_probe_kernel_log(const struct be_look *look)
{
	const struct be_sample *sample = look->o->sample;
	const struct be_kmsg *log = look->o->log;
	const char *first = NULL;
	int64_t count = 0;
	regex_t regex;
	if (sample && sample->began <= 0)
		return be_reading_not_observable("no workload ran");
	if (log->errnum)
		return be_reading_not_observable("/dev/kmsg: %s", strerror(log->errnum));
	if (regcomp(&regex, be_get_str(look->how, "match", ""), REG_EXTENDED | REG_NOSUB) != 0)
		return be_reading_not_observable("the factor's `match:` is no regular expression");
	for (size_t i = 0; i < log->texts.n; i++) {
		if ((sample && log->times[i] < sample->began) || regexec(&regex, log->texts.v[i], 0, NULL, 0) != 0)
			continue;
		first = first ? first : log->texts.v[i];
		count++;
	}
	regfree(&regex);
	if (!sample || !count)
		return be_reading_value(be_node_int(count));
	struct be_node *map = be_node_map();
	be_set_int(map, "lines", count);
	be_set_str(map, "first", first);
	return be_reading_value(map);
}

struct be_reading be_probe_entropy(const struct be_look *look)
{
	(void)look;
	char byte;
	if (getrandom(&byte, 1, GRND_NONBLOCK) == 1)
		return be_reading_text("ready");
	return errno == EAGAIN ? be_reading_text("not ready")
			       : be_reading_not_observable("getrandom: %s", strerror(errno));
}

#define CLOCK_YEAR "2020-01-01" /* a clock that nobody set starts in 1970 or on its firmware's day */

/* Set means: not before 2020 and not before the day whose rules the plan follows. */
struct be_reading be_probe_clock(const struct be_look *look)
{
	char today[sizeof("YYYY-MM-DD")];
	time_t now = time(NULL);
	struct tm tm;
	const char *rules = be_get_str(be_get(look->o->plan, "rules"), "date", CLOCK_YEAR);
	strftime(today, sizeof(today), "%Y-%m-%d", gmtime_r(&now, &tm));
	if (strcmp(today, CLOCK_YEAR) < 0 || strcmp(today, rules) < 0)
		return be_reading_text("not set");
	be_autofree char *source = be_root_text(&look->o->root, "/sys/class/rtc/rtc0/hctosys");
	return be_reading_text(be_streq(source, "1") ? "set, from rtc0" : "set");
}

static void add_limit(struct be_buf *text, rlim_t limit)
{
	if (limit == RLIM_INFINITY)
		be_buf_adds(text, "unlimited");
	else
		be_buf_addf(text, "%llu", (unsigned long long)limit);
}

/* The limits of this process are those that the workload inherits. */
struct be_reading be_probe_rlimits(const struct be_look *look)
{
	(void)look;
	static const struct {
		const char *name;
		enum __rlimit_resource resource;
	} limits[] = {
		{ "nofile", RLIMIT_NOFILE },
		{ "memlock", RLIMIT_MEMLOCK },
		{ "stack", RLIMIT_STACK },
		{ "nproc", RLIMIT_NPROC },
	};
	struct be_node *map = be_node_map();
	for (size_t i = 0; i < BE_ARRAY_LEN(limits); i++) {
		struct rlimit limit;
		if (getrlimit(limits[i].resource, &limit) != 0)
			continue;
		be_autobuf struct be_buf text = { 0 };
		add_limit(&text, limit.rlim_cur);
		be_buf_addc(&text, '/');
		add_limit(&text, limit.rlim_max);
		be_set_str(map, limits[i].name, text.data);
	}
	return be_reading_value(map);
}

/* Names of processes -> nothing; NULL where they cannot be read. */
static struct be_node *process_names(const struct be_observer *o, bool kernel_too)
{
	be_autoprocs struct be_procs procs = { 0 };
	if (be_procs_load(&procs, &o->root, kernel_too) != 0)
		return NULL;
	struct be_node *map = be_node_map();
	for (size_t i = 0; i < procs.n; i++)
		be_set_str(map, procs.v[i].name, "");
	return map;
}

static struct be_node *programs(const struct be_observer *o)
{
	return process_names(o, false);
}

static struct be_node *programs_and_threads(const struct be_observer *o)
{
	return process_names(o, true);
}

struct be_reading be_probe_process(const struct be_look *look)
{
	bool kernel_too = be_get_bool(look->how, "kernel", false);
	const struct be_node *names = kernel_too ? be_observe_table(look->o, "threads", programs_and_threads)
						 : be_observe_table(look->o, "programs", programs);
	if (!names)
		return be_reading_not_observable("/proc cannot be read");
	return be_reading_text(be_get(names, be_get_str(look->how, "field", "")) ? "running" : "not running");
}
