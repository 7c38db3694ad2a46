#include "builder/lab/config.h"

#include <string.h>

#include "builder/lab/boot_files.h"

#define MAC_PATTERN "[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}"
#define TOKEN_PATTERN "[0-9a-f]{32}"

/* "10.0.0.1" or "10.0.0.1:8080": some loaders know no port, so the usual one is not named. */
static char *server_of(const struct be_lab_config *c)
{
	return c->port == 80 ? be_strdup(c->address) : be_strf("%s:%d", c->address, c->port);
}

char *be_lab_place(const struct be_lab_config *c)
{
	be_autofree char *server = server_of(c);
	/* pxelinux and GRUB tell the kernel by which name it was loaded. */
	be_autofree char *folder =
		c->loader == BE_LOADER_IPXE ? be_strdup("") : be_strf("http://%s/run/%032d/%012d/", server, 0, 0);
	return be_strf(BE_LAB_CONSOLE " BOOT_IMAGE=%svmlinuz initrd=%sinitrd.img BOOTIF=01-00-00-00-00-00-00 "
				      "benchenv.deliver=http://%s/put/%032d%s%s",
		       folder, folder, server, 0, *c->append ? " " : "", c->append);
}

/* How the loaders that read nothing from DHCP come to know this server; for servers that are set up by hand. */
static void add_made(const struct be_lab_config *c, const char *server, struct be_buf *out)
{
	if (c->loader == BE_LOADER_PXELINUX)
		be_buf_addf(out,
			    "# lpxelinux.0 has its folder in itself, by\n"
			    "# pxelinux-options --after path-prefix http://%s" BE_LAB_PXELINUX " lpxelinux.0\n",
			    server);
	if (c->loader == BE_LOADER_GRUB)
		be_buf_addf(out,
			    "# grub.pxe and grub.efi are made by grub-mkimage --config FILE, of this one line:\n"
			    "# configfile (http,%s)/grub/$net_default_mac\n",
			    server);
}

/*
 * UEFI's HTTP boot (UEFI specification, 24.7): the firmware says HTTPClient and architecture 16, wants the same word
 * back, and loads a URL. Who gives the addresses answers with the word as an option; a proxy does so to those that it
 * takes for PXE clients.
 */
static void add_http_boot(const struct be_lab_config *c, const char *server, const char *next, struct be_buf *out)
{
	be_buf_addf(out, "dhcp-match=set:http64,option:client-arch,16\n%s",
		    c->range ? "dhcp-option-force=tag:http64,60,HTTPClient\n"
			     : "dhcp-pxe-vendor=PXEClient,HTTPClient\n");
	be_buf_addf(out, "dhcp-boot=tag:!ipxe,tag:http64,http://%s/" BE_LAB_IPXE_EFI "%s\n", server, next);
}

/* Which file each kind of firmware gets. */
static void add_boot(const struct be_lab_config *c, struct be_buf *out)
{
	static const struct {
		const char *bios, *efi;
	} files[] = {
		[BE_LOADER_IPXE] = { "undionly.kpxe", BE_LAB_IPXE_EFI },
		[BE_LOADER_PXELINUX] = { "lpxelinux.0", NULL },
		[BE_LOADER_GRUB] = { "grub.pxe", "grub.efi" },
	};
	be_autofree char *server = server_of(c);
	/* iPXE takes a proxy's offer only when it names the server too: ",NAME,ADDRESS". */
	be_autofree char *next = c->range ? be_strdup("") : be_strf(",,%s", c->address);
	bool ipxe = c->loader == BE_LOADER_IPXE;
	const char *bios = files[c->loader].bios, *efi = files[c->loader].efi, *other = ipxe ? "tag:!ipxe," : "";
	add_made(c, server, out);
	if (ipxe) {
		be_buf_addf(out, "dhcp-boot=tag:ipxe,http://%s/boot.ipxe%s\n", server, next);
		add_http_boot(c, server, next, out);
	}
	be_buf_addf(out, "dhcp-boot=%stag:bios,%s%s\n", other, bios, next);
	if (efi)
		be_buf_addf(out, "dhcp-boot=%stag:efi64,%s%s\n", other, efi, next);
	if (c->range)
		return;
	be_buf_addf(out, "pxe-service=%sX86PC,\"mkbenchenv\",%s\n", other, bios);
	if (efi)
		be_buf_addf(out,
			    "pxe-service=%sX86-64_EFI,\"mkbenchenv\",%s\n"
			    "pxe-service=%sBC_EFI,\"mkbenchenv\",%s\n",
			    other, efi, other, efi);
}

