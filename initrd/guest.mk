# The guest's programs: linked against the building machine's libraries, with an interpreter and library folder of their own,
# so that they do not depend on the image's packages (there are no static libmount and libkmod on Debian).
.PHONY: guest
GUEST_LIB := /benchenv/lib
GUEST_LOADER := ld-linux-x86-64.so.2
# Static where Debian has a static library: the shared libarchive alone would bring libxml2 and ICU, 40 MB.
GUEST_STATIC := -l:libarchive.a -l:libyaml.a -l:libjansson.a -l:libext2fs.a -l:libe2p.a -l:libcom_err.a
# libarchive's pax writer shares an object file with a table of all its writers. Those that would bring libraries of their own
# (libxml2, liblzma, nettle ...) are replaced by a function that refuses.
GUEST_UNUSED := 7zip iso9660 mtree mtree_classic shar shar_dump warc xar zip
GUEST_LEAVE_OUT := $(foreach f,$(GUEST_UNUSED),-Wl,--defsym=archive_write_set_format_$(f)=be_delivery_no_format)
GUEST_SHARED := -lkmod -lmount -lblkid -lfdisk -lcrypto -lm
# DT_RPATH, not DT_RUNPATH: it holds for the libraries of the libraries too.
# Without symbols and debugging sections, which were half of them; those are in the objects that are linked.
GUEST_LINK := -Wl,-s -Wl,--dynamic-linker=$(GUEST_LIB)/$(GUEST_LOADER) -Wl,-rpath,$(GUEST_LIB) -Wl,--disable-new-dtags \
	-Wl,--as-needed
GUEST_PROGRAMS := $(GUEST)/init $(GUEST)/disk-setup

guest: $(GUEST).libraries $(GUEST)/lease

$(GUEST)/lease: initrd/network/lease.sh
	@mkdir -p $(@D)
	@install -m 755 $< $@

$(GUEST)/init: $(BUILD)/obj/initrd/main.o $(BUILD)/libinitrd.a $(BUILD)/libdisk-setup.a $(BUILD)/librecipes.a \
	initrd/guest.mk
	@mkdir -p $(@D)
	$(say) '  LINK $@'
	$(Q)$(CC) $(LDFLAGS) $(GUEST_LINK) $(GUEST_LEAVE_OUT) -o $@ $(filter %.o %.a,$^) $(GUEST_STATIC) $(GUEST_SHARED)

$(GUEST)/disk-setup: $(BUILD)/obj/disk-setup/main.o $(BUILD)/libdisk-setup.a $(BUILD)/librecipes.a initrd/guest.mk
	@mkdir -p $(@D)
	$(say) '  LINK $@'
	$(Q)$(CC) $(LDFLAGS) $(GUEST_LINK) -o $@ $(filter %.o %.a,$^) $(GUEST_STATIC) $(GUEST_SHARED)

# Every library that the programs load, as this machine's own loader resolves them, and the loader.
$(GUEST).libraries: $(GUEST_PROGRAMS)
	@rm -rf $(GUEST)/lib && mkdir -p $(GUEST)/lib
	@loader=$$(realpath /lib64/$(GUEST_LOADER)) && cp "$$loader" $(GUEST)/lib/$(GUEST_LOADER) && \
	for program in $(GUEST_PROGRAMS); do "$$loader" --list "$$program" || exit 1; done | \
	sed -n 's/^\t\([^ /]*\) => \(\/[^ ]*\) (.*/\1 \2/p' | sort -u | \
	while read -r name path; do cp "$$(realpath "$$path")" $(GUEST)/lib/"$$name" || exit 1; done
	@chmod 755 $(GUEST)/lib/* && touch $@

# `observe` for the inside of an image, started by the guest's own loader: by it machines are recorded.
$(BUILD)/guest-observe: $(BUILD)/obj/initrd/commands/observe.o $(BUILD)/libinitrd.a $(BUILD)/libdisk-setup.a \
	$(BUILD)/librecipes.a initrd/guest.mk
	$(say) '  LINK $@'
	$(Q)$(CC) $(LDFLAGS) -Wl,--as-needed $(GUEST_LEAVE_OUT) -o $@ $(filter %.o %.a,$^) $(GUEST_STATIC) $(GUEST_SHARED)
