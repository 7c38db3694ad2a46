/* Probes of the running kernel and of what it gives to a process. */
#include "initrd/probes.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>

#include "initrd/kmsg.h"
#include "initrd/procs.h"

#define NT_GNU_BUILD_ID 3
#define LOG_LINES 5 /* shown of the matching ones; kernel.log has them all */

static size_t padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
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

struct log_search {
	regex_t regex;
	double since;
	struct be_strv lines;
	size_t count;
};

static void match_record(void *data, const struct be_kmsg_record *record)
{
	struct log_search *search = data;
	if (record->time < search->since || regexec(&search->regex, record->text, 0, NULL, 0) != 0)
		return;
	if (search->count++ < LOG_LINES)
		be_strv_add(&search->lines, record->text);
}

/* Lines of the kernel's log that match: of the whole boot before the workload, afterwards of the time since its start.
 */
struct be_reading be_probe_kernel_log(const struct be_look *look)
{
	struct log_search search = { .since = look->o->sample ? look->o->sample->began : 0 };
	if (regcomp(&search.regex, be_get_str(look->how, "match", ""), REG_EXTENDED | REG_NOSUB) != 0)
		return be_reading_not_observable("the factor's `match:` is no regular expression");
	struct be_reading r;
	if (be_kmsg_each(&look->o->root, match_record, &search) != 0)
		r = be_reading_not_observable("/dev/kmsg: %s", strerror(errno));
	else if (!search.count)
		r = be_reading_text("none");
	else {
		if (search.count > LOG_LINES)
			be_strv_addf(&search.lines, "and %zu more", search.count - LOG_LINES);
		r = be_reading_value(be_node_strv(&search.lines));
	}
	be_strv_free(&search.lines);
	regfree(&search.regex);
	return r;
}

struct be_reading be_probe_entropy(const struct be_look *look)
{
	(void)look;
	char byte;
	if (getrandom(&byte, 1, GRND_NONBLOCK) == 1)
		return be_reading_text("yes");
	return errno == EAGAIN ? be_reading_text("no") : be_reading_not_observable("getrandom: %s", strerror(errno));
}

#define CLOCK_PLAUSIBLE \
	1577836800 /* 2020-01-01: a machine without a set clock starts at 1970 or at its firmware's day */

struct be_reading be_probe_clock(const struct be_look *look)
{
	(void)look;
	return be_reading_text(time(NULL) >= CLOCK_PLAUSIBLE ? "set" : "not set");
}

/* The limits of this process are those that the workload inherits. */
struct be_reading be_probe_rlimits(const struct be_look *look)
{
	(void)look;
	static const struct {
		const char *name;
		enum __rlimit_resource resource;
	} limits[] = {
		{ "nofile", RLIMIT_NOFILE }, { "memlock", RLIMIT_MEMLOCK }, { "stack", RLIMIT_STACK },
		{ "nproc", RLIMIT_NPROC },   { "fsize", RLIMIT_FSIZE },     { "core", RLIMIT_CORE },
	};
	struct be_node *map = be_node_map();
	for (size_t i = 0; i < BE_ARRAY_LEN(limits); i++) {
		struct rlimit limit;
		if (getrlimit(limits[i].resource, &limit) != 0)
			continue;
		be_set(map, limits[i].name,
		       limit.rlim_cur == RLIM_INFINITY ? be_node_str("unlimited")
						       : be_node_int((int64_t)limit.rlim_cur));
	}
	return be_reading_value(map);
}

struct be_reading be_probe_process(const struct be_look *look)
{
	const char *name = be_get_str(look->how, "field", "");
	be_autoprocs struct be_procs procs = { 0 };
	if (be_procs_load(&procs, &look->o->root) != 0)
		return be_reading_not_observable("/proc: %s", strerror(errno));
	for (size_t i = 0; i < procs.n; i++)
		if (be_streq(procs.v[i].name, name))
			return be_reading_text("running");
	return be_reading_text("not running");
}
