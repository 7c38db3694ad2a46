/* A manifest for the public: what tells one machine from another of its kind is replaced. */
#ifndef BE_SCRUB_H
#define BE_SCRUB_H

#include "base/node.h"

/*
 * A copy of @manifest without serial numbers (also those in disk names such as ata-MODEL_SERIAL), world wide names,
 * UUIDs that are not of our making, MAC and IP addresses, and outside the recipe mail addresses and hosts of URLs. Each
 * is replaced by the same word wherever it stands, so that what belonged together still does; a serial becomes
 * EXAMPLE01, EXAMPLE02 ..., and one that is such a word already, or stands in a shipped host file, stays. `lock:` and
 * `image:` hold nothing of that kind and are left alone, so that the manifest still builds. When a recipe's own text
 * was changed, `scrubbed: true` says that it builds another image than the one it speaks of. The caller frees.
 */
struct be_node *be_scrub(const struct be_node *manifest);

#endif
