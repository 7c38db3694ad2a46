#include "builder/lab/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "builder/lab/daemon.h"
#include "builder/lab/follow.h"
#include "builder/lab/machines.h"
#include "builder/lab/network.h"
#include "builder/lab/runs.h"
#include "builder/progress.h"

#define TICK_MS 200u
#define READY_SECONDS 20.0 /* for nginx to listen, on a busy machine */

struct serve {
	const struct be_serve_request *request;
	struct be_machines machines;
	struct be_lab_config config;
	struct be_lab_map *maps; /* of @config */
	struct be_lab_network network;
	struct be_site site;
	struct be_table table;
	struct be_runs runs;
	struct be_daemon dnsmasq, nginx;
	struct be_follow access, leases;
	struct be_error failure; /* of a line of a log; the loop ends with it */
	bool failed;
};

static void configure(struct serve *s, const char *state)
{
	const struct be_serve_request *r = s->request;
	if (!s->maps)
		s->maps = be_alloc((s->machines.n + 1) * sizeof(*s->maps));
	be_machines_maps(&s->machines, s->maps);
	s->config = (struct be_lab_config){ .state = state,
					    .interface = r->interface,
					    .address = s->network.address,
					    .network = s->network.network,
					    .range = r->range,
					    .port = r->port,
					    .loader = r->loader,
					    .append = r->append ? r->append : "",
					    .maps = s->maps,
					    .n_maps = s->machines.n,
					    .images = s->machines.images,
					    .n_images = s->machines.n_images };
}

static char *state_of(const struct be_serve_request *r)
{
	return r->state ? be_strdup(r->state) : be_strf(BE_SERVE_STATE "/%s", r->interface);
}

static int read_request(struct serve *s, const char *state, struct be_error *err)
{
	const struct be_serve_request *r = s->request;
	if (be_lab_network_find(r->interface, &s->network, err) != 0 ||
	    (r->range && be_lab_network_check(&s->network, r->range, err) != 0) ||
	    be_machines_read(&s->machines, r, err) != 0)
		return -1;
	configure(s, state);
	be_autofree char *place = be_lab_place(&s->config);
	return be_machines_check(&s->machines, r, place, err);
}

int be_serve_print_config(const struct be_serve_request *request, struct be_buf *out, struct be_error *err)
{
	struct serve s = { .request = request };
	be_autofree char *state = state_of(request);
	int rc = be_site_check_name(state, err) != 0 ? -1 : read_request(&s, state, err);
	if (rc == 0) {
		be_buf_addf(out, "### %s/" BE_SITE_DNSMASQ "\n", state);
		be_lab_dnsmasq(&s.config, out);
		be_buf_addf(out, "\n### %s/" BE_SITE_NGINX "\n", state);
		be_lab_nginx(&s.config, out);
	}
	be_machines_free(&s.machines);
	free(s.maps);
	return rc;
}

/* Keeps the first error that came up while a log was read. */
static void note(struct serve *s, int rc, const struct be_error *err)
{
	if (rc == 0 || s->failed)
		return;
	s->failed = true;
	s->failure = *err;
}

/* A machine's run has ended: it gets the next image of its queue from now on. */
static int run_ended(void *data, const struct be_lab_run *run, struct be_error *err)
{
	struct serve *s = data;
	struct be_machine *machine = be_machines_find(&s->machines, run->mac);
	be_autofree char *path = be_strf("%s/" BE_SITE_QUEUES, s->site.state);
	if (!machine || !be_machine_advance(machine, run->turn, run->image))
		return 0;
	if (be_machines_save_turns(&s->machines, path, err) != 0)
		return -1;
	if (!s->nginx.pid) /* its configuration is yet to be written */
		return 0;
	configure(s, s->site.state);
	if (be_site_write_nginx(&s->site, &s->config, err) != 0)
		return -1;
	return kill(s->nginx.pid, SIGHUP) == 0 ? 0 : be_fail_errno(err, errno, "nginx");
}

static const char *text_of(const json_t *line, const char *key)
{
	const char *text = json_string_value(json_object_get(line, key));
	return text ? text : "";
}

/* A machine asked what to boot, and was told; or there is nothing any more. */
static void machine_asked(struct serve *s, const json_t *line)
{
	struct be_error err = BE_ERROR_INIT;
	char mac[18];
	int64_t turn;
	if (!be_mac_parse(text_of(line, "mac"), mac) || !be_parse_int(text_of(line, "turn"), &turn))
		return;
	be_autofree char *name = be_machines_name(&s->machines, mac);
	const struct be_machine *machine = be_machines_find(&s->machines, mac);
	const char *image = text_of(line, "image");
	if (!*image) {
		be_table_set(&s->table, name, "", machine ? "done" : "unknown", "not booted");
		return;
	}
	const struct be_lab_run run = { .machine = name, .mac = mac, .image = (char *)image, .turn = turn };
	note(s, be_runs_begin(&s->runs, text_of(line, "token"), &run, &err), &err);
	if (machine && machine->n_images > 1)
		be_table_set(&s->table, name, image, "loader", "image %" PRId64 " of %zu", turn + 1, machine->n_images);
	else
		be_table_set(&s->table, name, image, "loader", NULL);
}

