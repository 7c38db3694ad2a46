/* For image*.c: a build that follows the lock of a manifest. */
#ifndef BE_LOCK_INPUTS_H
#define BE_LOCK_INPUTS_H

#include "builder/image/image_parts.h"

/* Suite, packages and kernel as the lock states them, all in the cache. */
int be_lock_inputs(struct be_build *build, struct be_error *err) BE_MUST_CHECK;
/* How many finished members are not those that the manifest states. */
size_t be_lock_others(const struct be_build *build);
/* Takes members of the same content from the cache where the tools here make other bytes of it; sets as_locked where
 * all are the manifest's then. */
int be_lock_take_members(struct be_build *build, struct be_error *err) BE_MUST_CHECK;
/* The finished members against those that the manifest states. */
int be_lock_compare(struct be_build *build, struct be_error *err) BE_MUST_CHECK;
/* The hash of the member @name that the manifest states, or NULL. */
const char *be_lock_segment(const struct be_lock *lock, const char *name);

/* The level of the manifest's image, where that was compressed in the same way. */
void be_lock_compressor(const struct be_lock *lock, struct be_compressor *compressor);

#endif
