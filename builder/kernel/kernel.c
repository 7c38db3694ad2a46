#include "builder/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Fields of the x86 boot protocol's header. */
#define BOOT_FLAG 0x1fe      /* 0xaa55 */
#define HEADER_MAGIC 0x202   /* "HdrS" */
#define PROTOCOL 0x206       /* version, 2.12 is 0x020c */
#define KERNEL_VERSION 0x20e /* offset of the version text, less 0x200 */
#define XLOADFLAGS 0x236     /* since 2.12: bit 0 is XLF_KERNEL_64 */
#define HEADER_SIZE 0x240
#define VERSION_MAX 256
#define RELEASE_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_~"

void be_kernel_free(struct be_kernel *kernel)
{
	free(kernel->source);
	free(kernel->package);
	free(kernel->version);
	free(kernel->release);
	be_object_free(&kernel->image);
	be_object_free(&kernel->config);
	be_buf_free(&kernel->config_text);
	free(kernel->archive);
	free(kernel->modules);
	free(kernel->tree);
	be_tree_free(&kernel->files);
	be_tree_free(&kernel->rest);
	be_packages_free(&kernel->packages);
	*kernel = (struct be_kernel)BE_KERNEL_INIT;
}

static unsigned word_at(const unsigned char *p)
{
	return p[0] | (unsigned)p[1] << 8;
}

static char *not_bzimage(const char *path, const char *why, struct be_error *err)
{
	be_fail_usage(err, "%s: no x86 kernel image (bzImage): %s", path, why);
	be_hint(err, "a build leaves it at arch/x86/boot/bzImage; vmlinux is another form");
	return NULL;
}

static char *read_release(int fd, const char *path, struct be_error *err)
{
	unsigned char h[HEADER_SIZE];
	char text[VERSION_MAX + 1];
	if (pread(fd, h, sizeof(h), 0) != (ssize_t)sizeof(h) || word_at(h + BOOT_FLAG) != 0xaa55 ||
	    memcmp(h + HEADER_MAGIC, "HdrS", 4) != 0)
		return not_bzimage(path, "the boot header is not there", err);
	if (word_at(h + PROTOCOL) >= 0x020c && !(h[XLOADFLAGS] & 1))
		return not_bzimage(path, "it is a 32-bit kernel, the image's programs are 64-bit", err);
	unsigned at = word_at(h + KERNEL_VERSION);
	ssize_t n = at ? pread(fd, text, VERSION_MAX, 0x200 + at) : 0;
	if (n <= 0)
		return not_bzimage(path, "its header names no version", err);
	text[n] = '\0';
	text[strcspn(text, " \n")] = '\0';
	if (!*text || strspn(text, RELEASE_CHARACTERS) != strlen(text))
		return not_bzimage(path, "its header names no version", err);
	return be_strdup(text);
}

char *be_kernel_release(const char *path, struct be_error *err)
{
	be_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		be_fail_errno(err, errno, "%s: cannot be opened", path);
		return NULL;
	}
	return read_release(fd, path, err);
}
