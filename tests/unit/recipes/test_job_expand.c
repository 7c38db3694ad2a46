/* Lists as a matrix, and the names of what comes of it. */
#include "job_helpers.h"

Test(job_expand, the_first_list_is_the_outermost_loop)
{
	expect_jobs("nr_threads: [1, 64]\n"
		    "fs: [ext4, xfs]\n"
		    "fsmark:\n",
		    "== job-ext4-1\nnr_threads: 1\nfs: ext4\nfsmark: null\n"
		    "== job-xfs-1\nnr_threads: 1\nfs: xfs\nfsmark: null\n"
		    "== job-ext4-64\nnr_threads: 64\nfs: ext4\nfsmark: null\n"
		    "== job-xfs-64\nnr_threads: 64\nfs: xfs\nfsmark: null\n");
}

Test(job_expand, an_atomic_job_is_one_atom)
{
	expect_jobs("suite: fsmark\nfsmark: {filesize: 4M}\nneed_kconfig: [MD, BTRFS_FS: y]\n",
		    "== job-4M\n"
		    "suite: fsmark\nfsmark:\n  filesize: 4M\n"
		    "need_kconfig:\n- MD\n- BTRFS_FS: y\n");
}

Test(job_expand, only_names_of_programs_in_the_job_expand)
{
	/* test: is an option of aim7, which this job has not; bad_samples: and hdd_partitions: are of no program. */
	expect_jobs("test: [a, b]\nbad_samples: [1, 2]\nhdd_partitions: [/dev/sda, /dev/sdb]\nfsmark:\n",
		    "== job-defaults\n"
		    "test: [a, b]\nbad_samples: [1, 2]\nhdd_partitions: [/dev/sda, /dev/sdb]\nfsmark: null\n");
	expect_jobs("test: [a, b]\naim7:\n", "== job-a\ntest: a\naim7: null\n== job-b\ntest: b\naim7: null\n");
}

Test(job_expand, options_match_at_any_depth)
{
	expect_jobs("if role client:\n"
		    "  netperf:\n"
		    "    test: [TCP_RR, UDP_RR]\n",
		    "== job-TCP_RR\nif role client:\n  netperf:\n    test: TCP_RR\n"
		    "== job-UDP_RR\nif role client:\n  netperf:\n    test: UDP_RR\n");
}

Test(job_expand, monitors_are_no_dimension)
{
	expect_jobs("perf-profile: {delay: [1, 2]}\nperf-stat: [a, b]\nnetperf: {delay: 5}\n",
		    "== job-5\n"
		    "perf-profile:\n  delay: [1, 2]\nperf-stat: [a, b]\nnetperf:\n  delay: 5\n");
}

Test(job_expand, a_null_item_is_a_run_without)
{
	expect_jobs("fs: ext4\nfs2:\n- nfsv4\n-\n", "== job-ext4-nfsv4\nfs: ext4\nfs2: nfsv4\n"
						    "== job-ext4\nfs: ext4\nfs2: null\n");
}

Test(job_expand, items_may_be_maps)
{
	expect_jobs("fs:\n- {fs: ext4, mount_option: [dax, nodax]}\n- xfs\n",
		    "== job-ext4-dax\nfs:\n  fs: ext4\n  mount_option: dax\n"
		    "== job-ext4-nodax\nfs:\n  fs: ext4\n  mount_option: nodax\n"
		    "== job-xfs\nfs: xfs\n");
}

Test(job_expand, an_empty_list_leaves_no_job)
{
	expect_jobs("fs: []\n", "! job.yaml:1:5: the list of \"fs\" is empty: no job comes of it\n");
}

Test(job_expand, kernel_and_rootfs_expand_and_end_the_name)
{
	expect_jobs("fs: ext4\ncommit: [v6.1, v6.2]\nrootfs: inn:/osimage/debian/debian-12.cgz\n",
		    "== job-ext4-v6.1-debian-12.cgz\n"
		    "fs: ext4\ncommit: v6.1\nrootfs: inn:/osimage/debian/debian-12.cgz\n"
		    "== job-ext4-v6.2-debian-12.cgz\n"
		    "fs: ext4\ncommit: v6.2\nrootfs: inn:/osimage/debian/debian-12.cgz\n");
}

