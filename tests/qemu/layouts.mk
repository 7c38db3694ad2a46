# Layouts in QEMU: what the rows of layouts/table ask is planned, made and read back, and power cuts end in nothing worse than a
# refusal. A sample in `make test`, all in `make test-long`. CUT_SEED repeats the moments of an earlier run.
TESTS += test-layouts
TESTS_LONG += test-layouts-long
.PHONY: test-layouts test-layouts-long disk-test-tree layouts-sample power-cuts-few
CUT_SEED ?=

# Both at the same time, each with one machine.
test-layouts: layouts-sample power-cuts-few

disk-test-tree:
	tests/qemu/disk_setup/tree $(BUILD)/disk-test

$(BUILD)/layout-settings: tests/qemu/layouts/settings.c $(BUILD)/libinitrd.a $(BUILD)/libdisk-setup.a $(BUILD)/librecipes.a
	$(say) '  TEST tests/qemu/layouts'
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(call pc,--libs,$(LIBS_initrd) $(LIBS_disk-setup) $(LIBS_recipes)) -lm

layouts-sample: $(BUILD)/disk-setup-test $(BUILD)/layout-settings $(PROGRAM) disk-test-tree
	tests/qemu/layout_test $(BUILD)/disk-setup-test $(BUILD)/layout-settings $(PROGRAM) $(BUILD)/disk-test sample

power-cuts-few: $(BUILD)/disk-setup-test disk-test-tree
	tests/qemu/power_cut_test $(BUILD)/disk-setup-test $(BUILD)/disk-test 3 $(CUT_SEED)

test-layouts-long: $(BUILD)/disk-setup-test $(BUILD)/layout-settings $(PROGRAM)
	tests/qemu/layout_test $(BUILD)/disk-setup-test $(BUILD)/layout-settings $(PROGRAM) $(BUILD)/disk-test all
	tests/qemu/reboot_test $(BUILD)/disk-setup-test $(BUILD)/disk-test
	tests/qemu/power_cut_test $(BUILD)/disk-setup-test $(BUILD)/disk-test 20 $(CUT_SEED)
