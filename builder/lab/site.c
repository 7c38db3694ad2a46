#include "builder/lab/site.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"

static int make_folder(const struct be_site *site, const char *name, uid_t user, gid_t group, unsigned mode,
		       struct be_error *err)
{
	be_autofree char *path = be_strf("%s/%s", site->state, name);
	struct stat st;
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return be_fail_errno(err, errno, "%s: cannot be made", path);
	if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return be_fail(err, "%s: is there and is no folder", path);
	if (lchown(path, user, group) != 0 || chmod(path, mode) != 0)
		return be_fail_errno(err, errno, "%s: owner and mode cannot be set", path);
	return 0;
}

static int find_user(const char *name, const char *package, uid_t *user, gid_t *group, struct be_error *err)
{
	const struct passwd *entry = getpwnam(name);
	if (!entry) {
		be_fail(err, "there is no user %s, which a server is to run as", name);
		return be_hint(err, "install the Debian package %s", package);
	}
	*user = entry->pw_uid;
	*group = entry->pw_gid;
	return 0;
}

/* Every folder above must let strangers through. */
static int check_reachable(const char *path, struct be_error *err)
{
	be_autofree char *copy = be_strdup(path);
	for (char *slash = copy; slash && *slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		struct stat st;
		if (stat(copy, &st) != 0)
			return be_fail_errno(err, errno, "%s", copy);
		if (!(st.st_mode & S_IXOTH)) {
			be_fail_usage(err, "%s: the servers, which do not run as root, cannot go through it", copy);
			return be_hint(err, "choose another place with --state");
		}
		if (slash)
			*slash = '/';
	}
	return 0;
}

