// SPDX-License-Identifier: GPL-2.0
/*
 * Finds out which alerts are new. Each alert arrives twice, from the ring and from
 * the multicast group, and each source keeps the order. The sequence number tells
 * which alerts were already printed. A reloaded module is another instance and
 * starts at 1, while multicasts of the previous instance may still wait in the
 * socket.
 */
#include <string.h>
#include "ctl.h"

void follow_begin(struct follow *f, u64 instance, u64 next)
{
	memset(f, 0, sizeof(*f));
	f->instance = instance;
	f->next = next;
}

/* @instance: of the loaded module. Returns true if the module was reloaded. */
bool follow_reloaded(struct follow *f, u64 instance)
{
	if (f->instance == instance)
		return false;
	f->old_instance = f->instance;
	f->old_next = f->next;
	f->instance = instance;
	f->next = 1;
	return true;
}

enum follow_what follow_look(const struct follow *f, u64 instance, u64 seq)
{
	if (instance != f->instance)
		return FOLLOW_FOREIGN;
	if (!f->next || seq == f->next)
		return FOLLOW_NEW;
	return seq < f->next ? FOLLOW_SEEN : FOLLOW_GAP;
}

/* Marks @seq as printed. Returns the number of alerts lost just before it. */
u64 follow_take(struct follow *f, u64 seq)
{
	u64 lost = f->next && seq > f->next ? seq - f->next : 0;

	f->next = seq + 1;
	return lost;
}

/* Returns true if @seq is a new alert of the previous instance; marks it as printed. */
bool follow_take_old(struct follow *f, u64 instance, u64 seq)
{
	if (!f->old_instance || instance != f->old_instance || seq < f->old_next)
		return false;
	f->old_next = seq + 1;
	return true;
}
