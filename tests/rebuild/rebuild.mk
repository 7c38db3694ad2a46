# From a manifest back to the same image: packages from every place that can have them, drift, bundles, the cache, leaks.
.PHONY: test-rebuild test-rebuild-long
TESTS += test-rebuild
TESTS_LONG += test-rebuild-long

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
