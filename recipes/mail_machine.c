/* "192 threads 4 sockets Intel(R) Xeon(R) Platinum 9242 CPU @ 2.30GHz (Cascade Lake) with 192G memory" as a host file.
 */
#include "mail_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Takes "NUMBER WORD " off the front; false: something else stands there. */
static bool take_count(const char **text, const char *word, int64_t *number)
{
	char *end;
	if (!isdigit((unsigned char)**text))
		return false;
	long long n = strtoll(*text, &end, 10);
	end += strspn(end, " ");
	if (!be_starts(end, word) || (end[strlen(word)] && end[strlen(word)] != ' ') || n > 1000000)
		return false;
	*number = n;
	*text = end + strlen(word);
	*text += strspn(*text, " ");
	return true;
}

/* Cuts " with 192G memory" off the end of @text and sets it. */
static void take_memory(char *text, struct be_node *host)
{
	char *with = strstr(text, "with ");
	char size[24];
	int end = 0;
	if (!with || sscanf(with, "with %23[0-9A-Za-z] memory%n", size, &end) != 1 || !end)
		return;
	be_set_str(host, "memory", size);
	*with = '\0';
}

/* "(Cascade Lake)" at the end is the model; without it a text that no vendor wrote is. */
static void take_names(char *text, struct be_node *host)
{
	char *name = be_trim(text);
	size_t n = strlen(name);
	char *open = strrchr(name, '(');
	if (n && name[n - 1] == ')' && open && strcmp(open, "(R)") != 0 && strcmp(open, "(TM)") != 0) {
		name[n - 1] = '\0';
		be_set_str(host, "model", open + 1);
		*open = '\0';
		name = be_trim(name);
	}
	if (!*name)
		return;
	bool brand = strstr(name, "(R)") || strstr(name, "(TM)") || strstr(name, "CPU") || strchr(name, '@') ||
		     be_starts(name, "AMD");
	be_set_str(host, brand || be_get(host, "model") ? "brand" : "model", name);
}

/* "qemu-system-x86_64 -enable-kvm -cpu SandyBridge -smp 2 -m 8G" */
static void take_virtual(const char *text, struct be_node *host)
{
	be_autostrv struct be_strv words = { 0 };
	be_autobuf struct be_buf model = { 0 };
	be_strv_split(&words, text, " ");
	const char *before = "";
	for (size_t i = 0; i < words.n; before = words.v[i++]) {
		if (strcmp(before, "-smp") == 0)
			be_set(host, "nr_cpu", be_mail_value(words.v[i]));
		else if (strcmp(before, "-m") == 0)
			be_set_str(host, "memory", words.v[i]);
		else if (strcmp(words.v[i], "-smp") != 0 && strcmp(words.v[i], "-m") != 0)
			be_buf_addf(&model, "%s%s", model.len ? " " : "", words.v[i]);
	}
	be_set_str(host, "model", model.data);
}

static void read_machine(const char *machine, struct be_node *host)
{
	int64_t threads, sockets;
	if (be_starts(machine, "qemu-")) {
		take_virtual(machine, host);
		return;
	}
	const char *rest = machine;
	bool has_threads = take_count(&rest, "threads", &threads);
	bool has_sockets = take_count(&rest, "sockets", &sockets);
	be_autofree char *text = be_strdup(rest);
	be_autonode struct be_node *names = be_node_map(), *memory = be_node_map();
	take_memory(text, memory);
	take_names(text, names);
	be_set_str(host, "model", be_get_str(names, "model", NULL));
	if (has_sockets)
		be_set_int(host, "nr_socket", sockets);
	if (has_threads)
		be_set_int(host, "nr_cpu", threads);
	be_set_str(host, "memory", be_get_str(memory, "memory", NULL));
	be_set_str(host, "brand", be_get_str(names, "brand", NULL));
}

struct be_node *be_mail_host(const struct be_node *table, struct be_strv *unstated)
{
	/* What a report could state; BIOS and board never stand in one. */
	static const char *const wanted[] = { "model", "nr_node", "nr_socket", "nr_cpu",      "memory",
					      "brand", "ucode",   "disks",     "bios_version" };
	struct be_node *host = be_node_map();
	const struct be_node *given = be_get(table, "host");
	for (size_t i = 0; given && i < given->n; i++)
		be_set(host, given->keys[i], be_node_clone(given->items[i]));
	if (be_get_str(table, "machine", NULL))
		read_machine(be_get_str(table, "machine", ""), host);
	be_set_str(host, "ucode", be_get_str(be_get(table, "parameters"), "ucode", NULL));
	for (size_t i = 0; i < BE_ARRAY_LEN(wanted); i++)
		if (!be_get(host, wanted[i]))
			be_strv_add(unstated, wanted[i]);
	if (host->n)
		return host;
	be_node_free(host);
	return NULL;
}
