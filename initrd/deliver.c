#include "initrd/deliver.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <poll.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/node.h"
#include "initrd/framer.h"

#define PATIENCE_MS 10000 /* the host reads the port at once; one that does not for so long will not */
#define BLOCK 65536
#define LINES 32           /* written at a time: at 9600 baud they take 8 s */
#define KLOG_CONSOLE_OFF 6 /* syslog(2) */
#define KLOG_CONSOLE_ON 7

struct be_delivery {
	int fd;
	enum be_framing framing;
	struct archive *archive;
	struct be_node *sums; /* map name -> SHA-256: the lines of `complete` */
	struct be_framer framer;
	char problem[256]; /* why writing failed */
	bool over;         /* nothing is written any more */
	void (*progress)(void *data);
	void *progress_data;
};

/* Writes all to a descriptor that may be non-blocking. */
static int write_patiently(struct be_delivery *d, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(d->fd, data, len);
		if (n > 0) {
			data += n;
			len -= (size_t)n;
			if (d->progress)
				d->progress(d->progress_data);
		} else if (n < 0 && errno == EAGAIN) {
			struct pollfd p = { .fd = d->fd, .events = POLLOUT };
			if (poll(&p, 1, PATIENCE_MS) <= 0) {
				snprintf(d->problem, sizeof(d->problem), "nobody reads");
				return -1;
			}
		} else if (n == 0 || errno != EINTR) {
			snprintf(d->problem, sizeof(d->problem), "%s", n == 0 ? "nothing is taken" : strerror(errno));
			return -1;
		}
	}
	return 0;
}

static la_ssize_t on_write(struct archive *archive, void *data, const void *bytes, size_t len)
{
	struct be_delivery *d = data;
	(void)archive;
	/* A lost host is noticed by flush(): libarchive told of it would leave its stream half freed. */
	if (d->framing == BE_BASE64)
		be_framer_add(&d->framer, bytes, len);
	else if (!d->over && write_patiently(d, bytes, len) != 0)
		d->over = true;
	return (la_ssize_t)len;
}

static int fail(struct be_delivery *d, const char *name, struct be_error *err)
{
	const char *why = archive_error_string(d->archive);
	return be_fail(err, "delivery of %s: %s", name, why ? why : "the stream cannot be written");
}

struct be_delivery *be_delivery_open(int fd, enum be_framing framing, struct be_error *err)
{
	struct be_delivery *d = be_alloc(sizeof(*d));
	*d = (struct be_delivery){
		.fd = fd, .framing = framing, .archive = archive_write_new(), .sums = be_node_map()
	};
	be_framer_start(&d->framer);
	if (!d->archive || archive_write_set_format_pax(d->archive) != ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(d->archive, 0) != ARCHIVE_OK ||
	    archive_write_open(d->archive, d, NULL, on_write, NULL) != ARCHIVE_OK) {
		fail(d, "the stream", err);
		be_delivery_free(d);
		return NULL;
	}
	return d;
}

void be_delivery_watch(struct be_delivery *d, void (*progress)(void *data), void *data)
{
	d->progress = progress;
	d->progress_data = data;
}

void be_delivery_free(struct be_delivery *d)
{
	if (!d)
		return;
	d->over = true; /* libarchive closes the stream: one that was not completed gets no end marks */
	archive_write_free(d->archive);
	be_node_free(d->sums);
	be_framer_free(&d->framer);
	free(d);
}

/* Writes lines with the kernel kept off the console: only its emergencies can still come in between. */
static int write_lines(struct be_delivery *d, const struct be_buf *lines)
{
	bool console = isatty(d->fd);
	if (console)
		klogctl(KLOG_CONSOLE_OFF, NULL, 0);
	int rc = write_patiently(d, lines->data, lines->len);
	if (console) {
		tcdrain(d->fd);
		klogctl(KLOG_CONSOLE_ON, NULL, 0);
	}
	return rc;
}

/* The entry as lines. What was on the console's last line must not stand before the first of them. */
static int flush_framed(struct be_delivery *d)
{
	be_autobuf struct be_buf lines = { 0 };
	be_buf_addc(&lines, '\n');
	while (be_framer_take(&d->framer, LINES, &lines)) {
		if (write_lines(d, &lines) != 0)
			return -1;
		lines.len = 0;
	}
	return 0;
}

static int end_framed(struct be_delivery *d)
{
	be_autobuf struct be_buf line = { 0 };
	be_framer_end(&d->framer, &line);
	return write_lines(d, &line);
}

/* Waits until the port took all that was written. */
static int flush(struct be_delivery *d, const char *name, struct be_error *err)
{
	if (!d->over && d->framing == BE_BASE64 && flush_framed(d) != 0)
		d->over = true;
	if (d->over)
		return be_fail(err, "delivery of %s: %s", name, d->problem);
	struct pollfd p = { .fd = d->fd, .events = POLLOUT };
	if (poll(&p, 1, PATIENCE_MS) == 0)
		return be_fail(err, "delivery of %s: nobody reads", name);
	fsync(d->fd); /* a regular file in tests; a port answers EINVAL */
	return 0;
}

