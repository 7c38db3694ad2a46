/* Reading what was given: one file, or a folder with all that lies below it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/packages/given_parts.h"
#include "builder/progress.h"

static void file_free(struct be_given_file *file)
{
	free(file->path);
	free(file->source);
	free(file->target);
	if (file->elf)
		be_elf_free(file->elf);
	free(file->elf);
}

void be_given_files_free(struct be_given_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		file_free(&files->v[i]);
	free(files->v);
	*files = (struct be_given_files){ 0 };
}

const struct be_given_file *be_given_find(const struct be_given_files *files, const char *path)
{
	for (size_t i = 0; i < files->n; i++)
		if (be_streq(files->v[i].path, path))
			return &files->v[i];
	return NULL;
}

const char *be_given_inside(const struct be_given *given, const char *source)
{
	size_t n = strlen(given->source);
	return given->folder && be_starts(source, given->source) && source[n] == '/' ? source + n + 1 : NULL;
}

static struct be_given_file *append(struct be_given_files *files, const char *path)
{
	files->v = be_realloc(files->v, files->n + 1, sizeof(*files->v));
	files->v[files->n] = (struct be_given_file){ .path = be_strdup(path) };
	return &files->v[files->n++];
}

/* An empty file cannot be mapped, and is no program. */
static int read_elf(struct be_given_file *file, int fd, struct be_error *err)
{
	struct be_elf elf = { 0 };
	if (!file->size)
		return 0;
	be_automapping struct be_mapping mapping = { .len = (size_t)file->size };
	mapping.base = mmap(NULL, mapping.len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapping.base == MAP_FAILED) {
		mapping.base = NULL;
		return be_fail_errno(err, errno, "%s: cannot be read", file->source);
	}
	if (!be_elf_read(mapping.base, mapping.len, &elf))
		return 0;
	file->elf = be_alloc(sizeof(elf));
	*file->elf = elf;
	return 0;
}

static int read_content(struct be_given_file *file, struct be_error *err)
{
	struct stat st;
	be_autohash struct be_hash hash = { 0 };
	be_autofd int fd = open(file->source, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0)
		return be_fail_errno(err, errno, "%s: cannot be read", file->source);
	if (!S_ISREG(st.st_mode))
		return be_fail_usage(err, "%s: is no file", file->source);
	file->size = st.st_size;
	file->program = st.st_mode & 0111;
	be_hash_start(&hash);
	if (be_interrupted(err) != 0 || be_hash_add_range(&hash, fd, 0, st.st_size, file->source, err) != 0)
		return -1;
	be_hash_end(&hash, file->sha256);
	return read_elf(file, fd, err);
}

struct be_given_file *be_given_add(struct be_given_files *files, const char *path, const char *source,
				   struct be_error *err)
{
	struct be_given_file *file = append(files, path);
	file->source = be_strdup(source);
	return read_content(file, err) == 0 ? file : NULL;
}

/* How many folders deep the text of a link in a folder @depth deep ever leads, without following other links. */
static bool climbs_out(const char *target, size_t depth)
{
	be_autostrv struct be_strv parts = { 0 };
	be_strv_split(&parts, target, "/");
	for (size_t i = 0; i < parts.n; i++) {
		if (be_streq(parts.v[i], "."))
			continue;
		if (!be_streq(parts.v[i], ".."))
			depth++;
		else if (depth-- == 0)
			return true;
	}
	return false;
}

static size_t depth_of(const char *path)
{
	size_t n = 0;
	for (; *path; path++)
		n += *path == '/';
	return n;
}

/* By its text, and through other links by where it really leads: neither may be outside. */
static int check_link(const struct be_given *given, const char *full, const char *target, struct be_error *err)
{
	be_autofree char *real = realpath(full, NULL);
	if (target[0] != '/' && !climbs_out(target, depth_of(be_given_inside(given, full))) &&
	    (!real || be_streq(real, given->source) || be_given_inside(given, real)))
		return 0;
	be_fail_usage(err, "%s: the link to %s leads out of the folder", full, target);
	return be_hint(err, "put a copy of what it leads to in its place, or a relative link");
}

static int read_link(struct be_given *given, const char *path, const char *full, struct be_error *err)
{
	char target[4096];
	ssize_t n = readlink(full, target, sizeof(target) - 1);
	if (n < 0)
		return be_fail_errno(err, errno, "%s: cannot be read", full);
	target[n] = '\0';
	if (check_link(given, full, target, err) != 0)
		return -1;
	append(&given->files, path)->target = be_strdup(target);
	return 0;
}

