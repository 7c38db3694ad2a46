#include "builder/lab/machines.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "builder/image/limits.h"
#include "plain.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

void be_machines_free(struct be_machines *m)
{
	for (size_t i = 0; i < m->n_images; i++)
		be_image_folder_free(&m->folders[i]);
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].name);
		free(m->v[i].images);
	}
	free(m->images);
	free(m->folders);
	free(m->ids);
	free(m->v);
	*m = (struct be_machines){ 0 };
}

bool be_mac_parse(const char *text, char mac[18])
{
	if (strlen(text) != 17)
		return false;
	for (int i = 0; i < 17; i++) {
		bool separator = i % 3 == 2;
		if (separator ? text[i] != ':' && text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
		mac[i] = separator ? ':' : (char)tolower((unsigned char)text[i]);
	}
	mac[17] = '\0';
	return true;
}

struct be_machine *be_machines_find(const struct be_machines *m, const char *mac)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->v[i].mac, mac) == 0)
			return &m->v[i];
	return NULL;
}

char *be_machines_name(const struct be_machines *m, const char *mac)
{
	const struct be_machine *machine = be_machines_find(m, mac);
	if (machine && machine->name)
		return be_strdup(machine->name);
	char *name = be_strdup(mac);
	for (char *p = name; *p; p++)
		if (*p == ':')
			*p = '-';
	return name;
}

void be_machines_maps(const struct be_machines *m, struct be_lab_map *maps)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct be_machine *machine = &m->v[i];
		maps[i] = (struct be_lab_map){ .turn = machine->turn };
		snprintf(maps[i].mac, sizeof(maps[i].mac), "%s", machine->mac);
		maps[i].image = machine->turn < machine->n_images ? machine->images[machine->turn] : "";
	}
}

/* Loaders read the line by rules of their own; what one of them would take for something else is refused. */
static int check_cmdline(const char *folder, const char *cmdline, struct be_error *err)
{
	be_autostrv struct be_strv words = { 0 };
	be_strv_split(&words, cmdline, " ");
	for (size_t i = 0; i < words.n; i++)
		if (!be_is_boot_word(words.v[i]))
			return be_fail(err, "%s/cmdline: holds '%.80s', which a boot loader would not hand on", folder,
				       words.v[i]);
	return 0;
}

/* What was checked when they were built, by the rules of today. */
int be_machines_check(const struct be_machines *m, const struct be_serve_request *request, const char *place,
		      struct be_error *err)
{
	for (size_t i = 0; i < m->n_images; i++) {
		const char *path = request->images->v[i];
		be_autostrv struct be_strv warnings = { 0 };
		if (be_limits_check_folder(&m->folders[i], place, &warnings, err) != 0)
			return be_wrap(err, "%s", path);
		for (size_t k = 0; k < warnings.n; k++)
			fprintf(stderr, "serve: %s: %s\n", path, warnings.v[k]);
	}
	return 0;
}

static int read_images(struct be_machines *m, const struct be_strv *paths, struct be_error *err)
{
	m->images = be_alloc(paths->n * sizeof(*m->images));
	m->folders = be_alloc(paths->n * sizeof(*m->folders));
	m->ids = be_alloc(paths->n * sizeof(*m->ids));
	for (size_t i = 0; i < paths->n; i++) {
		struct be_image_folder *folder = &m->folders[i];
		m->n_images++;
		if (be_image_folder_load(paths->v[i], folder, err) != 0)
			return -1;
		const char *id = be_get_str(be_get(folder->manifest, "image"), "id", "");
		if (strlen(id) != 12 || strspn(id, "0123456789abcdef") != 12)
			return be_fail(err, "%s/manifest.yaml: image.id is no id", paths->v[i]);
		if (check_cmdline(paths->v[i], folder->cmdline, err) != 0)
			return -1;
		for (size_t k = 0; k < i; k++)
			if (strcmp(m->ids[k], id) == 0)
				return be_fail_usage(err, "%s and %s are the same image, %s", paths->v[k], paths->v[i],
						     id);
		snprintf(m->ids[i], sizeof(m->ids[i]), "%s", id);
		m->images[i] = (struct be_lab_image){ .id = m->ids[i], .cmdline = folder->cmdline };
	}
	return 0;
}

/* The image that was given by the path @name, or whose path ends in that; slashes at an end say nothing. */
static const char *find_image(const struct be_machines *m, const struct be_strv *paths, const char *name)
{
	const char *found = NULL;
	be_autofree char *wanted = be_root_prefix(name);
	for (size_t i = 0; i < paths->n; i++) {
		be_autofree char *path = be_root_prefix(paths->v[i]);
		const char *slash = strrchr(path, '/');
		if (strcmp(path, wanted) == 0)
			return m->ids[i];
		if (slash && strcmp(slash + 1, wanted) == 0)
			found = found && strcmp(found, m->ids[i]) != 0 ? "" : m->ids[i];
	}
	return found && *found ? found : NULL;
}

