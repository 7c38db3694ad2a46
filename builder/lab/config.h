/* The configurations of dnsmasq and nginx, as texts. Nothing here touches the machine. */
#ifndef BE_LAB_CONFIG_H
#define BE_LAB_CONFIG_H

#include <stdbool.h>

#include "base/str.h"

/* What the machines' own firmware is given first. */
enum be_loader { BE_LOADER_IPXE, BE_LOADER_PXELINUX, BE_LOADER_GRUB };

/* A machine that may boot. */
struct be_lab_map {
	char mac[18];      /* "52:54:00:12:34:56", small letters */
	const char *image; /* 12 hex digits; "": none any more */
	size_t turn;       /* of its images, from 0; the log of requests holds it */
};

struct be_lab_image {
	const char *id;      /* 12 hex digits */
	const char *cmdline; /* one line */
};

struct be_lab_config {
	const char *state;     /* absolute folder that holds all that is served and written */
	const char *interface; /* name of the network interface */
	const char *address;   /* IPv4 address of the interface */
	const char *network;   /* and of its network */
	const char *range;     /* "FIRST,LAST" of our own DHCP server; NULL: proxy DHCP beside another's */
	int port;              /* HTTP */
	enum be_loader loader;
	const char *append; /* more kernel arguments, or "" */
	const struct be_lab_map *maps;
	size_t n_maps; /* 0: every machine gets the only image */
	const struct be_lab_image *images;
	size_t n_images;
};

/* Files below the state folder that both sides know. */
#define BE_LAB_TFTP "tftp"
#define BE_LAB_IMAGES "images" /* ID/vmlinuz ... */
#define BE_LAB_STATIC "http"   /* boot.ipxe, pxelinux/ldlinux.c32 */
#define BE_LAB_SPOOL "spool"   /* TOKEN/PART; a token is good while its folder is there */
#define BE_LAB_TEMP "tmp"      /* bodies while they come in; on the file system of the spool */
#define BE_LAB_LOG "log"       /* nginx's */
#define BE_LAB_LEASES "leases" /* dnsmasq's */
#define BE_LAB_ACCESS_LOG BE_LAB_LOG "/access.log"

#define BE_LAB_PXELINUX "/pxelinux/"  /* folder of the URLs that pxelinux asks for */
#define BE_LAB_IPXE_EFI "snponly.efi" /* below tftp; UEFI firmware gets it by TFTP or HTTP */

#define BE_LAB_PART_MAX (8 << 20) /* bytes of one PUT: initrd/network/upload.h sends no larger ones */

/* The words that the loader adds to a kernel's command line, as long as they can be. The caller frees. */
char *be_lab_place(const struct be_lab_config *config);
void be_lab_dnsmasq(const struct be_lab_config *config, struct be_buf *out);
void be_lab_nginx(const struct be_lab_config *config, struct be_buf *out);
/* What iPXE loads first, whoever it is: it asks again with its address. */
void be_lab_first_ipxe(const struct be_lab_config *config, struct be_buf *out);
/* Where pxelinux finds what it reads, a URL that is written into it. The caller frees. */
char *be_lab_pxelinux_prefix(const struct be_lab_config *config);
/* The same for GRUB; it is built into the loader. */
void be_lab_first_grub(const struct be_lab_config *config, struct be_buf *out);

#endif