void be_lab_dnsmasq(const struct be_lab_config *c, struct be_buf *out)
{
	be_buf_addf(out,
		    "# DHCP and TFTP only: no name server.\n"
		    "port=0\n"
		    "interface=%s\n"
		    "except-interface=lo\n"
		    "bind-interfaces\n"
		    "user=dnsmasq\n"
		    "no-ping\n"
		    "log-dhcp\n"
		    "dhcp-leasefile=%s/" BE_LAB_LEASES "/dnsmasq.leases\n"
		    "enable-tftp\n"
		    "tftp-root=%s/" BE_LAB_TFTP "\n",
		    c->interface, c->state, c->state);
	if (c->range)
		be_buf_addf(out, "dhcp-range=%s\n", c->range);
	else
		be_buf_addf(out,
			    "# Another server gives the addresses; this one only says what to boot.\n"
			    "dhcp-range=%s,proxy\n",
			    c->network);
	if (c->n_maps)
		be_buf_adds(out, "# No answer for machines that are not named.\ndhcp-ignore=tag:!known\n");
	for (size_t i = 0; i < c->n_maps; i++)
		be_buf_addf(out, "dhcp-host=%s,set:known\n", c->maps[i].mac);
	be_buf_adds(out, "dhcp-match=set:ipxe,175\n"
			 "dhcp-match=set:bios,option:client-arch,0\n"
			 "dhcp-match=set:efi64,option:client-arch,7\n"
			 "dhcp-match=set:efi64,option:client-arch,9\n");
	add_boot(c, out);
}

/* A text inside double quotes of nginx, whose strings expand `$NAME` and know no way to write the sign itself. */
static void add_string(struct be_buf *out, const char *text)
{
	for (const char *p = text; *p; p++)
		if (*p == '$')
			be_buf_adds(out, "${dollar}");
		else if (*p == '"' || *p == '\\')
			be_buf_addf(out, "\\%c", *p);
		else
			be_buf_addc(out, *p);
}

/* A pattern for the machine's address, as any loader writes it. */
static void add_mac(const char *mac, struct be_buf *out)
{
	be_buf_adds(out, "\t\t\"~*^");
	for (const char *p = mac; *p; p++)
		if (*p == ':')
			be_buf_adds(out, "[:-]");
		else
			be_buf_addc(out, *p);
	be_buf_adds(out, "$\" ");
}

static void add_maps(const struct be_lab_config *c, struct be_buf *out)
{
	be_buf_adds(out, "\t# Which image a machine gets; \"\": none.\n\tmap $mac $image {\n");
	be_buf_addf(out, "\t\tdefault \"%s\";\n", c->n_maps ? "" : c->images[0].id);
	for (size_t i = 0; i < c->n_maps; i++) {
		add_mac(c->maps[i].mac, out);
		be_buf_addf(out, "\"%s\";\n", c->maps[i].image);
	}
	be_buf_adds(out, "\t}\n\t# And which of its images that is.\n\tmap $mac $turn {\n\t\tdefault 0;\n");
	for (size_t i = 0; i < c->n_maps; i++) {
		add_mac(c->maps[i].mac, out);
		be_buf_addf(out, "%zu;\n", c->maps[i].turn);
	}
	be_buf_adds(out, "\t}\n\tgeo $dollar {\n\t\tdefault \"$\";\n\t}\n");
	be_buf_adds(out, "\tmap $image $arguments {\n\t\tdefault \"\";\n");
	for (size_t i = 0; i < c->n_images; i++) {
		be_buf_addf(out, "\t\t%s \"", c->images[i].id);
		add_string(out, c->images[i].cmdline);
		be_buf_adds(out, "\";\n");
	}
	be_buf_adds(out, "\t}\n");
}

/* The answer to a machine that asks what to boot: nginx makes up the run's token, and the log tells us of it. */
static void add_question(const char *path, const char *answer, struct be_buf *out)
{
	be_buf_addf(out,
		    "\t\tlocation ~ \"^%s(?<mac>" MAC_PATTERN ")$\" {\n"
		    "\t\t\tif ($image = \"\") {\n\t\t\t\treturn 403;\n\t\t\t}\n"
		    "\t\t\treturn 200 \"%s\";\n"
		    "\t\t}\n",
		    path, answer);
}

static void add_questions(const struct be_lab_config *c, struct be_buf *out)
{
	be_autofree char *server = server_of(c);
	be_autobuf struct be_buf words = { 0 }, ipxe = { 0 }, grub = { 0 }, pxelinux = { 0 };
	be_autofree char *folder = be_strf("http://%s/run/$request_id/$image/", server);
	be_buf_addf(&words, "benchenv.deliver=http://%s/put/$request_id", server);
	if (*c->append) {
		be_buf_addc(&words, ' ');
		add_string(&words, c->append);
	}
	be_buf_addf(&ipxe, "#!ipxe\nset benchenv %s\nchain %sboot.ipxe\n", words.data, folder);
	be_buf_addf(&grub, "set benchenv='%s'\nexport benchenv\nconfigfile (http,%s)/run/$request_id/$image/grub.cfg\n",
		    words.data, server);
	be_boot_file_pxelinux("$arguments", folder, words.data, &pxelinux);
	add_question("/ipxe/", ipxe.data, out);
	add_question("/grub/", grub.data, out);
	add_question(BE_LAB_PXELINUX "pxelinux.cfg/01-", pxelinux.data, out);
}

