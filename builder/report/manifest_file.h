/* A manifest as a file: one document for mails. What makes it too long for a mailing list lies beside it, named by
 * hash. */
#ifndef BE_MANIFEST_FILE_H
#define BE_MANIFEST_FILE_H

#include "base/node.h"

#define BE_MANIFEST_BYTES 58000 /* lists cut at 100 KB; a mail has words too */

/*
 * Writes DIR/manifest.yaml. While it is longer than BE_MANIFEST_BYTES its longest parts that are not the statement
 * itself go into DIR/manifest-PART.yaml, in a fixed order, and {file, sha256, bytes} stands in their place.
 */
int be_manifest_write(const struct be_node *manifest, const char *dir, struct be_error *err) BE_MUST_CHECK;
/*
 * Puts the parts that lie beside a manifest in @dir back. One that is not there stays a stub, as in a mail; one that is
 * another file than the manifest names is an error.
 */
int be_manifest_complete(struct be_node *manifest, const char *dir, struct be_error *err) BE_MUST_CHECK;

#endif
