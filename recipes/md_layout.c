#include "md_layout.h"

#include <string.h>

#include "base/str.h"

/* RAID10: near copies in the low byte, far copies in the next one, bit 16: far copies at an offset. */
static int raid10_number(const char *name)
{
	if (strlen(name) != 2 || name[1] < '2' || name[1] > '9')
		return -1;
	int copies = name[1] - '0';
	switch (name[0]) {
	case 'n':
		return copies | 1 << 8;
	case 'f':
		return 1 | copies << 8;
	case 'o':
		return 1 | copies << 8 | 1 << 16;
	default:
		return -1;
	}
}

int be_md_layout_number(const char *level, const char *name)
{
	static const char *const parity[] = { "left-asymmetric", "right-asymmetric", "left-symmetric",
					      "right-symmetric", "parity-first",     "parity-last" };
	if (strcmp(level, "raid10") == 0)
		return raid10_number(name);
	for (size_t i = 0; i < BE_ARRAY_LEN(parity); i++)
		if (strcmp(parity[i], name) == 0 && (strcmp(level, "raid5") == 0 || strcmp(level, "raid6") == 0))
			return (int)i;
	return -1;
}

const char *be_md_layout_default(const char *level)
{
	if (strcmp(level, "raid5") == 0 || strcmp(level, "raid6") == 0)
		return "left-symmetric";
	return strcmp(level, "raid10") == 0 ? "n2" : NULL;
}
