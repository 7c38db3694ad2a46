/* `sync: wait`: arrays whose parity is written before anything uses them. */
#ifndef BE_SYNC_H
#define BE_SYNC_H

#include "setup.h"

/*
 * Waits until every array with `sync: wait` is in sync by the kernel's own account: sync_action idle, resync_start none
 * and no member missing. Recorded as an action. The limit follows the size: slower than 5 MB/s a member is an error.
 */
int be_sync_wait(struct be_setup *setup, const struct be_node *plan, struct be_error *err) BE_MUST_CHECK;
/* What the parity or the copies of @array are worth, for the manifest; NULL: a level without any. */
const char *be_sync_statement(const struct be_node *array);

#endif
