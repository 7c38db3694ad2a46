/* The first and the last things that PID 1 does: file systems of the kernel, console, power. */
#ifndef BE_SYSTEM_H
#define BE_SYSTEM_H

#include "base/file.h"

#define BE_STATE_DIR "/run/benchenv"        /* what is to be delivered lies here until it is */
#define BE_PLAN_PATH "/benchenv/plan.yaml"  /* written by the builder */
#define BE_MARKER_PATH "/benchenv/complete" /* the last entry of the initrd */
#define BE_MARKER_TEXT "complete"           /* its text, without the final newline */

/* Mounts /proc, /sys, /dev, /run and so on. One that this kernel lacks is skipped; returns -1 only without /proc. */
int be_system_mount(struct be_error *err);
/* Brings the loopback interface up: programs that talk to themselves expect it. */
void be_system_loopback(void);
/* Makes /dev/console standard input, output and error of this process; /dev/null where there is none. */
void be_system_console(void);
/* The fixed environment of init and all that it starts: what the kernel left in it depends on the command line. */
void be_system_environment(void);
/* Does /proc/cmdline have the word @word? */
bool be_cmdline_has(const struct be_root *root, const char *word);
/* The value of the last NAME=VALUE on /proc/cmdline, as the kernel takes it; owned; NULL: there is none. */
char *be_cmdline_value(const struct be_root *root, const char *name);
/* Is the initrd unpacked to its end? A partly unpacked one lacks its last entry. */
int be_system_complete(const struct be_root *root, struct be_error *err) BE_MUST_CHECK;

/* Prints "init: ..." with the seconds since boot on the console. */
void be_log(const char *fmt, ...) BE_PRINTF(1, 2);

/* Starts the machine again, or ends it; does not return. */
_Noreturn void be_system_end(bool again);

#endif
