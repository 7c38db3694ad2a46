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
	for (size_t i = 0; i < m->n_maps; i++)
		free(m->names[i]);
	free(m->images);
	free(m->folders);
	free(m->ids);
	free(m->maps);
	free(m->names);
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

char *be_machines_name(const struct be_machines *m, const char *mac)
{
	for (size_t i = 0; i < m->n_maps; i++)
		if (strcmp(m->maps[i].mac, mac) == 0 && m->names[i])
			return be_strdup(m->names[i]);
	char *name = be_strdup(mac);
	for (char *p = name; *p; p++)
		if (*p == ':')
			*p = '-';
	return name;
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

/* The limits that were checked when it was built, by the rules of today. */
static int check_limits(const char *path, const struct be_image_folder *folder, struct be_error *err)
{
	be_autostrv struct be_strv warnings = { 0 };
	if (be_limits_check_folder(folder, &warnings, err) != 0)
		return be_wrap(err, "%s", path);
	for (size_t i = 0; i < warnings.n; i++)
		fprintf(stderr, "serve: %s: %s\n", path, warnings.v[i]);
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
		if (check_cmdline(paths->v[i], folder->cmdline, err) != 0 ||
		    check_limits(paths->v[i], folder, err) != 0)
			return -1;
		snprintf(m->ids[i], sizeof(m->ids[i]), "%s", id);
		m->images[i] = (struct be_lab_image){ .id = m->ids[i], .cmdline = folder->cmdline };
	}
	return 0;
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static const char *find_image(const struct be_machines *m, const struct be_strv *paths, const char *name)
{
	const char *found = NULL;
	for (size_t i = 0; i < paths->n; i++) {
		if (strcmp(paths->v[i], name) == 0)
			return m->ids[i];
		if (strcmp(last_name(paths->v[i]), name) == 0)
			found = found && strcmp(found, m->ids[i]) != 0 ? "" : m->ids[i];
	}
	return found && *found ? found : NULL;
}

/* "MAC=IMAGE" or "MAC=IMAGE,NAME" */
static int read_map(struct be_machines *m, const struct be_strv *paths, const char *text, struct be_error *err)
{
	be_autofree char *copy = be_strdup(text);
	char *image = strchr(copy, '='), *name = image ? strchr(image, ',') : NULL;
	struct be_lab_map map;
	if (!image)
		return be_fail_usage(err, "--map %s: is no MAC=IMAGE", text);
	*image++ = '\0';
	if (name)
		*name++ = '\0';
	if (!be_mac_parse(copy, map.mac))
		return be_fail_usage(err, "--map %s: \"%s\" is no address as 52:54:00:12:34:56 is", text, copy);
	map.image = find_image(m, paths, image);
	if (!map.image)
		return be_fail_usage(err, "--map %s: %s is none of the images that are served", text, image);
	if (name && (!*name || *name == '.' || strlen(name) > 64 || strspn(name, NAME_CHARS) != strlen(name)))
		return be_fail_usage(err, "--map %s: \"%s\" cannot be the name of a folder", text, name);
	for (size_t i = 0; i < m->n_maps; i++)
		if (strcmp(m->maps[i].mac, map.mac) == 0 || (name && be_streq(m->names[i], name)))
			return be_fail_usage(err, "--map %s: the machine is named twice", text);
	m->maps[m->n_maps] = map;
	m->names[m->n_maps++] = be_strdup(name);
	return 0;
}

int be_machines_read(struct be_machines *m, const struct be_serve_request *request, struct be_error *err)
{
	*m = (struct be_machines){ 0 };
	if (read_images(m, request->images, err) != 0)
		return -1;
	m->maps = be_alloc((request->maps->n + 1) * sizeof(*m->maps));
	m->names = be_alloc((request->maps->n + 1) * sizeof(*m->names));
	for (size_t i = 0; i < request->maps->n; i++)
		if (read_map(m, request->images, request->maps->v[i], err) != 0)
			return -1;
	if (m->n_images > 1 && !m->n_maps) {
		be_fail_usage(err, "%zu images, and nothing says which machine gets which", m->n_images);
		return be_hint(err, "give --map MAC=IMAGE for each machine");
	}
	return 0;
}
