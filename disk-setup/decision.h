/* What the checks have decided, for manifests, messages and people. */
#ifndef BE_DECISION_H
#define BE_DECISION_H

#include "device.h"
#include "setup.h"

/* Adds the device to setup->found: what it is, what it carries, the decision, and each refusal with its remedy. */
void be_decision_record(struct be_setup *setup, const struct be_device *device);
/* Fails when a device is refused: the error names each with its findings, the hint says what would permit them. */
int be_decision_fail(const struct be_devices *devices, struct be_error *err) BE_MUST_CHECK;

#endif
