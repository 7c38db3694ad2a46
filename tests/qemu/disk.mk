# disk-setup in QEMU. The packages and the kernel that it boots are fetched once, into $(BUILD)/disk-test.
TESTS += test-disk-setup test-disk-safety
TESTS_LONG += test-disk-safety-long test-disk-kinds-long
.PHONY: test-disk-setup test-disk-safety test-disk-safety-long test-disk-kinds-long
$(BUILD)/disk-setup-test: $(BUILD)/obj/disk-setup/main.o $(BUILD)/libdisk-setup.a $(BUILD)/librecipes.a
	$(CC) $(LDFLAGS) -o $@ $^ $(call pc,--libs,$(LIBS_disk-setup) $(LIBS_recipes)) -lm

test-disk-setup: $(BUILD)/disk-setup-test
	tests/qemu/disk_setup_test $< $(BUILD)/disk-test

# Disks in use, or others than the plan means; the long one tries each as an owned disk too.
test-disk-safety: $(BUILD)/disk-setup-test
	tests/qemu/disk_safety_test $< $(BUILD)/disk-test

test-disk-safety-long: $(BUILD)/disk-setup-test
	tests/qemu/disk_safety_test $< $(BUILD)/disk-test long

# Foreign content of every kind: all in one plan, unchanged; then each alone, and as an owned disk.
test-disk-kinds-long: $(BUILD)/disk-setup-test
	tests/qemu/disk_kinds_test $< $(BUILD)/disk-test
	tests/qemu/disk_kinds_test $< $(BUILD)/disk-test long
