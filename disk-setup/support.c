#include "support.h"

#include <string.h>

#include "action.h"
#include "note.h"

#define MODPROBE_TIMEOUT 60.0 /* seconds; raid6_pq measures its algorithms */

static void load_module(struct be_setup *setup, const char *module)
{
	be_autostrv struct be_strv argv = { 0 };
	struct be_error err = BE_ERROR_INIT;
	be_strv_add(&argv, "modprobe");
	be_strv_add(&argv, module);
	if (be_action_run(setup, "load", &argv, MODPROBE_TIMEOUT, &err) != 0)
		be_setup_log(setup, "%s", err.text);
}

static bool has_word(const struct be_root *root, const char *path, const char *word)
{
	be_autofree char *text = be_root_text(root, path);
	be_autostrv struct be_strv words = { 0 };
	if (text)
		be_strv_split(&words, text, " \t\n[]");
	return be_strv_has(&words, word);
}

void be_support_filesystem(struct be_setup *setup, const char *kind)
{
	if (!has_word(&setup->root, "/proc/filesystems", kind))
		load_module(setup, kind);
}

void be_support_level(struct be_setup *setup, const char *level)
{
	bool parity = strcmp(level, "raid4") == 0 || strcmp(level, "raid5") == 0 || strcmp(level, "raid6") == 0;
	if (!has_word(&setup->root, "/proc/mdstat", level))
		load_module(setup, parity ? "raid456" : level);
}
