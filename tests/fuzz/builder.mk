# Fuzzing of the builder's readers, mails, manifests and console logs: `make fuzz-mail FUZZ_BUILDER_SECONDS=N`, `make fuzz-manifest`, ...
# (clang's libFuzzer with AddressSanitizer). New inputs stay in $(BUILD)/sanitized; those that show something new belong
# into tests/fuzz/corpus.
FUZZ_BUILDER := mail manifest console
FUZZ_BUILDER_SECONDS ?= 60
FUZZ_BUILDER_DIR = $(SANITIZED_DIR)
FUZZ_BUILDER_LIMITS := -timeout=10 -rss_limit_mb=1024 -max_len=32768 -print_final_stats=1
fuzz_seeds_mail := tests/fuzz/corpus/mail
fuzz_seeds_manifest := tests/fuzz/corpus/manifest tests/threads
fuzz_seeds_console := tests/fuzz/corpus/console

.PHONY: test-fuzz-builder test-fuzz-builder-long fuzz-builder-programs $(FUZZ_BUILDER:%=fuzz-%)
TESTS += test-fuzz-builder
TESTS_LONG += test-fuzz-builder-long

fuzz-builder-programs:
	@$(MAKE) --no-print-directory $(SANITIZED) $(FUZZ_BUILDER:%=$(FUZZ_BUILDER_DIR)/fuzz_%)

$(FUZZ_BUILDER:%=$(BUILD)/fuzz_%): $(BUILD)/fuzz_%: tests/fuzz/fuzz_%.c $(BUILD)/libbuilder.a $(BUILD)/libdisk-setup.a \
		$(BUILD)/librecipes.a
	$(CC) $(BASE_CFLAGS) -Wno-missing-prototypes $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ \
		$(call pc,--libs,$(LIBS_builder) $(LIBS_disk-setup) $(LIBS_recipes)) -lm

$(FUZZ_BUILDER:%=fuzz-%): fuzz-%: fuzz-builder-programs
	@mkdir -p $(FUZZ_BUILDER_DIR)/new-$*
	$(FUZZ_BUILDER_DIR)/fuzz_$* -max_total_time=$(FUZZ_BUILDER_SECONDS) -dict=tests/fuzz/$*.dict \
		-artifact_prefix=$(FUZZ_BUILDER_DIR)/ $(FUZZ_BUILDER_LIMITS) $(FUZZ_BUILDER_DIR)/new-$* $(fuzz_seeds_$*)

# Every input that is kept, once.
test-fuzz-builder: fuzz-builder-programs
	@for t in $(FUZZ_BUILDER); do case $$t in mail) seeds='$(fuzz_seeds_mail)';; console) seeds='$(fuzz_seeds_console)';; \
		*) seeds='$(fuzz_seeds_manifest)';; esac; \
		$(FUZZ_BUILDER_DIR)/fuzz_$$t -runs=0 $(FUZZ_BUILDER_LIMITS) $$seeds >$(FUZZ_BUILDER_DIR)/$$t.log 2>&1 || \
		{ cat $(FUZZ_BUILDER_DIR)/$$t.log; exit 1; }; done

test-fuzz-builder-long:
	@for t in $(FUZZ_BUILDER); do $(MAKE) --no-print-directory fuzz-$$t FUZZ_BUILDER_SECONDS=1800 || exit 1; done
