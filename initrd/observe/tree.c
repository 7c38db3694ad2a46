#include "initrd/observe/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES (64u << 10)
#define HEX_BYTES 40u    /* in a line */
#define PATH_BYTES 2048u /* leaves room for the folder that it is unpacked into */

struct recording {
	const struct be_root *root;
	struct be_node *entries; /* path -> its lines */
};

static bool is_number(const char *text, size_t len)
{
	return len && strspn(text, "0123456789") >= len;
}

static bool is_in_places(const char *path)
{
	static const char *const places[] = { "/proc/", "/sys/", "/dev/", "/run/udev/" };
	for (size_t i = 0; i < BE_ARRAY_LEN(places); i++)
		if (be_starts(path, places[i]))
			return true;
	return false;
}

static bool is_wanted(const char *path)
{
	size_t process = be_starts(path, "/proc/") ? strcspn(path + 6, "/") : 0;
	return is_in_places(path) && !strstr(path, "//") && !strstr(path, "/../") && !strstr(path, " = ") &&
	       !(process && is_number(path + 6, process));
}

static bool is_text(const struct be_buf *content)
{
	for (size_t i = 0; i < content->len; i++) {
		unsigned char c = (unsigned char)content->data[i];
		if (c < ' ' && c != '\n' && c != '\t')
			return false;
	}
	return true;
}

static void add_text(const char *path, char *content, struct be_buf *out)
{
	for (char *line = content, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		be_buf_addf(out, "%s = %s\n", path, line);
	}
}

static void add_hex(const char *path, const struct be_buf *content, struct be_buf *out)
{
	for (size_t i = 0; i < content->len; i++) {
		if (i % HEX_BYTES == 0)
			be_buf_addf(out, "%s%s * ", i ? "\n" : "", path);
		be_buf_addf(out, "%02x", (unsigned char)content->data[i]);
	}
	be_buf_addc(out, '\n');
}

static void add_file(struct recording *r, const char *path)
{
	be_autofree char *full = be_root_path(r->root, path);
	be_autobuf struct be_buf content = { 0 }, lines = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	if (be_read_file(full, FILE_BYTES, &content, &ignored) != 0)
		return; /* what cannot be read is as good as missing */
	if (!content.len)
		be_buf_addf(&lines, "%s =\n", path);
	else if (is_text(&content))
		add_text(path, content.data, &lines);
	else
		add_hex(path, &content, &lines);
	be_set_str(r->entries, path, lines.data);
}

static void add_line(struct recording *r, const char *path, const char *rest)
{
	if (!be_get(r->entries, path))
		be_set(r->entries, path, be_node_strf("%s%s\n", path, rest));
}

static void add_link(struct recording *r, const char *path, const char *target)
{
	be_autofree char *rest = be_strf(" -> %s", target);
	add_line(r, path, rest);
}

/* The names in a directory: of its files only that they are there. */
static void add_directory(struct recording *r, const char *path)
{
	be_autostrv struct be_strv names = { 0 };
	add_line(r, path, "/ =");
	if (strcmp(path, "/proc") == 0 || strcmp(path, "/dev") == 0 || be_root_list(r->root, path, &names) != 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		be_autofree char *below = be_strf("%s/%s", path, names.v[i]), *full = be_root_path(r->root, below);
		char target[PATH_MAX];
		struct stat st;
		if (!is_wanted(below) || lstat(full, &st) != 0)
			continue;
		ssize_t n = S_ISLNK(st.st_mode) ? readlink(full, target, sizeof(target) - 1) : -1;
		if (n >= 0) {
			target[n] = '\0';
			add_link(r, below, target);
		} else {
			add_line(r, below, S_ISDIR(st.st_mode) ? "/ =" : " =");
		}
	}
}

/* /proc/self leads to another process at each look. */
static bool take_link(void *recording, const char *path, const char *target)
{
	if (!is_in_places(path) || strcmp(path, "/proc/self") == 0)
		return false;
	add_link(recording, path, target);
	return true;
}

static void add_path(struct recording *r, const char *asked)
{
	be_autofree char *path = is_in_places(asked) ? be_root_resolve(r->root, asked, take_link, r) : NULL;
	be_autofree char *full = path ? be_root_path(r->root, path) : NULL;
	struct stat st;
	if (!path || !is_wanted(path) || lstat(full, &st) != 0)
		return;
	if (S_ISREG(st.st_mode))
		add_file(r, path);
	else if (S_ISDIR(st.st_mode))
		add_directory(r, path);
	else
		add_line(r, path, " =");
}

