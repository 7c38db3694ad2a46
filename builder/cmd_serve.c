/* `serve`: a lab's machines boot images over the network, and deliver their results. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "builder/commands.h"
#include "builder/lab/network.h"
#include "builder/lab/serve.h"
#include "builder/usage.h"
#include "plain.h"

#define PORT 80
#define PORT_MAX 65535
#define RESULTS_MAX 1000000
#define LIMIT ((int64_t)1 << 30)

static const char usage[] = "Usage: mkbenchenv serve IMAGE... --interface IF -o RESULTS [OPTION]...\n"
			    "\n"
			    "Boots machines by PXE with dnsmasq and nginx, and collects what they deliver in\n"
			    "RESULTS/MACHINE/RUN/. Ends by Ctrl-C, or with --until; what is still running then\n"
			    "is taken up by the next call.\n"
			    "\n"
			    "  --interface IF       network interface of the lab; it has an IPv4 address\n"
			    "  -o, --output RESULTS folder for the results\n"
			    "  --map MAC=IMAGE[,NAME]\n"
			    "                       the image of one machine, and a name for it; may be repeated.\n"
			    "                       With it, machines that are not named are not booted. Several of\n"
			    "                       one machine: these images in turn, each after the run before\n"
			    "  --proxy-dhcp         another DHCP server gives the addresses (default)\n"
			    "  --dhcp FIRST,LAST    give addresses of this range; for a network of its own\n"
			    "  --loader ipxe|pxelinux|grub\n"
			    "                       what the machines' firmware is given (default: ipxe)\n"
			    "  --until N            end after N results\n"
			    "  --limit SIZE         most that one machine may deliver (default: 1G)\n"
			    "  --append ARGS        more kernel arguments\n"
			    "  --port N             of HTTP (default: 80; GRUB knows no other)\n"
			    "  --state DIR          folder to serve from (default: /var/lib/mkbenchenv/IF)\n"
			    "  --print-config       print the configurations of both servers, and do nothing\n"
			    "  -q, --quiet          no progress\n"
			    "\n"
			    "Exit status: 0 stopped, or N results came and all are good; 1 one of them failed;\n"
			    "3 a machine refused because its environment differs.\n";

struct command {
	struct be_serve_request request;
	struct be_strv maps;
	int64_t port;
	bool proxy, print;
};

static bool take_loader(void *loader, const char *value)
{
	static const char *const names[] = {
		[BE_LOADER_IPXE] = "ipxe", [BE_LOADER_PXELINUX] = "pxelinux", [BE_LOADER_GRUB] = "grub"
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++)
		if (strcmp(names[i], value) == 0) {
			*(enum be_loader *)loader = (enum be_loader)i;
			return true;
		}
	return false;
}

/* Words that end up in configurations must not end their lines there. */
static bool plain(const char *text, const char *more)
{
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p <= ' ' ? !(*p == ' ' && strchr(more, ' '))
					     : *p == 0x7f || strchr("\"'\\{};#`", *p))
			return false;
	return *text;
}

static bool take_interface(void *name, const char *value)
{
	*(const char **)name = value;
	return plain(value, "");
}

static bool take_range(void *range, const char *value)
{
	struct in_addr first, last;
	*(const char **)range = value;
	return be_lab_range_parse(value, &first, &last);
}

/* iPXE reads some words as its own. */
static bool take_append(void *append, const char *value)
{
	be_autostrv struct be_strv words = { 0 };
	*(const char **)append = value;
	be_strv_split(&words, value, " ");
	for (size_t i = 0; i < words.n; i++)
		if (!be_is_boot_word(words.v[i]))
			return false;
	return plain(value, " ");
}

/* Returns -1 to go on, else the exit status. */
static int check(const struct command *command, const char *name)
{
	const struct be_serve_request *r = &command->request;
	if (!r->images->n)
		return be_usage_error(name, "needs an image folder");
	if (!r->interface)
		return be_usage_error(name, "needs --interface IF, the lab's network");
	if (!r->output && !command->print)
		return be_usage_error(name, "needs -o RESULTS, the folder for the results");
	if (command->proxy && r->range)
		return be_usage_error(name, "--proxy-dhcp and --dhcp exclude each other");
	if (r->loader == BE_LOADER_GRUB && r->port != PORT)
		return be_usage_error(name, "--port: GRUB knows only port %d", PORT);
	return -1;
}

static int run(const struct command *command, const char *name)
{
	struct be_error err = BE_ERROR_INIT;
	enum be_status status = BE_OK;
	be_autobuf struct be_buf text = { 0 };
	int rc = command->print ? be_serve_print_config(&command->request, &text, &err)
				: be_serve(&command->request, &status, &err);
	if (rc == 0 && text.len)
		fputs(text.data, stdout);
	return rc == 0 ? (int)status : be_command_failed(name, &err);
}

int be_cmd_serve(int argc, char **argv)
{
	struct command command = { .request = { .limit = LIMIT }, .port = PORT };
	struct be_serve_request *r = &command.request;
	be_autostrv struct be_strv images = { 0 };
	const struct be_option options[] = {
		BE_TAKE("interface", take_interface, &r->interface, "is no interface's name"),
		BE_TEXT("output", 'o', &r->output),
		BE_LIST("map", 0, &command.maps),
		BE_FLAG("proxy-dhcp", 0, &command.proxy),
		BE_TAKE("dhcp", take_range, &r->range, "is no range of addresses, as 10.0.0.50,10.0.0.99 is"),
		BE_TAKE("loader", take_loader, &r->loader, "is none of ipxe, pxelinux, grub"),
		BE_COUNT("until", &r->until, RESULTS_MAX),
		BE_TAKE("limit", be_take_size, &r->limit, "is no size, as 1G is"),
		BE_TAKE("append", take_append, &r->append,
			"no quotation marks, braces, hashes, semicolons, control characters or words of boot loaders"),
		BE_COUNT("port", &command.port, PORT_MAX),
		BE_TEXT("state", 0, &r->state),
		BE_FLAG("print-config", 0, &command.print),
		BE_FLAG("quiet", 'q', &r->quiet),
		BE_OPTIONS_END,
	};
	int status = be_usage_read(usage, options, argc, argv);
	for (int i = optind; i < argc; i++)
		be_strv_add(&images, argv[i]);
	r->images = &images;
	r->maps = &command.maps;
	r->port = (int)command.port;
	if (status < 0)
		status = check(&command, argv[0]);
	if (status < 0)
		status = run(&command, argv[0]);
	be_strv_free(&command.maps);
	return status;
}