static int read_folder(struct be_given *given, const char *path, const char *full, struct be_error *err);

static int read_entry(struct be_given *given, const char *path, const char *full, struct be_error *err)
{
	struct stat st;
	if (lstat(full, &st) != 0)
		return be_fail_errno(err, errno, "%s: cannot be read", full);
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return be_given_add(&given->files, path, full, err) ? 0 : -1;
	case S_IFLNK:
		return read_link(given, path, full, err);
	case S_IFDIR:
		return read_folder(given, path, full, err);
	default:
		be_fail_usage(err, "%s: is a device, pipe or socket, which no image holds", full);
		return be_hint(err, "remove it from the folder");
	}
}

static int read_folder(struct be_given *given, const char *path, const char *full, struct be_error *err)
{
	const struct be_root root = { .prefix = (char *)full };
	be_autostrv struct be_strv names = { 0 };
	if (be_root_list(&root, "/", &names) != 0)
		return be_fail_errno(err, errno, "%s: cannot be read", full);
	append(&given->files, path);
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *below = be_strf("%s/%s", path, names.v[i]);
		be_autofree char *file = be_strf("%s/%s", full, names.v[i]);
		if (read_entry(given, below, file, err) != 0)
			return -1;
	}
	return 0;
}

/* The first bytes of a file say for what machine it is. */
static const char *foreign(const struct be_given_file *file)
{
	be_autofd int fd = file->source ? open(file->source, O_RDONLY | O_CLOEXEC) : -1;
	char head[4096];
	ssize_t n = fd < 0 || file->elf ? 0 : pread(fd, head, sizeof(head), 0);
	return n > 0 ? be_elf_foreign(head, (size_t)n) : NULL;
}

/* 32-bit programs may lie among others, as test suites have them; alone they are a build for another machine. */
static int check_architecture(const struct be_given *given, struct be_error *err)
{
	const struct be_given_file *odd = NULL;
	const char *name = NULL;
	for (size_t i = 0; i < given->files.n; i++) {
		const struct be_given_file *file = &given->files.v[i];
		const char *other = foreign(file);
		if (file->elf)
			return 0;
		if (!odd && other) {
			odd = file;
			name = other;
		}
	}
	return odd ? be_fail_usage(err, "%s: is a program for %s, the image's kernel is 64-bit x86", odd->source, name)
		   : 0;
}

static int check_program(const struct be_given_file *file, struct be_error *err)
{
	if (file->program)
		return 0;
	be_fail_usage(err, "%s: is not executable", file->source);
	return be_hint(err, "give the program itself, or chmod +x it");
}

static int compare_files(const void *a, const void *b)
{
	const struct be_given_file *x = a, *y = b;
	return strcmp(x->path, y->path);
}

/* What `find -type f -printf '%P\n' | LC_ALL=C sort | xargs sha256sum | sha256sum` prints in the folder. */
static void hash_all(struct be_given *given)
{
	be_autohash struct be_hash hash = { 0 };
	be_hash_start(&hash);
	for (size_t i = 0; i < given->files.n; i++) {
		const struct be_given_file *file = &given->files.v[i];
		given->size += file->size;
		if (!file->source)
			continue;
		be_autofree char *line = be_strf("%s  %s\n", file->sha256, be_given_inside(given, file->source));
		be_hash_add(&hash, line, strlen(line));
	}
	be_hash_end(&hash, given->sha256);
}

int be_given_read(struct be_given *given, const char *path, struct be_error *err)
{
	struct stat st;
	given->source = realpath(path, NULL);
	if (!given->source || stat(given->source, &st) != 0)
		return errno == ENOENT ? be_fail_usage(err, "%s: is not there", path)
				       : be_fail_errno(err, errno, "%s: cannot be read", path);
	given->folder = S_ISDIR(st.st_mode);
	if (read_entry(given, given->place, given->source, err) != 0)
		return -1;
	if (given->folder && given->files.n == 1)
		return be_fail_usage(err, "%s: is an empty folder", path);
	qsort(given->files.v, given->files.n, sizeof(*given->files.v), compare_files);
	if (check_architecture(given, err) != 0)
		return -1;
	if (given->folder) {
		hash_all(given);
		return 0;
	}
	given->size = given->files.v[0].size;
	memcpy(given->sha256, given->files.v[0].sha256, sizeof(given->sha256));
	return check_program(&given->files.v[0], err);
}
