# Speed: `make bench BENCH_JOBS="FOLDER..."` expands every job file below the folders.
# Images beside their peers: logs and table in build/bench.
.PHONY: bench bench-jobs bench-image
BENCH_JOBS ?= recipes/jobs

bench: bench-jobs bench-image

$(BUILD)/bench_jobs: tests/bench/bench_jobs.c $(BUILD)/librecipes.a
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(call pc,--libs,$(LIBS_recipes)) -lm

bench-jobs: $(BUILD)/bench_jobs
	$(BUILD)/bench_jobs $(BENCH_JOBS)

bench-image: programs guest
	@.ci/install-missing .ci/packages.bench
	@tests/bench/bench-image $(PROGRAM) $(GUEST) $(BUILD)

# What init takes until the workload starts.
bench: bench-boot
.PHONY: bench-boot
bench-boot: programs guest
	@tests/bench/bench-boot $(PROGRAM) $(GUEST) $(BUILD)

# Guest time of observing and stating the environment.
bench: bench-observation
.PHONY: bench-observation
bench-observation: all
	tests/bench/bench_observation $(PROGRAM) $(BUILD)
