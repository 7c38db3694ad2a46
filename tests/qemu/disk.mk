# disk-setup in QEMU. The packages and the kernel that it boots are fetched once, into $(BUILD)/disk-test.
TESTS += test-disk-setup
.PHONY: test-disk-setup
$(BUILD)/disk-setup-test: $(BUILD)/obj/disk-setup/main.o $(BUILD)/libdisk-setup.a $(BUILD)/librecipes.a
	$(CC) $(LDFLAGS) -o $@ $^ $(call pc,--libs,$(LIBS_disk-setup) $(LIBS_recipes)) -lm

test-disk-setup: $(BUILD)/disk-setup-test
	tests/qemu/disk_setup_test $< $(BUILD)/disk-test
