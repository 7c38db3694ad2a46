/* Network interfaces of the guest: their drivers, their links, their addresses. */
#ifndef BE_INTERFACE_H
#define BE_INTERFACE_H

#include "base/file.h"

/* Loads the drivers of the network cards that are there, by modalias; others stay as the runner will find them. */
void be_interface_drivers(const struct be_root *root);
/*
 * The interfaces to try, in order: those with the address that BOOTIF names (pxelinux's form, "01-52-54-00-12-34-56"),
 * else every one but lo. @bootif may be NULL.
 */
void be_interface_list(const struct be_root *root, const char *bootif, struct be_strv *names);
/* Switches @name on and waits up to @seconds for its link: a switch may take as long as that to let it through. */
int be_interface_up(const struct be_root *root, const char *name, double seconds, struct be_error *err) BE_MUST_CHECK;
/* Gives @name an IPv4 address. @netmask and @router may be NULL or "": the class's own, no way out. */
int be_interface_address(const char *name, const char *address, const char *netmask, const char *router,
			 struct be_error *err) BE_MUST_CHECK;
/* Takes the address away and switches the interface off: nothing of it is left when another is tried. */
void be_interface_down(const char *name);

#endif