/* "/run/TOKEN/..." and "/put/TOKEN/..." */
static struct be_lab_run *run_of(struct serve *s, const char *uri)
{
	be_autofree char *token = be_strndup(uri + strlen("/run/"), BE_TOKEN_LENGTH);
	return be_runs_find(&s->runs, token);
}

static void file_sent(struct serve *s, const char *uri, const json_t *line)
{
	const struct be_lab_run *run = run_of(s, uri);
	bool whole = be_streq(text_of(line, "complete"), "OK");
	if (!run || !whole)
		return;
	if (be_ends(uri, "/vmlinuz"))
		be_table_set(&s->table, run->machine, NULL, "kernel", NULL);
	else if (be_ends(uri, "/initrd.img"))
		be_table_set(&s->table, run->machine, NULL, "initrd", NULL);
}

static void part_came(struct serve *s, const char *uri)
{
	struct be_error err = BE_ERROR_INIT;
	be_autofree char *token = be_strndup(uri + strlen("/put/"), BE_TOKEN_LENGTH);
	if (be_ends(uri, "/end"))
		note(s, be_runs_end(&s->runs, token, &err), &err);
	else
		note(s, be_runs_part(&s->runs, token, &err), &err);
}

static void take_request(void *data, const char *text)
{
	struct serve *s = data;
	json_t *line = json_loads(text, 0, NULL);
	const char *uri = text_of(line, "uri"), *status = text_of(line, "status"), *method = text_of(line, "method");
	bool get = be_streq(method, "GET"), sent = get && be_streq(status, "200");
	if (sent && be_starts(uri, "/run/")) {
		file_sent(s, uri, line);
	} else if (sent || (get && be_streq(status, "403") && !be_starts(uri, "/put/"))) {
		machine_asked(s, line);
	} else if (be_starts(uri, "/put/") && get && be_streq(status, "204")) {
		const struct be_lab_run *run = run_of(s, uri);
		if (run)
			be_table_set(&s->table, run->machine, NULL, "booted", NULL);
	} else if (be_starts(uri, "/put/") && be_streq(method, "PUT") && be_streq(status, "201")) {
		part_came(s, uri);
	}
	json_decref(line);
}

/* "... DHCPACK(br0) 10.0.0.50 52:54:00:12:34:56", "... PXE(br0) 52:54:00:12:34:56 proxy", "... ignored" */
static void take_lease(void *data, const char *text)
{
	struct serve *s = data;
	be_autostrv struct be_strv words = { 0 };
	be_strv_split(&words, text, " ");
	bool ignored = words.n && be_streq(words.v[words.n - 1], "ignored");
	bool lease = false;
	for (size_t i = 0; i < words.n; i++) {
		char mac[18];
		lease = lease || be_starts(words.v[i], "DHCPACK(") || be_starts(words.v[i], "PXE(");
		if ((!lease && !ignored) || !be_mac_parse(words.v[i], mac))
			continue;
		be_autofree char *name = be_machines_name(&s->machines, mac);
		bool running = false;
		for (size_t k = 0; k < s->runs.n; k++)
			running = running || strcmp(s->runs.v[k].mac, mac) == 0;
		if (!running)
			be_table_set(&s->table, name, ignored ? "" : NULL, ignored ? "unknown" : "lease",
				     ignored ? "not booted" : NULL);
		return;
	}
}

static int start(struct serve *s, struct be_error *err)
{
	be_autostrv struct be_strv dnsmasq = { 0 }, nginx = { 0 };
	be_autofree char *access = be_strf("%s/" BE_LAB_ACCESS_LOG, s->site.state);
	be_autofree char *dhcp_log = be_strf("%s/dnsmasq.log", s->site.state);
	be_autofree char *web_log = be_strf("%s/nginx.log", s->site.state);
	be_site_dnsmasq_argv(&s->site, &dnsmasq);
	be_site_nginx_argv(&s->site, &nginx);
	/* What an earlier server has read or written is no request of now. */
	if (unlink(access) != 0 && errno != ENOENT)
		return be_fail_errno(err, errno, "%s: cannot be removed", access);
	if (be_follow_open(&s->access, access, err) != 0)
		return -1;
	if (chown(access, s->site.web_user, s->site.web_group) != 0)
		return be_fail_errno(err, errno, "%s", access);
	if (be_daemon_start(&s->nginx, "nginx", &nginx, web_log, err) != 0 ||
	    be_daemon_start(&s->dnsmasq, "dnsmasq", &dnsmasq, dhcp_log, err) != 0)
		return -1;
	return be_follow_open(&s->leases, dhcp_log, err);
}

static bool listens(const struct serve *s)
{
	struct sockaddr_in server = { .sin_family = AF_INET,
				      .sin_port = htons((uint16_t)s->request->port),
				      .sin_addr = s->network.own };
	be_autofd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd >= 0 && connect(fd, (const struct sockaddr *)&server, sizeof(server)) == 0;
}

