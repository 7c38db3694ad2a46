# Set-up, style and installation.
.PHONY: deps format lint install
PACKAGES := $(shell sed -e 's/\#.*//' .ci/packages)

# Installs what is missing, and says what. Root is needed only when something is missing.
deps:
	@.ci/install-missing $(PACKAGES)

FORMATTED := $(shell git ls-files '*.c' '*.h' 2>/dev/null)
format:
	@clang-format -i $(FORMATTED)

lint:
	@clang-format --dry-run -Werror $(FORMATTED)
