# The guest's programs: linked against the building machine's libraries, with an interpreter and library folder of their own,
# so that they do not depend on the image's packages (there are no static libmount and libkmod on Debian).
.PHONY: guest
guest:
