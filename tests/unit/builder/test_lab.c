#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "builder/lab/boot_files.h"
#include "builder/lab/collect.h"
#include "builder/lab/config.h"
#include "builder/lab/machines.h"
#include "builder/lab/network.h"

static const struct be_lab_image images[] = { { .id = "0123456789ab", .cmdline = "root=/dev/ram0 a=\"b\" m=4G$8G" },
					      { .id = "ba9876543210", .cmdline = "quiet" } };
static const struct be_lab_map maps[] = { { .mac = "52:54:00:00:00:0a", .image = "0123456789ab", .turn = 3 } };

static struct be_lab_config config(void)
{
	return (struct be_lab_config){ .state = "/srv/lab",
				       .interface = "eth1",
				       .address = "10.0.0.1",
				       .network = "10.0.0.0",
				       .port = 80,
				       .append = "",
				       .images = images,
				       .n_images = 1 };
}

#define EXPECT_HAS(text, what) cr_expect_not_null(strstr((text), (what)), "%s is not in\n%s", (what), (text))
#define EXPECT_LACKS(text, what) cr_expect_null(strstr((text), (what)), "%s is in\n%s", (what), (text))

Test(lab, proxy_dhcp_gives_no_addresses)
{
	struct be_lab_config c = config();
	be_autobuf struct be_buf text = { 0 };
	be_lab_dnsmasq(&c, &text);
	EXPECT_HAS(text.data, "dhcp-range=10.0.0.0,proxy\n");
	EXPECT_HAS(text.data, "pxe-service=tag:!ipxe,X86PC,\"mkbenchenv\",undionly.kpxe\n");
	EXPECT_HAS(text.data, "dhcp-boot=tag:ipxe,http://10.0.0.1/boot.ipxe,,10.0.0.1\n");
	EXPECT_LACKS(text.data, "dhcp-ignore");
}

Test(lab, firmware_that_boots_by_http)
{
	struct be_lab_config c = config();
	be_autobuf struct be_buf proxy = { 0 }, own = { 0 };
	be_lab_dnsmasq(&c, &proxy);
	EXPECT_HAS(proxy.data, "dhcp-pxe-vendor=PXEClient,HTTPClient\n");
	EXPECT_HAS(proxy.data, "dhcp-boot=tag:!ipxe,tag:http64,http://10.0.0.1/snponly.efi,,10.0.0.1\n");
	EXPECT_LACKS(proxy.data, "dhcp-option-force");
	c.range = "10.0.0.50,10.0.0.99";
	be_lab_dnsmasq(&c, &own);
	EXPECT_HAS(own.data, "dhcp-option-force=tag:http64,60,HTTPClient\n");
	EXPECT_LACKS(own.data, "dhcp-pxe-vendor");
}

Test(lab, words_of_the_place)
{
	struct be_lab_config c = config();
	be_autofree char *ipxe = be_lab_place(&c);
	EXPECT_HAS(ipxe, " initrd=initrd.img BOOTIF=01-");
	EXPECT_HAS(ipxe, " benchenv.deliver=http://10.0.0.1/put/00000000000000000000000000000000");
	c.loader = BE_LOADER_PXELINUX;
	c.append = "quiet";
	be_autofree char *pxelinux = be_lab_place(&c);
	EXPECT_HAS(pxelinux, " BOOT_IMAGE=http://10.0.0.1/run/00000000000000000000000000000000/000000000000/vmlinuz ");
	cr_expect(be_ends(pxelinux, " quiet"));
}

