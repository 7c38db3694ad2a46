/* Several documents in a file, and what their keys do to the first. */
#include "job_helpers.h"

Test(job_merge, each_document_is_laid_over_the_first)
{
	expect_jobs("suite: fsmark\nfs: ext4\nfsmark: {filesize: 4M, sync_method: NoSync}\n"
		    "---\nfs: xfs\n"
		    "---\nmd: RAID0\n",
		    "== job-4M-ext4-NoSync\nsuite: fsmark\nfs: ext4\nfsmark:\n  filesize: 4M\n  sync_method: NoSync\n"
		    "== job-4M-xfs-NoSync\nsuite: fsmark\nfs: xfs\nfsmark:\n  filesize: 4M\n  sync_method: NoSync\n"
		    "== job-4M-ext4-RAID0-NoSync\nsuite: fsmark\nfs: ext4\nfsmark:\n  filesize: 4M\n"
		    "  sync_method: NoSync\nmd: RAID0\n");
}

Test(job_merge, a_map_is_replaced_as_a_whole)
{
	expect_jobs(
		"aim7: {test: disk_rr, load: 500}\n---\naim7: {test: disk_rd}\n",
		"== job-500-disk_rr\naim7:\n  test: disk_rr\n  load: 500\n== job-disk_rd\naim7:\n  test: disk_rd\n");
}

Test(job_merge, a_path_sets_one_value_below)
{
	expect_jobs("fsmark: {filesize: 4M}\n---\nfsmark.test_size: 70G\nfs.fs: ext4\n",
		    "== job-4M\nfsmark:\n  filesize: 4M\n"
		    "== job-4M-ext4-70G\nfsmark:\n  filesize: 4M\n  test_size: 70G\nfs:\n  fs: ext4\n");
}

Test(job_merge, options_with_dots_are_no_paths)
{
	expect_jobs("cgroup2:\nmemory.high: 8G\n", "== job-8G\ncgroup2: null\nmemory.high: 8G\n");
}

Test(job_merge, a_factors_dots_are_its_own)
{
	expect_jobs("fs: ext4\n---\nenvironment.disk.write_cache: write back\nexpect.cpu.count: 4\n",
		    "== job-ext4\nfs: ext4\n"
		    "== job-ext4\nfs: ext4\nenvironment:\n  disk.write_cache: write back\nexpect:\n  cpu.count: 4\n"
		    "! job.yaml:1:1: jobs 1 and 2 have the same name, job-ext4\n");
}

Test(job_merge, plus_appends)
{
	expect_jobs("bad_samples: [a]\nsysctl: {sc_pid_max: 1}\nbootloader_append: x\nloadavg:\n"
		    "---\nbad_samples+: [b, a]\nsysctl+: {sc_nr_open: 2, sc_pid_max: 3}\nbootloader_append+: y\n"
		    "loadavg+: z\ngood_samples+: [c]\nsysctl.sc_pid_max+: 4\n",
		    "== job-1\nbad_samples: [a]\nsysctl:\n  sc_pid_max: 1\nbootloader_append: x\nloadavg: null\n"
		    "== job-2-3\nbad_samples: [a, b]\nsysctl:\n  sc_pid_max: 3\n  sc_nr_open: 2\n"
		    "bootloader_append: [x, y]\nloadavg: z\ngood_samples: [c]\n"
		    "== job-2-4\nbad_samples: [a, b]\nsysctl:\n  sc_pid_max: 4\n  sc_nr_open: 2\n"
		    "bootloader_append: [x, y]\nloadavg: z\ngood_samples: [c]\n");
}

Test(job_merge, minus_removes)
{
	expect_jobs("bad_samples: [a, b, c]\nsysctl: {sc_pid_max: 1, sc_nr_open: 2}\nfs2: nfsv4\nfs1: x\nqueue: q\n"
		    "---\nbad_samples-: [a, z]\nsysctl-: sc_pid_max\nfs2-:\nfs1-: x\nqueue-: other\nnothing-:\n",
		    "== job-x-nfsv4-2-1\nbad_samples: [a, b, c]\nsysctl:\n  sc_pid_max: 1\n  sc_nr_open: 2\n"
		    "fs2: nfsv4\nfs1: x\nqueue: q\n"
		    "== job-2\nbad_samples: [b, c]\nsysctl:\n  sc_nr_open: 2\nqueue: q\n"
		    "! job.yaml:12:1: nothing knows the key \"nothing-\"\n");
}

Test(job_merge, some_keys_add_by_themselves)
{
	expect_jobs("need_kconfig: [MD]\nneed_memory: 1G\nmail_to: a\n"
		    "---\nneed_kconfig: [MD, BTRFS_FS: y]\nneed_memory: 2G\nmail_to: b\n",
		    "== job-defaults\nneed_kconfig: [MD]\nneed_memory: 1G\nmail_to: a\n"
		    "== job-defaults\nneed_kconfig:\n- MD\n- BTRFS_FS: y\nneed_memory: 2G\nmail_to: [a, b]\n"
		    "! job.yaml:1:1: jobs 1 and 2 have the same name, job-defaults\n");
}

Test(job_merge, a_null_replaces_and_an_empty_document_adds_nothing)
{
	expect_jobs("fs: ext4\nfsmark:\n---\nfs:\n---\n",
		    "== job-ext4\nfs: ext4\nfsmark: null\n== job-defaults\nfs: null\nfsmark: null\n"
		    "! job.yaml:6:1: an empty document\n");
}

Test(job_merge, yaml_merges_stay_yaml)
{
	expect_jobs("fs: &a {fs: ext4, format: n}\nfs2:\n  <<: *a\n  fs: nfsv4\n",
		    "== job-n-n-ext4-nfsv4\nfs:\n  fs: ext4\n  format: n\nfs2:\n  fs: nfsv4\n  format: n\n");
}
