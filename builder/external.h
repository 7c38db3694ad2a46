/* Commands that are programs of their own: they share code with the guest's, which mkbenchenv itself is not linked
 * with. */
#ifndef BE_EXTERNAL_H
#define BE_EXTERNAL_H

/*
 * Becomes the program mkbenchenv-NAME, NAME being argv[0]. It sees "mkbenchenv NAME" as its name, and in
 * MKBENCHENV_DATA where the shipped documents lie. Returns only when that failed: an exit status, after a message.
 */
int be_external(int argc, char **argv);

#endif
