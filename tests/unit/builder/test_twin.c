#include <criterion/criterion.h>
#include <string.h>

#include "base/process.h"
#include "builder/twin/twin.h"

/* What every twin of these tests begins and ends with. */
#define HEAD "qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot "
#define TAIL                                                                                                     \
	"-serial file:console.log -device virtio-serial-pci,id=serial0 -chardev file,id=result,path=result.tar " \
	"-device virtserialport,bus=serial0.0,chardev=result,name=org.mkbenchenv.result -device i6300esb "       \
	"-action watchdog=poweroff -kernel vmlinux -initrd initrd.img -append "
#define TCG "-accel tcg,thread=single -cpu "

static struct be_node *load(const char *text)
{
	struct be_error err = BE_ERROR_INIT;
	struct be_node *doc = be_node_load(text, strlen(text), "plan.yaml", &err);
	cr_assert_not_null(doc, "%s", err.text);
	return doc;
}

static struct be_twin_request request(const struct be_node *plan, const char *cmdline)
{
	return (struct be_twin_request){ .plan = plan,
					 .cmdline = cmdline,
					 .kernel = "vmlinux",
					 .initrd_unpacked = 100 << 20,
					 .real_cpus = 2,
					 .real_memory = 16LL << 30,
					 .qmp_fd = -1 };
}

static char *deviations(const struct be_twin *twin)
{
	be_autobuf struct be_buf b = { 0 };
	for (size_t i = 0; i < twin->deviations->n; i++)
		be_buf_addf(&b, "%s: %s\n", be_get_str(twin->deviations->items[i], "topic", ""),
			    be_get_str(twin->deviations->items[i], "text", ""));
	return be_buf_steal(&b);
}

static void expect_argv(const struct be_twin_request *r, const char *wanted)
{
	struct be_error err = BE_ERROR_INIT;
	be_autotwin struct be_twin twin = { 0 };
	cr_assert_eq(be_twin_make(r, &twin, &err), 0, "%s", err.text);
	be_autofree char *argv = be_argv_text(twin.argv.v);
	cr_expect_str_eq(argv, wanted);
}

static void expect_deviations(const struct be_twin_request *r, const char *wanted)
{
	struct be_error err = BE_ERROR_INIT;
	be_autotwin struct be_twin twin = { 0 };
	cr_assert_eq(be_twin_make(r, &twin, &err), 0, "%s", err.text);
	be_autofree char *text = deviations(&twin);
	cr_expect_str_eq(text, wanted);
}

static const char icl[] =
	"machine:\n"
	"  brand: Intel(R) Xeon(R) Gold 6346 CPU @ 3.10GHz\n"
	"  nr_cpu: 64\n"
	"  nr_socket: 2\n"
	"  nr_node: 2\n"
	"  memory: 274877906944\n"
	"  bios_version: SE5C.01\n"
	"  bios_date: 02/07/2023\n"
	"  board: S2600,WFT\n"
	"  disks:\n"
	"  - {id: ata-WDC_WD20_WD-E1, kind: hdd, partitions: 6, size: 2000398934016, rotational: true,\n"
	"     write_cache: write through}\n"
	"  - {id: nvme-INTEL_SSDPE2KX040T7_E1, kind: nvme, partitions: 3, size: 4000787030016,\n"
	"     rotational: false, write_cache: write back}\n";

