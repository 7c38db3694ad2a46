/* Names of md layouts, where parity or copies lie, and the kernel's numbers for them (md/layout in sysfs). */
#ifndef BE_MD_LAYOUT_H
#define BE_MD_LAYOUT_H

/*
 * The number of layout @name (left-symmetric, n2 ...) of @level (raid5, raid6, raid10); -1: that level has no such
 * layout. Source: mdadm(8) and the kernel's raid5.h, raid10.c.
 */
int be_md_layout_number(const char *level, const char *name);
/* What mdadm takes when it is not told: left-symmetric, n2; NULL for levels without a choice. */
const char *be_md_layout_default(const char *level);

#endif
