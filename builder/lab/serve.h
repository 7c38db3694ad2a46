/* The lab: dnsmasq and nginx, told what to boot and watched, and the results of the machines that booted. */
#ifndef BE_SERVE_H
#define BE_SERVE_H

#include <stdint.h>

#include "builder/lab/config.h"

struct be_serve_request {
	const struct be_strv *images; /* image folders */
	const struct be_strv *maps;   /* "MAC=IMAGE" or "MAC=IMAGE,NAME" */
	const char *interface;
	const char *range;  /* of our own DHCP server; NULL: proxy DHCP */
	const char *output; /* folder that gets HOST/RUN/ */
	const char *state;  /* folder for what is served; NULL: BE_SERVE_STATE/INTERFACE */
	const char *append; /* more kernel arguments, or NULL */
	enum be_loader loader;
	int port;
	int64_t until; /* results after which it ends; 0: none */
	int64_t limit; /* bytes of one delivery */
	bool quiet;
};

#define BE_SERVE_STATE "/var/lib/mkbenchenv"

/*
 * Serves until @until results have arrived or a signal comes. @status is then the worst exit status of the results.
 * Runs that have not ended are taken up again by the next call with the same state folder.
 */
int be_serve(const struct be_serve_request *request, enum be_status *status, struct be_error *err) BE_MUST_CHECK;
/* The two configurations, for servers of one's own; needs no privilege. */
int be_serve_print_config(const struct be_serve_request *request, struct be_buf *out,
			  struct be_error *err) BE_MUST_CHECK;

#endif
