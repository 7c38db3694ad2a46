# What decided the reports of the catalogue, and `diff` on it; the quotes are checked where the mails are at hand.
.PHONY: test-threads
REPORTS ?= ../shared/reports
TESTS += test-threads

test-threads: programs
	@tests/threads/check-threads $(PROGRAM) recipes $(REPORTS)
