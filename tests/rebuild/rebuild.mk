# From a manifest back to the same image: packages from every place that can have them, drift, bundles, the cache, leaks.
.PHONY: test-rebuild test-rebuild-long
TESTS += test-rebuild
TESTS_LONG += test-rebuild-long

test-rebuild: programs guest
	@tests/rebuild/test-rebuild $(PROGRAM) $(GUEST) $(BUILD)

test-rebuild-long: programs guest
	@tests/rebuild/test-rebuild $(PROGRAM) $(GUEST) $(BUILD) recipes
