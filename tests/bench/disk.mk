# Guest time of disk-setup for the layout of the fsmark report.
bench: bench-disk-setup
.PHONY: bench-disk-setup
bench-disk-setup: $(BUILD)/disk-setup-test
	tests/bench/bench_disk_setup $< $(BUILD)/disk-test
