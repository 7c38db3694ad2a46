/*
 * The run itself, in a child of PID 1: plan, modules, udev, settings, disk-setup, observation, workload, observation.
 * Whatever fails, the run ends with an after.yaml that says where and why.
 */
#ifndef BE_RUNNER_H
#define BE_RUNNER_H

/* Does the whole run; @link is the runner's end of the socket pair (initrd/link.h). Returns an exit status. */
int be_runner_main(int link);

#endif
