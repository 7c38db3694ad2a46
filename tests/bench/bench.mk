# Speed: `make bench BENCH_JOBS="FOLDER..."` expands every job file below the folders.
.PHONY: bench bench-jobs
BENCH_JOBS ?= recipes/jobs

bench: bench-jobs

$(BUILD)/bench_jobs: tests/bench/bench_jobs.c $(BUILD)/librecipes.a
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(call pc,--libs,$(LIBS_recipes)) -lm

bench-jobs: $(BUILD)/bench_jobs
	$(BUILD)/bench_jobs $(BENCH_JOBS)