/* A PUT is taken when the run's folder is there and the part is not. */
static void add_uploads(const struct be_lab_config *c, struct be_buf *out)
{
	be_buf_addf(out,
		    "\t\tlocation ~ \"^/put/(?<run>" TOKEN_PATTERN ")/$\" {\n"
		    "\t\t\tif (!-d %s/" BE_LAB_SPOOL "/$run) {\n\t\t\t\treturn 403;\n\t\t\t}\n"
		    "\t\t\treturn 204;\n"
		    "\t\t}\n"
		    "\t\tlocation ~ \"^/put/(?<run>" TOKEN_PATTERN ")/(?<part>[0-9]{12}|end)$\" {\n"
		    "\t\t\tif (!-d %s/" BE_LAB_SPOOL "/$run) {\n\t\t\t\treturn 403;\n\t\t\t}\n"
		    "\t\t\tif (-e %s/" BE_LAB_SPOOL "/$run/$part) {\n\t\t\t\treturn 409;\n\t\t\t}\n"
		    "\t\t\tlimit_except PUT {\n\t\t\t\tdeny all;\n\t\t\t}\n"
		    "\t\t\talias %s/" BE_LAB_SPOOL "/$run/$part;\n"
		    "\t\t\tdav_methods PUT;\n"
		    "\t\t\tdav_access user:rw;\n"
		    "\t\t}\n",
		    c->state, c->state, c->state, c->state);
}

void be_lab_nginx(const struct be_lab_config *c, struct be_buf *out)
{
	be_buf_addf(out,
		    "daemon off;\n"
		    "worker_processes 1;\n"
		    "pid %s/" BE_LAB_LOG "/nginx.pid;\n"
		    "error_log stderr;\n"
		    "events {\n}\n"
		    "http {\n"
		    "\tdefault_type application/octet-stream;\n"
		    "\tserver_tokens off;\n"
		    "\tsendfile on;\n"
		    "\tclient_max_body_size %d;\n",
		    c->state, BE_LAB_PART_MAX);
	static const char *const temps[] = { "client_body", "proxy", "fastcgi", "uwsgi", "scgi" };
	for (size_t i = 0; i < BE_ARRAY_LEN(temps); i++)
		be_buf_addf(out, "\t%s_temp_path %s/" BE_LAB_TEMP "/%s;\n", temps[i], c->state, temps[i]);
	be_buf_addf(out,
		    "\tlog_format run escape=json '{\"method\":\"$request_method\",\"uri\":\"$uri\","
		    "\"status\":\"$status\",\"mac\":\"$mac\",\"image\":\"$image\",\"turn\":\"$turn\","
		    "\"token\":\"$request_id\",\"client\":\"$remote_addr\",\"sent\":\"$body_bytes_sent\",\"complete\":"
		    "\"$request_completion\"}';\n"
		    "\taccess_log %s/" BE_LAB_ACCESS_LOG " run;\n",
		    c->state);
	add_maps(c, out);
	be_buf_addf(out,
		    "\tserver {\n"
		    "\t\tlisten %s:%d;\n"
		    "\t\tset $mac \"\";\n"
		    "\t\tlocation / {\n\t\t\treturn 404;\n\t\t}\n"
		    "\t\tlocation = /boot.ipxe {\n\t\t\talias %s/" BE_LAB_STATIC "/boot.ipxe;\n\t\t}\n"
		    "\t\tlocation = " BE_LAB_PXELINUX "ldlinux.c32 {\n\t\t\talias %s/" BE_LAB_STATIC
		    "/ldlinux.c32;\n\t\t}\n"
		    "\t\tlocation = /" BE_LAB_IPXE_EFI " {\n\t\t\talias %s/" BE_LAB_TFTP "/" BE_LAB_IPXE_EFI
		    ";\n\t\t}\n"
		    "\t\tlocation ~ \"^/run/" TOKEN_PATTERN
		    "/(?<id>[0-9a-f]{12})/(?<file>vmlinuz|initrd\\.img|boot\\.ipxe|grub\\.cfg)$\" {\n"
		    "\t\t\talias %s/" BE_LAB_IMAGES "/$id/$file;\n"
		    "\t\t}\n",
		    c->address, c->port, c->state, c->state, c->state, c->state);
	add_questions(c, out);
	add_uploads(c, out);
	be_buf_adds(out, "\t}\n}\n");
}

void be_lab_first_ipxe(const struct be_lab_config *c, struct be_buf *out)
{
	be_autofree char *server = server_of(c);
	be_buf_addf(out,
		    "#!ipxe\n"
		    "chain http://%s/ipxe/${netX/mac:hexhyp} || exit\n",
		    server);
}

char *be_lab_pxelinux_prefix(const struct be_lab_config *c)
{
	be_autofree char *server = server_of(c);
	return be_strf("http://%s" BE_LAB_PXELINUX, server);
}

void be_lab_first_grub(const struct be_lab_config *c, struct be_buf *out)
{
	be_autofree char *server = server_of(c);
	be_buf_addf(out, "configfile (http,%s)/grub/$net_default_mac\n", server);
}
