// SPDX-License-Identifier: GPL-2.0
/*
 * report with a made-up module, which has two alerts about process $FIXTURE_PID: #1 suspected,
 * 100 s ago at an age of 50 s, and #2 confirmed, 50 s ago. $FIXTURE says what has become of it:
 * "lives", since $FIXTURE_AGE seconds, "exited", as alert #3 says, or "gone", of which no alert is
 * held.
 */
#include <stdlib.h>
#include "../unit/module.h"

#define S	1000000000ULL

static void __attribute__((constructor)) fill(void)
{
	const char *what = getenv("FIXTURE"), *pid = getenv("FIXTURE_PID");
	const char *age = getenv("FIXTURE_AGE");
	u64 now = clock_real_ns();

	if (!what)
		return;
	if (pid)
		module_pid = (u32)atol(pid);
	module_alert(SEEPAGE_STATE_SUSPECTED, 50, now - 100 * S);
	module_alert(SEEPAGE_STATE_CONFIRMED, 100, now - 50 * S);
	if (!strcmp(what, "exited"))
		module_alert(SEEPAGE_STATE_EXITED, 120, now - 30 * S);
	else if (!strcmp(what, "lives"))
		module_process(SEEPAGE_STATE_CONFIRMED, age ? (u64)atol(age) : 150);
}