/* The machine's name, which may be given with any of its images; two machines cannot share one. */
static int set_name(const struct be_machines *m, struct be_machine *machine, const char *name, struct be_error *err)
{
	if (!*name || *name == '.' || strlen(name) > 64 || strspn(name, NAME_CHARS) != strlen(name))
		return be_fail_usage(err, "\"%s\" cannot be the name of a folder", name);
	char mac[18];
	if (be_mac_parse(name, mac) && strcmp(mac, machine->mac) != 0)
		return be_fail_usage(err, "\"%s\" is what the machine with that address is called", name);
	for (size_t i = 0; i < m->n; i++)
		if (&m->v[i] != machine && be_streq(m->v[i].name, name))
			return be_fail_usage(err, "another machine is called \"%s\"", name);
	if (machine->name && strcmp(machine->name, name) != 0)
		return be_fail_usage(err, "the machine is called \"%s\" elsewhere", machine->name);
	if (!machine->name)
		machine->name = be_strdup(name);
	return 0;
}

/* "MAC=IMAGE" or "MAC=IMAGE,NAME" */
static int read_map(struct be_machines *m, const struct be_strv *paths, const char *text, struct be_error *err)
{
	be_autofree char *copy = be_strdup(text);
	char *image = strchr(copy, '='), *name = image ? strchr(image, ',') : NULL, mac[18];
	if (!image)
		return be_fail_usage(err, "is no MAC=IMAGE");
	*image++ = '\0';
	if (name)
		*name++ = '\0';
	if (!be_mac_parse(copy, mac))
		return be_fail_usage(err, "\"%s\" is no address as 52:54:00:12:34:56 is", copy);
	const char *id = find_image(m, paths, image);
	if (!id)
		return be_fail_usage(err, "%s is none of the images that are served", image);
	struct be_machine *machine = be_machines_find(m, mac);
	if (!machine) {
		machine = &m->v[m->n++];
		*machine = (struct be_machine){ 0 };
		snprintf(machine->mac, sizeof(machine->mac), "%s", mac);
	}
	machine->images = be_realloc(machine->images, machine->n_images + 1, sizeof(*machine->images));
	machine->images[machine->n_images++] = id;
	return name ? set_name(m, machine, name, err) : 0;
}

int be_machines_read(struct be_machines *m, const struct be_serve_request *request, struct be_error *err)
{
	*m = (struct be_machines){ 0 };
	if (read_images(m, request->images, err) != 0)
		return -1;
	m->v = be_alloc((request->maps->n + 1) * sizeof(*m->v));
	for (size_t i = 0; i < request->maps->n; i++)
		if (read_map(m, request->images, request->maps->v[i], err) != 0)
			return be_wrap(err, "--map %s", request->maps->v[i]);
	if (m->n_images > 1 && !m->n) {
		be_fail_usage(err, "%zu images, and nothing says which machine gets which", m->n_images);
		return be_hint(err, "give --map MAC=IMAGE for each machine");
	}
	return 0;
}

bool be_machine_advance(struct be_machine *machine, int64_t turn, const char *image)
{
	if (machine->n_images < 2 || turn != (int64_t)machine->turn || turn >= (int64_t)machine->n_images ||
	    strcmp(machine->images[turn], image) != 0)
		return false;
	machine->turn = (size_t)turn + 1;
	return true;
}

static struct be_node *queue_of(const struct be_machine *machine)
{
	struct be_node *queue = be_node_map(), *images = be_node_seq();
	be_set_str(queue, "mac", machine->mac);
	for (size_t i = 0; i < machine->n_images; i++)
		be_add(images, be_node_str(machine->images[i]));
	be_set(queue, "images", images);
	be_set_int(queue, "turn", (int64_t)machine->turn);
	return queue;
}

static bool is_same_queue(const struct be_machine *machine, const struct be_node *queue)
{
	be_autostrv struct be_strv images = { 0 };
	be_get_strv(queue, "images", &images);
	bool same = strcmp(be_get_str(queue, "mac", ""), machine->mac) == 0 && images.n == machine->n_images;
	for (size_t i = 0; same && i < images.n; i++)
		same = strcmp(images.v[i], machine->images[i]) == 0;
	return same;
}

void be_machines_load_turns(struct be_machines *m, const char *path)
{
	struct be_error none = BE_ERROR_INIT;
	be_autonode struct be_node *doc = be_exists(path) ? be_node_load_file(path, &none) : NULL;
	const struct be_node *queues = be_get(doc, "queues");
	bool same = queues && queues->kind == BE_SEQ && queues->n == m->n, left = false;
	for (size_t i = 0; same && i < m->n; i++) {
		int64_t turn = be_get_int(queues->items[i], "turn", -1);
		same = is_same_queue(&m->v[i], queues->items[i]) && turn >= 0 && turn <= (int64_t)m->v[i].n_images;
		left = left || (m->v[i].n_images > 1 && turn < (int64_t)m->v[i].n_images);
	}
	for (size_t i = 0; same && left && i < m->n; i++)
		m->v[i].turn = (size_t)be_get_int(queues->items[i], "turn", 0);
}

int be_machines_save_turns(const struct be_machines *m, const char *path, struct be_error *err)
{
	be_autonode struct be_node *doc = be_node_map();
	be_autobuf struct be_buf text = { 0 };
	struct be_node *queues = be_node_seq();
	for (size_t i = 0; i < m->n; i++)
		be_add(queues, queue_of(&m->v[i]));
	be_set(doc, "queues", queues);
	return be_node_yaml(doc, &text, err) != 0 ? -1 : be_write_file(path, text.data, text.len, 0600, err);
}