Test(twin, two_sockets_with_disks)
{
	be_autonode struct be_node *plan = load(icl);
	struct be_twin_request r = request(plan, "root=/dev/ram0 acpi_rsdp=0x67f44014 panic=10");
	expect_argv(&r,
		    HEAD "-M q35 " TCG "'max,vendor=GenuineIntel,model-id=Intel(R) Xeon(R) Gold 6346 CPU @ 3.10GHz' "
			 "-smp 2,sockets=2,cores=1,threads=1 -m 2048M "
			 "-object memory-backend-ram,id=ram0,size=1024M -numa node,nodeid=0,cpus=0-0,memdev=ram0 "
			 "-object memory-backend-ram,id=ram1,size=1024M -numa node,nodeid=1,cpus=1-1,memdev=ram1 "
			 "-numa dist,src=0,dst=1,val=21 -numa dist,src=1,dst=0,val=21 "
			 "-smbios type=0,version=SE5C.01,date=02/07/2023 -smbios type=1,product=S2600,,WFT "
			 "-blockdev driver=raw,node-name=disk0,discard=unmap,file.driver=file,file.filename=disk0.img "
			 "-device ide-hd,bus=ide.0,model=WDC_WD20,serial=WD-E1,rotation_rate=7200,drive=disk0,"
			 "write-cache=off,werror=report,rerror=report "
			 "-blockdev driver=raw,node-name=disk1,discard=unmap,file.driver=file,file.filename=disk1.img "
			 "-device nvme,id=nvme0,serial=E1,drive=disk1,write-cache=on " TAIL
			 "'root=/dev/ram0 panic=10 console=ttyS0'");
	expect_deviations(&r, "cpu.hypervisor: TCG: the processor is emulated in software, no figure of this run can "
			      "be compared with hardware\n"
			      "cpu.count: processors: 64 threads on the machine, 2 in the twin\n"
			      "memory.total: memory: 256 GiB on the machine, 2 GiB in the twin\n"
			      "cpu.model: processor: only the name of Intel(R) Xeon(R) Gold 6346 CPU @ 3.10GHz; it "
			      "computes as QEMU's `max` does, in software\n"
			      "disk.identity: disks that QEMU cannot name get their names by a udev rule that the twin "
			      "adds to the initrd; their model is QEMU's\n"
			      "disk.size: 1 disk of 1.8 TiB on the machine, 16 GiB in the twin\n"
			      "disk.size: 1 disk of 3.6 TiB on the machine, 16 GiB in the twin\n"
			      "kernel.cmdline: acpi_rsdp=0x67f44014 belongs to the machine's hardware, the twin has "
			      "none\n");
}

Test(twin, names_by_udev_rule)
{
	be_autonode struct be_node *plan = load(icl);
	struct be_twin_request r = request(plan, "panic=10");
	struct be_error err = BE_ERROR_INIT;
	be_autotwin struct be_twin twin = { 0 };
	cr_assert_eq(be_twin_make(&r, &twin, &err), 0);
	cr_expect_str_eq(twin.rules, "SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", ENV{ID_SERIAL_SHORT}==\"E1\", "
				     "SYMLINK+=\"disk/by-id/nvme-INTEL_SSDPE2KX040T7_E1\"\n"
				     "SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"partition\", ENV{ID_SERIAL_SHORT}==\"E1\", "
				     "SYMLINK+=\"disk/by-id/nvme-INTEL_SSDPE2KX040T7_E1-part%n\"\n");
	cr_assert_eq(twin.n_disks, 2);
	cr_expect_str_eq(twin.disks[0].name, "disk0.img");
	cr_expect_eq(twin.disks[0].size, 16LL << 30);
	cr_expect_eq(twin.disks[0].partitions, 6);
}

/* The machine of R2: two regions of memory become persistent, each above 4 GiB and on its node. */
Test(twin, pmem_by_memmap)
{
	be_autonode struct be_node *plan = load("machine:\n"
						"  brand: Intel(R) Xeon(R) CPU E5-2699 v3 @ 2.30GHz\n"
						"  nr_cpu: 72\n"
						"  nr_socket: 2\n"
						"  nr_node: 2\n"
						"  memory: 274877906944\n"
						"  ucode: \"0x43\"\n"
						"  disks:\n"
						"  - {id: pmem0, path: /dev/pmem0, kind: pmem, size: 111669149696}\n"
						"  - {id: pmem1, path: /dev/pmem1, kind: pmem, size: 111669149696}\n");
	struct be_twin_request r = request(plan, "root=/dev/ram0 memmap=104G!8G memmap=104G!132G panic=10");
	expect_argv(&r, HEAD "-M q35,max-ram-below-4g=1024M " TCG
			     "'max,vendor=GenuineIntel,model-id=Intel(R) Xeon(R) CPU E5-2699 v3 @ 2.30GHz,"
			     "ucode-rev=0x4300000000' "
			     "-smp 2,sockets=2,cores=1,threads=1 -m 4352M "
			     "-object memory-backend-ram,id=ram0,size=2176M -numa node,nodeid=0,cpus=0-0,memdev=ram0 "
			     "-object memory-backend-ram,id=ram1,size=2176M -numa node,nodeid=1,cpus=1-1,memdev=ram1 "
			     "-numa dist,src=0,dst=1,val=21 -numa dist,src=1,dst=0,val=21 " TAIL
			     "'root=/dev/ram0 memmap=1024M!4096M memmap=1024M!6272M panic=10 console=ttyS0'");
}

