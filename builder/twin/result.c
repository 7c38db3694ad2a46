#include "builder/twin/result.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/image/hash.h"

#define DOCUMENT_MAX ((int64_t)BE_NODE_MAX_BYTES)
#define LOG_MAX (64LL << 20)
#define OUTPUT_MAX (256LL << 20) /* of one file of the workload */
#define ENTRIES_MAX 4096
#define NAME_LENGTH_MAX 200
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+=@:-"

/* An entry that arrived. */
struct arrived {
	char *name;
	char sha256[BE_HASH_TEXT];
	bool whole; /* false: the stream ended in it */
};

struct receiver {
	const char *dir;
	struct be_delivered *out;
	struct arrived *entries;
	size_t n;
	char *list; /* text of the entry `complete`, or NULL */
};

void be_delivered_free(struct be_delivered *delivered)
{
	be_node_free(delivered->before);
	be_node_free(delivered->after);
	*delivered = (struct be_delivered){ 0 };
}

static void free_receiver(struct receiver *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->entries[i].name);
	free(r->entries);
	free(r->list);
}

static void free_reader(struct archive **a)
{
	archive_read_free(*a);
}

/* The first problem is the one that explains the others. */
static void BE_PRINTF(2, 3) complain(struct receiver *r, const char *fmt, ...)
{
	if (r->out->problem[0])
		return;
	va_list args;
	va_start(args, fmt);
	vsnprintf(r->out->problem, sizeof(r->out->problem), fmt, args);
	va_end(args);
}

/* The most that an entry of this name may hold; -1 for a name that no guest of ours sends. */
static int64_t limit_of(const char *name)
{
	static const struct {
		const char *name;
		int64_t limit;
	} fixed[] = {
		{ "before.yaml", DOCUMENT_MAX },
		{ "after.yaml", DOCUMENT_MAX },
		{ "complete", DOCUMENT_MAX },
		{ "kernel.log", LOG_MAX },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(fixed); i++)
		if (strcmp(fixed[i].name, name) == 0)
			return fixed[i].limit;
	if (!be_starts(name, "workload/"))
		return -1;
	const char *file = name + strlen("workload/");
	bool plain =
		*file && *file != '.' && strlen(file) <= NAME_LENGTH_MAX && strspn(file, NAME_CHARS) == strlen(file);
	return plain ? OUTPUT_MAX : -1;
}

static struct arrived *find_arrived(const struct receiver *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->entries[i].name, name) == 0)
			return &r->entries[i];
	return NULL;
}

/* Writes the entry's data to the file @path. Sets @whole to false when the stream ends in it. */
static int copy_data(struct archive *a, const char *path, struct arrived *entry, struct be_error *err)
{
	be_autofd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be made", path);
	be_autohash struct be_hash hash = { 0 };
	be_hash_start(&hash);
	char block[65536];
	la_ssize_t n;
	while ((n = archive_read_data(a, block, sizeof(block))) > 0) {
		be_hash_add(&hash, block, (size_t)n);
		if (be_write_fd(fd, path, block, (size_t)n, err) != 0)
			return -1;
	}
	be_hash_end(&hash, entry->sha256);
	entry->whole = n == 0;
	return 0;
}

/* A later entry of the same name takes the place of the earlier one, unless the stream ends in it. */
static int keep_entry(struct receiver *r, struct arrived *entry, const char *from, struct be_error *err)
{
	struct arrived *known = find_arrived(r, entry->name);
	be_autofree char *to = be_strf("%s/%s", r->dir, entry->name);
	if (!entry->whole)
		complain(r, "the delivery ends in %s", entry->name);
	if (known && !entry->whole) {
		unlink(from);
	} else if (rename(from, to) != 0) {
		return be_fail_errno(err, errno, "%s: cannot be made", to);
	} else if (known) {
		memcpy(known->sha256, entry->sha256, sizeof(known->sha256));
	} else {
		r->entries = be_realloc(r->entries, r->n + 1, sizeof(*r->entries));
		r->entries[r->n++] = *entry;
		entry->name = NULL;
	}
	return 0;
}