/* A configuration that a server refuses, or a port that is taken, ends it in its first moments. */
static int wait_ready(struct serve *s, struct be_error *err)
{
	struct be_error interrupted = BE_ERROR_INIT;
	for (double until = be_monotonic() + READY_SECONDS; be_interrupted(&interrupted) == 0;) {
		if (be_daemon_check(&s->nginx, err) != 0 || be_daemon_check(&s->dnsmasq, err) != 0)
			return -1;
		if (listens(s))
			return 0;
		if (be_monotonic() > until)
			return be_fail(err, "nginx: does not answer on %s:%d", s->network.address, s->request->port);
		be_pause(TICK_MS / 4);
	}
	return 0;
}

static void read_logs(struct serve *s)
{
	be_follow_read(&s->leases, take_lease, s);
	be_follow_read(&s->access, take_request, s);
}

static int watch(struct serve *s, struct be_error *err)
{
	struct be_error interrupted = BE_ERROR_INIT;
	while (be_interrupted(&interrupted) == 0) {
		read_logs(s);
		be_table_draw(&s->table);
		if (s->failed) {
			*err = s->failure;
			return -1;
		}
		if (be_daemon_check(&s->nginx, err) != 0 || be_daemon_check(&s->dnsmasq, err) != 0 ||
		    be_runs_expire(&s->runs, time(NULL), err) != 0)
			return -1;
		if (s->request->until && s->runs.results >= s->request->until)
			return 0;
		be_pause(TICK_MS);
	}
	return 0;
}

static void say_ready(const struct serve *s)
{
	if (s->request->quiet)
		return;
	fprintf(stderr, "serve: %zu image%s on %s, http://%s:%d, %s; results in %s\n", s->machines.n_images,
		s->machines.n_images == 1 ? "" : "s", s->request->interface, s->network.address, s->request->port,
		s->request->range ? "DHCP server" : "proxy DHCP", s->request->output);
	if (!s->machines.n)
		fprintf(stderr,
			"serve: every machine that boots from this network gets the image; with --map MAC=IMAGE only "
			"those that are named\n");
	for (size_t i = 0; i < s->machines.n; i++) {
		const struct be_machine *machine = &s->machines.v[i];
		be_autofree char *name = be_machines_name(&s->machines, machine->mac);
		if (machine->turn)
			fprintf(stderr, "serve: %s: %zu of its %zu images are done\n", name, machine->turn,
				machine->n_images);
	}
}

static int prepare(struct serve *s, struct be_error *err)
{
	be_autofree char *state = state_of(s->request);
	if (geteuid() != 0) {
		be_fail_usage(err, "DHCP, TFTP and HTTP have ports that only root can open");
		return be_hint(err, "run it as root: the servers themselves give that up");
	}
	if (read_request(s, state, err) != 0 || be_mkdirs(s->request->output, 0755, err) != 0 ||
	    be_site_open(&s->site, state, err) != 0)
		return -1;
	for (size_t i = 0; i < s->machines.n_images; i++)
		if (be_site_add_image(&s->site, s->request->images->v[i], s->machines.ids[i], err) != 0)
			return -1;
	be_autofree char *queues = be_strf("%s/" BE_SITE_QUEUES, s->site.state);
	be_machines_load_turns(&s->machines, queues);
	/* What ended while nobody served may give a machine its next image. */
	if (be_runs_open(&s->runs, err) != 0)
		return -1;
	configure(s, s->site.state);
	return be_site_write(&s->site, &s->config, err);
}

static int serve(struct serve *s, struct be_error *err)
{
	if (prepare(s, err) != 0 || start(s, err) != 0 || wait_ready(s, err) != 0)
		return -1;
	say_ready(s);
	int rc = watch(s, err);
	/* No request is answered after this, and what was answered before is in the log. */
	be_daemon_stop(&s->dnsmasq);
	be_daemon_stop(&s->nginx);
	if (rc == 0) {
		read_logs(s);
		be_table_draw(&s->table);
	}
	return rc == 0 && s->failed ? (*err = s->failure, -1) : rc;
}

int be_serve(const struct be_serve_request *request, enum be_status *status, struct be_error *err)
{
	struct serve s = { .request = request,
			   .site = { .lock = -1 },
			   .access = { .fd = -1 },
			   .leases = { .fd = -1 },
			   .failure = BE_ERROR_INIT };
	be_table_init(&s.table, request->quiet);
	s.runs = (struct be_runs){
		.site = &s.site,
		.table = &s.table,
		.output = request->output,
		.limit = request->limit,
		.ended = run_ended,
		.data = &s,
	};
	be_interrupt_catch();
	int rc = serve(&s, err);
	be_daemon_stop(&s.dnsmasq);
	be_daemon_stop(&s.nginx);
	*status = s.runs.worst;
	if (rc == 0 && request->until && s.runs.results < request->until)
		rc = be_fail(err, "stopped after %lld of %lld results", (long long)s.runs.results,
			     (long long)request->until);
	be_runs_close(&s.runs);
	be_table_free(&s.table);
	be_follow_close(&s.access);
	be_follow_close(&s.leases);
	be_site_close(&s.site);
	be_machines_free(&s.machines);
	free(s.maps);
	return rc;
}
