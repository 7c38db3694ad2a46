# Set-up, the newcomer's run, style, installation.
.PHONY: deps run format lint check-tree install uninstall clean

# A job a processor, unless the caller said how many.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# Installs what is missing, and says what. Root is needed only when something is missing.
deps:
	@.ci/install-missing .ci/packages

# From nothing to a result: set-up, build, an image of a shipped recipe, its boot in QEMU, the manifest for people.
RUN_RECIPE ?= recipes/jobs/stress-ng-io-uring.yaml
RUN_DIR ?= $(BUILD)/run
RUN_FLAGS ?=
run: deps
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@mkdir -p $(RUN_DIR)
	$(PROGRAM) $(RUN_RECIPE) $(RUN_FLAGS) -o $(RUN_DIR)/image
	$(PROGRAM) boot $(RUN_DIR)/image -o $(RUN_DIR)/result
	$(PROGRAM) show $(RUN_DIR)/result

C_FILES = $(shell git ls-files '*.c' '*.h')
format:
	@clang-format -i $(C_FILES)

# clang-tidy looks at a file again when its object was made again: when it or a header of it has changed.
LINT_FILES = $(patsubst %.c,$(BUILD)/lint/%.ok,$(filter-out tests/%,$(filter %.c,$(C_FILES))))
$(BUILD)/lint/%.ok: $(BUILD)/obj/%.o .clang-tidy
	@mkdir -p $(@D)
	@clang-tidy --quiet $*.c -- $(BASE_CFLAGS) $(call pc,--cflags,$(sort $(foreach f,$(FOLDERS),$(LIBS_$(f))))) 2>$@.err || \
		{ cat $@.err; exit 1; }
	@mv $@.err $@

lint: check-tree
	@clang-format --dry-run -Werror $(C_FILES)
	@$(MAKE) --no-print-directory -k -j2 $(LINT_FILES)
	@echo "lint: $(words $(C_FILES)) files clean"

# The tree against itself: layers, man page and README against the program.
check-tree:
	@tests/check-tree

INSTALL_BIN := $(DESTDIR)$(PREFIX)/bin
INSTALL_DATA := $(DESTDIR)$(PREFIX)/share/mkbenchenv
INSTALL_LIBEXEC := $(DESTDIR)$(PREFIX)/lib/mkbenchenv/libexec
INSTALL_GUEST := $(DESTDIR)$(PREFIX)/lib/mkbenchenv/guest
INSTALL_MAN := $(DESTDIR)$(PREFIX)/share/man/man1
install: all
	install -d $(INSTALL_BIN) $(INSTALL_DATA) $(INSTALL_GUEST) $(INSTALL_LIBEXEC) $(INSTALL_MAN)
	install -m 755 $(PROGRAM) $(INSTALL_BIN)/
	install -m 755 $(COMMANDS) $(INSTALL_LIBEXEC)/
	cp -R --no-preserve=ownership $(GUEST)/. $(INSTALL_GUEST)/
	set -e; cd recipes; find . -type f ! -name '*.[ch]' ! -name '*.md' -exec install -D -m 644 {} $(abspath $(INSTALL_DATA))/{} \;
	sed -e 's/@VERSION@/$(VERSION)/' builder/mkbenchenv.1 > $(INSTALL_MAN)/mkbenchenv.1
	chmod 644 $(INSTALL_MAN)/mkbenchenv.1

uninstall:
	rm -rf $(INSTALL_BIN)/mkbenchenv $(INSTALL_DATA) $(DESTDIR)$(PREFIX)/lib/mkbenchenv $(INSTALL_MAN)/mkbenchenv.1

clean:
	rm -rf $(BUILD)
