# Layouts in QEMU: what the rows of layouts/table ask is planned, made and read back, and power cuts end in nothing worse than a
# refusal. A sample in `make test`, all in `make test-long`. CUT_SEED repeats the moments of an earlier run.
TESTS += test-layouts
TESTS_LONG += test-layouts-long
.PHONY: test-layouts test-layouts-long
CUT_SEED ?=

test-layouts: $(BUILD)/disk-setup-test $(PROGRAM)
	tests/qemu/layout_test $(BUILD)/disk-setup-test $(PROGRAM) $(BUILD)/disk-test sample
	tests/qemu/power_cut_test $(BUILD)/disk-setup-test $(BUILD)/disk-test 3 $(CUT_SEED)

test-layouts-long: $(BUILD)/disk-setup-test $(PROGRAM)
	tests/qemu/layout_test $(BUILD)/disk-setup-test $(PROGRAM) $(BUILD)/disk-test all
	tests/qemu/power_cut_test $(BUILD)/disk-setup-test $(BUILD)/disk-test 20 $(CUT_SEED)
