# Fuzzing of the mail reader: `make fuzz-mail MAIL_FUZZ_SECONDS=N` (clang's libFuzzer with AddressSanitizer).
# New inputs stay in $(BUILD)/fuzzing; those that show something new belong into tests/fuzz/corpus/mail.
.PHONY: fuzz-mail test-fuzz-mail test-fuzz-mail-long fuzz-mail-program
MAIL_FUZZ_SECONDS ?= 60
MAIL_FUZZ_DIR := $(BUILD)/fuzzing
MAIL_FUZZ_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined
MAIL_FUZZ_SEEDS := tests/fuzz/corpus/mail
MAIL_FUZZ_LIMITS := -timeout=10 -rss_limit_mb=1024 -max_len=32768 -print_final_stats=1

TESTS += test-fuzz-mail
TESTS_LONG += test-fuzz-mail-long

fuzz-mail-program:
	@$(MAKE) --no-print-directory CC=clang BUILD=$(MAIL_FUZZ_DIR) LDFLAGS='$(MAIL_FUZZ_SANITIZE)' \
		CFLAGS='$(MAIL_FUZZ_SANITIZE) -fsanitize=fuzzer-no-link' $(MAIL_FUZZ_DIR)/fuzz_mail

$(BUILD)/fuzz_mail: tests/fuzz/fuzz_mail.c $(BUILD)/libbuilder.a $(BUILD)/librecipes.a
	$(CC) $(BASE_CFLAGS) -Wno-missing-prototypes $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ \
		$(call pc,--libs,$(LIBS_builder) $(LIBS_recipes)) -lm

fuzz-mail: fuzz-mail-program
	@mkdir -p $(MAIL_FUZZ_DIR)/new-mail
	$(MAIL_FUZZ_DIR)/fuzz_mail -max_total_time=$(MAIL_FUZZ_SECONDS) -dict=tests/fuzz/mail.dict \
		-artifact_prefix=$(MAIL_FUZZ_DIR)/ $(MAIL_FUZZ_LIMITS) $(MAIL_FUZZ_DIR)/new-mail $(MAIL_FUZZ_SEEDS)

# Every input that is kept, once.
test-fuzz-mail: fuzz-mail-program
	@$(MAIL_FUZZ_DIR)/fuzz_mail -runs=0 $(MAIL_FUZZ_LIMITS) $(MAIL_FUZZ_SEEDS) >$(MAIL_FUZZ_DIR)/mail.log 2>&1 || \
		{ cat $(MAIL_FUZZ_DIR)/mail.log; exit 1; }

test-fuzz-mail-long:
	@$(MAKE) --no-print-directory fuzz-mail MAIL_FUZZ_SECONDS=1800