Test(lab, only_named_machines_are_answered)
{
	struct be_lab_config c = config();
	be_autobuf struct be_buf text = { 0 }, nginx = { 0 };
	c.range = "10.0.0.50,10.0.0.99";
	c.maps = maps;
	c.n_maps = 1;
	be_lab_dnsmasq(&c, &text);
	EXPECT_HAS(text.data, "dhcp-range=10.0.0.50,10.0.0.99\n");
	EXPECT_HAS(text.data, "dhcp-boot=tag:ipxe,http://10.0.0.1/boot.ipxe\n");
	EXPECT_LACKS(text.data, "proxy");
	EXPECT_HAS(text.data, "dhcp-ignore=tag:!known\ndhcp-host=52:54:00:00:00:0a,set:known\n");
	be_lab_nginx(&c, &nginx);
	EXPECT_HAS(nginx.data, "map $mac $turn {\n\t\tdefault 0;\n\t\t\"~*^52[:-]54[:-]00[:-]00[:-]00[:-]0a$\" 3;\n");
	EXPECT_HAS(nginx.data, "default \"\";\n\t\t\"~*^52[:-]54[:-]00[:-]00[:-]00[:-]0a$\" \"0123456789ab\";\n");
}

Test(lab, loaders_get_their_files)
{
	struct be_lab_config c = config();
	be_autobuf struct be_buf pxelinux = { 0 }, grub = { 0 }, first = { 0 };
	c.loader = BE_LOADER_PXELINUX;
	c.port = 8080;
	be_lab_dnsmasq(&c, &pxelinux);
	be_autofree char *prefix = be_lab_pxelinux_prefix(&c);
	cr_expect_str_eq(prefix, "http://10.0.0.1:8080/pxelinux/");
	EXPECT_HAS(pxelinux.data, "dhcp-boot=tag:bios,lpxelinux.0,,10.0.0.1\n");
	EXPECT_HAS(pxelinux.data, "pxelinux-options --after path-prefix http://10.0.0.1:8080/pxelinux/ lpxelinux.0\n");
	EXPECT_LACKS(pxelinux.data, "tag:http64");
	EXPECT_LACKS(pxelinux.data, "tag:efi64");
	c.loader = BE_LOADER_GRUB;
	c.port = 80;
	be_lab_dnsmasq(&c, &grub);
	EXPECT_HAS(grub.data, "dhcp-boot=tag:efi64,grub.efi,,10.0.0.1\n");
	be_lab_first_grub(&c, &first);
	cr_expect_str_eq(first.data, "configfile (http,10.0.0.1)/grub/$net_default_mac\n");
}

/* nginx expands variables in strings: the command line's own characters must come out as they are. */
Test(lab, command_lines_are_quoted_for_nginx)
{
	struct be_lab_config c = config();
	be_autobuf struct be_buf text = { 0 };
	c.images = images;
	c.n_images = 2;
	c.append = "x=$y";
	be_lab_nginx(&c, &text);
	EXPECT_HAS(text.data, "0123456789ab \"root=/dev/ram0 a=\\\"b\\\" m=4G${dollar}8G\";\n");
	EXPECT_HAS(text.data, "ba9876543210 \"quiet\";\n");
	EXPECT_HAS(text.data, "/put/$request_id x=${dollar}y");
}

Test(lab, boot_files_name_their_neighbours)
{
	be_autobuf struct be_buf ipxe = { 0 }, grub = { 0 }, pxelinux = { 0 };
	be_boot_file_ipxe("root=/dev/ram0 rw", &ipxe);
	EXPECT_HAS(ipxe.data, "kernel vmlinuz root=/dev/ram0 rw console=tty0 console=ttyS0,115200 initrd=initrd.img ");
	EXPECT_HAS(ipxe.data, " ${benchenv}\ninitrd initrd.img\nboot\n");
	be_boot_file_grub("m=4G$8G q='x'", &grub);
	EXPECT_HAS(grub.data, "linux $config_directory/vmlinuz 'm=4G$8G' 'q='\\''x'\\''' ");
	be_boot_file_pxelinux("rw", "", NULL, &pxelinux);
	EXPECT_HAS(pxelinux.data, "KERNEL vmlinuz\nINITRD initrd.img\n");
	EXPECT_HAS(pxelinux.data, "APPEND rw console=tty0 console=ttyS0,115200\n");
}

