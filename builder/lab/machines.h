/* Which machine gets which image, from the command line: images by folder, machines by address. */
#ifndef BE_MACHINES_H
#define BE_MACHINES_H

#include "builder/image/image_folder.h"
#include "builder/lab/serve.h"

struct be_machines {
	struct be_lab_image *images; /* with the texts of @folders */
	struct be_image_folder *folders;
	char (*ids)[13];
	size_t n_images;
	struct be_lab_map *maps;
	char **names; /* of the machines, for their results */
	size_t n_maps;
};

/* Reads and checks the images, and every MAC=IMAGE[,NAME]. IMAGE is one of the folders, by its path or last name. */
int be_machines_read(struct be_machines *machines, const struct be_serve_request *request,
		     struct be_error *err) BE_MUST_CHECK;
void be_machines_free(struct be_machines *machines);
/* "52-54-00-12-34-56" or "52:54:00:12:34:56" -> small letters and colons. False: it is no address. */
bool be_mac_parse(const char *text, char mac[18]);
/* Under which name results of the machine are kept: NAME, else its address with hyphens. The caller frees. */
char *be_machines_name(const struct be_machines *machines, const char *mac);

#endif
