#include "builder/packages/elf.h"

#include <gelf.h>
#include <jansson.h>
#include <libelf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOTE_DLOPEN 0x407c0c0a /* systemd, ELF_NOTE_DLOPEN: JSON about libraries that are opened by dlopen */
#define VERSIONS_MAX (64u << 10)

void be_elf_free(struct be_elf *elf)
{
	be_strv_free(&elf->needed);
	be_strv_free(&elf->wanted);
	free(elf->runpath);
	free(elf->interpreter);
	free(elf->oldest_kernel);
	free(elf->libc);
	*elf = (struct be_elf){ 0 };
}

bool be_elf_magic(const void *data, size_t len)
{
	return len > EI_NIDENT && memcmp(data, ELFMAG, SELFMAG) == 0;
}

static void read_interpreter(Elf *file, const char *data, size_t len, struct be_elf *elf)
{
	size_t n;
	if (elf_getphdrnum(file, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr phdr;
		if (!gelf_getphdr(file, (int)i, &phdr) || phdr.p_type != PT_INTERP)
			continue;
		if (phdr.p_offset < len && phdr.p_filesz <= len - phdr.p_offset)
			elf->interpreter = be_strndup(data + phdr.p_offset, phdr.p_filesz);
		return;
	}
}

static void read_dynamic(Elf *file, Elf_Scn *section, const GElf_Shdr *header, struct be_elf *elf)
{
	Elf_Data *data = elf_getdata(section, NULL);
	if (!data || !header->sh_entsize)
		return;
	size_t n = data->d_size / header->sh_entsize;
	for (size_t i = 0; i < n; i++) {
		GElf_Dyn dyn;
		if (!gelf_getdyn(data, (int)i, &dyn) || dyn.d_tag == DT_NULL)
			return;
		if (dyn.d_tag != DT_NEEDED && dyn.d_tag != DT_RUNPATH && dyn.d_tag != DT_RPATH)
			continue;
		const char *text = elf_strptr(file, header->sh_link, dyn.d_un.d_val);
		if (!text)
			continue;
		if (dyn.d_tag == DT_NEEDED) {
			be_strv_add(&elf->needed, text);
		} else if (dyn.d_tag == DT_RUNPATH || !elf->runpath) {
			free(elf->runpath);
			elf->runpath = be_strdup(text);
		}
	}
}

/* [{"feature":"...","description":"...","priority":"recommended","soname":["libkmod.so.2"]}] */
static void read_dlopen(const char *text, size_t len, struct be_elf *elf)
{
	json_t *list = json_loadb(text, strnlen(text, len), 0, NULL), *item, *name;
	size_t i, k;
	json_array_foreach(list, i, item)
	{
		const char *priority = json_string_value(json_object_get(item, "priority"));
		if (!be_streq(priority, "required") && !be_streq(priority, "recommended"))
			continue;
		json_array_foreach(json_object_get(item, "soname"), k, name)
		{
			if (json_is_string(name))
				be_strv_add(&elf->wanted, json_string_value(name));
		}
	}
	json_decref(list);
}

static void read_abi(const char *desc, size_t len, struct be_elf *elf)
{
	uint32_t word[4];
	if (len < sizeof(word) || elf->oldest_kernel)
		return;
	memcpy(word, desc, sizeof(word));
	if (word[0] == ELF_NOTE_OS_LINUX)
		elf->oldest_kernel = be_strf("%u.%u.%u", word[1], word[2], word[3]);
}

static void read_notes(Elf_Scn *section, struct be_elf *elf)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Nhdr note;
	size_t at = 0, name, desc, next;
	while (data && at < data->d_size && (next = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		const char *owner = (const char *)data->d_buf + name, *text = (const char *)data->d_buf + desc;
		if (note.n_namesz == 4 && memcmp(owner, "GNU", 4) == 0 && note.n_type == NT_GNU_ABI_TAG)
			read_abi(text, note.n_descsz, elf);
		else if (note.n_namesz == 4 && memcmp(owner, "FDO", 4) == 0 && note.n_type == NOTE_DLOPEN)
			read_dlopen(text, note.n_descsz, elf);
		at = next;
	}
}

/* "GLIBC_2.38" of a needed version; GLIBC_PRIVATE and other libraries' names do not count. */
static void read_version(const char *name, struct be_elf *elf)
{
	unsigned major, minor, had_major = 0, had_minor = 0;
	if (!name || sscanf(name, "GLIBC_%u.%u", &major, &minor) != 2)
		return;
	if (elf->libc && sscanf(elf->libc, "%u.%u", &had_major, &had_minor) == 2 &&
	    (had_major > major || (had_major == major && had_minor >= minor)))
		return;
	free(elf->libc);
	elf->libc = be_strf("%u.%u", major, minor);
}

/* The versions of each library that is needed. Offsets go forward only and the section is small, so that a damaged file
 * can make neither a loop nor a long walk. */
static void read_versions(Elf *file, Elf_Scn *section, const GElf_Shdr *header, struct be_elf *elf)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Verneed need;
	GElf_Vernaux version;
	if (!data || data->d_size > VERSIONS_MAX)
		return;
	for (size_t at = 0; at < data->d_size; at += need.vn_next) {
		if (!gelf_getverneed(data, (int)at, &need))
			return;
		for (size_t k = at + need.vn_aux; k < data->d_size; k += version.vna_next) {
			if (!gelf_getvernaux(data, (int)k, &version))
				break;
			read_version(elf_strptr(file, header->sh_link, version.vna_name), elf);
			if (!version.vna_next)
				break;
		}
		if (!need.vn_next)
			return;
	}
}

