// SPDX-License-Identifier: GPL-2.0
/* Marks processes with a silence or an acknowledgment. */
#include <string.h>
#include "quiet/quiet.h"
#include "top/top.h"

static struct quiet quiet;

static u64 load_of(const struct top_data *d)
{
	return d->has_status ? msg_get(&d->status, SEEPAGE_A_INSTANCE, 0) : 0;
}

static struct json_object *look(const struct quiet_subject *s, char *mark)
{
	struct json_object *o = quiet_silence(&quiet, s, clock_real_ns());

	*mark = o ? 's' : '\0';
	if (o)
		return o;
	o = quiet_ack(&quiet, s);
	*mark = o ? 'a' : '\0';
	return o;
}

/* Marks those of @d that are under alert. Only for them /proc is asked. */
void quiet_mark(struct top_data *d)
{
	struct quiet_subject s;
	struct quiet_room room;
	struct place p;
	size_t i;

	quiet_look(&quiet);
	d->silenced = 0;
	d->acked = 0;
	for (i = 0; (quiet.o || quiet.policies.o) && i < d->n; i++) {
		u64 state = msg_get(&d->msg[i], SEEPAGE_A_STATE, SEEPAGE_STATE_OK);

		if (!state_is_alert((unsigned int)state))
			continue;
		place_find(&d->msg[i], false, &p);
		quiet_of(&d->msg[i], &p, load_of(d), &room, &s);
		look(&s, &d->msg[i].quiet);
		d->silenced += d->msg[i].quiet == 's';
		d->acked += d->msg[i].quiet == 'a';
		place_free(&p);
	}
}

/* Writes "silenced by ..." or "acknowledged by ..." about the process of @d->one, or nothing. */
void quiet_text(const struct top_data *d, char *buf, size_t size)
{
	struct quiet_subject s;
	struct quiet_room room;
	struct json_object *o;
	char mark, text[6 * QUIET_TEXT];

	*buf = '\0';
	if (!state_is_alert((unsigned int)msg_get(&d->one, SEEPAGE_A_STATE, SEEPAGE_STATE_OK)))
		return;
	quiet_of(&d->one, &d->place, load_of(d), &room, &s);
	o = look(&s, &mark);
	if (mark == 's')
		quiet_silence_text(o, text, sizeof(text));
	else if (mark)
		quiet_ack_text(o, text, sizeof(text));
	if (mark)
		snprintf(buf, size, "%s %s", mark == 's' ? "silenced" : "acknowledged", text);
}
