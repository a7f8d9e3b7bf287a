// SPDX-License-Identifier: GPL-2.0
/*
 * A chart of bytes, or of a number, over time as SVG. Bands below the lines show the states,
 * vertical lines the alerts. Lines differ in colour and in their dashes. A line of many points is
 * drawn by the least and the most of each column of two pixels.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report/report.h"

#define WIDTH	1000
#define HEIGHT	276
#define LEFT	86	/* of the frame, with room for its figures */
#define RIGHT	12
#define TOP	34
#define BOTTOM	58	/* with three lines of text */
#define COLUMNS	((WIDTH - LEFT - RIGHT) / 2)
#define LABEL	74	/* least distance between two labels of alerts */

static const char *const strokes[CHART_LINES] = { "#0b57a4", "#7a4f9a", "#9a6a00", "#2d7d46" };
static const char *const dashes[CHART_LINES] = { "", "6 3", "2 3", "8 3 2 3" };

struct scale {
	double x0, x1, y1;
};

void chart_add(struct chart_line *l, double x, double y)
{
	if (l->n == l->capacity) {
		l->capacity = l->capacity ? 2 * l->capacity : 64;
		l->p = must(realloc(l->p, l->capacity * sizeof(*l->p)));
	}
	l->p[l->n++] = (struct chart_point){ x, y };
}

void chart_mark(struct chart *c, double x, unsigned int state, const char *label)
{
	if (c->marks == c->marks_capacity) {
		c->marks_capacity = c->marks_capacity ? 2 * c->marks_capacity : 16;
		c->mark = must(realloc(c->mark, c->marks_capacity * sizeof(*c->mark)));
	}
	c->mark[c->marks] = (struct chart_mark){ .x = x, .state = state };
	snprintf(c->mark[c->marks].label, sizeof(c->mark->label), "%s", label);
	c->marks++;
}

void chart_free(struct chart *c)
{
	unsigned int i;

	for (i = 0; i < CHART_LINES; i++)
		free(c->line[i].p);
	free(c->mark);
	memset(c, 0, sizeof(*c));
}

/* The next of 1, 2, 4, 8, .. times a sixteenth of a power of 16: its sixteenths are round. */
static double round_up(double v, double step)
{
	while (step < v)
		step *= step < v / 16 ? 4 : 2;
	return v > step / 2 * 1.5 ? step : v > step / 2 * 1.25 ? step / 2 * 1.5 : step / 2 * 1.25;
}

static bool find_scale(const struct chart *c, struct scale *s)
{
	double most = 0;
	unsigned int i;
	size_t j, all = 0;

	for (i = 0; i < c->lines; i++) {
		const struct chart_line *l = &c->line[i];

		for (j = 0; j < l->n; j++) {
			if (!all++)
				s->x0 = l->p[j].x;
			s->x1 = all == 1 ? s->x0 : s->x1;
			s->x0 = fmin(s->x0, l->p[j].x);
			s->x1 = fmax(s->x1, l->p[j].x);
			most = fmax(most, l->p[j].y);
		}
	}
	if (s->x1 <= s->x0)
		s->x1 = s->x0 + 1;
	s->y1 = round_up(most, c->counts ? 16 : 4096);
	return all;
}

static double at_x(const struct scale *s, double x)
{
	double share = (x - s->x0) / (s->x1 - s->x0);

	return LEFT + fmin(fmax(share, 0), 1) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct scale *s, double y)
{
	return HEIGHT - BOTTOM - y / s->y1 * (HEIGHT - BOTTOM - TOP);
}

/* A label of the axis of time; @i: the first is 0, the last 4 */
static void below(FILE *f, const struct scale *s, int i, double x, int down, const char *sign,
		  const char *text)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s%s</text>\n", at_x(s, x),
		HEIGHT - BOTTOM + down, !i ? "start" : i == 4 ? "end" : "middle", sign, text);
}

/* The time of day at @x. The first label, and each on another day than the first, has the date. */
static const char *clock_at(const struct chart *c, const struct scale *s, double x, int i,
			    char *text, size_t size)
{
	char first[64];

	fmt_time(first, sizeof(first), c->zero_ns + (u64)(s64)(s->x0 * 1e9));
	fmt_time(text, size, c->zero_ns + (u64)(s64)(x * 1e9));
	return i && strlen(text) > 11 && !strncmp(first, text, 11) ? text + 11 : text;
}

static void axes(FILE *f, const struct chart *c, const struct scale *s)
{
	char text[64];
	int i;

	for (i = 0; i <= 4; i++) {
		double y = at_y(s, s->y1 * i / 4);

		if (c->counts)
			snprintf(text, sizeof(text), "%.0f", s->y1 * i / 4);
		else
			fmt_bytes(text, sizeof(text), (u64)(s->y1 * i / 4));
		fprintf(f, "<path d=\"M%d %.1fH%d\" stroke=\"#dde\"/><text x=\"%d\" y=\"%.1f\" "
			"text-anchor=\"end\">%s</text>\n", LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4,
			text);
	}
	for (i = 0; i <= 4; i++) {
		double x = s->x0 + (s->x1 - s->x0) * i / 4;

		fmt_seconds(text, sizeof(text), (u64)fabs(x));
		below(f, s, i, x, 15, x <= -1 ? "-" : "", text);
		if (c->zero_ns)
			below(f, s, i, x, 31, "", clock_at(c, s, x, i, text, sizeof(text)));
	}
	fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s%s%s</text>\n", WIDTH / 2,
		HEIGHT - BOTTOM + 48, c->x_name, c->zero_ns ? "; time of day " : "",
		c->zero_ns ? html_zone() : "");
}

