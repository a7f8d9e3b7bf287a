// SPDX-License-Identifier: GPL-2.0
/* seepage doctor: what this machine offers and lacks, each with its remedy. */
#include <stdlib.h>
#include "doctor/doctor.h"
#include "tools.h"

static void (*const checks[])(struct doctor *d) = {
	doctor_module, doctor_work, doctor_alerts, doctor_watch, doctor_told, doctor_table,
	doctor_hook, doctor_pmu, doctor_kernel_log, doctor_lockdown, doctor_secure_boot,
	doctor_signature, doctor_dkms, doctor_headers, doctor_config, doctor_debugfs,
	doctor_rights, doctor_where, doctor_symbols,
};

static int run(struct ctx *ctx, int argc, char **argv)
{
	const char *root = secure_getenv("SEEPAGE_ROOT");
	struct doctor *d = must(calloc(1, sizeof(*d)));
	int status;
	size_t i;

	d->root = root ? root : "";
	doctor_begin(d);
	doctor_ask(d);
	for (i = 0; i < ARRAY_SIZE(checks); i++)
		checks[i](d);
	if (ctx->json)
		doctor_json(ctx, d);
	else
		doctor_print(d);
	status = doctor_count(d, DOCTOR_BAD) ? 1 : 0;
	free(d);
	return status;
}

const struct command cmd_doctor = {
	TOOL_DOCTOR,
	.more = "Each line is ok, warn, bad or unknown; a remedy stands below it. Nothing is\n"
		"changed, and neither the module nor a capability is needed, but as root it sees\n"
		"more. The status is 1 if a line is bad.",
	.run = run,
};
