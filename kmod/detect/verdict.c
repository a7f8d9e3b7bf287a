// SPDX-License-Identifier: GPL-2.0
/*
 * Contents of a verdict: adding gates and factors, and hiding factors. A verdict has space
 * for as many as a policy can add. A gate or factor beyond that is dropped, and never
 * written out of bounds; v->dropped then tells the caller.
 *
 * Context: any; pure. No locks.
 */
#include "detect.h"

/**
 * seep_add_gate() - add a gate that was evaluated
 * @v: the gate is added; v->dropped is set if there is no room for it
 * @id: enum seepage_gate
 * @passed: it does not veto an alert
 * @value: the figure that it compares, in the unit of names.h
 * @limit: what @value is compared with
 */
void seep_add_gate(struct seep_verdict *v, u8 id, bool passed, s64 value, s64 limit)
{
	struct seep_gate *g = &v->gate[v->ngates];

	if (v->ngates >= SEEP_MAX_GATES) {
		v->dropped = true;
		return;
	}
	v->ngates++;
	g->id = id;
	g->passed = passed;
	g->reached = true;
	g->value = value;
	g->limit = limit;
}

/**
 * seep_add_gate_unreached() - add a gate that vetoes because its figures are not known
 * @v: as for seep_add_gate()
 * @id: enum seepage_gate
 */
void seep_add_gate_unreached(struct seep_verdict *v, u8 id)
{
	u8 n = v->ngates;

	seep_add_gate(v, id, false, 0, 0);
	if (v->ngates > n)
		v->gate[n].reached = false;
}

/**
 * seep_add_factor() - add a factor
 * @v: the factor is added; v->dropped is set if there is no room for it
 * @id: enum seepage_factor
 * @points: for a leak, or against it if negative
 * @max: the most points that this factor gives
 * @value: its figure, in the unit of names.h
 * @baseline: what @value is compared with
 *
 * Return: @points; 0 where there is no room for the factor.
 */
int seep_add_factor(struct seep_verdict *v, u8 id, s8 points, u8 max, s64 value, s64 baseline)
{
	struct seep_factor *f = &v->factor[v->nfactors];

	if (v->nfactors >= SEEP_MAX_FACTORS) {
		v->dropped = true;
		return 0;
	}
	v->nfactors++;
	f->id = id;
	f->points = points;
	f->max = max;
	f->value = value;
	f->baseline = baseline;
	return points;
}

/**
 * seep_verdict_hide() - remove factors from a verdict
 * @v: the verdict; state, confidence and gates stay
 * @factors: mask of 1 << enum seepage_factor
 */
void seep_verdict_hide(struct seep_verdict *v, u32 factors)
{
	u8 i, n = 0;

	for (i = 0; i < v->nfactors; i++)
		if (!(factors >> v->factor[i].id & 1))
			v->factor[n++] = v->factor[i];
	v->nfactors = n;
}
