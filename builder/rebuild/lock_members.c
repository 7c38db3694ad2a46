/*
 * Another libzstd or depmod makes other bytes of the same content. Where the cache, by a bundle or an earlier build,
 * has the very member that the manifest states, and both hold the same, that one is taken.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "builder/image/member.h"
#include "builder/kernel/modules.h"
#include "builder/parallel.h"
#include "builder/rebuild/lock_inputs.h"

struct taking {
	struct be_build *build;
	bool other_depmod;
};

static int read_object(const struct be_object *object, const char *name, struct be_member *member, struct be_error *err)
{
	be_autofd int fd = open(object->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return be_fail(err, "%s: cannot be opened", object->path);
	return be_member_read(member, fd, 0, object->size, name, err);
}

/* The next entry that counts: of another depmod the indexes do not. */
static const struct be_member_entry *next_entry(const struct taking *taking, const struct be_member *member, size_t *i)
{
	while (*i < member->n && taking->other_depmod && be_modules_is_index(member->v[*i].path))
		++*i;
	return *i < member->n ? &member->v[(*i)++] : NULL;
}

/* The same files in the same order: a later one of a path replaces an earlier one. */
static bool same_content(const struct taking *taking, const struct be_member *a, const struct be_member *b)
{
	for (size_t i = 0, k = 0;;) {
		const struct be_member_entry *x = next_entry(taking, a, &i), *y = next_entry(taking, b, &k);
		if (!x || !y)
			return !x && !y;
		be_autofree char *difference = be_member_difference(x, y, "");
		if (!be_streq(x->path, y->path) || difference)
			return false;
	}
}

static int take_member(void *data, size_t item, struct be_error *err)
{
	const struct taking *taking = data;
	struct be_segment *segment = &taking->build->segments[item];
	const char *locked = be_lock_segment(taking->build->request->lock, segment->name);
	be_autoobject struct be_object object = { .path = NULL };
	be_automember struct be_member stated = { 0 }, built = { 0 };
	struct be_error ignored = BE_ERROR_INIT;
	if (!locked || be_streq(locked, segment->object.sha256) ||
	    !be_cache_object(&taking->build->cache, locked, &object))
		return 0;
	if (read_object(&object, segment->name, &stated, &ignored) != 0 ||
	    read_object(&segment->object, segment->name, &built, &ignored) != 0)
		return be_interrupted(err);
	if (!same_content(taking, &stated, &built))
		return 0;
	be_object_free(&segment->object);
	segment->object = object;
	object.path = NULL;
	segment->unpacked = stated.unpacked;
	return 0;
}

int be_lock_take_members(struct be_build *build, struct be_error *err)
{
	double began = be_monotonic();
	size_t before = be_lock_others(build);
	be_autofree char *depmod = be_depmod_version(&build->cache);
	struct taking taking = { .build = build,
				 .other_depmod = !be_streq(depmod, be_lock_text(build->request->lock, "depmod")) };
	if (!before)
		return 0;
	if (be_parallel(build->n, take_member, &taking, err) != 0)
		return -1;
	size_t after = be_lock_others(build);
	build->as_locked = after == 0;
	if (after < before)
		be_progress_part(&build->progress, "as locked", be_monotonic() - began,
				 "%zu members have the content of the manifest's: those are taken", before - after);
	return 0;
}
