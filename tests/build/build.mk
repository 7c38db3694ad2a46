# Images of the shipped recipes: the same bytes for everybody, every form of kernel, what goes wrong and what is left then.
# Packages come from the machine's own mirror.
.PHONY: test-build
TESTS += test-build

test-build: programs guest
	@tests/build/test-build $(PROGRAM) $(GUEST)
