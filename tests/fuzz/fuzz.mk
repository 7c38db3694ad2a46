# Fuzzing of the job and host readers: `make fuzz FUZZ_SECONDS=N` (clang's libFuzzer with AddressSanitizer).
# What it finds is kept in $(BUILD)/sanitized; inputs that show something new belong into tests/fuzz/corpus/job.
.PHONY: fuzz test-fuzz test-fuzz-long fuzz-program
FUZZ_SECONDS ?= 60
FUZZ_DIR = $(SANITIZED_DIR)
FUZZ_SEEDS := tests/fuzz/corpus/job tests/should-fail/job tests/should-fail/host recipes/jobs recipes/hosts
# An input that takes long is a finding: by the clock of a busy machine, and the sanitizers cost a factor of ten.
FUZZ_LIMITS := -timeout=30 -rss_limit_mb=1024 -max_len=16384 -print_final_stats=1

TESTS += test-fuzz
TESTS_LONG += test-fuzz-long

fuzz-program:
	@$(MAKE) --no-print-directory $(SANITIZED) $(FUZZ_DIR)/fuzz_job

$(BUILD)/fuzz_job: tests/fuzz/fuzz_job.c $(BUILD)/librecipes.a
	$(CC) $(BASE_CFLAGS) -Wno-missing-prototypes $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ \
		$(call pc,--libs,$(LIBS_recipes)) -lm

fuzz: fuzz-program
	@mkdir -p $(FUZZ_DIR)/new
	$(FUZZ_DIR)/fuzz_job -max_total_time=$(FUZZ_SECONDS) -dict=tests/fuzz/job.dict -artifact_prefix=$(FUZZ_DIR)/ \
		$(FUZZ_LIMITS) $(FUZZ_DIR)/new $(FUZZ_SEEDS)

# Every input that is kept, once.
test-fuzz: fuzz-program
	@$(FUZZ_DIR)/fuzz_job -runs=0 $(FUZZ_LIMITS) $(FUZZ_SEEDS) 2>&1 | tail -n 3
	@$(FUZZ_DIR)/fuzz_job -runs=0 $(FUZZ_LIMITS) $(FUZZ_SEEDS) >/dev/null 2>&1

test-fuzz-long:
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=1800
