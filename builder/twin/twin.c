#include "builder/twin/twin.h"

#include <inttypes.h>
#include <string.h>

#include "builder/twin/twin_parts.h"

#define BRAND_MAX 48 /* bytes of CPUID's brand string */

char *twin_value(const char *text)
{
	be_autobuf struct be_buf b = { 0 };
	for (; *text; text++) {
		be_buf_addc(&b, *text);
		if (*text == ',')
			be_buf_addc(&b, ',');
	}
	return be_buf_steal(&b);
}

void be_twin_free(struct be_twin *twin)
{
	be_strv_free(&twin->argv);
	free(twin->cmdline);
	free(twin->rules);
	for (size_t i = 0; i < twin->n_disks; i++)
		free(twin->disks[i].name);
	free(twin->disks);
	be_node_free(twin->deviations);
	*twin = (struct be_twin){ 0 };
}

/* As many processors as there really are, but every NUMA node needs one. */
static void choose_cpus(const struct be_twin_request *request, struct be_twin *twin)
{
	const struct be_node *machine = be_get(request->plan, "machine");
	int64_t asked = be_get_int(machine, "nr_cpu", 0), nodes = be_get_int(machine, "nr_node", 1);
	twin->cpus = request->cpus;
	if (!twin->cpus) {
		twin->cpus = request->real_cpus > 0 ? request->real_cpus : 1;
		if (asked > 0 && asked < twin->cpus)
			twin->cpus = asked;
		if (twin->cpus < nodes && nodes <= TWIN_NODES)
			twin->cpus = nodes;
	}
	if (asked > 0 && asked != twin->cpus)
		be_deviation(twin->deviations, "cpu.count",
			     "processors: %" PRId64 " threads on the machine, %" PRId64 " in the twin", asked,
			     twin->cpus);
}

static void add_smp(const struct be_twin_request *request, struct be_twin *twin)
{
	const struct be_node *machine = be_get(request->plan, "machine");
	int64_t sockets = be_get_int(machine, "nr_socket", be_get_int(machine, "nr_node", 1));
	if (sockets < 1 || twin->cpus % sockets != 0)
		sockets = 1;
	be_strv_add(&twin->argv, "-smp");
	be_strv_addf(&twin->argv, "%" PRId64 ",sockets=%" PRId64 ",cores=%" PRId64 ",threads=1", twin->cpus, sockets,
		     twin->cpus / sockets);
}

/*
 * The processor calls itself what the host file says and reports the microcode that the recipe states; everything else
 * is what QEMU or the real processor can do. Without the vendor Linux would not look for Intel's revision.
 */
static void add_cpu(const struct be_twin_request *request, struct be_twin *twin)
{
	const struct be_node *machine = be_get(request->plan, "machine");
	const char *brand = be_get_str(machine, "brand", ""), *ucode = be_get_str(machine, "ucode", NULL);
	be_autobuf struct be_buf cpu = { 0 };
	be_buf_adds(&cpu, request->kvm ? "host" : "max");
	bool intel = be_starts(brand, "Intel") || (!*brand && ucode);
	if (!request->kvm && intel)
		be_buf_adds(&cpu, ",vendor=GenuineIntel");
	if (*brand && strlen(brand) <= BRAND_MAX) {
		be_autofree char *value = twin_value(brand);
		be_buf_addf(&cpu, ",model-id=%s", value);
	}
	char *end = NULL;
	uint64_t revision = ucode ? strtoull(ucode, &end, 0) : 0;
	/* The revision is the upper half of the register that Linux reads. */
	if (revision && !*end && revision <= UINT32_MAX)
		be_buf_addf(&cpu, ",ucode-rev=0x%" PRIx64, revision << 32);
	be_strv_add(&twin->argv, "-cpu");
	be_strv_add(&twin->argv, cpu.data);
	be_deviation(twin->deviations, "cpu.model", "processor: only the name%s of %s; it computes as QEMU's %s",
		     revision ? " and the microcode's number" : "", *brand ? brand : "the machine's",
		     request->kvm ? "`host` does" : "`max` does, in software");
}

static void add_smbios_field(struct be_buf *b, const char *field, const char *value)
{
	if (!value)
		return;
	be_autofree char *escaped = twin_value(value);
	be_buf_addf(b, ",%s=%s", field, escaped);
}