static int take_lock(struct be_site *site, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/lock", site->state);
	site->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (site->lock < 0)
		return be_fail_errno(err, errno, "%s: cannot be made", path);
	if (flock(site->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	be_fail(err, "%s: another `mkbenchenv serve` is at work there", site->state);
	return be_hint(err, "give this one another folder with --state, and another interface");
}

static int fill(struct be_site *site, struct be_error *err)
{
	const struct {
		const char *name;
		uid_t user;
		gid_t group;
		unsigned mode;
	} folders[] = {
		{ BE_LAB_TFTP, 0, 0, 0755 },
		{ BE_LAB_IMAGES, 0, 0, 0755 },
		{ BE_LAB_STATIC, 0, 0, 0755 },
		{ BE_SITE_RUNS, 0, 0, 0700 },
		/* Nobody but nginx and us sees what is delivered; nobody but us says which runs there are. */
		{ BE_LAB_SPOOL, 0, site->web_group, 0710 },
		{ BE_LAB_TEMP, site->web_user, site->web_group, 0700 },
		{ BE_LAB_LOG, site->web_user, site->web_group, 0700 },
		{ BE_LAB_LEASES, site->dhcp_user, site->dhcp_group, 0700 },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(folders); i++)
		if (make_folder(site, folders[i].name, folders[i].user, folders[i].group, folders[i].mode, err) != 0)
			return -1;
	return 0;
}

int be_site_check_name(const char *state, struct be_error *err)
{
	for (const char *p = state; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr("\"'\\;{}$#,", *p))
			return be_fail_usage(
				err, "%s: a folder of such a name cannot stand in the servers' configurations", state);
	return 0;
}

int be_site_open(struct be_site *site, const char *state, struct be_error *err)
{
	*site = (struct be_site){ .lock = -1 };
	if (find_user(BE_SITE_WEB_USER, "nginx", &site->web_user, &site->web_group, err) != 0 ||
	    find_user(BE_SITE_DHCP_USER, "dnsmasq-base", &site->dhcp_user, &site->dhcp_group, err) != 0 ||
	    be_mkdirs(state, 0755, err) != 0)
		return -1;
	site->state = realpath(state, NULL);
	if (!site->state)
		return be_fail_errno(err, errno, "%s", state);
	if (be_site_check_name(site->state, err) != 0)
		return -1;
	if (check_reachable(site->state, err) != 0 || take_lock(site, err) != 0)
		return -1;
	return fill(site, err);
}

void be_site_close(struct be_site *site)
{
	be_close_fd(&site->lock);
	free(site->state);
	site->state = NULL;
}

static int copy_file(const char *from, const char *to, struct be_error *err)
{
	be_autofd int in = open(from, O_RDONLY | O_CLOEXEC);
	be_autofd int out = in >= 0 ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644) : -1;
	ssize_t n = -1;
	if (out >= 0)
		do
			n = sendfile(out, in, NULL, 1 << 24);
		while (n > 0);
	if (n < 0 || fchmod(out, 0644) != 0)
		return be_fail_errno(err, errno, "%s: cannot be copied to %s", from, to);
	return 0;
}

static int make_room(const char *path, struct be_error *err)
{
	return unlink(path) == 0 || errno == ENOENT ? 0 : be_fail_errno(err, errno, "%s: cannot be replaced", path);
}

/* A loader or a file of an image at its place; an earlier one goes. */
static int put_file(const char *from, const char *to, struct be_error *err)
{
	if (make_room(to, err) != 0)
		return -1;
	/* What a build has made is never changed in its place. */
	struct stat st;
	if (lstat(from, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0444) == 0444 && link(from, to) == 0)
		return 0;
	return copy_file(from, to, err);
}

int be_site_add_image(const struct be_site *site, const char *folder, const char *id, struct be_error *err)
{
	static const char *const files[] = { "vmlinuz",   "initrd.img", "cmdline",      "plan.yaml",
					     "boot.ipxe", "grub.cfg",   "manifest.yaml" };
	be_autofree char *name = be_strf(BE_LAB_IMAGES "/%s", id);
	if (make_folder(site, name, 0, 0, 0755, err) != 0)
		return -1;
	for (size_t i = 0; i < BE_ARRAY_LEN(files); i++) {
		be_autofree char *from = be_strf("%s/%s", folder, files[i]);
		be_autofree char *to = be_strf("%s/%s/%s", site->state, name, files[i]);
		if (put_file(from, to, err) != 0)
			return be_hint(err, "build the image again: one of an older mkbenchenv lacks files");
	}
	return 0;
}

struct loader_file {
	const char *name, *from, *package;
};

static int add_loaders(const struct be_site *site, const struct loader_file *files, size_t n, const char *below,
		       struct be_error *err)
{
	for (size_t i = 0; i < n; i++) {
		be_autofree char *to = be_strf("%s/%s/%s", site->state, below, files[i].name);
		if (put_file(files[i].from, to, err) != 0)
			return be_hint(err, "install the Debian package %s", files[i].package);
	}
	return 0;
}

static int make_grub(const struct be_site *site, const char *format, const char *name, const char *driver,
		     const char *config, struct be_error *err)
{
	be_autofree char *out = be_strf("%s/" BE_LAB_TFTP "/%s", site->state, name);
	char *argv[] = { "grub-mkimage", "-O",         (char *)format, "-o",           out,    "-p",
			 "/grub",        "-c",         (char *)config, (char *)driver, "http", "tftp",
			 "normal",       "configfile", "linux",        "echo",         NULL };
	be_autorun struct be_run run = { .argv = argv, .timeout = 60 };
	if (be_run_ok(&run, err) != 0)
		return be_hint(err, "install the Debian packages grub-common, grub-efi-amd64-bin and grub-pc-bin");
	return chmod(out, 0644) == 0 ? 0 : be_fail_errno(err, errno, "%s", out);
}

static int write_text(const struct be_site *site, const char *name, const struct be_buf *text, struct be_error *err)
{
	be_autofree char *path = be_strf("%s/%s", site->state, name);
	return be_write_file(path, text->data, text->len, 0644, err);
}

/* A proxy DHCP server cannot name the folder to pxelinux: it is written into a copy of the loader, behind what DHCP
 * says. */
static int make_pxelinux(const struct be_site *site, const struct be_lab_config *config, struct be_error *err)
{
	static const char from[] = "/usr/lib/PXELINUX/lpxelinux.0";
	static const struct loader_file modules[] = { { "ldlinux.c32", "/usr/lib/syslinux/modules/bios/ldlinux.c32",
							"syslinux-common" } };
	be_autofree char *out = be_strf("%s/" BE_LAB_TFTP "/lpxelinux.0", site->state);
	be_autofree char *prefix = be_lab_pxelinux_prefix(config);
	char *argv[] = { "pxelinux-options", "--after", "path-prefix", prefix, out, NULL };
	be_autorun struct be_run run = { .argv = argv, .timeout = 60 };
	if (make_room(out, err) != 0)
		return -1;
	if (copy_file(from, out, err) != 0)
		return be_hint(err, "install the Debian package pxelinux");
	if (be_run_ok(&run, err) != 0)
		return be_hint(err, "install the Debian package syslinux-utils");
	return add_loaders(site, modules, BE_ARRAY_LEN(modules), BE_LAB_STATIC, err);
}

static int write_loaders(const struct be_site *site, const struct be_lab_config *config, struct be_error *err)
{
	static const struct loader_file ipxe[] = {
		{ "undionly.kpxe", "/usr/lib/ipxe/undionly.kpxe", "ipxe" },
		{ BE_LAB_IPXE_EFI, "/usr/lib/ipxe/" BE_LAB_IPXE_EFI, "ipxe" },
	};
	if (config->loader == BE_LOADER_IPXE)
		return add_loaders(site, ipxe, BE_ARRAY_LEN(ipxe), BE_LAB_TFTP, err);
	if (config->loader == BE_LOADER_PXELINUX)
		return make_pxelinux(site, config, err);
	be_autobuf struct be_buf first = { 0 };
	be_autofree char *path = be_strf("%s/grub-first.cfg", site->state);
	be_lab_first_grub(config, &first);
	if (be_write_file(path, first.data, first.len, 0644, err) != 0)
		return -1;
	return make_grub(site, "x86_64-efi", "grub.efi", "efinet", path, err) != 0
		       ? -1
		       : make_grub(site, "i386-pc-pxe", "grub.pxe", "pxe", path, err);
}

int be_site_write_nginx(const struct be_site *site, const struct be_lab_config *config, struct be_error *err)
{
	be_autobuf struct be_buf text = { 0 };
	be_lab_nginx(config, &text);
	return write_text(site, BE_SITE_NGINX, &text, err);
}

int be_site_write(const struct be_site *site, const struct be_lab_config *config, struct be_error *err)
{
	be_autobuf struct be_buf dnsmasq = { 0 }, first = { 0 };
	be_lab_dnsmasq(config, &dnsmasq);
	be_lab_first_ipxe(config, &first);
	if (write_loaders(site, config, err) != 0 || write_text(site, BE_SITE_DNSMASQ, &dnsmasq, err) != 0 ||
	    write_text(site, BE_LAB_STATIC "/boot.ipxe", &first, err) != 0)
		return -1;
	return be_site_write_nginx(site, config, err);
}

/*
 * Not root from the start, and no more than @capabilities ("-all,+..."). setpriv also says whom it ends with: a change
 * of user takes back what its parent asked for.
 */
static void add_setpriv(struct be_strv *argv, uid_t user, gid_t group, const char *capabilities)
{
	be_strv_split(argv, "setpriv --clear-groups --no-new-privs --pdeathsig=TERM", " ");
	be_strv_addf(argv, "--reuid=%u", (unsigned)user);
	be_strv_addf(argv, "--regid=%u", (unsigned)group);
	be_strv_addf(argv, "--inh-caps=%s", capabilities);
	be_strv_addf(argv, "--ambient-caps=%s", capabilities);
	be_strv_addf(argv, "--bounding-set=%s", capabilities);
}

void be_site_dnsmasq_argv(const struct be_site *site, struct be_strv *argv)
{
	/* Ports below 1024, answers to machines that have no address yet, and their entries in the ARP table. */
	add_setpriv(argv, site->dhcp_user, site->dhcp_group, "-all,+net_bind_service,+net_raw,+net_admin");
	be_strv_split(argv, "dnsmasq --keep-in-foreground --log-facility=-", " ");
	be_strv_addf(argv, "--conf-file=%s/" BE_SITE_DNSMASQ, site->state);
}

void be_site_nginx_argv(const struct be_site *site, struct be_strv *argv)
{
	add_setpriv(argv, site->web_user, site->web_group, "-all,+net_bind_service");
	be_strv_split(argv, "nginx -e stderr -c", " ");
	be_strv_addf(argv, "%s/" BE_SITE_NGINX, site->state);
}