static int begin_entry(struct be_delivery *d, const char *name, size_t size, struct be_error *err)
{
	struct archive_entry *entry = archive_entry_new();
	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (la_int64_t)size);
	archive_entry_set_mtime(entry, time(NULL), 0);
	int rc = archive_write_header(d->archive, entry);
	archive_entry_free(entry);
	return rc == ARCHIVE_OK ? 0 : fail(d, name, err);
}

/* Ends an entry: its padding, and its line in `complete`. */
static int end_entry(struct be_delivery *d, const char *name, EVP_MD_CTX *digest, struct be_error *err)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	if (archive_write_finish_entry(d->archive) != ARCHIVE_OK)
		return fail(d, name, err);
	if (EVP_DigestFinal_ex(digest, sum, &len) != 1)
		return be_fail(err, "delivery of %s: SHA-256 cannot be computed", name);
	be_autobuf struct be_buf hex = { 0 };
	for (unsigned i = 0; i < len; i++)
		be_buf_addf(&hex, "%02x", sum[i]);
	be_set_str(d->sums, name, hex.data);
	return flush(d, name, err);
}

static int add_bytes(struct be_delivery *d, const char *name, EVP_MD_CTX *digest, const void *data, size_t len,
		     struct be_error *err)
{
	EVP_DigestUpdate(digest, data, len);
	for (const char *p = data; len;) {
		la_ssize_t n = archive_write_data(d->archive, p, len);
		if (n <= 0)
			return fail(d, name, err);
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static void free_digest(EVP_MD_CTX **digest)
{
	EVP_MD_CTX_free(*digest);
}

static EVP_MD_CTX *new_digest(struct be_error *err)
{
	EVP_MD_CTX *digest = EVP_MD_CTX_new();
	if (digest && EVP_DigestInit_ex(digest, EVP_sha256(), NULL) == 1)
		return digest;
	EVP_MD_CTX_free(digest);
	be_fail(err, "SHA-256 cannot be computed");
	return NULL;
}

int be_delivery_add(struct be_delivery *d, const char *name, const void *data, size_t len, struct be_error *err)
{
	be_cleanup(free_digest) EVP_MD_CTX *digest = new_digest(err);
	if (!digest || begin_entry(d, name, len, err) != 0 || add_bytes(d, name, digest, data, len, err) != 0)
		return -1;
	return end_entry(d, name, digest, err);
}

/* Copies @size bytes. A file that became shorter meanwhile is filled up with zeros: the entry's size is said already.
 */
static int add_content(struct be_delivery *d, const char *name, int fd, size_t size, EVP_MD_CTX *digest,
		       struct be_error *err)
{
	static char block[BLOCK];
	while (size) {
		size_t want = size < sizeof(block) ? size : sizeof(block);
		ssize_t n = read(fd, block, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			memset(block, 0, want);
			n = (ssize_t)want;
		}
		if (add_bytes(d, name, digest, block, (size_t)n, err) != 0)
			return -1;
		size -= (size_t)n;
	}
	return 0;
}

int be_delivery_add_file(struct be_delivery *d, const char *name, const char *path, struct be_error *err)
{
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0)
		return be_fail_errno(err, errno, "%s: cannot be read", path);
	be_cleanup(free_digest) EVP_MD_CTX *digest = new_digest(err);
	if (!digest || begin_entry(d, name, (size_t)st.st_size, err) != 0 ||
	    add_content(d, name, fd, (size_t)st.st_size, digest, err) != 0)
		return -1;
	return end_entry(d, name, digest, err);
}

int be_delivery_add_dir(struct be_delivery *d, const char *prefix, const char *path, struct be_error *err)
{
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(NULL, path, &names) != 0)
		return errno == ENOENT ? 0 : be_fail_errno(err, errno, "%s: cannot be read", path);
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *file = be_strf("%s/%s", path, names.v[i]);
		be_autofree char *name = be_strf("%s/%s", prefix, names.v[i]);
		struct stat st;
		if (lstat(file, &st) == 0 && S_ISREG(st.st_mode) && be_delivery_add_file(d, name, file, err) != 0)
			return -1;
	}
	return 0;
}

int be_delivery_complete(struct be_delivery *d, struct be_error *err)
{
	be_autobuf struct be_buf list = { 0 };
	for (size_t i = 0; i < d->sums->n; i++)
		be_buf_addf(&list, "%s  %s\n", d->sums->items[i]->text, d->sums->keys[i]);
	if (be_delivery_add(d, "complete", list.data, list.len, err) != 0)
		return -1;
	if (archive_write_close(d->archive) != ARCHIVE_OK)
		return fail(d, "the stream's end", err);
	if (flush(d, "the stream's end", err) != 0)
		return -1;
	if (d->framing == BE_BASE64 && end_framed(d) != 0)
		return be_fail(err, "delivery of the last line: %s", d->problem);
	return 0;
}

int be_delivery_no_format(struct archive *archive)
{
	archive_set_error(archive, ENOTSUP, "this program writes only pax");
	return ARCHIVE_FATAL;
}
