#include "builder/image/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define BLOCK (128u << 10)

/* libcrypto fails here only without memory or without SHA-256: neither leaves anything to do. */
static void need(int ok)
{
	if (ok)
		return;
	fputs("libcrypto: SHA-256 is not available\n", stderr);
	exit(BE_FAILED);
}

bool be_hash_is_text(const char *text)
{
	return text && strlen(text) == BE_HASH_TEXT - 1 && strspn(text, "0123456789abcdef") == BE_HASH_TEXT - 1;
}

void be_hash_start(struct be_hash *hash)
{
	hash->ctx = EVP_MD_CTX_new();
	need(hash->ctx && EVP_DigestInit_ex(hash->ctx, EVP_sha256(), NULL));
}

void be_hash_copy(struct be_hash *to, const struct be_hash *from)
{
	to->ctx = EVP_MD_CTX_new();
	need(to->ctx && EVP_MD_CTX_copy_ex(to->ctx, from->ctx));
}

void be_hash_add(struct be_hash *hash, const void *data, size_t len)
{
	need(EVP_DigestUpdate(hash->ctx, data, len));
}

void be_hash_adds(struct be_hash *hash, const char *text)
{
	char head[32];
	int n = text ? snprintf(head, sizeof(head), "%zu:", strlen(text)) : snprintf(head, sizeof(head), "-:");
	be_hash_add(hash, head, (size_t)n);
	if (text)
		be_hash_add(hash, text, strlen(text));
}

void be_hash_end(struct be_hash *hash, char out[BE_HASH_TEXT])
{
	unsigned char raw[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	need(EVP_DigestFinal_ex(hash->ctx, raw, &len) && len == 32);
	for (unsigned i = 0; i < len; i++)
		snprintf(out + 2 * i, 3, "%02x", raw[i]);
	be_hash_drop(hash);
}

void be_hash_drop(struct be_hash *hash)
{
	EVP_MD_CTX_free(hash->ctx);
	hash->ctx = NULL;
}

static int add_fd(struct be_hash *hash, int fd, const char *path, int64_t *size, struct be_error *err)
{
	be_autofree char *block = be_alloc(BLOCK);
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	for (;;) {
		ssize_t n = read(fd, block, BLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return be_fail_errno(err, errno, "%s: cannot be read", path);
		if (n == 0)
			return 0;
		be_hash_add(hash, block, (size_t)n);
		*size += n;
	}
}

int be_hash_add_file(struct be_hash *hash, const char *path, struct be_error *err)
{
	int64_t size = 0;
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", path);
	return add_fd(hash, fd, path, &size, err);
}

int be_hash_add_range(struct be_hash *hash, int fd, int64_t offset, int64_t size, const char *name,
		      struct be_error *err)
{
	be_autofree char *block = be_alloc(BLOCK);
	while (size > 0) {
		ssize_t n = pread(fd, block, size < BLOCK ? (size_t)size : BLOCK, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return be_fail_errno(err, n ? errno : EIO, "%s: cannot be read", name);
		be_hash_add(hash, block, (size_t)n);
		offset += n;
		size -= n;
	}
	return 0;
}

int be_hash_file(const char *path, char out[BE_HASH_TEXT], int64_t *size, struct be_error *err)
{
	be_autohash struct be_hash hash = { 0 };
	int64_t bytes = 0;
	struct stat st;
	/* O_NONBLOCK: a named pipe in the place of a file is an answer, not a wait; files do not heed it. */
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0)
		return be_fail_errno(err, errno, "%s: cannot be opened", path);
	if (!S_ISREG(st.st_mode))
		return be_fail(err, "%s: is no regular file", path);
	be_hash_start(&hash);
	if (add_fd(&hash, fd, path, &bytes, err) != 0)
		return -1;
	be_hash_end(&hash, out);
	if (size)
		*size = bytes;
	return 0;
}
