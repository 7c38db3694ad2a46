# disk-setup in QEMU. The packages and the kernel that it boots are fetched once, into $(BUILD)/disk-test.
TESTS += test-disk-setup test-disk-kinds
TESTS_LONG += test-disk-kinds-long
.PHONY: test-disk-setup test-disk-kinds test-disk-kinds-long
$(BUILD)/disk-setup-test: $(BUILD)/obj/disk-setup/main.o $(BUILD)/libdisk-setup.a $(BUILD)/librecipes.a
	$(CC) $(LDFLAGS) -o $@ $^ $(call pc,--libs,$(LIBS_disk-setup) $(LIBS_recipes)) -lm

test-disk-setup: $(BUILD)/disk-setup-test
	tests/qemu/disk_setup_test $< $(BUILD)/disk-test

# Foreign content of every kind, in one plan; the long one tries each alone, and then as an owned disk.
test-disk-kinds: $(BUILD)/disk-setup-test
	tests/qemu/disk_kinds_test $< $(BUILD)/disk-test

test-disk-kinds-long: $(BUILD)/disk-setup-test
	tests/qemu/disk_kinds_test $< $(BUILD)/disk-test long
