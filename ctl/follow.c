// SPDX-License-Identifier: GPL-2.0
/*
 * Which alerts have been seen. They come twice, from the ring and from the
 * multicast group, in order within each; the sequence number says which are
 * new. A module that was loaded again is another instance and starts at 1,
 * while multicasts of the one before it may still be waiting in the socket.
 */
#include <string.h>
#include "ctl.h"

void follow_begin(struct follow *f, u64 instance, u64 next)
{
	memset(f, 0, sizeof(*f));
	f->instance = instance;
	f->next = next;
}

/* @instance is that of the module now. True: it is another load of it. */
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

/* @seq is being shown. Returns how many just before it will never be. */
u64 follow_take(struct follow *f, u64 seq)
{
	u64 lost = f->next && seq > f->next ? seq - f->next : 0;

	f->next = seq + 1;
	return lost;
}

/* A multicast of the instance before: is it new? */
bool follow_take_old(struct follow *f, u64 instance, u64 seq)
{
	if (!f->old_instance || instance != f->old_instance || seq < f->old_next)
		return false;
	f->old_next = seq + 1;
	return true;
}