/* The shipped QEMU host: NVDIMMs, and a second AHCI controller for the seventh disk. */
Test(twin, nvdimms_and_many_disks)
{
	be_autobuf struct be_buf text = { 0 };
	be_buf_adds(&text, "machine:\n  nr_cpu: 2\n  nr_node: 1\n  memory: 2147483648\n  disks:\n");
	for (int i = 0; i < 7; i++)
		be_buf_addf(&text, "  - {id: ata-HDD_E%d, kind: hdd, size: 8589934592, rotational: true}\n", i);
	be_buf_adds(&text, "  - {id: pmem0, path: /dev/pmem0, kind: pmem, size: 536870912}\n");
	be_autonode struct be_node *plan = load(text.data);
	struct be_twin_request r = request(plan, "panic=10");
	struct be_error err = BE_ERROR_INIT;
	be_autotwin struct be_twin twin = { 0 };
	cr_assert_eq(be_twin_make(&r, &twin, &err), 0);
	be_autofree char *argv = be_argv_text(twin.argv.v);
	cr_expect(strstr(argv, "-M q35,nvdimm=on "));
	cr_expect(strstr(argv, "-m 2048M,slots=1,maxmem=2560M "));
	cr_expect(strstr(argv, "-object memory-backend-file,id=pmem0,share=on,mem-path=pmem0.img,size=512M "
			       "-device nvdimm,memdev=pmem0,id=nvpmem0,node=0 "));
	cr_expect(strstr(argv, "-device ide-hd,bus=ide.5,model=HDD,serial=E5,"));
	cr_expect(strstr(argv, "-device ich9-ahci,id=ahci1 -device ide-hd,bus=ahci1.0,model=HDD,serial=E6,"));
	be_autofree char *said = deviations(&twin);
	cr_expect_null(strstr(said, "disk.size"), "%s", said);
	cr_expect_null(strstr(said, "memory"), "%s", said);
}

Test(twin, four_nodes_need_four_processors)
{
	be_autonode struct be_node *plan =
		load("machine: {nr_cpu: 192, nr_socket: 4, nr_node: 4, memory: 206158430208}");
	struct be_twin_request r = request(plan, "");
	struct be_error err = BE_ERROR_INIT;
	be_autotwin struct be_twin twin = { 0 };
	cr_assert_eq(be_twin_make(&r, &twin, &err), 0);
	be_autofree char *argv = be_argv_text(twin.argv.v);
	cr_expect(strstr(argv, "-smp 4,sockets=4,cores=1,threads=1 -m 2048M "), "%s", argv);
	cr_expect(strstr(argv, "-numa node,nodeid=3,cpus=3-3,memdev=ram3 "));
}

Test(twin, nodes_follow_processors_that_were_asked_for)
{
	be_autonode struct be_node *plan = load("machine: {nr_cpu: 192, nr_node: 4}");
	struct be_twin_request r = request(plan, "");
	r.cpus = 2;
	expect_deviations(&r, "cpu.hypervisor: TCG: the processor is emulated in software, no figure of this run can "
			      "be compared with hardware\n"
			      "cpu.count: processors: 192 threads on the machine, 2 in the twin\n"
			      "memory.numa_nodes: NUMA nodes: 4 on the machine, 2 in the twin\n"
			      "cpu.model: processor: only the name of the machine's; it computes as QEMU's `max` does, "
			      "in software\n");
}

Test(twin, node_sizes_of_the_host_file)
{
	be_autonode struct be_node *plan = load("machine: {nr_cpu: 2, nr_node: 2, node_memory: [48G, 16G]}");
	struct be_twin_request r = request(plan, "");
	struct be_error err = BE_ERROR_INIT;
	be_autotwin struct be_twin twin = { 0 };
	cr_assert_eq(be_twin_make(&r, &twin, &err), 0);
	be_autofree char *argv = be_argv_text(twin.argv.v);
	cr_expect(strstr(argv, "id=ram0,size=1536M "), "%s", argv);
	cr_expect(strstr(argv, "id=ram1,size=512M "), "%s", argv);
}

