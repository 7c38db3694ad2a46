# Unit tests: one Criterion program a file in tests/unit/FOLDER, linked with the folder and what is below it.
.PHONY: test-unit
unit_src := $(wildcard tests/unit/*/test_*.c)
unit_bin := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(unit_src))
below_recipes := recipes
below_disk-setup := disk-setup recipes
below_initrd := initrd disk-setup recipes
below_builder := builder disk-setup recipes

define unit
$(BUILD)/unit/$(1)/%: tests/unit/$(1)/%.c $(foreach f,$(below_$(1)),$(BUILD)/lib$(f).a) Makefile tests/tests.mk
	@mkdir -p $$(@D)
	$$(CC) $$(BASE_CFLAGS) -Wno-missing-prototypes -Wno-strict-prototypes $$(CFLAGS) \
		$(call pc,--cflags,$(foreach f,$(below_$(1)),$(LIBS_$(f)))) $$(LDFLAGS) \
		-o $$@ $$< $(foreach f,$(below_$(1)),$(BUILD)/lib$(f).a) \
		$(call pc,--libs,$(foreach f,$(below_$(1)),$(LIBS_$(f)))) -lcriterion -lm
endef
$(foreach f,$(FOLDERS),$(eval $(call unit,$(f))))

test-unit: $(unit_bin)
	@set -e; for t in $(unit_bin); do echo "== $$t"; $$t --timeout 60; done
