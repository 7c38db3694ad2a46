/*
 * Which machine gets which image, from the command line: images by folder, machines by address. A machine that is
 * named several times has a queue: its images in this order, each until its run has ended.
 */
#ifndef BE_MACHINES_H
#define BE_MACHINES_H

#include "builder/image/image_folder.h"
#include "builder/lab/serve.h"

struct be_machine {
	char mac[18];        /* as be_lab_map has it */
	char *name;          /* for its results, or NULL */
	const char **images; /* ids */
	size_t n_images;     /* 1: this image each time */
	size_t turn;         /* which of several comes next; n_images: none is left */
};

struct be_machines {
	struct be_lab_image *images; /* with the texts of @folders */
	struct be_image_folder *folders;
	char (*ids)[13];
	size_t n_images;
	struct be_machine *v;
	size_t n;
};

/* Reads the images, and every MAC=IMAGE[,NAME]. IMAGE is one of the folders, by its path or last name. */
int be_machines_read(struct be_machines *machines, const struct be_serve_request *request,
		     struct be_error *err) BE_MUST_CHECK;
/* The limits of each image, which is booted with the words @place; what only some machines have is said on stderr. */
int be_machines_check(const struct be_machines *machines, const struct be_serve_request *request, const char *place,
		      struct be_error *err) BE_MUST_CHECK;
void be_machines_free(struct be_machines *machines);
/* "52-54-00-12-34-56" or "52:54:00:12:34:56" -> small letters and colons. False: it is no address. */
bool be_mac_parse(const char *text, char mac[18]);
struct be_machine *be_machines_find(const struct be_machines *machines, const char *mac); /* NULL: nobody named it */
/* Under which name results of the machine are kept: NAME, else its address with hyphens. The caller frees. */
char *be_machines_name(const struct be_machines *machines, const char *mac);
/* Writes what each machine gets now to @maps, which has room for all. */
void be_machines_maps(const struct be_machines *machines, struct be_lab_map *maps);

/* A run of @image, which was that at @turn, has ended: the next one's turn. False: nothing has changed, as after a run
 * of another queue or of an earlier turn. */
bool be_machine_advance(struct be_machine *machine, int64_t turn, const char *image);
/*
 * Goes on with the queues that an earlier server left in @path: when they are the very same, and not all at their end.
 * A file that is not there or cannot be read is none.
 */
void be_machines_load_turns(struct be_machines *machines, const char *path);
int be_machines_save_turns(const struct be_machines *machines, const char *path, struct be_error *err) BE_MUST_CHECK;

#endif
