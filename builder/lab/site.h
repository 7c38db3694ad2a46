/* The folder that is served from: images, loaders, configurations, and the spool that deliveries come into. */
#ifndef BE_SITE_H
#define BE_SITE_H

#include <sys/types.h>

#include "builder/lab/config.h"

#define BE_SITE_RUNS "runs"          /* TOKEN.yaml: what is known of a run that has not ended */
#define BE_SITE_QUEUES "queues.yaml" /* how far the machines are with their images */
#define BE_SITE_DNSMASQ "dnsmasq.conf"
#define BE_SITE_NGINX "nginx.conf"
#define BE_SITE_WEB_USER "www-data" /* nginx runs as; Debian's own */
#define BE_SITE_DHCP_USER "dnsmasq" /* dnsmasq changes to; Debian's own */

struct be_site {
	char *state; /* absolute */
	int lock;    /* held while we serve */
	uid_t web_user, dhcp_user;
	gid_t web_group, dhcp_group;
};

/* The folder's name stands in both configurations, whose quoting differs. */
int be_site_check_name(const char *state, struct be_error *err) BE_MUST_CHECK;
/*
 * Makes the folder @state with what is in it, and takes its lock: one server at a time. The servers run under users of
 * their own, which must be able to reach it.
 */
int be_site_open(struct be_site *site, const char *state, struct be_error *err) BE_MUST_CHECK;
void be_site_close(struct be_site *site);
/* Takes an image folder in: linked, or copied where that cannot be. @id is the image's. */
int be_site_add_image(const struct be_site *site, const char *folder, const char *id,
		      struct be_error *err) BE_MUST_CHECK;
/* The loaders that @config wants, by TFTP, what they read first, and both configurations. */
int be_site_write(const struct be_site *site, const struct be_lab_config *config, struct be_error *err) BE_MUST_CHECK;

/* nginx's configuration alone; one that runs takes it up on SIGHUP. */
int be_site_write_nginx(const struct be_site *site, const struct be_lab_config *config,
			struct be_error *err) BE_MUST_CHECK;

/* The argument vectors of the two servers. */
void be_site_dnsmasq_argv(const struct be_site *site, struct be_strv *argv);
void be_site_nginx_argv(const struct be_site *site, struct be_strv *argv);

#endif
