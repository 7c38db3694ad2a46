/* The observation documents, before.yaml and after.yaml (SCHEMA.md, section 5). */
#ifndef BE_DOCUMENT_H
#define BE_DOCUMENT_H

#include "initrd/guest.h"
#include "initrd/observe/observe.h"

/* Observes and writes the document of @phase to the state folder as @name. The guest's `environment` is replaced. */
int be_document_write(struct be_guest *guest, enum be_phase phase, const char *name,
		      struct be_error *err) BE_MUST_CHECK;
/* Writes what is known so far as after.yaml, without looking anew: what is delivered should the runner die. */
void be_document_draft(struct be_guest *guest);

#endif
