/* What the dynamic loader and the kernel read from an ELF file, by libelf. */
#ifndef BE_ELF_H
#define BE_ELF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct be_elf {
	struct be_strv needed; /* DT_NEEDED */
	struct be_strv wanted; /* libraries opened by dlopen, as the file's .note.dlopen says (required, recommended) */
	char *runpath;         /* DT_RUNPATH, else DT_RPATH, or NULL */
	char *interpreter;     /* PT_INTERP, or NULL */
	char *oldest_kernel;   /* "3.2.0" of the GNU ABI note, or NULL */
	char *libc;            /* "2.38": the newest version of the GNU C library whose symbols it needs, or NULL */
};
void be_elf_free(struct be_elf *elf);

/* Does a file that starts with these bytes look like ELF? */
bool be_elf_magic(const void *data, size_t len);
/*
 * Reads a 64-bit x86 program or library of @len bytes at @data. False for everything else, also damaged files: they
 * are files like any other then. Only the pages that matter are touched.
 */
bool be_elf_read(const void *data, size_t len, struct be_elf *elf);
/* What a program or library that be_elf_read does not take is made for: "AArch64", "32-bit x86"; NULL when it is none,
 * or damaged. */
const char *be_elf_foreign(const void *data, size_t len);

#endif
