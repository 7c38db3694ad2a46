/*
 * `fs2:` and `fs1:`: the mount points are exported to the machine itself and mounted again over the network, as LKP's
 * set-up does. With fs2 the workload sees the network's mount points before the local ones, with fs1 only those.
 */
#include <string.h>

#include "plan_parts.h"

static const struct kind {
	const char *name, *type, *version;
} kinds[] = {
	{ "nfs", "nfs", NULL },          { "nfsv3", "nfs", "vers=3" },        { "nfsv4", "nfs", "vers=4" },
	{ "cifs", "cifs", NULL },        { "smbv2", "cifs", "vers=2.0" },     { "smbv2p1", "cifs", "vers=2.1" },
	{ "smbv3", "cifs", "vers=3.0" }, { "smbv3p02", "cifs", "vers=3.02" }, { "smbv3p11", "cifs", "vers=3.1.1" },
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; name && i < BE_ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

/* What the job asks below @key, `fs2: nfsv4` or `fs2: {fs: nfsv4}`; NULL: nothing. */
static const char *asked(const struct be_node *job, const char *key)
{
	const struct be_node *node = be_get(job, key);
	return node && node->kind == BE_MAP ? be_get_str(node, "fs", NULL) : be_get_str(job, key, NULL);
}

static int unknown(const struct be_node *node, const char *key, const char *name, struct be_error *err)
{
	const char *near = NULL;
	for (size_t i = 0; i < BE_ARRAY_LEN(kinds); i++)
		if (be_distance(name, kinds[i].name) <= 2)
			near = kinds[i].name;
	be_fail_usage(err, "%s: %s: '%.40s' is no network file system", be_where(node), key, name);
	return near ? be_hint(err, "did you mean %s?", near)
		    : be_hint(err, "known are nfs, nfsv3, nfsv4, cifs, smbv2, smbv2p1, smbv3, smbv3p02 and smbv3p11");
}

static struct be_node *exported(const struct be_node *filesystem, const struct kind *kind)
{
	struct be_node *entry = be_node_map();
	const struct be_node *devices = be_get(filesystem, "devices");
	const char *local = be_get_str(filesystem, "mount", "");
	be_set(entry, "mount", be_node_strf("/%s/%s", kind->type, be_layout_base(local)));
	be_set_str(entry, "device", devices ? devices->items[0]->text : NULL);
	be_set_str(entry, "network", kind->name);
	be_set_str(entry, "exported", local);
	return entry;
}

/* The storages over the network before the local ones, or instead of them; the layout's directories follow. */
static void put_first(struct be_planner *p, const struct kind *kind, bool only, struct be_node *storages)
{
	struct be_node *layout = be_get(p->plan, "layout");
	const struct be_node *filesystems = be_get(layout, "filesystems");
	be_autonode struct be_node *local = be_node_clone(storages);
	be_autostrv struct be_strv dirs = { 0 };
	while (storages->n)
		be_node_free(storages->items[--storages->n]);
	for (size_t i = 0; i < filesystems->n; i++)
		be_add(storages, exported(filesystems->items[i], kind));
	for (size_t i = 0; !only && i < local->n; i++)
		be_add(storages, be_node_clone(local->items[i]));
	for (size_t i = 0; i < storages->n; i++)
		be_strv_add(&dirs, be_get_str(storages->items[i], "mount", ""));
	be_set_str(layout, "testdir", dirs.n ? dirs.v[0] : "/");
	be_set(layout, "testdirs", be_node_strv(&dirs));
}

int be_plan_network(struct be_planner *p, struct be_node *storages, struct be_error *err)
{
	static const char *const keys[] = { "fs1", "fs2" };
	for (size_t i = 0; i < BE_ARRAY_LEN(keys); i++) {
		const char *name = asked(p->job, keys[i]);
		const struct kind *kind = find_kind(name);
		if (!name)
			continue;
		if (!kind && be_layout_is_filesystem(name)) {
			be_deviation(p->deviations, keys[i], "%s asked as a second file system: not made", name);
			continue;
		}
		if (!kind)
			return unknown(be_get(p->job, keys[i]), keys[i], name, err);
		if (!be_get_path(p->plan, "layout.filesystems")->n) {
			be_deviation(p->deviations, keys[i], "%s asked, and no file system is made: nothing to export",
				     name);
			continue;
		}
		put_first(p, kind, i == 0, storages);
		return 0;
	}
	return 0;
}

/* Steps in the form of a workload's definition: the guest renders them again with the others. */
struct steps {
	struct be_node *list;
	const struct be_node *storages; /* those with `network:` count */
};

static struct be_node *add_step(struct steps *s, const char *role, const char *name, const char *words)
{
	struct be_node *step = be_node_map();
	be_autostrv struct be_strv argv = { 0 };
	be_strv_split(&argv, words, " ");
	be_set_str(step, "name", name);
	be_set_str(step, "role", role);
	be_set(step, "argv", be_node_strv(&argv));
	be_add(s->list, step);
	return step;
}

static const struct be_node *member(const struct steps *s, size_t i)
{
	return be_get(s->storages->items[i], "network") ? s->storages->items[i] : NULL;
}

/* Adds to the step's arguments, for every export, @prefix and then its local or network mount point. */
static void each(const struct steps *s, struct be_node *step, const char *prefix, const char *key)
{
	for (size_t i = 0; i < s->storages->n; i++)
		if (member(s, i))
			be_add(be_get(step, "argv"), be_node_strf("%s%s", prefix, be_get_str(member(s, i), key, "")));
}

static struct be_node *lines(const char *text)
{
	be_autostrv struct be_strv list = { 0 };
	be_strv_split(&list, text, "\n");
	return be_node_strv(&list);
}

static struct be_node *common_files(struct be_node *step)
{
	struct be_node *files = be_node_map();
	be_set(files, "/etc/hosts", lines("127.0.0.1 localhost\n::1 localhost"));
	be_set(step, "files", files);
	struct be_node *transcript = be_node_map();
	be_set_str(transcript, "hidden", "the server's directories and its list of exports are made");
	be_set(step, "transcript", transcript); /* nobody shall paste an /etc/exports over their own */
	return files;
}

/* For NFS 4 the tree below /export, whose root has fsid=0; NFS 3 names the directories themselves. */
static struct be_node *exports(const struct steps *s, const struct kind *kind)
{
	static const char options[] = "rw,no_subtree_check,no_root_squash";
	const char *top = be_streq(kind->version, "vers=3") ? "" : "/export";
	be_autostrv struct be_strv text = { 0 };
	be_strv_addf(&text, "/export *(fsid=0,%s)", options);
	for (size_t i = 0; i < s->storages->n; i++) {
		if (!member(s, i))
			continue;
		/* What lies on no device needs a number in place of its UUID. */
		be_autofree char *id = be_get(member(s, i), "device") ? be_strdup("") : be_strf("fsid=%zu,", i + 1);
		be_strv_addf(&text, "%s%s *(%s%s)", top, be_get_str(member(s, i), "exported", ""), id, options);
	}
	return be_node_strv(&text);
}

static void nfs_server(struct steps *s, const struct kind *kind)
{
	add_step(s, "prepare", "nfs-module", "modprobe nfsd");
	struct be_node *step = add_step(s, "prepare", "nfs-directories",
					"mkdir -p /export /run/rpcbind /var/lib/nfs/sm /var/lib/nfs/sm.bak "
					"/var/lib/nfs/v4recovery");
	be_set(common_files(step), "/etc/exports", exports(s, kind));
	each(s, step, "", "mount");
	add_step(s, "prepare", "nfs-root", "mount -t tmpfs none /export");
	each(s, add_step(s, "prepare", "nfs-exported", "mkdir -p"), "/export", "exported");
	for (size_t i = 0; i < s->storages->n; i++) {
		if (!member(s, i))
			continue;
		const char *local = be_get_str(member(s, i), "exported", "");
		step = add_step(s, "prepare", "nfs-bind", "mount --bind");
		be_add_str(be_get(step, "argv"), local);
		be_add(be_get(step, "argv"), be_node_strf("/export%s", local));
	}
	add_step(s, "prepare", "nfs-control", "mount -t nfsd nfsd /proc/fs/nfsd");
	be_set_str(add_step(s, "daemon", "rpcbind", "rpcbind -f"), "listens", "111");
	add_step(s, "daemon", "rpc.statd", "rpc.statd --foreground");
	add_step(s, "prepare", "exportfs", "exportfs -r");
	add_step(s, "prepare", "rpc.nfsd", "rpc.nfsd 8");
	add_step(s, "daemon", "rpc.mountd", "rpc.mountd --foreground");
}

/* One share for each mount point, by the name of its directory. */
static struct be_node *shares(const struct steps *s)
{
	be_autostrv struct be_strv text = { 0 };
	be_strv_split(&text,
		      "[global]\n  server role = standalone server\n  disable netbios = yes\n  smb ports = 445\n"
		      "  server min protocol = NT1\n  passdb backend = tdbsam\n  load printers = no\n"
		      "  disable spoolss = yes",
		      "\n");
	for (size_t i = 0; i < s->storages->n; i++) {
		const char *local = member(s, i) ? be_get_str(member(s, i), "exported", "") : NULL;
		if (!local)
			continue;
		be_strv_addf(&text, "[%s]", be_layout_base(local));
		be_strv_addf(&text, "  path = %s", local);
		be_strv_add(&text, "  read only = no");
		be_strv_add(&text, "  force user = root");
	}
	return be_node_strv(&text);
}

static void cifs_server(struct steps *s)
{
	struct be_node *step = add_step(s, "prepare", "cifs-directories",
					"mkdir -p /run/samba /var/cache/samba /var/lib/samba/private /var/log/samba");
	be_set(common_files(step), "/etc/samba/smb.conf", shares(s));
	each(s, step, "", "mount");
	step = add_step(s, "prepare", "smbpasswd", "smbpasswd -s -a root");
	be_set(step, "stdin", lines("pass\npass"));
	be_set_str(add_step(s, "daemon", "smbd", "smbd --foreground --no-process-group"), "listens", "445");
}

static void mount_step(struct steps *s, const struct kind *kind, const struct be_node *storage)
{
	bool nfs = strcmp(kind->type, "nfs") == 0;
	const char *local = be_get_str(storage, "exported", ""), *mount = be_get_str(storage, "mount", "");
	struct be_node *step = add_step(s, "prepare", nfs ? "nfs-mount" : "cifs-mount", "mount -t");
	struct be_node *argv = be_get(step, "argv");
	be_add_str(argv, kind->type);
	if (kind->version || !nfs) {
		be_add_str(argv, "-o");
		be_add(argv, be_node_strf("%s%s%s", kind->version ? kind->version : "",
					  kind->version && !nfs ? "," : "", nfs ? "" : "user=root,password=pass"));
	}
	be_add(argv, nfs ? be_node_strf("localhost:%s", local) : be_node_strf("//localhost/%s", be_layout_base(local)));
	be_add_str(argv, mount);
	if (!nfs)
		return;
	/* The server keeps new files waiting for as long as clients of its last life may come back: 90 seconds. */
	step = add_step(s, "prepare", "nfs-grace", "touch");
	be_add(be_get(step, "argv"), be_node_strf("%s/wait_for_nfs_grace_period", mount));
}

void be_plan_network_steps(const struct be_node *storages, struct be_node *definition)
{
	struct steps s = { .list = be_node_seq(), .storages = storages };
	const struct kind *kind = storages->n ? find_kind(be_get_str(storages->items[0], "network", NULL)) : NULL;
	const struct be_node *own = be_get(definition, "steps");
	if (kind && strcmp(kind->type, "nfs") == 0)
		nfs_server(&s, kind);
	else if (kind)
		cifs_server(&s);
	for (size_t i = 0; kind && i < storages->n; i++)
		if (member(&s, i))
			mount_step(&s, kind, storages->items[i]);
	for (size_t i = 0; own && i < own->n; i++)
		be_add(s.list, be_node_clone(own->items[i]));
	be_set(definition, "steps", s.list);
}

const char *be_plan_network_type(const struct be_node *plan)
{
	const struct be_node *storages = be_get_path(plan, "workload.storages");
	const struct kind *kind =
		storages && storages->n ? find_kind(be_get_str(storages->items[0], "network", NULL)) : NULL;
	return kind ? kind->type : NULL;
}