/* 1: go on; 0: what follows cannot be trusted; -1: error. */
static int take_entry(struct archive *a, struct archive_entry *e, struct receiver *r, struct be_error *err)
{
	const char *name = archive_entry_pathname(e);
	int64_t limit = name ? limit_of(name) : -1, size = archive_entry_size(e);
	if (limit < 0 || archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e)) {
		complain(r, "the delivery holds an entry that no guest of ours sends");
		return 0;
	}
	if (!archive_entry_size_is_set(e) || size < 0 || size > limit || r->n >= ENTRIES_MAX) {
		complain(r, "the delivery holds %s of %" PRId64 " bytes, more than there can be", name, size);
		return 0;
	}
	struct arrived entry = { .name = be_strdup(name) };
	be_autofree char *incoming = be_strf("%s/.incoming", r->dir);
	int rc = copy_data(a, incoming, &entry, err);
	if (rc == 0)
		rc = keep_entry(r, &entry, incoming, err);
	free(entry.name);
	return rc != 0 ? -1 : entry.whole ? 1 : 0;
}

static int read_stream(const char *tar, struct receiver *r, struct be_error *err)
{
	be_cleanup(free_reader) struct archive *a = archive_read_new();
	archive_read_support_format_tar(a);
	struct stat st;
	if (stat(tar, &st) != 0 || st.st_size == 0) {
		complain(r, "nothing was delivered");
		return 0;
	}
	if (archive_read_open_filename(a, tar, 65536) != ARCHIVE_OK) {
		complain(r, "the delivery is no tar stream");
		return 0;
	}
	for (;;) {
		struct archive_entry *entry;
		int rc = archive_read_next_header(a, &entry);
		if (rc == ARCHIVE_EOF)
			return 0;
		if (rc != ARCHIVE_OK) {
			complain(r, "the delivery is cut off or damaged");
			return 0;
		}
		rc = take_entry(a, entry, r, err);
		if (rc <= 0)
			return rc;
	}
}

static struct be_node *load_document(struct receiver *r, const char *name)
{
	const struct arrived *entry = find_arrived(r, name);
	if (!entry || !entry->whole)
		return NULL;
	be_autofree char *path = be_strf("%s/%s", r->dir, name);
	struct be_error err = BE_ERROR_INIT;
	struct be_node *doc = be_node_load_file(path, &err);
	if (doc &&
	    (strcmp(be_get_str(doc, "mkbenchenv", ""), "observation") != 0 || be_get_int(doc, "schema", 0) != 1)) {
		be_node_free(doc);
		doc = NULL;
	}
	if (!doc)
		complain(r, "%s is no observation document of schema 1", name);
	return doc;
}

/* `complete` names what was sent, with hashes: all of it must have arrived, and nothing else. */
static void check_list(struct receiver *r)
{
	be_autofree char *path = be_strf("%s/complete", r->dir);
	be_autobuf struct be_buf text = { 0 };
	struct be_error err = BE_ERROR_INIT;
	const struct arrived *end = find_arrived(r, "complete");
	if (!end || !end->whole || be_read_file(path, (size_t)DOCUMENT_MAX, &text, &err) != 0) {
		complain(r, r->n ? "the delivery ends before its last entry" : "nothing was delivered");
		return;
	}
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, text.data, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		const char *name = strlen(lines.v[i]) > 66 ? lines.v[i] + 66 : "";
		const struct arrived *entry = find_arrived(r, name);
		if (!entry || strncmp(entry->sha256, lines.v[i], 64) != 0 || strncmp(lines.v[i] + 64, "  ", 2) != 0) {
			complain(r, "the delivery's list does not fit what arrived: %.100s", lines.v[i]);
			return;
		}
	}
	if (lines.n + 1 != r->n)
		complain(r, "the delivery lists %zu entries and holds %zu", lines.n, r->n - 1);
}

int be_result_receive(const char *tar, const char *dir, struct be_delivered *out, struct be_error *err)
{
	*out = (struct be_delivered){ 0 };
	be_cleanup(free_receiver) struct receiver r = { .dir = dir, .out = out };
	be_autofree char *workload = be_strf("%s/workload", dir);
	if (be_mkdirs(workload, 0777, err) != 0 || read_stream(tar, &r, err) != 0)
		return -1;
	check_list(&r);
	out->before = load_document(&r, "before.yaml");
	out->after = load_document(&r, "after.yaml");
	out->complete = out->problem[0] == '\0';
	/* The list has done its work: the result holds the files themselves. */
	be_autofree char *list = be_strf("%s/complete", dir);
	unlink(list);
	return 0;
}
