#include "plain.h"

#include <ctype.h>
#include <string.h>

bool be_is_line(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

bool be_is_word(const char *text)
{
	return *text && be_is_line(text) && !strpbrk(text, " \"'");
}

bool be_is_initrd_word(const char *text)
{
	text += *text == '"'; /* the kernel takes quotes off */
	return be_starts(text, "initrd=") || be_starts(text, "initrdmem=");
}

bool be_is_boot_word(const char *text)
{
	static const char *const ends[] = { "&&", "||", ";" };
	if (!*text || !be_is_line(text) || *text == '#' || strstr(text, "${") || be_is_initrd_word(text))
		return false;
	for (size_t i = 0; i < BE_ARRAY_LEN(ends); i++)
		if (strcmp(text, ends[i]) == 0)
			return false;
	return true;
}

bool be_is_name(const char *text, const char *more)
{
	if (!isalnum((unsigned char)*text))
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr(more, *text))
			return false;
	return true;
}

bool be_is_device_path(const char *text)
{
	if (!be_starts(text, "/dev/") || be_ends(text, "/"))
		return false;
	for (const char *p = text; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("/#+-.:=@_", *p))
			return false;
		size_t n = *p == '/' ? strcspn(p + 1, "/") : 2;
		if (n == 0 || (*p == '/' && (strncmp(p + 1, ".", n) == 0 || strncmp(p + 1, "..", n) == 0)))
			return false;
	}
	return true;
}

int be_check_line(const struct be_node *node, const char *what, struct be_error *err)
{
	if (node->kind != BE_SCALAR || be_is_line(node->text))
		return 0;
	be_fail_usage(err, "%s: %s: holds a line break or another control character", be_where(node), what);
	return be_hint(err, "it is read as one line");
}
