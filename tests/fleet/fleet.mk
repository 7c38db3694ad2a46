# Results on the console and on a USB stick, LAVA, unified kernel images and the inventory image, in QEMU without KVM. `make test` has the first
# (15 s), `make test-long` the others (eight minutes); `make test-fleet-long FLEET=uki` runs one.
.PHONY: test-fleet test-fleet-long
TESTS += test-fleet
TESTS_LONG += test-fleet-long
FLEET ?= inventory firmware volume uki lava

test-fleet: all
	tests/fleet/fleet_test $(PROGRAM) $(BUILD)/fleet console

test-fleet-long: all
	tests/fleet/fleet_test $(PROGRAM) $(BUILD)/fleet $(FLEET)
