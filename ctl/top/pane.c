// SPDX-License-Identifier: GPL-2.0
/*
 * The pane below the list: why the selected process is under alert or not, and its counters.
 */
#include <stdlib.h>
#include <string.h>
#include "top/top.h"

#define LABEL	12	/* columns of a label */

static void add_one(struct top_lines *l, const char *text)
{
	l->v = must(realloc(l->v, (l->n + 1) * sizeof(*l->v)));
	l->v[l->n++] = must(strdup(text));
}

/* Returns the bytes of @s that fit into @columns columns, cut at a blank where there is one. */
static size_t fitting(const char *s, size_t columns, bool utf8)
{
	char text[SCREEN_TEXT];
	size_t n, blank;

	text_cut(text, sizeof(text), s, columns, true);
	n = strlen(text);
	if (!utf8) {
		for (n = 0, blank = 0; s[n] && blank < columns; n++)
			blank += (s[n + 1] & 0xc0) != 0x80;
	}
	if (!s[n])
		return n;
	for (blank = n; blank && s[blank] != ' '; blank--)
		;
	return blank ? blank : n ? n : 1;
}

/* Adds text of any length in lines of @columns; those after the first are indented. */
void lines_add(struct top_lines *l, const char *text, size_t columns, size_t indent, bool utf8)
{
	char line[SCREEN_TEXT];
	bool first = true;
	size_t n;

	if (indent + 10 > columns)
		indent = 0;
	do {
		n = fitting(text, columns - (first ? 0 : indent), utf8);
		snprintf(line, sizeof(line), "%*s%.*s", first ? 0 : (int)indent, "", (int)n, text);
		add_one(l, line);
		text += n;
		text += strspn(text, " ");
		first = false;
	} while (*text);
}

void lines_free(struct top_lines *l)
{
	while (l->n)
		free(l->v[--l->n]);
	free(l->v);
	l->v = NULL;
}

struct pane {
	struct top_lines *l;
	const struct top_view *v;
};

static void say(const struct pane *p, const char *text)
{
	lines_add(p->l, text, p->v->cols, 2, p->v->utf8);
}

static void labelled(const struct pane *p, const char *label, const char *text)
{
	char line[SENTENCE_MAX + TEXT_MAX];

	snprintf(line, sizeof(line), "  %-*s%s", LABEL - 2, label, text);
	lines_add(p->l, line, p->v->cols, LABEL, p->v->utf8);
}

static void gates(const struct pane *p, const struct message *msg)
{
	struct gate g[MSG_LIST_MAX];
	unsigned int n = msg_gates(msg, g), i;
	char text[SENTENCE_MAX], line[SENTENCE_MAX + TEXT_MAX];

	if (n)
		say(p, "Gates:");
	for (i = 0; i < n; i++) {
		sentence_gate(&g[i], text, sizeof(text));
		snprintf(line, sizeof(line), "%s, %s", sentence_gate_word(&g[i]), text);
		labelled(p, gate_name(g[i].id) ? gate_name(g[i].id) : "?", line);
	}
}

static void factors(const struct pane *p, const struct message *msg)
{
	struct factor f[MSG_LIST_MAX];
	unsigned int n = msg_factors(msg, f), i;
	char text[SENTENCE_MAX], points[FIGURE_MAX], line[SENTENCE_MAX + TEXT_MAX];

	if (n)
		say(p, "Factors, points of the maximum:");
	for (i = 0; i < n; i++) {
		sentence_factor(&f[i], text, sizeof(text));
		snprintf(line, sizeof(line), "%s, %s", sentence_points(&f[i], points), text);
		labelled(p, factor_name(f[i].id) ? factor_name(f[i].id) : "?", line);
	}
}

static void level(const struct pane *p, const struct level *l)
{
	char line[SPARK_MAX + TEXT_MAX], picture[SPARK_MAX], text[TEXT_MAX];
	u64 least = UINT64_MAX, most = 0;
	unsigned int i;

	for (i = 0; i < l->n; i++) {
		least = l->minima[i] < least ? l->minima[i] : least;
		most = l->minima[i] > most ? l->minima[i] : most;
	}
	spark(picture, l->minima, l->n, l->n, p->v->utf8);
	snprintf(line, sizeof(line), "%s  ", picture);
	sentence_append(line, sizeof(line), "%s", fmt_bytes(text, sizeof(text), least));
	sentence_append(line, sizeof(line), " to %s", fmt_bytes(text, sizeof(text), most));
	fmt_ms(text, sizeof(text), l->epoch_ms);
	labelled(p, text, line);
}

/* Floors of the detector: how long an epoch is, then its minima, the newest at the right */
static void floors(const struct pane *p, const struct message *msg)
{
	struct level l[MSG_LIST_MAX];
	unsigned int n = msg_levels(msg, l), i;

	if (n)
		say(p, "Floors, the minimum of each time, the newest at the right:");
	for (i = 0; i < n; i++)
		if (l[i].n)
			level(p, &l[i]);
}

static void identity(const struct pane *p, const struct top_data *d)
{
	const struct message *msg = &d->one;
	const struct place *place = &d->place;
	char text[4 * TEXT_MAX];

	column_text(msg, COLUMN_USER, text);
	labelled(p, "user", text);
	column_text(msg, COLUMN_UNIT, text);
	if (strcmp(text, "-"))
		labelled(p, "unit", text);
	if (*d->container)
		labelled(p, "container", fmt_safe(text, sizeof(text), d->container,
						  strlen(d->container)));
	if (place->exe)
		labelled(p, "program", fmt_safe(text, sizeof(text), place->exe,
						strlen(place->exe)));
	if (place->cgroup)
		labelled(p, "cgroup", fmt_safe(text, sizeof(text), place->cgroup,
					       strlen(place->cgroup)));
}

