// SPDX-License-Identifier: GPL-2.0
/*
 * Groups under alert: processes of one name, user and cgroup of which none may be under an alert
 * of its own. The module sends no states of groups, so they are those of their newest alerts.
 */
#include <string.h>
#include "export/export.h"

static bool is_same_group(const struct message *a, const struct message *b)
{
	const char *name, *other;
	size_t len = msg_string(a, SEEPAGE_A_COMM, &name);

	return len == msg_string(b, SEEPAGE_A_COMM, &other) && name && other &&
	       !memcmp(name, other, len) &&
	       msg_get(a, SEEPAGE_A_UID, UINT64_MAX) == msg_get(b, SEEPAGE_A_UID, UINT64_MAX) &&
	       msg_get(a, SEEPAGE_A_CGROUP_ID, 0) == msg_get(b, SEEPAGE_A_CGROUP_ID, 0);
}

/*
 * Does alert @i say the state that a group is in? Alerts come by rising number. A pid may be that
 * of an older alert too, and Prometheus rejects a page with the same sample twice.
 */
static bool stands(const struct export_data *d, size_t i)
{
	const struct message *a = &d->alerts[i], *later;

	if (msg_subject(a) != SEEPAGE_SUBJECT_GROUP || !a->a[SEEPAGE_A_PID] ||
	    !state_is_alert((unsigned int)msg_state(a)))
		return false;
	for (later = a + 1; later < d->alerts + d->n_alerts; later++)
		if (msg_subject(later) == SEEPAGE_SUBJECT_GROUP &&
		    (is_same_group(a, later) || msg_pid(a) == msg_pid(later)))
			return false;
	return true;
}

static void write_group(struct prom *p, const struct message *a)
{
	const char *comm, *state = state_name((unsigned int)msg_state(a));
	size_t len = msg_string(a, SEEPAGE_A_COMM, &comm);
	struct place place;
	char text[192];

	place_find(a, false, &place);
	unit_show(place.cgroup, text, sizeof(text));
	place_free(&place);
	prom_begin(p);
	prom_label_number(p, "pid", msg_pid(a));
	prom_label(p, "comm", comm, len);
	prom_label(p, "unit", *text ? text : NULL, strlen(text));
	prom_label(p, "state", state, strlen(state));
	prom_end(p, 1, 0);
}

void export_groups(struct prom *p, const struct export_data *d)
{
	size_t i;

	prom_family(p, PROM_GAUGE, "group_state",
		    "Always 1, for each group under alert; pid is that of its oldest process.");
	for (i = 0; i < d->n_alerts; i++)
		if (stands(d, i))
			write_group(p, &d->alerts[i]);
}
