/* `{{ ... }}` in values: what they see, what they give, and what they drop. */
#include "job_helpers.h"

Test(job_template, sees_what_outer_lists_have_fixed)
{
	expect_jobs("fs: [btrfs, ext4, xfs]\n"
		    "aim7:\n"
		    "  test: [disk_rr, disk_rw]\n"
		    "  load: {{\n"
		    "         if fs == 'btrfs'\n"
		    "           if aim7.test == 'disk_rr' || aim7.test == 'x'\n"
		    "             500\n"
		    "           else\n"
		    "             100\n"
		    "           end\n"
		    "         else\n"
		    "           3000\n"
		    "         end\n"
		    "       }}\n"
		    "--- # the load is of the file system\n"
		    "fs: ext4\n"
		    "aim7: {test: creat-clo, load: \"{{ fs =~ /ext4|xfs/ ? '20' : 10 }}\"}\n",
		    "== job-btrfs-500-disk_rr\nfs: btrfs\naim7:\n  test: disk_rr\n  load: 500\n"
		    "== job-btrfs-100-disk_rw\nfs: btrfs\naim7:\n  test: disk_rw\n  load: 100\n"
		    "== job-ext4-3000-disk_rr\nfs: ext4\naim7:\n  test: disk_rr\n  load: 3000\n"
		    "== job-ext4-3000-disk_rw\nfs: ext4\naim7:\n  test: disk_rw\n  load: 3000\n"
		    "== job-xfs-3000-disk_rr\nfs: xfs\naim7:\n  test: disk_rr\n  load: 3000\n"
		    "== job-xfs-3000-disk_rw\nfs: xfs\naim7:\n  test: disk_rw\n  load: 3000\n"
		    "== job-ext4-20-creat-clo\nfs: ext4\naim7:\n  test: creat-clo\n  load: \"20\"\n");
}

Test(job_template, nil_drops_the_combination_and_says_so)
{
	expect_jobs("fs: [ext4, f2fs]\n"
		    "aim7:\n"
		    "  test:\n"
		    "  - {{ fs == 'f2fs' ? nil : 'disk_src' }}\n"
		    "  - disk_rr\n",
		    "== job-ext4-disk_src\nfs: ext4\naim7:\n  test: disk_src\n"
		    "== job-ext4-disk_rr\nfs: ext4\naim7:\n  test: disk_rr\n"
		    "== job-f2fs-disk_rr\nfs: f2fs\naim7:\n  test: disk_rr\n"
		    "! job.yaml:4:5: this template is nil for 1 combination: dropped, as LKP does\n");
	expect_jobs("fsmark:\n  filesize: [8K, 16M]\n"
		    "  test_size: {{ case fsmark.filesize when '8K' then '1G' when '16MB' then '16G' end }}\n",
		    "== job-8K-1G\nfsmark:\n  filesize: 8K\n  test_size: 1G\n"
		    "! job.yaml:3:14: this template is nil for 1 combination: dropped, as LKP does\n");
}

Test(job_template, text_around_it_is_kept)
{
	expect_jobs("nr_task: 2\nname: n{{ 2 * 3 }}G-{{ nr_task }} # a remark\nloadavg: [ {{ nr_task + 1 }}, \"{{ 'x' "
		    "}}\", c ]\n",
		    "== job-defaults\nnr_task: 2\nname: n6G-2\nloadavg: [3, x, c]\n"
		    "! job.yaml:2:1: nothing knows the key \"name\"\n");
}

Test(job_template, an_item_of_a_list_over_several_lines)
{
	expect_jobs("fs: ext4\nfsmark:\n  filesize: [\n    {{ fs == 'ext4' ? '4M' : '8M' }},\n    16M ]\n",
		    "== job-4M-ext4\nfs: ext4\nfsmark:\n  filesize: 4M\n"
		    "== job-16M-ext4\nfs: ext4\nfsmark:\n  filesize: 16M\n");
}

Test(job_template, block_texts_and_quoted_braces_are_left_alone)
{
	expect_jobs("queue: '{{'\nuser: |\n  - {{ x\nbranch: 'a }} b {{ c'\n",
		    "== job-defaults\nqueue: '{{'\nuser: |\n  - {{ x\nbranch: a }} b {{ c\n");
}

Test(job_template, asks_the_machine)
{
	static const char text[] = "tbox_group: lkp-icl-2sp7\nnr_task: {{ nr_cpu / 2 }}\nfio:\nfio-setup-basic:\n";
	expect_jobs(text, "== job-32\ntbox_group: lkp-icl-2sp7\nnr_task: 32\nfio: null\nfio-setup-basic: null\n");
	be_autofolder struct folder folder = folder_make();
	be_autofree char *path = folder_add(&folder, "job.yaml", text);
	struct be_error err = BE_ERROR_INIT;
	be_autonode struct be_node *host = be_node_load("nr_cpu: 8\n", 10, "host", &err);
	struct be_job_options options = { .data_dir = DATA, .host = host };
	be_autojobs struct be_jobs jobs = { 0 };
	cr_assert_eq(be_jobs_load(path, &options, &jobs, &err), 0, "%s", err.text);
	cr_expect_str_eq(be_get_str(jobs.atoms[0].job, "nr_task", ""), "4");
}

Test(job_template, settings_come_before_it)
{
	expect_set("fs: ext4\nfsmark: {filesize: \"{{ fs == 'xfs' ? '8M' : '4M' }}\"}\n",
		   "== job-8M-xfs\nfs: xfs\nfsmark:\n  filesize: 8M\n", "fs=xfs");
}
