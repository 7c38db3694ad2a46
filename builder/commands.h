/* The subcommands of mkbenchenv. Each gets its arguments with argv[0] the subcommand's name and returns an exit status.
 */
#ifndef BE_COMMANDS_H
#define BE_COMMANDS_H

#include "base/error.h"

int be_cmd_build(int argc, char **argv);     /* mkbenchenv JOB -o IMAGE */
int be_cmd_plan(int argc, char **argv);      /* mkbenchenv plan JOB [--shell] */
int be_cmd_check(int argc, char **argv);     /* mkbenchenv check JOB */
int be_cmd_jobs(int argc, char **argv);      /* mkbenchenv jobs JOB [--json] */
int be_cmd_boot(int argc, char **argv);      /* mkbenchenv boot IMAGE -o RESULT */
int be_cmd_inventory(int argc, char **argv); /* mkbenchenv inventory -o IMAGE */
int be_cmd_lava(int argc, char **argv);      /* mkbenchenv lava IMAGE */
int be_cmd_serve(int argc, char **argv);     /* mkbenchenv serve IMAGE... --interface IF -o RESULTS */
int be_cmd_receive(int argc, char **argv);   /* mkbenchenv receive CONSOLE-LOG -o RESULT */
int be_cmd_verify(int argc, char **argv);    /* mkbenchenv verify IMAGE|MANIFEST [--rebuild] */
int be_cmd_pack(int argc, char **argv);      /* mkbenchenv pack MANIFEST -o BUNDLE */
int be_cmd_cache(int argc, char **argv);     /* mkbenchenv cache [--prune AGE|SIZE] */
int be_cmd_diff(int argc, char **argv);      /* mkbenchenv diff A B */
int be_cmd_import(int argc, char **argv);    /* mkbenchenv import MAIL -o JOB */
int be_cmd_show(int argc, char **argv);      /* mkbenchenv show MANIFEST|RESULT|IMAGE */
int be_cmd_scrub(int argc, char **argv);     /* mkbenchenv scrub MANIFEST|RESULT|IMAGE */
int be_cmd_explain(int argc, char **argv);   /* mkbenchenv explain [FACTOR] */

#endif