static bool is_linked(const GElf_Ehdr *header)
{
	return header->e_type == ET_EXEC || header->e_type == ET_DYN;
}

static bool is_program(Elf *file)
{
	GElf_Ehdr header;
	return gelf_getehdr(file, &header) && gelf_getclass(file) == ELFCLASS64 && header.e_machine == EM_X86_64 &&
	       is_linked(&header);
}

static const char *machine_name(const GElf_Ehdr *header, int class)
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = {
		{ EM_386, "32-bit x86" }, { EM_AARCH64, "AArch64" }, { EM_ARM, "ARM" },
		{ EM_PPC64, "POWER" },    { EM_S390, "s390" },       { EM_RISCV, "RISC-V" },
		{ EM_MIPS, "MIPS" },      { EM_SPARCV9, "SPARC" },   { EM_LOONGARCH, "LoongArch" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++)
		if (header->e_machine == names[i].machine)
			return names[i].name;
	if (header->e_machine == EM_X86_64)
		return class == ELFCLASS64 ? NULL : "x32";
	return "another architecture";
}

const char *be_elf_foreign(const void *data, size_t len)
{
	GElf_Ehdr header;
	if (!be_elf_magic(data, len) || elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	Elf *file = elf_memory((char *)data, len);
	const char *name = NULL;
	if (file && gelf_getehdr(file, &header) && is_linked(&header))
		name = machine_name(&header, gelf_getclass(file));
	elf_end(file);
	return name;
}

bool be_elf_read(const void *data, size_t len, struct be_elf *elf)
{
	if (!be_elf_magic(data, len) || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	Elf *file = elf_memory((char *)data, len);
	if (!file || elf_kind(file) != ELF_K_ELF || !is_program(file)) {
		elf_end(file);
		return false;
	}
	read_interpreter(file, data, len, elf);
	for (Elf_Scn *section = elf_nextscn(file, NULL); section; section = elf_nextscn(file, section)) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_DYNAMIC)
			read_dynamic(file, section, &header, elf);
		else if (header.sh_type == SHT_GNU_verneed)
			read_versions(file, section, &header, elf);
		else if (header.sh_type == SHT_NOTE)
			read_notes(section, elf);
	}
	elf_end(file);
	return true;
}