int be_tree_record(const struct be_root *root, const struct be_strv *seen, const struct be_node *observed,
		   struct be_buf *out, struct be_error *err)
{
	be_autonode struct be_node *entries = be_node_map();
	be_autostrv struct be_strv paths = { 0 }, order = { 0 };
	const struct be_root plain = { .prefix = root->prefix };
	struct recording recording = { .root = &plain, .entries = entries };
	be_strv_add_all(&paths, seen);
	be_strv_sort_unique(&paths);
	for (size_t i = 0; i < paths.n; i++)
		add_path(&recording, paths.v[i]);
	for (size_t i = 0; i < entries->n; i++)
		be_strv_add(&order, entries->keys[i]);
	be_strv_sort_unique(&order);
	for (size_t i = 0; i < order.n; i++)
		be_buf_adds(out, be_get_str(entries, order.v[i], ""));
	be_autobuf struct be_buf text = { 0 };
	if (be_node_yaml(observed, &text, err) != 0)
		return -1;
	add_text(BE_TREE_OBSERVED, text.data, out);
	return 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void add_bytes(const char *hex, struct be_buf *content)
{
	for (; hex_digit(hex[0]) >= 0 && hex_digit(hex[1]) >= 0; hex += 2)
		be_buf_addc(content, (char)(hex_digit(hex[0]) << 4 | hex_digit(hex[1])));
}

/* What is unpacked: the file that lines are added to until another one comes. */
struct unpacking {
	const char *dir, *name;
	char *path; /* of the file, or NULL */
	struct be_buf content;
	struct be_strv links, targets; /* made last: nothing is written through them */
};

/* A tree is for one use: nothing of it has to reach the disk. */
static int write_plain(const char *path, const struct be_buf *content, struct be_error *err)
{
	struct stat st;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return be_fail_usage(err, "%s: is a folder and a file", path);
	be_autofd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return be_fail_errno(err, errno, "%s", path);
	return be_write_fd(fd, path, content->data ? content->data : "", content->len, err);
}

static int finish_file(struct unpacking *u, struct be_error *err)
{
	int rc = u->path ? write_plain(u->path, &u->content, err) : 0;
	free(be_steal(&u->path));
	u->content.len = 0;
	return rc;
}

static int make_parents(const char *path, struct be_error *err)
{
	be_autofree char *folder = be_strndup(path, (size_t)(strrchr(path, '/') - path));
	return be_mkdirs(folder, 0755, err);
}

/* Absolute, without "..", and no longer than a kernel that had it allows. */
static bool is_path(const char *path)
{
	for (const char *p = path; *p; p += strcspn(p + 1, "/") + 1)
		if (strcspn(p + 1, "/") > NAME_MAX)
			return false;
	return *path == '/' && strlen(path) <= PATH_BYTES && !strstr(path, "/../") && !be_ends(path, "/..");
}

/* One line, @path and what stands behind it after @sign. */
static int unpack_line(struct unpacking *u, const char *path, char sign, const char *rest, struct be_error *err)
{
	be_autofree char *full = be_strf("%s%s", u->dir, path);
	size_t len = strlen(full);
	if (!is_path(path) || (sign == '>' && (!*rest || full[len - 1] == '/')))
		return be_fail_usage(err, "%s: \"%s\" is no path of a recorded tree", u->name, path);
	if ((!u->path || strcmp(u->path, full) != 0) && finish_file(u, err) != 0)
		return -1;
	if (sign == '=' && full[len - 1] == '/')
		return be_mkdirs(full, 0755, err);
	if (make_parents(full, err) != 0)
		return -1;
	if (sign == '>') {
		be_strv_add(&u->links, full);
		be_strv_add(&u->targets, rest);
		return 0;
	}
	if (!u->path)
		u->path = be_steal(&full);
	if (sign == '*')
		add_bytes(rest, &u->content);
	else if (rest)
		be_buf_addf(&u->content, "%s\n", rest);
	return 0;
}

static int make_links(const struct unpacking *u, struct be_error *err)
{
	for (size_t i = 0; i < u->links.n; i++)
		if (symlink(u->targets.v[i], u->links.v[i]) != 0 && errno != EEXIST)
			return be_fail_errno(err, errno, "%s: %s", u->name, u->links.v[i] + strlen(u->dir));
	return 0;
}

/* Finds the first sign of the line and cuts the path off before it. */
static char find_sign(char *line, const char **rest)
{
	static const char *const signs[] = { " -> ", " = ", " * " };
	char *first = NULL;
	size_t which = 0;
	for (size_t i = 0; i < BE_ARRAY_LEN(signs); i++) {
		char *at = strstr(line, signs[i]);
		if (at && (!first || at < first)) {
			first = at;
			which = i;
		}
	}
	if (!first && be_ends(line, " =")) {
		line[strlen(line) - 2] = '\0';
		*rest = NULL;
		return '=';
	}
	if (!first)
		return '\0';
	*first = '\0';
	*rest = first + strlen(signs[which]);
	return ">=*"[which];
}

int be_tree_unpack(const char *text, const char *name, const char *dir, struct be_error *err)
{
	be_autostrv struct be_strv lines = { 0 };
	struct unpacking u = { .dir = dir, .name = name };
	int rc = 0;
	be_strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n && rc == 0; i++) {
		const char *rest = NULL;
		if (lines.v[i][0] == '#')
			continue;
		char sign = find_sign(lines.v[i], &rest);
		rc = sign ? unpack_line(&u, lines.v[i], sign, rest, err)
			  : be_fail_usage(err, "%s: \"%.60s\" is no line of a recorded tree", name, lines.v[i]);
	}
	if (rc == 0)
		rc = finish_file(&u, err);
	if (rc == 0)
		rc = make_links(&u, err);
	if (rc != 0 && !be_starts(err->text, name))
		be_wrap(err, "%s", name);
	be_strv_free(&u.links);
	be_strv_free(&u.targets);
	free(u.path);
	be_buf_free(&u.content);
	return rc;
}