static void add_smbios(const struct be_twin_request *request, struct be_twin *twin)
{
	const struct be_node *machine = be_get(request->plan, "machine");
	be_autobuf struct be_buf bios = { 0 }, system = { 0 };
	add_smbios_field(&bios, "version", be_get_str(machine, "bios_version", NULL));
	add_smbios_field(&bios, "date", be_get_str(machine, "bios_date", NULL));
	add_smbios_field(&system, "product", be_get_str(machine, "board", NULL));
	if (bios.len) {
		be_strv_add(&twin->argv, "-smbios");
		be_strv_addf(&twin->argv, "type=0%s", bios.data);
	}
	if (system.len) {
		be_strv_add(&twin->argv, "-smbios");
		be_strv_addf(&twin->argv, "type=1%s", system.data);
	}
}

static void add_machine(const struct be_twin_request *request, const struct twin_memory *memory, struct be_twin *twin)
{
	be_autobuf struct be_buf machine = { 0 };
	be_buf_adds(&machine, "q35");
	if (memory->nvdimms)
		be_buf_adds(&machine, ",nvdimm=on");
	if (memory->below_4g)
		be_buf_addf(&machine, ",max-ram-below-4g=%lldM", (long long)(memory->below_4g / MIB));
	static const char *const fixed[] = { "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none",
					     "-no-reboot",         "-M" };
	for (size_t i = 0; i < BE_ARRAY_LEN(fixed); i++)
		be_strv_add(&twin->argv, fixed[i]);
	be_strv_add(&twin->argv, machine.data);
	be_strv_add(&twin->argv, "-accel");
	/*
	 * One thread for all processors: with one each, a processor may run an instruction that another one has patched
	 * long ago, and on a busy machine the kernel stops at the breakpoint of its own text_poke (seen: "Oops: int3").
	 */
	be_strv_add(&twin->argv, request->kvm ? "kvm" : "tcg,thread=single");
	add_cpu(request, twin);
	add_smp(request, twin);
}

/* Console, delivery, watchdog and control: what a run is watched and ended by. */
static void add_channels(const struct be_twin_request *request, struct be_twin *twin)
{
	be_strv_add(&twin->argv, "-serial");
	be_strv_add(&twin->argv, "file:" BE_TWIN_CONSOLE);
	be_strv_add(&twin->argv, "-device");
	be_strv_add(&twin->argv, "virtio-serial-pci,id=serial0");
	be_strv_add(&twin->argv, "-chardev");
	be_strv_add(&twin->argv, "file,id=result,path=" BE_TWIN_DELIVERY);
	be_strv_add(&twin->argv, "-device");
	be_strv_add(&twin->argv, "virtserialport,bus=serial0.0,chardev=result,name=" BE_TWIN_PORT);
	be_strv_add(&twin->argv, "-device");
	be_strv_add(&twin->argv, "i6300esb");
	be_strv_add(&twin->argv, "-action");
	be_strv_add(&twin->argv, "watchdog=poweroff");
	if (request->qmp_fd < 0)
		return;
	be_strv_add(&twin->argv, "-chardev");
	be_strv_addf(&twin->argv, "socket,id=qmp,fd=%d", request->qmp_fd);
	be_strv_add(&twin->argv, "-mon");
	be_strv_add(&twin->argv, "chardev=qmp,mode=control");
}

int be_twin_make(const struct be_twin_request *request, struct be_twin *out, struct be_error *err)
{
	*out = (struct be_twin){ .deviations = be_node_seq() };
	if (!request->kvm)
		be_deviation(out->deviations, "cpu.hypervisor",
			     "TCG: the processor is emulated in software, no figure of this run "
			     "can be compared with hardware");
	choose_cpus(request, out);
	struct twin_memory memory;
	if (twin_plan_memory(request, out, &memory, err) != 0)
		return -1;
	add_machine(request, &memory, out);
	twin_add_memory(request, &memory, out);
	add_smbios(request, out);
	if (twin_add_disks(request, out, err) != 0)
		return -1;
	add_channels(request, out);
	twin_make_cmdline(request, &memory, out);
	be_strv_add(&out->argv, "-kernel");
	be_strv_add(&out->argv, request->kernel);
	be_strv_add(&out->argv, "-initrd");
	be_strv_add(&out->argv, BE_TWIN_INITRD);
	be_strv_add(&out->argv, "-append");
	be_strv_add(&out->argv, out->cmdline);
	return 0;
}
