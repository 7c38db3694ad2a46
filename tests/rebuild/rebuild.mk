# From a manifest back to the same image: packages from every place that can have them, drift, bundles, the cache, leaks.
.PHONY: test-rebuild test-rebuild-long test-releases-long
TESTS += test-rebuild
TESTS_LONG += test-rebuild-long test-releases-long

# Lets writes fail; preloaded into builds.
$(BUILD)/faults.so: tests/rebuild/faults.c
	$(say) '  CC   $<'
	$(Q)$(CC) -std=gnu17 $(OPT) $(WARN) -fPIC -shared -o $@ $< -ldl

test-rebuild: programs guest $(BUILD)/faults.so
	@tests/rebuild/test-rebuild $(PROGRAM) $(GUEST) $(BUILD)
	@tests/rebuild/test-leaks $(PROGRAM) $(GUEST) $(BUILD) 20 20 5

test-rebuild-long: programs guest $(BUILD)/faults.so
	@tests/rebuild/test-rebuild $(PROGRAM) $(GUEST) $(BUILD) "recipes reflink"
	@tests/rebuild/test-leaks $(PROGRAM) $(GUEST) $(BUILD) 200 200 50 "$$(date +%s)"

# Two builders of different Debian releases. RELEASE: the other one, which the machine's archives must have.
test-releases-long: programs guest
	@.ci/install-missing .ci/packages.releases
	@tests/rebuild/test-releases $(PROGRAM) $(GUEST) $(BUILD) $(RELEASE)
