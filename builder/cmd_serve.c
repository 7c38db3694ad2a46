/* `serve`: a lab's machines boot images over the network, and deliver their results. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "builder/commands.h"
#include "builder/lab/serve.h"
#include "builder/usage.h"
#include "plain.h"
#include "units.h"

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

enum { INTERFACE = 256, MAP, PROXY, DHCP, LOADER, UNTIL, LIMIT_SIZE, APPEND, HTTP_PORT, STATE, PRINT };

struct command {
	struct be_serve_request request;
	struct be_strv maps;
	bool proxy, print;
};

static int take_loader(const char *command, struct be_serve_request *r)
{
	static const char *const names[] = {
		[BE_LOADER_IPXE] = "ipxe", [BE_LOADER_PXELINUX] = "pxelinux", [BE_LOADER_GRUB] = "grub"
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(names); i++)
		if (strcmp(names[i], optarg) == 0) {
			r->loader = (enum be_loader)i;
			return BE_OK;
		}
	return be_usage_error(command, "--loader %s: is none of ipxe, pxelinux, grub", optarg);
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

static int take_port(const char *command, struct be_serve_request *r)
{
	int64_t port = 0;
	int status = be_usage_number(command, "--port", optarg, PORT_MAX, &port);
	r->port = (int)port;
	return status;
}

/* iPXE reads some as words of its own. */
static bool plain_words(const char *text)
{
	be_autostrv struct be_strv words = { 0 };
	be_strv_split(&words, text, " ");
	for (size_t i = 0; i < words.n; i++)
		if (!be_is_boot_word(words.v[i]))
			return false;
	return plain(text, " ");
}

static int take_option(void *data, int c, char **argv)
{
	struct command *command = data;
	struct be_serve_request *r = &command->request;
	switch (c) {
	case INTERFACE:
		r->interface = optarg;
		return plain(optarg, "") ? BE_OK : be_usage_error(argv[0], "--interface: is no interface's name");
	case 'o':
		r->output = optarg;
		return BE_OK;
	case 'q':
		r->quiet = true;
		return BE_OK;
	case MAP:
		be_strv_add(&command->maps, optarg);
		return BE_OK;
	case PROXY:
		command->proxy = true;
		return BE_OK;
	case DHCP:
		r->range = optarg;
		return plain(optarg, "") && strchr(optarg, ',')
			       ? BE_OK
			       : be_usage_error(argv[0], "--dhcp %s: is no range, as 10.0.0.50,10.0.0.99 is", optarg);
	case LOADER:
		return take_loader(argv[0], r);
	case APPEND:
		r->append = optarg;
		return plain_words(optarg)
			       ? BE_OK
			       : be_usage_error(argv[0], "--append: no quotation marks, braces, hashes, semicolons, "
							 "control characters or words of boot loaders");
	case STATE:
		r->state = optarg;
		return BE_OK;
	case PRINT:
		command->print = true;
		return BE_OK;
	case UNTIL:
		return be_usage_number(argv[0], "--until", optarg, RESULTS_MAX, &r->until);
	case LIMIT_SIZE:
		return be_parse_size(optarg, &r->limit) && r->limit > 0
			       ? BE_OK
			       : be_usage_error(argv[0], "--limit %s: is no size, as 1G is", optarg);
	case HTTP_PORT:
		return take_port(argv[0], r);
	default:
		return be_usage_option(argv, c);
	}
}

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
	return BE_OK;
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
	static const struct option options[] = { { "interface", required_argument, NULL, INTERFACE },
						 { "output", required_argument, NULL, 'o' },
						 { "map", required_argument, NULL, MAP },
						 { "proxy-dhcp", no_argument, NULL, PROXY },
						 { "dhcp", required_argument, NULL, DHCP },
						 { "loader", required_argument, NULL, LOADER },
						 { "until", required_argument, NULL, UNTIL },
						 { "limit", required_argument, NULL, LIMIT_SIZE },
						 { "append", required_argument, NULL, APPEND },
						 { "port", required_argument, NULL, HTTP_PORT },
						 { "state", required_argument, NULL, STATE },
						 { "print-config", no_argument, NULL, PRINT },
						 { "quiet", no_argument, NULL, 'q' },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	struct command command = { .request = { .port = PORT, .limit = LIMIT } };
	be_autostrv struct be_strv images = { 0 };
	const struct be_command_line line = {
		.usage = usage, .letters = ":ho:q", .options = options, .take = take_option, .data = &command
	};
	int status;
	if (be_usage_take(&line, argc, argv, &status)) {
		for (int i = optind; i < argc; i++)
			be_strv_add(&images, argv[i]);
		command.request.images = &images;
		command.request.maps = &command.maps;
		status = check(&command, argv[0]);
		if (status == BE_OK)
			status = run(&command, argv[0]);
	}
	be_strv_free(&command.maps);
	return status;
}
