// SPDX-License-Identifier: GPL-2.0
/* What silences and acknowledgments are compared with, from a message of the module. */
#include <string.h>
#include "quiet/quiet.h"

/*
 * Fills @s for a process or an alert. @instance: of the module's load; an alert carries its own.
 * @p: where the process is, as place_find() found it
 */
void quiet_of(const struct message *msg, const struct place *p, u64 instance,
	      struct quiet_room *room, struct quiet_subject *s)
{
	u64 when = msg_get(msg, SEEPAGE_A_TIME_NS, clock_real_ns());
	const char *comm = NULL;
	size_t n = msg_string(msg, SEEPAGE_A_COMM, &comm);

	memset(s, 0, sizeof(*s));
	n = n < sizeof(room->comm) ? n : sizeof(room->comm) - 1;
	if (comm)
		memcpy(room->comm, comm, n);
	room->comm[comm ? n : 0] = '\0';
	unit_of(p->cgroup, &room->unit);
	s->comm = room->comm;
	s->cgroup = p->cgroup;
	s->unit = p->cgroup ? room->unit.name : msg->unit;
	s->unit_uid = room->unit.of_user;
	s->has_uid = msg_u64(msg, SEEPAGE_A_UID, &s->uid);
	s->instance = msg_get(msg, SEEPAGE_A_INSTANCE, instance);
	s->pid = msg_pid(msg);
	s->cgroup_id = msg_get(msg, SEEPAGE_A_CGROUP_ID, 0);
	s->begun_s = (s64)(when / QUIET_NS) - (s64)msg_age(msg);
	s->of_group = msg_subject(msg) == SEEPAGE_SUBJECT_GROUP;
}