Test(lab, addresses_of_machines)
{
	char mac[18];
	cr_assert(be_mac_parse("52-54-00-AB-cd-01", mac));
	cr_expect_str_eq(mac, "52:54:00:ab:cd:01");
	static const char *const wrong[] = { "", "52:54:00:ab:cd", "52:54:00:ab:cd:0g",
					     "52:54:00:ab:cd:01:", "5254.00ab.cd01xyz" };
	for (size_t i = 0; i < BE_ARRAY_LEN(wrong); i++)
		cr_expect_not(be_mac_parse(wrong[i], mac), "%s", wrong[i]);
}

Test(lab, ranges_of_addresses)
{
	static const char *const forms[] = { "",       "10.0.0.1",          "10.0.0.1,",          ",10.0.0.2", "a,b",
					     "10.0.0", "10.0.0.9,10.0.0.8", "10.0.0.1,10.0.0.2,", "1,2" };
	struct in_addr first, last;
	for (size_t i = 0; i < BE_ARRAY_LEN(forms); i++)
		cr_expect_not(be_lab_range_parse(forms[i], &first, &last), "%s", forms[i]);
	cr_expect(be_lab_range_parse("9.255.255.255,10.0.0.2", &first, &last));
	const struct be_lab_network network = { .own = { inet_addr("10.0.1.1") },
						.mask = { inet_addr("255.255.254.0") },
						.address = "10.0.1.1",
						.network = "10.0.0.0" };
	static const char *const outside[] = { "10.0.0.0,10.0.0.9", "10.0.1.9,10.0.1.255", "10.0.1.9,10.0.2.9",
					       "9.0.0.1,10.0.0.9", "10.0.2.1,10.0.2.9" };
	struct be_error err = BE_ERROR_INIT;
	cr_expect_eq(be_lab_network_check(&network, "10.0.0.255,10.0.1.0", &err), 0, "%s", err.text);
	for (size_t i = 0; i < BE_ARRAY_LEN(outside); i++)
		cr_expect_eq(be_lab_network_check(&network, outside[i], &err), -1, "%s", outside[i]);
	cr_expect_eq(err.status, BE_USAGE);
}

static const char *two[] = { "0123456789ab", "ba9876543210" }, *one[] = { "0123456789ab" };

Test(lab, images_of_a_machine_in_turn)
{
	struct be_machine v[] = { { .mac = "52:54:00:00:00:01", .images = two, .n_images = 2 },
				  { .mac = "52:54:00:00:00:02", .images = one, .n_images = 1 } };
	const struct be_machines machines = { .v = v, .n = 2 };
	struct be_lab_map now[2];
	be_machines_maps(&machines, now);
	cr_expect_str_eq(now[0].image, two[0]);
	cr_expect_not(be_machine_advance(&v[0], 0, two[1]), "a run that an earlier server's queue began");
	cr_expect(be_machine_advance(&v[0], 0, two[0]));
	cr_expect_not(be_machine_advance(&v[0], 0, two[0]), "a second run of the first image");
	be_machines_maps(&machines, now);
	cr_expect_str_eq(now[0].image, two[1]);
	cr_expect_eq(now[0].turn, 1);
	cr_expect(be_machine_advance(&v[0], 1, two[1]));
	cr_expect_not(be_machine_advance(&v[0], 2, two[1]), "there is none");
	cr_expect_not(be_machine_advance(&v[1], 0, one[0]), "the only image is for each time");
	be_machines_maps(&machines, now);
	cr_expect_str_eq(now[0].image, "");
	cr_expect_str_eq(now[1].image, one[0]);
}

/* What a new server with two machines, the first with @n of `two`, makes of the file: the turn of the first. */
static size_t turn_of_file(const char *path, size_t n)
{
	struct be_machine v[] = { { .mac = "52:54:00:00:00:01", .images = two, .n_images = n },
				  { .mac = "52:54:00:00:00:02", .images = one, .n_images = 1 } };
	struct be_machines machines = { .v = v, .n = 2 };
	be_machines_load_turns(&machines, path);
	cr_expect_eq(v[1].turn, 0);
	return v[0].turn;
}

