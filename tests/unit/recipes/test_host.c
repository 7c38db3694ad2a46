/* Host files in all their forms, and the host of a job. */
#include "job_helpers.h"
#include "host.h"

static void expect_host(const char *text, const char *yaml, const char *wanted_warnings)
{
	be_autofolder struct folder folder = folder_make();
	be_autofree char *file = folder_add(&folder, "host", text), *verbatim = NULL, *path = NULL;
	be_autostrv struct be_strv warnings = { 0 };
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *host = be_host_load(file, DATA, &warnings, &verbatim, &path, &err);
	cr_assert_not_null(host, "%s", err.text);
	be_autobuf struct be_buf out = { 0 };
	cr_assert_eq(be_node_yaml(host, &out, &err), 0);
	be_autofree char *got = warnings_text(&warnings, folder.path);
	cr_expect_str_eq(out.data, yaml);
	cr_expect_str_eq(got, wanted_warnings);
	cr_expect_str_eq(verbatim, text);
	cr_expect_str_eq(path, file);
}

Test(host, lists_one_text_and_pattern)
{
	expect_host("nr_cpu: 96\nmemory: 256G\n"
		    "hdd_partitions:\n- /dev/disk/by-id/ata-X_1-part1\n- /dev/disk/by-id/ata-X_2-part1\n"
		    "nr_ssd_partitions: 4\nssd_partitions: /dev/disk/by-id/ata-Y_1-part*\n"
		    "swap_partitions: LABEL=SWAP\nucode: '0x43'\n",
		    "nr_cpu: 96\nmemory: 256G\n"
		    "hdd_partitions: [/dev/disk/by-id/ata-X_1-part1, /dev/disk/by-id/ata-X_2-part1]\n"
		    "nr_ssd_partitions: 4\nssd_partitions: /dev/disk/by-id/ata-Y_1-part*\n"
		    "swap_partitions: LABEL=SWAP\nucode: \"0x43\"\n",
		    "");
	expect_host("nr_cpu: 2\nmemory: 8g\nhdd_partitions: \"/dev/vda /dev/vdb\n  /dev/vdc\"\nssd_partitions:\n",
		    "nr_cpu: 2\nmemory: 8g\nhdd_partitions: /dev/vda /dev/vdb /dev/vdc\nssd_partitions: null\n", "");
}

Test(host, what_is_odd_is_a_warning_with_its_position)
{
	expect_host("nr_cpu: many\nnr_cpu: lots\nmemory: 1.5G\nnr_sdd_partitions: 1\n"
		    "hdd_partitions: /dev/sda* sdb\nnr_ssd_partitions: 2\nssd_partitions: /dev/sdc\n",
		    "nr_cpu: lots\nmemory: 1.5G\nnr_sdd_partitions: 1\n"
		    "hdd_partitions: /dev/sda* sdb\nnr_ssd_partitions: 2\nssd_partitions: /dev/sdc\n",
		    "! host:2:1: the key \"nr_cpu\" stands twice, first in line 1: the last one counts\n"
		    "! host:4:1: nothing knows the key \"nr_sdd_partitions\"; is it \"nr_hdd_partitions\"?\n"
		    "! host:2:9: nr_cpu is no number\n"
		    "! host:3:9: memory is no size, such as 16G\n"
		    "! host:5:17: \"sdb\" is no path of a device\n"
		    "! host:5:17: hdd_partitions has a pattern, and nr_hdd_partitions does not say how many it means\n"
		    "! host:7:17: ssd_partitions names 1, nr_ssd_partitions says 2\n");
	expect_host("model: x\nnr_hdd_partitions: 2\nhdd_partitions:\n",
		    "model: x\nnr_hdd_partitions: 2\nhdd_partitions: null\n",
		    "! host:1:1: the host file does not state memory\n"
		    "! host:1:1: the host file does not state nr_cpu\n"
		    "! host:2:20: nr_hdd_partitions says 2, and hdd_partitions names none\n");
}

Test(host, refused)
{
	be_autofolder struct folder folder = folder_make();
	be_autofree char *list = folder_add(&folder, "list", "- a\n");
	be_autofree char *message = be_strf("%s:1:1: a host file is one map of keys and values", list);
	be_autostrv struct be_strv warnings = { 0 };
	struct be_error err = BE_ERROR_INIT;
	cr_expect_null(be_host_load(list, DATA, &warnings, NULL, NULL, &err));
	cr_expect_str_eq(err.text, message);
	cr_expect_null(be_host_load("lkp-icl-2sp8", DATA, &warnings, NULL, NULL, &err));
	cr_expect_str_eq(err.text, "lkp-icl-2sp8: no such host file, and none of this name in recipes/hosts");
	cr_expect_str_eq(err.hint, "is it lkp-icl-2sp7?");
	cr_expect_null(be_host_load("../hosts/lkp-icl-2sp7", DATA, &warnings, NULL, NULL, &err));
	cr_expect_eq(err.status, BE_USAGE);
}

static struct be_node *host_of(const char *job_text, char **path, struct be_error *err)
{
	be_autonode struct be_node *job = be_node_load(job_text, strlen(job_text), "job.yaml", err);
	cr_assert_not_null(job);
	be_autostrv struct be_strv warnings = { 0 };
	return be_host_of_job(job, DATA, &warnings, NULL, path, err);
}

Test(host, of_a_job)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *path = NULL;
	be_autonode struct be_node *group = host_of("testbox: lkp-icl-2sp7-3\n", &path, &err);
	cr_assert_not_null(group, "%s", err.text);
	cr_expect_str_eq(path, "recipes/hosts/lkp-icl-2sp7");
	be_autonode struct be_node *own =
		host_of("tbox_group: elsewhere\nnr_cpu: 8\nmemory: 16G\nfs: ext4\nucode: '0x1'\n", NULL, &err);
	be_autobuf struct be_buf yaml = { 0 };
	cr_assert_not_null(own, "%s", err.text);
	cr_assert_eq(be_node_yaml(own, &yaml, &err), 0);
	cr_expect_str_eq(yaml.data, "nr_cpu: 8\nmemory: 16G\nucode: \"0x1\"\n");
	cr_expect_null(host_of("fs: ext4\n", NULL, &err));
	cr_expect_eq(err.status, BE_OK);
	cr_expect_null(host_of("tbox_group: elsewhere\n", NULL, &err));
	cr_expect_eq(err.status, BE_USAGE);
}
