# mkbenchenv: `make run` and `make test` do all that a newcomer needs; `make help` lists the rest.
BUILD ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0

PROGRAM := $(BUILD)/mkbenchenv
GUEST := $(BUILD)/guest

# One short line a file; V=1 shows the commands.
ifdef V
say := @:
Q :=
else
say := @echo
Q := @
endif

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
	-Wformat=2 -Wno-format-nonliteral -Wundef
ifdef CI
WARN += -Werror
endif
OPT ?= -O2 -g
# Paths of the building machine stay out of the programs: the guest's bytes are an input of every image.
BASE_CFLAGS := -std=gnu17 -D_GNU_SOURCE $(OPT) $(WARN) -fno-common -fstack-protector-strong -ffile-prefix-map=$(CURDIR)=. \
	-DBE_VERSION='"$(VERSION)"' -I. -Irecipes

LIBS_recipes := yaml-0.1 jansson
LIBS_disk-setup := blkid mount fdisk
LIBS_initrd := libkmod libarchive libcrypto ext2fs e2p com_err
LIBS_builder := libarchive libcrypto libzstd libkmod smartcols libelf fdisk gmime-3.0
pc = $(shell pkg-config $(1) $(2) 2>/dev/null)

FOLDERS := recipes disk-setup initrd builder
src_recipes := $(wildcard recipes/*.c recipes/base/*.c)
src_disk-setup := $(filter-out disk-setup/main.c,$(wildcard disk-setup/*.c))
src_initrd := $(filter-out initrd/main.c initrd/commands/%,$(wildcard initrd/*.c initrd/*/*.c))
src_builder := $(filter-out builder/main.c,$(wildcard builder/*.c builder/*/*.c))
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

all: programs commands guest
.PHONY: all programs commands guest help
programs: $(if $(wildcard builder/main.c),$(PROGRAM))

# One static library a folder; who may use whom is in the link order.
define folder
$(BUILD)/lib$(1).a: $(call obj,$(src_$(1)))
	@rm -f $$@
	$$(Q)$$(AR) rcsD $$@ $$^
$(BUILD)/obj/$(1)/%.o: $(1)/%.c Makefile
	@mkdir -p $$(@D)
	$$(say) '  CC   $$<'
	$$(Q)$$(CC) $$(BASE_CFLAGS) $$(CFLAGS) $(call pc,--cflags,$(LIBS_$(1))) -MMD -MP -c $$< -o $$@
endef
$(foreach f,$(FOLDERS),$(eval $(call folder,$(f))))

$(PROGRAM): $(BUILD)/obj/builder/main.o $(BUILD)/libbuilder.a $(BUILD)/libdisk-setup.a $(BUILD)/librecipes.a
	$(say) '  LINK $@'
	@[ -e $(BUILD)/../recipes/factors ] || ln -sfn $(CURDIR)/recipes $(BUILD)/recipes # a BUILD elsewhere finds its data
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(call pc,--libs,$(LIBS_builder) $(LIBS_disk-setup) $(LIBS_recipes)) -lm

# Commands that share code with the guest are programs of their own (builder/external.h), each a file of initrd/commands.
COMMANDS := $(patsubst initrd/commands/%.c,$(BUILD)/libexec/mkbenchenv-%,$(wildcard initrd/commands/*.c))
commands: $(COMMANDS)
$(COMMANDS): $(BUILD)/libexec/mkbenchenv-%: $(BUILD)/obj/initrd/commands/%.o $(BUILD)/libinitrd.a $(BUILD)/libdisk-setup.a \
	$(BUILD)/librecipes.a
	@mkdir -p $(@D)
	$(say) '  LINK $@'
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(call pc,--libs,$(LIBS_initrd) $(LIBS_disk-setup) $(LIBS_recipes)) -lm

include initrd/guest.mk
include .ci/project.mk
include tests/tests.mk

help:
	@echo 'make              the program, build/mkbenchenv, and the programs of the guest'
	@echo 'make run          install what is missing, build, make an image of a shipped recipe, boot it, show its manifest'
	@echo 'make test         all tests, at most 15 minutes; make test-unit only those of the parts'
	@echo 'make test-long    also fuzzing, power cuts and many builds'
	@echo 'make bench        benchmarks beside a peer or a limit'
	@echo 'make format lint  style'
	@echo 'make install      PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)'

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
