/* KVM or TCG: asked of the machine, because a /dev/kvm that can be opened does not mean that a kernel runs on it. */
#ifndef BE_ACCEL_H
#define BE_ACCEL_H

#include "builder/image/cache.h"

enum be_accel { BE_ACCEL_AUTO, BE_ACCEL_TCG, BE_ACCEL_KVM };

/* "auto", "tcg" or "off", "kvm" or "on". False for anything else. */
bool be_accel_parse(const char *text, enum be_accel *out);
/*
 * Sets @kvm. AUTO starts the kernel file @kernel on KVM for a few seconds and takes KVM only when it says hello; the
 * answer is remembered in @cache until the machine is booted again, for this kernel (@sha256). KVM is an error where
 * /dev/kvm cannot be opened. @why says why not KVM, for people.
 */
int be_accel_choose(enum be_accel asked, const struct be_cache *cache, const char *kernel, const char *sha256,
		    bool *kvm, const char **why, struct be_error *err) BE_MUST_CHECK;

#endif