static const char *band(unsigned int state)
{
	if (state == SEEPAGE_STATE_WATCH)
		return "#fff6d6";
	if (state == SEEPAGE_STATE_RUNAWAY)
		return "#f3b3a8";
	if (state == SEEPAGE_STATE_CONFIRMED)
		return "#f9cfae";
	return state_is_alert(state) ? "#fbe3cd" : NULL;
}

/* A band from each mark to the next, with the name of the state as its title */
static void states(FILE *f, const struct chart *c, const struct scale *s)
{
	double labelled = -LABEL;
	size_t i;

	for (i = 0; i < c->marks; i++) {
		double x = at_x(s, c->mark[i].x);
		double end = i + 1 < c->marks ? at_x(s, c->mark[i + 1].x) : WIDTH - RIGHT;
		const char *fill = band(c->mark[i].state);

		if (fill)
			fprintf(f, "<rect class=\"band\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
				"height=\"%d\" fill=\"%s\"><title>%s</title></rect>\n", x, TOP,
				fmax(end - x, 0.5), HEIGHT - BOTTOM - TOP, fill,
				state_name(c->mark[i].state));
	}
	for (i = 0; i < c->marks; i++) {
		double x = at_x(s, c->mark[i].x);

		if (!*c->mark[i].label)
			continue;
		fprintf(f, "<path class=\"alert\" d=\"M%.1f %dV%d\" stroke=\"#a11\" "
			"stroke-dasharray=\"3 2\"/>\n", x, TOP - 6, HEIGHT - BOTTOM);
		if (x - labelled < LABEL)
			continue;
		labelled = x;
		fprintf(f, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">", x, TOP - 9,
			x > WIDTH - 60 ? "end" : "middle");
		html_text(f, c->mark[i].label);
		fputs("</text>\n", f);
	}
}

static void draw_line(FILE *f, const struct chart_line *l, const struct scale *s, unsigned int n)
{
	double least = 0, most = 0;
	long column = -1, here;
	size_t i;

	fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" "
		"stroke-dasharray=\"%s\" points=\"", strokes[n], dashes[n]);
	for (i = 0; i < l->n; i++) {
		here = lround((at_x(s, l->p[i].x) - LEFT) / 2);
		if (l->n <= COLUMNS) {
			fprintf(f, "%.1f,%.1f ", at_x(s, l->p[i].x), at_y(s, l->p[i].y));
			continue;
		}
		if (here != column) {
			least = l->p[i].y;
			most = least;
			column = here;
		}
		least = fmin(least, l->p[i].y);
		most = fmax(most, l->p[i].y);
		if (i + 1 == l->n || lround((at_x(s, l->p[i + 1].x) - LEFT) / 2) != column)
			fprintf(f, "%ld,%.1f %ld,%.1f ", LEFT + 2 * column, at_y(s, least),
				LEFT + 2 * column, at_y(s, most));
	}
	fputs("\"/>\n", f);
	for (i = 0; l->dots && i < l->n; i++)
		fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.4\" fill=\"%s\"/>\n",
			at_x(s, l->p[i].x), at_y(s, l->p[i].y), strokes[n]);
}

static void legend(FILE *f, const struct chart *c)
{
	unsigned int i;

	for (i = 0; i < c->lines; i++)
		fprintf(f, "<path d=\"M%u %dh24\" stroke=\"%s\" stroke-width=\"2\" "
			"stroke-dasharray=\"%s\"/><text x=\"%u\" y=\"%d\">%s</text>\n",
			LEFT + 190 * i, 8, strokes[i], dashes[i], LEFT + 30 + 190 * i, 12,
			c->line[i].name);
}

/* Takes out the lines that are 0 all the time. */
void chart_prune(struct chart *c)
{
	unsigned int i, kept = 0;
	size_t j;

	for (i = 0; i < c->lines; i++) {
		struct chart_line l = c->line[i];

		for (j = 0; j < l.n && l.p[j].y <= 0; j++)
			;
		c->line[i] = c->line[kept];
		c->line[kept] = l;
		kept += j < l.n;
	}
	c->lines = kept;
}

/* Draws nothing if there is no point. */
void chart_draw(FILE *f, const struct chart *c)
{
	struct scale s = { 0 };
	unsigned int i;

	if (!find_scale(c, &s))
		return;
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT, WIDTH, HEIGHT);
	html_text(f, c->title);
	fputs("\">\n", f);
	states(f, c, &s);
	axes(f, c, &s);
	for (i = 0; i < c->lines; i++)
		draw_line(f, &c->line[i], &s, i);
	legend(f, c);
	fputs("</svg>\n", f);
}