Test(job_expand, keys_of_ours_expand_and_are_named)
{
	expect_jobs("fs: ext4\nrootfs_type: [ramfs, tmpfs]\nunstated: [runtime, fs]\n",
		    "== job-ext4-ramfs\nfs: ext4\nrootfs_type: ramfs\nunstated: [runtime, fs]\n"
		    "== job-ext4-tmpfs\nfs: ext4\nrootfs_type: tmpfs\nunstated: [runtime, fs]\n");
}

Test(job_expand, a_lists_value_keeps_its_form)
{
	expect_jobs("migration_path:\n  enable_promotion: [true, \"on\", '0x21']\n",
		    "== job-true\nmigration_path:\n  enable_promotion: true\n"
		    "== job-on\nmigration_path:\n  enable_promotion: \"on\"\n"
		    "== job-0x21\nmigration_path:\n  enable_promotion: \"0x21\"\n");
}

Test(job_name, values_are_cut_cleaned_and_sorted_by_key)
{
	expect_jobs("sysctl: {sc_pid_max: 4194304}\n"
		    "boot_params: {bp2_memmap: 104G!132G, bp1_memmap: 104G!8G}\n"
		    "pts: {test: fs-mark-1.0.3, option_a: \"5000 Files, 1MB Size \xc3\xa9\"}\n",
		    "== job-104G_8G-104G_132G-5000_Files__1MB_Size__-4194304-fs-mark-1.0.3\n"
		    "sysctl:\n  sc_pid_max: 4194304\n"
		    "boot_params:\n  bp2_memmap: 104G!132G\n  bp1_memmap: 104G!8G\n"
		    "pts:\n  test: fs-mark-1.0.3\n  option_a: 5000 Files, 1MB Size \xc3\xa9\n");
}

Test(job_name, two_jobs_can_have_one_name)
{
	expect_jobs("pts:\n  test:\n  - a-name-of-31-characters-and-more-1\n  - a-name-of-31-characters-and-more-2\n",
		    "== job-a-name-of-31-characters-and-mor\npts:\n  test: a-name-of-31-characters-and-more-1\n"
		    "== job-a-name-of-31-characters-and-mor\npts:\n  test: a-name-of-31-characters-and-more-2\n"
		    "! job.yaml:1:1: jobs 1 and 2 have the same name, job-a-name-of-31-characters-and-mor\n");
}

Test(job_name, marked_options_are_named_with_their_key)
{
	be_autofolder struct folder folder = folder_make();
	free(folder_add(&folder, "programs.yaml", "run:\n  bench: [=size, mode]\n"));
	be_autofree char *path = folder_add(&folder, "x.yaml", "bench: {mode: rw, size: 4M}\n");
	struct be_job_options options = { .data_dir = folder.path };
	struct be_error err = BE_ERROR_INIT;
	be_autojobs struct be_jobs jobs = { 0 };
	cr_assert_eq(be_jobs_load(path, &options, &jobs, &err), 0, "%s", err.text);
	cr_assert_eq(jobs.n, 1);
	cr_expect_str_eq(jobs.atoms[0].name, "x-rw-size=4M");
}

Test(job_expand, values_of_a_factor_are_a_dimension)
{
	expect_jobs("fs: [ext4, xfs]\nenvironment:\n  vm.swappiness: [10, 60]\n  vm.thp: never\nfsmark:\n",
		    "== job-ext4-vm.swappiness=10\n"
		    "fs: ext4\nenvironment:\n  vm.swappiness: 10\n  vm.thp: never\nfsmark: null\n"
		    "== job-ext4-vm.swappiness=60\n"
		    "fs: ext4\nenvironment:\n  vm.swappiness: 60\n  vm.thp: never\nfsmark: null\n"
		    "== job-xfs-vm.swappiness=10\n"
		    "fs: xfs\nenvironment:\n  vm.swappiness: 10\n  vm.thp: never\nfsmark: null\n"
		    "== job-xfs-vm.swappiness=60\n"
		    "fs: xfs\nenvironment:\n  vm.swappiness: 60\n  vm.thp: never\nfsmark: null\n");
	/* A list below a factor's own map, and one of a key of that name elsewhere, are values. */
	expect_jobs(
		"environment: {disk.scheduler_tunables: {a: [1, 2]}}\nexpect: {vm.thp: [x, y]}\nfsmark:\n",
		"== job-defaults\n"
		"environment:\n  disk.scheduler_tunables:\n    a: [1, 2]\nexpect:\n  vm.thp: [x, y]\nfsmark: null\n");
}
