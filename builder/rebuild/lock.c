#include "builder/rebuild/lock.h"

#include <stdio.h>
#include <string.h>

void be_lock_free(struct be_lock *lock)
{
	be_strv_free(&lock->folders);
	be_strv_free(&lock->mirrors);
	be_strv_free(&lock->drifts);
	be_strv_free(&lock->absent);
}

const char *be_lock_text(const struct be_lock *lock, const char *key)
{
	const struct be_node *node = be_get_path(be_get(lock->manifest, "lock"), key);
	return node && node->kind == BE_SCALAR ? node->text : NULL;
}

const char *be_lock_suite(const struct be_lock *lock)
{
	return be_lock_text(lock, "suite");
}

/* Names and versions become words of apt's command line. */
static bool is_word(const char *text, const char *more)
{
	if (!text || !*text || *text == '-' || *text == '.')
		return false;
	for (const char *p = text; *p; p++)
		if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z') && !(*p >= '0' && *p <= '9') &&
		    !strchr(more, *p))
			return false;
	return true;
}

static int add_package(const struct be_node *item, struct be_packages *packages, struct be_error *err)
{
	const char *name = be_get_str(item, "name", NULL), *version = be_get_str(item, "version", NULL);
	const char *architecture = be_get_str(item, "architecture", NULL), *sha256 = be_get_str(item, "sha256", NULL);
	if (!is_word(name, "+-.") || !is_word(version, "+-.:~") || !is_word(architecture, "-") ||
	    !be_hash_is_text(sha256))
		return be_fail_usage(err, "%s: a package of the lock lacks name, version, architecture or SHA-256",
				     be_where(item));
	packages->v = be_realloc(packages->v, packages->n + 1, sizeof(*packages->v));
	packages->v[packages->n++] = (struct be_package){ .name = be_strdup(name),
							  .version = be_strdup(version),
							  .architecture = be_strdup(architecture),
							  .sha256 = be_strdup(sha256),
							  .size = be_get_int(item, "size", 0) };
	return 0;
}

int be_lock_packages(const struct be_lock *lock, const struct be_strv *names, struct be_packages *packages,
		     size_t *named, struct be_error *err)
{
	const struct be_node *list = be_get_path(lock->manifest, "lock.packages");
	if (!list || list->kind != BE_SEQ || !list->n) {
		be_fail_usage(err, "manifest: lock.packages is empty: it does not say what the image was made of");
		return be_hint(err, "the manifest of an image or a result has it");
	}
	*named = 0;
	for (size_t i = 0; i < list->n; i++) {
		if (add_package(list->items[i], packages, err) != 0)
			return -1;
		if (*named == i && be_strv_has(names, packages->v[i].name))
			*named = i + 1;
	}
	return 0;
}

int be_lock_kernel(const struct be_lock *lock, struct be_packages *packages, struct be_error *err)
{
	const struct be_node *kernel = be_get_path(lock->manifest, "lock.kernel"), *parts = be_get(kernel, "parts");
	const char *source = be_get_str(kernel, "source", NULL);
	if (!source)
		return be_fail_usage(err, "manifest: lock.kernel does not say what the kernel was");
	if (!be_streq(source, "debian"))
		return 0;
	be_autonode struct be_node *item = be_node_clone(kernel);
	be_set_str(item, "name", be_get_str(kernel, "package", NULL));
	be_set_str(item, "architecture", "amd64");
	if (add_package(item, packages, err) != 0)
		return -1;
	for (size_t i = 0; parts && parts->kind == BE_SEQ && i < parts->n; i++)
		if (add_package(parts->items[i], packages, err) != 0)
			return -1;
	return 0;
}

int be_lock_package(const struct be_lock *lock, const char *key, struct be_packages *packages, struct be_error *err)
{
	const struct be_node *item = be_get(be_get(lock->manifest, "lock"), key);
	return item && item->kind != BE_SCALAR ? add_package(item, packages, err) : 0;
}

void be_lock_differs(struct be_lock *lock, const char *help, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	be_autofree char *text = be_vstrf(fmt, args);
	va_end(args);
	if (lock->allow_drift)
		be_strv_add(&lock->drifts, text);
	else
		be_strv_addf(&lock->absent, "%s: %s", text, help);
}

int be_lock_check(struct be_lock *lock, struct be_error *err)
{
	size_t n = lock->absent.n;
	if (!n)
		return 0;
	for (size_t i = 0; i + 1 < n; i++)
		fprintf(stderr, "mkbenchenv %s: %s\n", lock->command, lock->absent.v[i]);
	be_fail(err, "%s", lock->absent.v[n - 1]);
	return be_hint(err, "--allow-drift builds the nearest image and lists each difference as a deviation");
}

void be_lock_notes(const struct be_lock *lock, const char *topic, struct be_strv *notes)
{
	const struct be_node *list = be_get(lock->manifest, "deviations");
	for (size_t i = 0; list && list->kind == BE_SEQ && i < list->n; i++)
		if (be_streq(be_get_str(list->items[i], "topic", NULL), topic))
			be_strv_add(notes, be_get_str(list->items[i], "text", ""));
}

static const char *guest_hash(const struct be_node *list, const char *path)
{
	for (size_t i = 0; list && list->kind == BE_SEQ && i < list->n; i++)
		if (be_streq(be_get_str(list->items[i], "path", NULL), path))
			return be_get_str(list->items[i], "sha256", NULL);
	return NULL;
}

void be_lock_guest(struct be_lock *lock, const struct be_node *list)
{
	static const char help[] = "build from a bundle, which has them, or set MKBENCHENV_GUEST to the folder with "
				   "the manifest's";
	const struct be_node *locked = be_get_path(lock->manifest, "lock.guest");
	for (size_t i = 0; i < list->n; i++) {
		const char *path = be_get_str(list->items[i], "path", ""), *old = guest_hash(locked, path);
		const char *now = be_get_str(list->items[i], "sha256", "");
		if (!old)
			be_lock_differs(lock, help, "guest program %s: the manifest's image has none", path);
		else if (!be_streq(old, now))
			be_lock_differs(
				lock, help,
				"guest program %s: SHA-256 %.12s asked, %.12s here (another compiler or source)", path,
				old, now);
	}
	for (size_t i = 0; locked && locked->kind == BE_SEQ && i < locked->n; i++) {
		const char *path = be_get_str(locked->items[i], "path", "");
		if (!guest_hash(list, path))
			be_lock_differs(lock, help, "guest program %s is not here", path);
	}
}
