// SPDX-License-Identifier: GPL-2.0
/* Frame and tables of the page. */
#include <string.h>
#include <time.h>
#include "report/report.h"

static const char zone_letters[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";

/* Writes a string as text or attribute; what HTML does not allow becomes \xNN. */
void html_text(FILE *f, const char *s)
{
	size_t len = strlen(s), k, i;
	u32 c = 0;

	for (; len; s += k, len -= k) {
		k = utf8_char(s, len, &c);
		if (!k || is_control(c) || c == 0xfffe || c == 0xffff) {
			k = k ? k : 1;
			for (i = 0; i < k; i++)
				fprintf(f, "\\x%02x", (unsigned char)s[i]);
		} else if (c < 128 && strchr("&<>\"'", (int)c)) {
			fprintf(f, "&#%u;", c);
		} else {
			fwrite(s, 1, k, f);
		}
	}
}

/* The name of the time zone that fmt_time() prints in now, as text of the page */
const char *html_zone(void)
{
	static char name[32];
	time_t now = time(NULL);
	struct tm tm;

	if (!localtime_r(&now, &tm) || !strftime(name, sizeof(name), "%Z", &tm) ||
	    name[strspn(name, zone_letters)])
		snprintf(name, sizeof(name), "local time");
	return name;
}

static const char style[] =
	"body{font:14px/1.45 system-ui,sans-serif;color:#1b1f24;background:#fff;margin:24px auto;"
	"max-width:1040px;padding:0 16px}h1{font-size:22px}h2{font-size:17px;margin:32px 0 4px;"
	"border-top:1px solid #ccd;padding-top:16px}h3{font-size:14px;margin:14px 0 4px}"
	"table{border-collapse:collapse;margin:4px 0 8px}td,th{text-align:left;vertical-align:top;"
	"padding:2px 14px 2px 0;border-bottom:1px solid #eef}th{color:#556}td.n{text-align:right;"
	"white-space:nowrap}.m{color:#556}svg{display:block;max-width:100%;height:auto;"
	"margin:8px 0}svg text{font:11px system-ui,sans-serif;fill:#445}"
	".ok{color:#276b2e}.no{color:#a11}"
	".s{display:inline-block;padding:0 6px;border:1px solid #889;border-radius:3px}"
	".s2,.s3,.s4{background:#fbe0c8;border-color:#a50}.s4{background:#f6c0b8}"
	"@media print{h2{break-before:auto}svg,table{break-inside:avoid}}";

void html_begin(FILE *f, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n<title>", f);
	html_text(f, title);
	fprintf(f, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", style);
	html_text(f, title);
	fputs("</h1>\n", f);
}

void html_end(FILE *f)
{
	fprintf(f, "<p class=\"m\">Made by seepage %s. What the words mean: seepage-explain(8)."
		"</p>\n</body>\n</html>\n", SEEPAGE_CTL_VERSION);
}

/* A row of a table of two columns; nothing without a value. */
void html_fact(FILE *f, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	fprintf(f, "<tr><th>%s</th><td>", name);
	html_text(f, value);
	fputs("</td></tr>\n", f);
}

static void gates(FILE *f, const struct message *msg)
{
	struct gate g[MSG_LIST_MAX];
	unsigned int n = msg_gates(msg, g), i;
	char text[SENTENCE_MAX];

	if (!n)
		return;
	fputs("<h3>Gates</h3>\n<table>\n", f);
	for (i = 0; i < n; i++) {
		const char *name = gate_name(g[i].id);

		sentence_gate(&g[i], text, sizeof(text));
		fprintf(f, "<tr><td class=\"%s\">%s</td><td>%s</td><td>",
			g[i].passed ? "ok" : "no", g[i].passed ? "passed" : "closed",
			name ? name : "unknown");
		html_text(f, text);
		fputs("</td></tr>\n", f);
	}
	fputs("</table>\n", f);
}

/* Gates and factors of a verdict, as explain prints them */
void html_reasons(FILE *f, const struct message *msg)
{
	struct factor fa[MSG_LIST_MAX];
	unsigned int n = msg_factors(msg, fa), i;
	char text[SENTENCE_MAX];

	gates(f, msg);
	if (!n)
		return;
	fputs("<h3>Factors, points of the maximum</h3>\n<table>\n", f);
	for (i = 0; i < n; i++) {
		const char *name = factor_name(fa[i].id);

		sentence_factor(&fa[i], text, sizeof(text));
		if (fa[i].max)
			fprintf(f, "<tr><td class=\"n\">%d/%u</td>", fa[i].points, fa[i].max);
		else
			fputs("<tr><td class=\"n\">-</td>", f);
		fprintf(f, "<td>%s</td><td>", name ? name : "unknown");
		html_text(f, text);
		fputs("</td></tr>\n", f);
	}
	fputs("</table>\n", f);
}
