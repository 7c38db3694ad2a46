# Tests. Unit tests: one Criterion program a file in tests/unit/FOLDER, linked with the folder and what is below it.
# Each folder below tests/ brings its own NAME.mk with a target test-NAME and, where it has one, test-NAME-long.
.PHONY: test test-long test-unit test-unit-sanitized
unit_src := $(wildcard tests/unit/*/test_*.c)
unit_bin := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(unit_src))
below_recipes := recipes
below_disk-setup := disk-setup recipes
below_initrd := initrd disk-setup recipes
below_builder := builder disk-setup recipes

define unit
$(BUILD)/unit/$(1)/%: tests/unit/$(1)/%.c $(foreach f,$(below_$(1)),$(BUILD)/lib$(f).a) Makefile tests/tests.mk
	@mkdir -p $$(@D)
	$$(say) '  TEST $$<'
	$$(Q)$$(CC) $$(BASE_CFLAGS) -Wno-missing-prototypes -Wno-strict-prototypes $$(CFLAGS) \
		$(call pc,--cflags,$(foreach f,$(below_$(1)),$(LIBS_$(f)))) $$(LDFLAGS) \
		-o $$@ $$< $(foreach f,$(below_$(1)),$(BUILD)/lib$(f).a) \
		$(call pc,--libs,$(foreach f,$(below_$(1)),$(LIBS_$(f)))) -lcriterion -lm
endef
$(foreach f,$(FOLDERS),$(eval $(call unit,$(f))))

test-unit: $(unit_bin)
	@set -e; for t in $(unit_bin); do echo "== $${t#$(BUILD)/unit/}"; $$t --timeout 60; done

# The same tests, built by clang with AddressSanitizer and UndefinedBehaviorSanitizer; the fuzzers are linked with the same
# objects.
SANITIZED_DIR := $(BUILD)/sanitized
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined
SANITIZED := CC=clang BUILD=$(SANITIZED_DIR) CFLAGS='$(SANITIZE) -fsanitize=fuzzer-no-link' LDFLAGS='$(SANITIZE)'
test-unit-sanitized:
	@$(MAKE) --no-print-directory $(SANITIZED) test-unit

-include $(wildcard tests/*/*.mk)

# Filled by the .mk files included above.
TESTS ?=
TESTS_LONG ?=
# Programs are built by all processors; the tests run one after the other, and those that can use two do so themselves.
test: deps
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@for t in check-tree test-unit test-unit-sanitized $(TESTS); do \
		start=$$(date +%s); echo "=== $$t"; \
		$(MAKE) --no-print-directory $(PARALLEL) $$t || exit 1; \
		echo "=== $$t done in $$(($$(date +%s) - start)) s"; done

test-long: test
	@for t in $(TESTS_LONG); do echo "=== $$t"; $(MAKE) --no-print-directory $$t || exit 1; done
