#include "builder/lab/boot_files.h"

#include <string.h>

void be_boot_file_ipxe(const char *cmdline, struct be_buf *out)
{
	/* UEFI finds the initrd by the word initrd=; netX is the card that was opened last. */
	be_buf_addf(out,
		    "#!ipxe\n"
		    "kernel vmlinuz %s " BE_LAB_CONSOLE " initrd=initrd.img BOOTIF=01-${netX/mac:hexhyp} ${benchenv}\n"
		    "initrd initrd.img\n"
		    "boot\n",
		    cmdline);
}

void be_boot_file_pxelinux(const char *cmdline, const char *folder, const char *more, struct be_buf *out)
{
	/* IPAPPEND 2 adds BOOTIF=. */
	be_buf_addf(out,
		    "DEFAULT benchenv\n"
		    "LABEL benchenv\n"
		    "KERNEL %svmlinuz\n"
		    "INITRD %sinitrd.img\n"
		    "IPAPPEND 2\n"
		    "APPEND %s " BE_LAB_CONSOLE "%s%s\n",
		    folder, folder, cmdline, more ? " " : "", more ? more : "");
}

/* One word in single quotes: GRUB takes all in them as it stands. */
static void add_quoted(struct be_buf *out, const char *word)
{
	be_buf_addc(out, '\'');
	for (const char *p = word; *p; p++)
		if (*p == '\'')
			be_buf_adds(out, "'\\''");
		else
			be_buf_addc(out, *p);
	be_buf_addc(out, '\'');
}

void be_boot_file_grub(const char *cmdline, struct be_buf *out)
{
	be_autostrv struct be_strv words = { 0 };
	be_strv_split(&words, cmdline, " ");
	be_buf_adds(out, "linux $config_directory/vmlinuz");
	for (size_t i = 0; i < words.n; i++) {
		be_buf_addc(out, ' ');
		if (strpbrk(words.v[i], "$'\"\\;|&<>{}*?[]#!"))
			add_quoted(out, words.v[i]);
		else
			be_buf_adds(out, words.v[i]);
	}
	be_buf_adds(out, " " BE_LAB_CONSOLE " BOOTIF=01-$net_default_mac $benchenv\n"
			 "initrd $config_directory/initrd.img\n"
			 "boot\n");
}
