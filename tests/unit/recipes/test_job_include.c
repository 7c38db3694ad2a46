/* `<<: FILE`: text in the place of a line. */
#include "job_helpers.h"

/* Expands jobs/NAME of @folder. */
static char *expand_in(const struct folder *folder, const char *name)
{
	be_autofree char *path = be_strf("%s/%s", folder->path, name);
	struct be_job_options options = { .data_dir = DATA };
	struct be_error err = BE_ERROR_INIT;
	be_autojobs struct be_jobs jobs = { 0 };
	cr_assert_eq(be_jobs_load(path, &options, &jobs, &err), 0, "%s", err.text);
	return jobs_text(&jobs, folder->path);
}

static void add(const struct folder *folder, const char *name, const char *text)
{
	free(folder_add(folder, name, text));
}

Test(job_include, several_below_each_other)
{
	be_autofolder struct folder folder = folder_make();
	add(&folder, "jobs/a.yaml", "disk: 1HDD\n");
	add(&folder, "jobs/b.yaml", "fs: ext4\n");
	add(&folder, "jobs/x.yaml", "<<: a.yaml\n<<: b.yaml # both\nmd: RAID0\n");
	be_autofree char *got = expand_in(&folder, "jobs/x.yaml");
	cr_expect_str_eq(got, "== x-1HDD-ext4-RAID0\ndisk: 1HDD\nfs: ext4\nmd: RAID0\n");
}

Test(job_include, is_looked_for_beside_at_the_root_and_below_jobs)
{
	be_autofolder struct folder folder = folder_make();
	add(&folder, "jobs/deep/er/a.yaml", "disk: 1HDD\n");
	add(&folder, "hosts/b", "fs: ext4\n");
	add(&folder, "jobs/sub/c.yaml", "md: RAID0\n");
	add(&folder, "jobs/sub/x.yaml", "<<: a.yaml\n<<: hosts/b\n<<: \"c.yaml\"\n");
	be_autofree char *got = expand_in(&folder, "jobs/sub/x.yaml");
	cr_expect_str_eq(got, "== x-1HDD-ext4-RAID0\ndisk: 1HDD\nfs: ext4\nmd: RAID0\n");
}

Test(job_include, keys_below_documents_are_of_the_last)
{
	be_autofolder struct folder folder = folder_make();
	add(&folder, "jobs/a.yaml", "fs: ext4\n---\nfs: xfs\n");
	add(&folder, "jobs/x.yaml", "<<: a.yaml\nmd: RAID0\n");
	be_autofree char *got = expand_in(&folder, "jobs/x.yaml");
	cr_expect_str_eq(got, "== x-ext4\nfs: ext4\n== x-xfs-RAID0\nfs: xfs\nmd: RAID0\n");
}

Test(job_include, indented_and_behind_a_key)
{
	be_autofolder struct folder folder = folder_make();
	add(&folder, "jobs/a.yaml", "---\nfilesize: 4M\n\n# remark\nsync_method: NoSync\n");
	add(&folder, "jobs/b.yaml", "fs: ext4\nformat: n\n");
	add(&folder, "jobs/x.yaml", "fsmark:\n  <<: a.yaml\nfs: <<: b.yaml\nfs2:\n- <<: b.yaml\n- nfsv4\n");
	be_autofree char *got = expand_in(&folder, "jobs/x.yaml");
	cr_expect_str_eq(got, "== x-4M-n-n-ext4-ext4-NoSync\nfsmark:\n  filesize: 4M\n  sync_method: NoSync\n"
			      "fs:\n  fs: ext4\n  format: n\nfs2:\n  fs: ext4\n  format: n\n"
			      "== x-4M-n-ext4-nfsv4-NoSync\nfsmark:\n  filesize: 4M\n  sync_method: NoSync\n"
			      "fs:\n  fs: ext4\n  format: n\nfs2: nfsv4\n");
}

Test(job_include, variants_of_each_document)
{
	be_autofolder struct folder folder = folder_make();
	add(&folder, "jobs/base.yaml",
	    "suite: fsmark\ndisk: 1HDD\n\nfs:\n  - ext4\n  - xfs\n# end\n---\ncategory: benchmark\nfsmark:\n- a\n- "
	    "b\n");
	add(&folder, "jobs/x.yaml",
	    "<<: { file: base.yaml, disk: '1SSD', fs: [btrfs, {fs: ext4}], ignore: [suite, fsmark] }\n");
	be_autofree char *got = expand_in(&folder, "jobs/x.yaml");
	cr_expect_str_eq(got, "== x-1SSD-btrfs\ndisk: 1SSD\nfs: btrfs\n"
			      "== x-1SSD-ext4\ndisk: 1SSD\nfs:\n  fs: ext4\n"
			      "== x-1SSD-btrfs\ndisk: 1SSD\nfs: btrfs\ncategory: benchmark\n"
			      "== x-1SSD-ext4\ndisk: 1SSD\nfs:\n  fs: ext4\ncategory: benchmark\n"
			      "! jobs/x.yaml:1:1: jobs 1 and 3 have the same name, x-1SSD-btrfs\n"
			      "! jobs/x.yaml:1:1: jobs 2 and 4 have the same name, x-1SSD-ext4\n");
}

Test(job_include, in_an_include)
{
	be_autofolder struct folder folder = folder_make();
	add(&folder, "jobs/c.yaml", "md: RAID0\ndsk: 1HDD\n");
	add(&folder, "jobs/b.yaml", "<<: c.yaml\nfs: ext4\n");
	add(&folder, "jobs/x.yaml", "<<: {file: b.yaml, fs: xfs}\n");
	be_autofree char *got = expand_in(&folder, "jobs/x.yaml");
	cr_expect_str_eq(got, "== x-xfs-RAID0\nmd: RAID0\ndsk: 1HDD\nfs: xfs\n"
			      "! jobs/c.yaml:2:1: nothing knows the key \"dsk\"; is it \"disk\"?\n");
}

Test(job_include, a_key_below_replaces_the_included_one)
{
	be_autofolder struct folder folder = folder_make();
	add(&folder, "jobs/a.yaml", "disk: 1HDD\nfs: [ext4, xfs]\nfs2: a\nfs2: b\n");
	add(&folder, "jobs/x.yaml", "<<: a.yaml\nmd: RAID0\ndisk: 4HDD\nfs: btrfs\n");
	be_autofree char *got = expand_in(&folder, "jobs/x.yaml");
	cr_expect_str_eq(got,
			 "== x-4HDD-btrfs-b-RAID0\ndisk: 4HDD\nfs: btrfs\nfs2: b\nmd: RAID0\n"
			 "! jobs/a.yaml:4:1: the key \"fs2\" stands twice, first in line 3: the last one counts\n");
}

Test(job_include, anchors_are_yaml)
{
	expect_jobs("fs: &a {fs: ext4}\nfs2: &b {format: n}\nfs1:\n  <<: [*a, *b]\nmd:\n  <<: {raid_level: raid0}\n",
		    "== job-n-n-ext4-ext4-raid0\nfs:\n  fs: ext4\nfs2:\n  format: n\nfs1:\n  fs: ext4\n  format: n\n"
		    "md:\n  raid_level: raid0\n");
}

Test(job_include, in_a_remark_or_a_text_is_none)
{
	expect_jobs("fs: ext4\n# <<: nothing.yaml\nqueue: \"<<: nothing.yaml\"\n",
		    "== job-ext4\nfs: ext4\nqueue: '<<: nothing.yaml'\n");
}