Test(lab, queues_go_on_where_they_were)
{
	char path[] = "/tmp/be-queues.XXXXXX";
	struct be_error err = BE_ERROR_INIT;
	be_autofd int fd = mkstemp(path);
	struct be_machine v[] = { { .mac = "52:54:00:00:00:01", .images = two, .n_images = 2, .turn = 1 },
				  { .mac = "52:54:00:00:00:02", .images = one, .n_images = 1 } };
	struct be_machines machines = { .v = v, .n = 2 };
	cr_assert_geq(fd, 0);
	cr_expect_eq(turn_of_file(path, 2), 0, "an empty file");
	cr_assert_eq(be_machines_save_turns(&machines, path, &err), 0, "%s", err.text);
	cr_expect_eq(turn_of_file(path, 2), 1);
	cr_expect_eq(turn_of_file(path, 1), 0, "another queue");
	v[0].turn = 2;
	cr_assert_eq(be_machines_save_turns(&machines, path, &err), 0, "%s", err.text);
	cr_expect_eq(turn_of_file(path, 2), 0, "all was done: from the beginning");
	unlink(path);
	cr_expect_eq(turn_of_file(path, 2), 0, "no file");
}

struct spool {
	char folder[64];
	char *out;
};

static struct spool spool_new(void)
{
	struct spool s = { .folder = "/tmp/be-lab.XXXXXX" };
	cr_assert_not_null(mkdtemp(s.folder));
	s.out = be_strf("%s.tar", s.folder);
	return s;
}

static void spool_put(const struct spool *s, const char *name, const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = be_strf("%s/%s", s->folder, name);
	cr_assert_eq(be_write_file(path, text, strlen(text), 0600, &err), 0, "%s", err.text);
}

/* Joins, and expects the text and the damage. */
static void spool_expect(const struct spool *s, const char *text, const char *damage)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *found = NULL;
	be_autobuf struct be_buf got = { 0 };
	cr_assert_eq(be_parts_join(s->folder, s->out, &found, &err), 0, "%s", err.text);
	cr_assert_eq(be_read_file(s->out, 1024, &got, &err), 0, "%s", err.text);
	cr_expect_str_eq(got.data ? got.data : "", text);
	cr_expect(be_streq(found, damage), "\"%s\", not \"%s\"", found, damage);
}

static void spool_free(struct spool *s)
{
	struct be_error err = BE_ERROR_INIT;
	be_remove_tree(s->folder, &err);
	unlink(s->out);
	free(s->out);
}

Test(lab, parts_become_one_stream)
{
	struct spool s = spool_new();
	spool_put(&s, "000000000000", "abc");
	spool_put(&s, "000000000003", "de");
	spool_put(&s, "end", "5\n");
	size_t parts;
	cr_expect_eq(be_parts_size(s.folder, &parts), 7);
	spool_expect(&s, "abcde", NULL);
	spool_free(&s);
}

Test(lab, what_is_missing_is_said)
{
	struct spool s = spool_new();
	spool_expect(&s, "", "the delivery stops after 0 bytes");
	spool_put(&s, "000000000000", "abc");
	spool_expect(&s, "abc", "the delivery stops after 3 bytes");
	spool_put(&s, "000000000004", "e");
	spool_put(&s, "end", "5\n");
	spool_expect(&s, "abc", "the delivery lacks a part after 3 bytes");
	spool_put(&s, "000000000003", "d");
	spool_expect(&s, "abcde", NULL);
	spool_put(&s, "end", "6\n");
	spool_expect(&s, "abcde", "the delivery has 5 bytes, and 6 were sent");
	spool_free(&s);
}

Test(lab, links_are_not_followed)
{
	struct spool s = spool_new();
	be_autofree char *path = be_strf("%s/000000000000", s.folder);
	cr_assert_eq(symlink("/etc/passwd", path), 0);
	spool_put(&s, "end", "0\n");
	spool_expect(&s, "", "the delivery lacks a part after 0 bytes");
	spool_free(&s);
}
