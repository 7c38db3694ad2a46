# Every shipped recipe, scaled down, from the job to the manifest's verdicts, in QEMU without KVM; at most two at a time.
# Packages and kernels are fetched once into the user's cache. `make test-e2e E2E=pmem` runs the test of that name.
.PHONY: test-e2e test-e2e-long
TESTS += test-e2e
TESTS_LONG += test-e2e-long
E2E ?= *
E2E_RUN = MKBENCHENV=$(abspath $(PROGRAM)) E2E_WORK=$(abspath $(BUILD)/e2e/work) $(BUILD)/e2e/runs --jobs 2 --timeout 420

$(BUILD)/e2e/runs: $(wildcard tests/e2e/*.c tests/e2e/*.h) $(BUILD)/librecipes.a Makefile
	@mkdir -p $(@D)
	$(say) '  TEST tests/e2e'
	$(Q)$(CC) $(BASE_CFLAGS) -Wno-missing-prototypes -Wno-strict-prototypes $(CFLAGS) $(LDFLAGS) -o $@ \
		$(wildcard tests/e2e/*.c) $(BUILD)/librecipes.a $(call pc,--libs,$(LIBS_recipes)) -lcriterion -lm

test-e2e: all $(BUILD)/e2e/runs
	@$(E2E_RUN) --filter 'e2e/$(E2E)'

test-e2e-long: all $(BUILD)/e2e/runs
	@$(E2E_RUN) --filter 'e2e_long/$(E2E)'
