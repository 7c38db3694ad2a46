# A lab in a network namespace: the real dnsmasq, nginx, iPXE, pxelinux, GRUB and OVMF, and QEMU as the machines. Needs root.
# `make test-pxe-long PXE=loss` runs one case.
.PHONY: test-pxe test-pxe-long
TESTS += test-pxe
TESTS_LONG += test-pxe-long
PXE ?= pxelinux grub proxy machines vanish restart loss alone recipes
PXE_RUN = MKBENCHENV=$(abspath $(PROGRAM)) PXE_IMAGES=$(abspath $(BUILD)/pxe) tests/pxe/pxe_test

test-pxe: all
	@$(PXE_RUN) refused firmware

test-pxe-long: all
	@$(PXE_RUN) $(PXE)
