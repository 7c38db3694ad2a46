/* Bundles that were not packed by us: nothing outside of the cache is written or read, and no disk is filled. */
#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/rebuild/bundle.h"

#define MANIFEST "mkbenchenv: manifest\nschema: 1\n"

struct member {
	const char *name, *text, *target;
	unsigned type;
	int64_t hole; /* bytes before the text */
};

static void put(struct archive *archive, const struct member *m)
{
	struct archive_entry *entry = archive_entry_new();
	size_t len = m->text ? strlen(m->text) : 0;
	archive_entry_set_pathname(entry, m->name);
	archive_entry_set_mode(entry, m->type | 0644);
	archive_entry_set_size(entry, m->hole + (int64_t)len);
	if (m->target)
		archive_entry_set_symlink(entry, m->target);
	if (m->hole)
		archive_entry_sparse_add_entry(entry, m->hole, (int64_t)len);
	cr_assert_eq(archive_write_header(archive, entry), ARCHIVE_OK, "%s", archive_error_string(archive));
	/* The writer is given the hole too, and leaves it out. */
	be_autofree char *zeros = be_alloc((size_t)m->hole);
	if (m->hole)
		cr_assert_eq(archive_write_data(archive, zeros, (size_t)m->hole), (la_ssize_t)m->hole);
	if (len)
		cr_assert_eq(archive_write_data(archive, m->text, len), (la_ssize_t)len);
	archive_entry_free(entry);
}

static int read_with(const struct member *m, struct be_error *err)
{
	static const struct member manifest = { "manifest.yaml", MANIFEST, NULL, AE_IFREG, 0 };
	char dir[] = "/tmp/be-bundle.XXXXXX";
	be_autostrv struct be_strv programs = { 0 };
	be_autofree char *folder = NULL;
	struct be_cache cache = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	cr_assert_not_null(mkdtemp(dir));
	be_autofree char *path = be_strf("%s/bundle.tar", dir), *place = be_strf("%s/cache", dir);
	struct archive *archive = archive_write_new();
	archive_write_set_format_pax_restricted(archive);
	cr_assert_eq(archive_write_open_filename(archive, path), ARCHIVE_OK);
	put(archive, &manifest);
	put(archive, m);
	cr_assert_eq(archive_write_free(archive), ARCHIVE_OK);
	cr_expect(be_is_bundle(path));
	cr_assert_eq(be_cache_open(&cache, place, &ignored), 0, "%s", ignored.text);
	be_autonode struct be_node *read = be_bundle_read(path, &cache, &programs, &folder, err);
	be_cache_close(&cache);
	be_remove_tree(dir, &ignored);
	return read ? 0 : -1;
}

Test(bundle, a_program_is_taken)
{
	static const struct member good[] = { { "given/bench", "x", NULL, AE_IFREG, 0 },
					      { "given/suite/link", NULL, "bench", AE_IFLNK, 0 },
					      { "given/suite", NULL, NULL, AE_IFDIR, 0 },
					      { "packages/a_1_all.deb", "x", NULL, AE_IFREG, 0 } };
	for (size_t i = 0; i < BE_ARRAY_LEN(good); i++) {
		struct be_error err = BE_ERROR_INIT;
		cr_expect_eq(read_with(&good[i], &err), 0, "%s: %s", good[i].name, err.text);
	}
}

Test(bundle, what_does_not_belong_in_is_refused)
{
	static const struct member bad[] = {
		{ "given//", NULL, NULL, AE_IFDIR, 0 },
		{ "given/./x", "x", NULL, AE_IFREG, 0 },
		{ "given/../../x", "x", NULL, AE_IFREG, 0 },
		{ "/tmp/x", "x", NULL, AE_IFREG, 0 },
		{ "given/bench", NULL, "/etc/shadow", AE_IFLNK, 0 },
		{ "given/bench=/etc/passwd", "x", NULL, AE_IFREG, 0 },
		{ "given/null", NULL, NULL, AE_IFCHR, 0 },
		{ "objects/hole", "x", NULL, AE_IFREG, 1 << 20 },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(bad); i++) {
		struct be_error err = BE_ERROR_INIT;
		cr_expect_eq(read_with(&bad[i], &err), -1, "%s", bad[i].name);
		cr_expect_eq(err.status, BE_USAGE, "%s: %s", bad[i].name, err.text);
	}
}

Test(bundle, replaces_nothing_but_a_bundle)
{
	char path[] = "/tmp/be-bundle.XXXXXX", text[8] = "";
	struct be_error err = BE_ERROR_INIT;
	struct be_lock lock = { .manifest = NULL };
	struct be_pack pack = { .output = path, .lock = &lock, .quiet = true };
	be_autofd int fd = mkstemp(path);
	cr_assert_eq(be_write_fd(fd, path, "mine", 4, &err), 0, "%s", err.text);
	cr_expect_eq(be_bundle_write(&pack, &err), -1);
	cr_expect_eq(err.status, BE_USAGE, "%s", err.text);
	cr_expect_eq(pread(fd, text, sizeof(text), 0), 4);
	unlink(path);
}