Test(twin, kvm_uses_the_real_processor)
{
	be_autonode struct be_node *plan = load("machine: {nr_cpu: 2, brand: Intel X}");
	struct be_twin_request r = request(plan, "panic=10");
	r.kvm = true;
	r.append = "mem=1G";
	expect_argv(&r, HEAD "-M q35 -accel kvm -cpu 'host,model-id=Intel X' -smp 2,sockets=1,cores=2,threads=1 "
			     "-m 2048M " TAIL "'panic=10 console=ttyS0 mem=1G'");
	expect_deviations(&r, "cpu.model: processor: only the name of Intel X; it computes as QEMU's `host` does\n"
			      "kernel.cmdline: --append: mem=1G\n");
}

Test(twin, refused)
{
	static const struct {
		const char *plan, *cmdline, *message;
		int64_t memory, real_memory;
	} cases[] = {
		{ "machine: {}", "", "--memory 256 MiB: no twin boots with less than 512 MiB", 256 << 20, 16LL << 30 },
		{ "machine: {}", "", "the twin needs at least 512 MiB and 512 MiB are available here", 0, 512 << 20 },
		{ "machine: {}", "memmap=x!8G", "memmap=x!8G: is no SIZE!START", 0, 16LL << 30 },
		{ "machine: {disks: [{kind: hdd}]}", "", "the plan's machine has a disk without `id:`", 0, 16LL << 30 },
		{ "machine: {disks: [{id: \"ata\\\"x\", kind: hdd}]}", "", "ata\"x: no name for a disk", 0,
		  16LL << 30 },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_error err = BE_ERROR_INIT;
		be_autonode struct be_node *plan = load(cases[i].plan);
		be_autotwin struct be_twin twin = { 0 };
		struct be_twin_request r = request(plan, cases[i].cmdline);
		r.memory = cases[i].memory;
		r.real_memory = cases[i].real_memory;
		cr_expect_eq(be_twin_make(&r, &twin, &err), -1);
		cr_expect_str_eq(err.text, cases[i].message);
	}
}

Test(twin, disk_names)
{
	static const struct {
		const char *id, *model, *serial;
		enum be_bus bus;
		uint64_t wwn;
		bool by_rule;
	} cases[] = {
		{ "ata-WDC_WD20EZRX-00D8PB0_SNE65", "WDC_WD20EZRX-00D8PB0", "SNE65", BE_BUS_ATA, 0, false },
		/* A serial of more than 20 bytes: nothing that QEMU could be given. */
		{ "ata-M_S12345678901234567890", "", "", BE_BUS_ATA, 0, true },
		{ "wwn-0x5000c50015ea71ac", "", "", BE_BUS_ATA, 0x5000c50015ea71ac, false },
		{ "wwn-0xd720ff1644aad9b5", "", "", BE_BUS_ATA, 0xd720ff1644aad9b5, true },
		{ "scsi-35000c50015ea71ac", "", "", BE_BUS_SCSI, 0x5000c50015ea71ac, false },
		{ "scsi-SATA_M_S", "", "", BE_BUS_ATA, 0, true },
		{ "virtio-V1", "", "V1", BE_BUS_VIRTIO, 0, false },
		{ "nvme-QEMU_NVMe_Ctrl_N1", "", "N1", BE_BUS_NVME, 0, false },
		{ "nvme-INTEL_X_N1-2", "INTEL_X", "N1-2", BE_BUS_NVME, 0, true },
		{ "nvme-eui.0123456789abcdef", "", "", BE_BUS_NVME, 0, true },
		{ "nvme0n1", "", "", BE_BUS_NVME, 0, false },
		{ "vda", "", "", BE_BUS_VIRTIO, 0, false },
		{ "sda", "", "", BE_BUS_ATA, 0, false },
		{ "dm-0", "", "", BE_BUS_ATA, 0, true },
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(cases); i++) {
		struct be_disk_identity id;
		be_disk_identify(cases[i].id, &id);
		cr_expect_str_eq(id.model, cases[i].model, "%s: %s", cases[i].id, id.model);
		cr_expect_str_eq(id.serial, cases[i].serial, "%s: %s", cases[i].id, id.serial);
		cr_expect_eq(id.bus, cases[i].bus, "%s", cases[i].id);
		cr_expect_eq(id.wwn, cases[i].wwn, "%s", cases[i].id);
		cr_expect_eq(id.by_rule, cases[i].by_rule, "%s", cases[i].id);
	}
}
