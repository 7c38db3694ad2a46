#include "recorded.h"

#include "disk-setup/device.h"
#include "disk-setup/pmem.h"

static struct be_setup setup;

static void load(void)
{
	recorded_load(&setup, RECORDED_DISKS);
}

static void unload(void)
{
	recorded_free(&setup);
}

TestSuite(device, .init = load, .fini = unload);

Test(device, names)
{
	static const struct {
		const char *path, *kernel, *whole;
	} cases[] = {
		{ "/dev/disk/by-id/ata-BENCH-HDD_H1-part1", "sdh1", "sdh" },
		{ "/dev/disk/by-id/ata-BENCH-HDD_H1", "sdh", "sdh" },
		{ "/dev/sdk2", "sdk2", "sdk" },
		{ "/dev/nvme0n1", "nvme0n1", "nvme0n1" },
		{ "/dev/pmem0", "pmem0", "pmem0" },
		{ "/dev/md127", "md127", "md127" },
		{ "/dev/none", NULL, NULL },
		{ "/dev/disk/by-id", NULL, NULL },
		{ "/sys/class/block/sda/dev", NULL, NULL },
		{ "none", NULL, NULL },
		{ "/dev/../dev/sda", "sda", "sda" },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		be_autofree char *kernel = be_device_kernel_name(&setup.root, cases[i].path, NULL);
		cr_expect(be_streq(kernel, cases[i].kernel), "%s is %s", cases[i].path, kernel ? kernel : "nothing");
		be_autofree char *whole = kernel ? be_device_whole(&setup.root, kernel) : NULL;
		cr_expect(be_streq(whole, cases[i].whole), "%s is on %s", cases[i].path, whole ? whole : "nothing");
	}
}

static void expect_identity(const char *stanza, const char *expected)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_devices devices = { .v = be_alloc(sizeof(struct be_device)), .n = 1 };
	be_autobuf struct be_buf text = { 0 };
	be_autonode struct be_node *node = recorded_plan(stanza);
	cr_assert_eq(be_device_identify(&setup.root, NULL, node, &devices.v[0], &err), 0, "%s", err.text);
	be_autonode struct be_node *found = be_device_node(&devices.v[0]);
	cr_assert_eq(be_node_yaml(found, &text, &err), 0);
	cr_expect_str_eq(text.data, expected);
	be_devices_free(&devices);
}

Test(device, identity)
{
	expect_identity("{name: disk0, kind: hdd, path: /dev/disk/by-id/ata-BENCH-HDD_H1-part1}",
			"path: /dev/disk/by-id/ata-BENCH-HDD_H1-part1\n"
			"kind: hdd\n"
			"kernel: sdh1\n"
			"disk: sdh\n"
			"size: 534773760\n"
			"disk_size: 536870912\n"
			"rotational: true\n"
			"write_cache: write back\n"
			"model: BENCH-HDD\n"
			"serial: H1\n");
	expect_identity("{name: disk0, kind: nvme, path: /dev/nvme0n1}", "path: /dev/nvme0n1\n"
									 "kind: nvme\n"
									 "kernel: nvme0n1\n"
									 "disk: nvme0n1\n"
									 "size: 536870912\n"
									 "disk_size: 536870912\n"
									 "rotational: false\n"
									 "write_cache: write back\n"
									 "model: QEMU NVMe Ctrl\n"
									 "serial: N1\n");
	expect_identity("{name: disk0, kind: pmem, path: /dev/pmem0}", "path: /dev/pmem0\n"
								       "kind: pmem\n"
								       "kernel: pmem0\n"
								       "disk: pmem0\n"
								       "size: 534773760\n"
								       "disk_size: 534773760\n"
								       "rotational: false\n"
								       "write_cache: write back\n"
								       "dax: true\n");
}

Test(device, pmem)
{
	struct be_error err = BE_ERROR_INIT;
	cr_expect_not(be_pmem_is_memory(&setup.root, "pmem0"));
	cr_expect(be_pmem_is_memory(&setup.root, "pmem2"));
	cr_expect_not(be_pmem_is_memory(&setup.root, "sda"));
	be_autonode struct be_node *nvdimm = be_pmem_identity(&setup.root, "pmem0");
	be_autobuf struct be_buf text = { 0 };
	cr_assert_eq(be_node_yaml(nvdimm, &text, &err), 0);
	cr_expect_str_eq(text.data, "device: pfn0.0\n"
				    "mode: fsdax\n"
				    "uuid: \"9e244ef0-7922-40f0-9618-8b8cd8b3b1ab\"\n"
				    "region: region0\n"
				    "provider: ACPI.NFIT\n"
				    "numa_node: 0\n");
	cr_expect_null(be_pmem_identity(&setup.root, "sda"));
}

Test(device, what_does_not_come)
{
	struct be_error err = BE_ERROR_INIT;
	be_autodevices struct be_devices devices = { 0 };
	be_autonode struct be_node *plan =
		recorded_plan("layout:\n"
			      "  wait: 0\n"
			      "  devices:\n"
			      "  - {name: disk0, kind: hdd, path: /dev/sdh1}\n"
			      "  - {name: disk1, kind: hdd, path: /dev/disk/by-id/ata-OTHER_1-part1}\n");
	cr_assert_eq(be_devices_wait(&setup.root, plan, NULL, &devices, &err), -1);
	cr_expect(be_starts(err.text,
			    "disk1 /dev/disk/by-id/ata-OTHER_1-part1 did not appear within 0 s. There is: dm-0 ("),
		  "%s", err.text);
	cr_expect_not_null(strstr(err.text, "sdh (512 MiB, rotational, BENCH-HDD)"), "%s", err.text);
	cr_expect_not_null(strstr(err.text, "; by-id: ata-BENCH-HDD_H1, "), "%s", err.text);
	cr_expect_neq(err.hint[0], '\0');
}