/* Commands for an operator, as explain prints them, without what each is for. */
static void next(const struct pane *p, const struct top_data *d)
{
	struct next_steps n;
	unsigned int i;

	next_steps(&d->one, &d->place, 0, &n);
	if (n.n)
		say(p, "What can be done (explain says what for):");
	for (i = 0; i < n.n; i++)
		labelled(p, "", n.step[i].command);
}

static void explain(const struct pane *p, const struct top_data *d)
{
	const struct message *msg = &d->one;
	char text[2 * SENTENCE_MAX];

	sentence_headline(msg, text, SENTENCE_MAX);
	say(p, text);
	sentence_verdict(msg, text, SENTENCE_MAX);
	say(p, text);
	quiet_text(d, text, sizeof(text));
	if (*text)
		say(p, text);
	identity(p, d);
	floors(p, msg);
	gates(p, msg);
	factors(p, msg);
	sentence_change(msg, text, SENTENCE_MAX);
	say(p, "What would change the verdict:");
	labelled(p, "", text);
	next(p, d);
}

static void hardware(const struct pane *p, const struct message *msg)
{
	struct seepage_pmc_value value[PMC_EVENTS];
	unsigned int n = pmc_values(msg, value), i;
	struct seepage_pmc_baseline b;
	char text[SENTENCE_MAX];

	say(p, n ? "Hardware counters:" : "Hardware counters: none (see seepage status)");
	for (i = 0; i < n; i++) {
		if (pmc_unavailable(&msg->pmc->ev[i]) && !value[i].count)
			snprintf(text, sizeof(text), "%-20s -", msg->pmc->ev[i].name);
		else
			snprintf(text, sizeof(text), "%-20s %llu", msg->pmc->ev[i].name,
				 value[i].count);
		labelled(p, "", text);
	}
	if (!pmc_baseline(msg, &b))
		return;
	sentence_baseline(&b, text, sizeof(text));
	labelled(p, "usual", text);
	pmc_signals_text(&b, ' ', text, sizeof(text));
	if (*text)
		labelled(p, "unusual", text);
}

/* Two figures a line where they fit */
static void counters(const struct pane *p, const struct message *msg)
{
	static const u8 ids[] = {
		SEEPAGE_A_RSS_BYTES, SEEPAGE_A_ANON_BYTES, SEEPAGE_A_FILE_BYTES,
		SEEPAGE_A_SHMEM_BYTES, SEEPAGE_A_SWAP_BYTES, SEEPAGE_A_VSZ_BYTES,
		SEEPAGE_A_BRK_BYTES, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, SEEPAGE_A_FAULTS_USER,
		SEEPAGE_A_FAULTS_KERNEL, SEEPAGE_A_FAULTS_ANON, SEEPAGE_A_FAULTS_FILE,
		SEEPAGE_A_FAULT_RATE, SEEPAGE_A_AGE_SECONDS,
	};
	unsigned int a_line = p->v->cols >= 76 ? 2 : 1;
	char text[TEXT_MAX], line[2 * TEXT_MAX] = "";
	size_t i;

	sentence_headline(msg, line, sizeof(line));
	say(p, line);
	*line = '\0';
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		attr_text(ids[i], msg->a[ids[i]], false, text, sizeof(text));
		sentence_append(line, sizeof(line), "  %-15s%-21.21s", attr_table[ids[i]].text,
				text);
		if ((i + 1) % a_line && i + 1 < ARRAY_SIZE(ids))
			continue;
		add_one(p->l, line);
		*line = '\0';
	}
	hardware(p, msg);
}

static void unit_sums(const struct pane *p, const struct top_line *line)
{
	char text[TEXT_MAX], out[SENTENCE_MAX];
	u64 count[__SEEPAGE_STATE_MAX] = { 0 }, state;
	size_t i, end = line->unit->first + line->unit->n;

	column_text(line->msg, COLUMN_UNIT, text);
	snprintf(out, sizeof(out), "%s: %zu processes", text, line->unit->n);
	column_text(line->msg, SEEPAGE_A_RSS_BYTES, text);
	sentence_append(out, sizeof(out), ", RSS %s", text);
	column_text(line->msg, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, text);
	sentence_append(out, sizeof(out), ", growth %s an hour in all", text);
	say(p, out);
	for (i = line->unit->first; i < end && i < p->v->n; i++) {
		state = msg_get(&p->v->msg[i], SEEPAGE_A_STATE, SEEPAGE_STATE_OK);
		if (state < __SEEPAGE_STATE_MAX)
			count[state]++;
	}
	for (i = 0; i < __SEEPAGE_STATE_MAX; i++) {
		snprintf(text, sizeof(text), "%llu", count[i]);
		if (count[i])
			labelled(p, state_name((unsigned int)i), text);
	}
}

/* Makes the lines of the page that is open. */
void pane_make(struct top_lines *l, const struct top_view *v, const struct top_data *d)
{
	const struct top_line *line = v->cursor < v->n_lines ? &v->line[v->cursor] : NULL;
	const struct pane p = { l, v };
	bool known = d->has_one && msg_get(&d->one, SEEPAGE_A_PID, 0) == v->pid;

	if (!line)
		say(&p, "No process is selected.");
	else if (line->unit)
		unit_sums(&p, line);
	else if (v->page == PAGE_COUNTERS)
		counters(&p, known ? &d->one : line->msg);
	else if (known)
		explain(&p, d);
	else
		say(&p, "The process has ended, or was not read yet.");
}
