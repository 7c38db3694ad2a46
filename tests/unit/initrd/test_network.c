#include "initrd/network/network.h"

#include <string.h>

#include "initrd/network/interface.h"
#include "initrd/network/upload.h"
#include "tree.h"

Test(network, addresses_of_the_command_line)
{
	struct be_static_address a;
	cr_expect_not(be_network_static(NULL, &a));
	cr_expect_not(be_network_static("dhcp", &a));
	cr_expect_not(be_network_static("::::host:eth0:dhcp", &a));
	cr_assert(be_network_static("10.0.0.5:10.0.0.1:10.0.0.254:255.255.255.0:host", &a));
	cr_expect_str_eq(a.client, "10.0.0.5");
	cr_expect_str_eq(a.router, "10.0.0.254");
	cr_expect_str_eq(a.netmask, "255.255.255.0");
	free(a.text);
	cr_assert(be_network_static("10.0.0.5:", &a));
	cr_expect_str_eq(a.client, "10.0.0.5");
	cr_expect_str_eq(a.router, "");
	free(a.text);
}

static struct be_root cards(void)
{
	struct be_root tree = tree_new();
	tree_write(&tree, "/sys/class/net/lo/address", "00:00:00:00:00:00\n");
	tree_write(&tree, "/sys/class/net/eth0/address", "52:54:00:00:00:0a\n");
	tree_write(&tree, "/sys/class/net/eth0/device/class", "0x020000\n");
	tree_write(&tree, "/sys/class/net/eth1/address", "52:54:00:00:00:0b\n");
	tree_write(&tree, "/sys/class/net/eth1/device/class", "0x020000\n");
	return tree;
}

Test(network, the_card_that_was_booted_from)
{
	struct be_root tree = cards();
	be_autostrv struct be_strv names = { 0 };
	be_interface_list(&tree, "01-52-54-00-00-00-0B", &names);
	cr_assert_eq(names.n, 1);
	cr_expect_str_eq(names.v[0], "eth1");
	tree_free(&tree);
}

Test(network, all_cards_when_it_is_not_known)
{
	struct be_root tree = cards();
	static const char *const bootif[] = { NULL, "", "01-52-54-00-00-00-99", "01-52:54" };
	for (size_t i = 0; i < BE_ARRAY_LEN(bootif); i++) {
		be_autostrv struct be_strv names = { 0 };
		be_interface_list(&tree, bootif[i], &names);
		cr_assert_eq(names.n, 2, "%s", bootif[i]);
		cr_expect_str_eq(names.v[0], "eth0");
		cr_expect_str_eq(names.v[1], "eth1");
	}
	tree_free(&tree);
}

Test(network, an_interface_that_is_not_there)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_root root = { .prefix = NULL };
	cr_expect_eq(be_interface_up(&root, "nonesuch0", 0, &err), -1);
	cr_expect_not_null(strstr(err.text, "nonesuch0"));
	cr_expect_eq(be_interface_address("nonesuch0", "10.0.0.1000", NULL, NULL, &err), -1);
	cr_expect_not_null(strstr(err.text, "10.0.0.1000"));
}

/* Port 1 of the loopback: nobody listens. What was not taken stays to be sent. */
Test(network, a_server_that_is_not_there)
{
	struct be_upload upload;
	struct be_error err = BE_ERROR_INIT;
	struct be_root tree = tree_new();
	be_autofree char *path = be_strf("%s/stream", tree.prefix);
	cr_assert_eq(be_upload_open(&upload, "http://127.0.0.1:1/put/x", path, &err), 0, "%s", err.text);
	cr_expect_eq(be_upload_push(&upload, 0, &err), 0, "nothing is to be sent");
	cr_assert_eq(be_write_fd(upload.fd, "stream", "abc", 3, &err), 0);
	cr_expect_eq(be_upload_push(&upload, 0, &err), -1);
	cr_expect_str_eq(err.text, "the server was not reached");
	cr_expect_eq(upload.sent, 0);
	cr_expect(upload.lost);
	cr_expect_eq(be_upload_greet(&upload, 0, &err), -1);
	be_upload_close(&upload);
	tree_free(&tree);
}
