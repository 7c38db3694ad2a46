# A lab in a network namespace: the real dnsmasq, nginx, iPXE, pxelinux, GRUB and OVMF, and QEMU as the machines. Needs root.
# `make test-pxe-long PXE=loss` runs one case.
.PHONY: test-pxe test-pxe-long
TESTS += test-pxe
TESTS_LONG += test-pxe-long
PXE ?= pxelinux grub http uki proxy proxy_pxelinux proxy_grub proxy_http machines queue vanish restart loss alone recipes
PXE_RUN = MKBENCHENV=$(abspath $(PROGRAM)) PXE_IMAGES=$(abspath $(BUILD)/pxe) PXE_DELIVER=$(abspath $(BUILD)/pxe/deliver) \
	tests/pxe/pxe_test

$(BUILD)/pxe/deliver: tests/pxe/deliver.c $(BUILD)/libinitrd.a $(BUILD)/libdisk-setup.a $(BUILD)/librecipes.a
	@mkdir -p $(@D)
	$(say) '  TEST tests/pxe'
	$(Q)$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(call pc,--libs,$(LIBS_initrd) $(LIBS_disk-setup) $(LIBS_recipes)) -lm

test-pxe: all $(BUILD)/pxe/deliver
	@$(PXE_RUN) refused delivery firmware

test-pxe-long: all $(BUILD)/pxe/deliver
	@$(PXE_RUN) $(PXE)
