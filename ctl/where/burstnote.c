// SPDX-License-Identifier: GPL-2.0
/* What the answer says of a burst: its samples, what ended it, and where its probes were. */
#include <stdio.h>
#include "where/burst.h"

/* Names the functions that had probes. */
void burst_probe_note(const struct probes *p, struct result *r)
{
	char text[400] = "";
	size_t n = 0;
	u32 i;

	for (i = 0; i < p->n && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s", i ? ", " : "",
				      p->name[i], p->emulated[i] ? "" : " (single-stepped)");
	result_note(r, "probes: %s", text);
}

/* Says what a burst found. @pool: on the function of pymalloc that begins a pool */
void burst_notes(const struct burst *b, const struct burst_limits *l, bool pool, struct result *r)
{
	char sizes[64] = "all sizes";

	if (pool)
		snprintf(sizes, sizeof(sizes), "up to %llu bytes", (l->lo + 1) * 16);
	else if (l->hi != UINT64_MAX)
		snprintf(sizes, sizeof(sizes), "%llu..%llu bytes", l->lo, l->hi);
	result_note(r, "burst on blocks of %s: %zu samples of %llu %s, "
		    "%llu traps in %u rounds, armed for %.2f s in all; last, ended by %s",
		    sizes, b->n, b->matched,
		    pool ? "new pools of pymalloc, 16 KiB each" : "calls", b->traps, b->rounds,
		    (double)b->armed_ns / 1e9, burst_reason(b->reason));
	if (b->inherited)
		result_note(r, "burst: %llu traps of children, which inherit breakpoints",
			    b->inherited);
}
