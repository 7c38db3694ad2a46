# Report mails against what is known of them. They are not part of this repository: without them the test says so.
# `make test-import REPORTS_SHOW=-v` also prints what was found in mails of which nothing is known.
.PHONY: test-import
REPORTS ?= ../shared/reports
REPORTS_SHOW ?=
TESTS += test-import

test-import: programs
	@tests/import/compare-import $(REPORTS_SHOW) $(PROGRAM) $(REPORTS) recipes/jobs
	@tests/import/check-variants $(PROGRAM) $(REPORTS)
