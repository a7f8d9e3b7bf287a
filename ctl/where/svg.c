// SPDX-License-Identifier: GPL-2.0
/*
 * Sites as a flame graph, one SVG file without fonts or links. A frame is as wide as the bytes that
 * stay of all sites which it is a caller of; callers are below. Names come from files of the
 * process: they are escaped, cut, and clipped to their frame. The script of zoom.c is a constant.
 */
#include <stdlib.h>
#include <string.h>
#include "where/where.h"

#define WIDTH		1200
#define MARGIN		10
#define ROW		20U
#define TOP		64	/* of the first row */
#define BOTTOM		36
#define LETTER		7.3	/* width of a letter of 12 px, at most */
#define NARROW		0.5	/* less wide frames are not drawn */
#define LETTERS_MAX	1000	/* letters of a name in a title */

struct node {
	struct json_object *frame;	/* NULL: the root */
	u64 bytes, blocks;
	s64 per_hour;
	struct node **child;
	size_t children;
};

struct picture {
	FILE *f;
	const struct result *r;
	struct node root;
	unsigned int rows;
	size_t narrow;		/* frames that are not drawn */
	bool python;		/* it has functions of python */
};

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_same(struct json_object *a, struct json_object *b)
{
	return same_text(frame_symbol(a), frame_symbol(b)) &&
	       same_text(frame_file(a), frame_file(b)) &&
	       frame_is_inlined(a) == frame_is_inlined(b) &&
	       (frame_symbol(a) || frame_offset(a) == frame_offset(b)) &&
	       (!frame_is_python(a) || same_text(frame_source(a), frame_source(b)));
}

static struct node *child_of(struct node *parent, struct json_object *frame)
{
	struct node *n;
	size_t i;

	for (i = 0; i < parent->children; i++)
		if (is_same(parent->child[i]->frame, frame))
			return parent->child[i];
	n = must(calloc(1, sizeof(*n)));
	n->frame = frame;
	parent->child = must(realloc(parent->child, (parent->children + 1) * sizeof(n)));
	parent->child[parent->children++] = n;
	return n;
}

static u64 number(struct json_object *site, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(site, key, &v);
	return v ? json_object_get_uint64(v) : 0;
}

static void count(struct node *n, struct json_object *site)
{
	struct json_object *v = NULL;

	n->bytes += number(site, "bytes");
	n->blocks += number(site, "blocks");
	json_object_object_get_ex(site, "bytes_per_hour", &v);
	n->per_hour += v ? json_object_get_int64(v) : 0;
}

static void add_site(struct picture *p, struct json_object *site)
{
	struct json_object *stack = NULL;
	struct node *n = &p->root;
	size_t i;

	json_object_object_get_ex(site, "stack", &stack);
	i = json_object_is_type(stack, json_type_array) ? json_object_array_length(stack) : 0;
	if (i + 1 > p->rows)
		p->rows = (unsigned int)i + 1;
	for (count(n, site); i; i--) {
		struct json_object *frame = json_object_array_get_idx(stack, i - 1);

		p->python = p->python || frame_is_python(frame);
		n = child_of(n, frame);
		count(n, site);
	}
}

static int by_bytes(const void *x, const void *y)
{
	const struct node *a = *(struct node *const *)x, *b = *(struct node *const *)y;

	return a->bytes < b->bytes ? 1 : a->bytes > b->bytes ? -1 : 0;
}

/* Writes up to @most letters of a string; what XML does not allow becomes \xNN. */
static void put(FILE *f, const char *s, size_t most)
{
	size_t len = strlen(s), k, i;
	u32 c = 0;

	for (; len && most; s += k, len -= k, most--) {
		k = utf8_char(s, len, &c);
		if (!k || is_control(c) || c == 0xfffe || c == 0xffff) {
			k = k ? k : 1;
			for (i = 0; i < k; i++)
				fprintf(f, "\\x%02x", (unsigned char)s[i]);
		} else if (strchr("&<>\"'", (int)c)) {
			fprintf(f, "&#%u;", c);
		} else {
			fwrite(s, 1, k, f);
		}
	}
	if (len)
		fputs("..", f);
}

static size_t letters(const char *s)
{
	size_t len = strlen(s), n = 0, k;
	u32 c;

	for (; len; s += k, len -= k, n++) {
		k = utf8_char(s, len, &c);
		k = k ? k : 1;
	}
	return n;
}

/* Frames of the program, of libraries, of memory that no file is mapped to, and of python */
static const char *kind(const struct node *n)
{
	const char *file = n->frame ? frame_file(n->frame) : "";

	if (n->frame && frame_is_python(n->frame))
		return "y";
	return !file ? "n" : strstr(file, ".so") ? "l" : "p";
}

/* Percent of all bytes that stay */
static double share(const struct picture *p, const struct node *n)
{
	return 100.0 * (double)n->bytes / (double)p->root.bytes;
}

static void title(const struct picture *p, const struct node *n, const char *name)
{
	char bytes[32], grew[32];
	const char *file = n->frame ? frame_file(n->frame) : NULL;

	fputs("<title>", p->f);
	put(p->f, name, LETTERS_MAX);
	if (file && !frame_is_python(n->frame)) {
		fputs(" (", p->f);
		put(p->f, file, LETTERS_MAX);
		fputs(")", p->f);
	}
	fprintf(p->f, ": %s, %.1f %%, %llu blocks, %s</title>\n",
		fmt_bytes(bytes, sizeof(bytes), n->bytes), share(p, n), n->blocks,
		fmt_growth(grew, sizeof(grew), n->per_hour));
}

/* The inner <svg> clips the name, however wide its letters are. */
static void draw_one(const struct picture *p, const struct node *n, double x, double width,
		     unsigned int row)
{
	unsigned int y = TOP + (p->rows - 1 - row) * ROW;
	char name[4 * LETTERS_MAX];
	size_t fit = (size_t)((width - 6) / LETTER), all;
	bool wide = width >= 6 + 3 * LETTER;

	if (n->frame)
		frame_name(n->frame, name, sizeof(name));
	else
		snprintf(name, sizeof(name), "%s", p->r->t->comm);
	all = letters(name);
	/* The script needs a name that is cut, or not there. */
	if (wide && all <= fit) {
		fputs("<g>", p->f);
	} else {
		fputs("<g data-name=\"", p->f);
		put(p->f, name, LETTERS_MAX);
		fputs("\">", p->f);
	}
	title(p, n, name);
	fprintf(p->f, "<rect class=\"%s\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%u\"/>\n",
		kind(n), x, y, width, ROW - 1);
	/* On paper there are no titles: the share stands beside the name if there is room. */
	if (wide) {
		fprintf(p->f, "<svg x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%u\">"
			"<text x=\"3\" y=\"14\">", x, y, width, ROW - 1);
		put(p->f, name, all <= fit ? all : fit - 2);
		fputs("</text>", p->f);
		if (all + 8 <= fit)
			fprintf(p->f, "<text class=\"e\" x=\"%.1f\" y=\"14\">%.1f %%</text>",
				width - 3, share(p, n));
		fputs("</svg>", p->f);
	}
	fputs("</g>\n", p->f);
}

static void draw(struct picture *p, struct node *n, double x, unsigned int row)
{
	double scale = (WIDTH - 2.0 * MARGIN) / (double)p->root.bytes;
	size_t i;

	draw_one(p, n, x, (double)n->bytes * scale, row);
	if (n->children)
		qsort(n->child, n->children, sizeof(*n->child), by_bytes);
	for (i = 0; i < n->children; i++) {
		if ((double)n->child[i]->bytes * scale < NARROW)
			p->narrow++;
		else
			draw(p, n->child[i], x, row + 1);
		x += (double)n->child[i]->bytes * scale;
	}
}

static void heading(const struct picture *p, char *buf, size_t size)
{
	const struct result *r = p->r;
	char bytes[32], grew[32];

	fmt_bytes(bytes, sizeof(bytes), p->root.bytes);
	fmt_growth(grew, sizeof(grew), p->root.per_hour);
	if (!p->root.bytes)
		snprintf(buf, size, "no call site has blocks that stay");
	else if (!strcmp(r->method, "profile"))
		snprintf(buf, size, "%s in %llu blocks in use, %s", bytes, p->root.blocks, grew);
	else
		snprintf(buf, size, "%s in %llu of %llu sampled blocks stay; the class grows: %s",
			 bytes, p->root.blocks, r->samples, grew);
}

static void begin(const struct picture *p, unsigned int height)
{
	const struct result *r = p->r;
	char text[200];
	FILE *f = p->f;

	heading(p, text, sizeof(text));
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\" role=\"img\" aria-labelledby=\"title what\">\n<title "
		"id=\"title\">", WIDTH, height, WIDTH, height);
	put(f, r->t->comm, LETTERS_MAX);
	fprintf(f, " (process %u): what it keeps, by call site</title>\n<desc id=\"what\">%s",
		r->t->pid, text);
	fputs(". A frame is as wide as the bytes; it is called by the one below it.</desc>\n"
	      "<style>text{font:12px 'DejaVu Sans Mono',monospace;fill:#000;"
	      "pointer-events:none}rect{stroke:#555;stroke-width:.6}g:hover&gt;rect{"
	      "stroke:#000;stroke-width:2}.b{fill:#fff;stroke:none}.p{fill:#f7dcb0}"
	      ".l{fill:#d3e3f3}.n{fill:#e6e6e6}.y{fill:#d5ecc4}.e{text-anchor:end}"
	      ".h{font-size:17px;font-weight:bold}.z g{cursor:pointer}.a{opacity:.55}"
	      ".m&gt;rect{fill:#ee82dd}text.k{fill:#0b57a4;text-decoration:underline;"
	      "cursor:pointer;pointer-events:auto}</style>\n",
	      f);
	fprintf(f, "<rect class=\"b\" width=\"%d\" height=\"%u\"/>\n<text class=\"h\" x=\"%d\" "
		"y=\"26\">", WIDTH, height, MARGIN);
	put(f, r->t->comm, 64);
	fprintf(f, " (process %u): what it keeps, by call site</text>\n<text x=\"%d\" y=\"48\">"
		"%s</text>\n", r->t->pid, MARGIN, text);
}

static void legend(const struct picture *p, unsigned int height)
{
	static const struct {
		const char *kind, *text;
	} box[] = { { "p", "the program" }, { "l", "libraries" }, { "n", "no file" },
		    { "y", "python" } };
	unsigned int y = height - 14;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(box) - !p->python; i++)
		fprintf(p->f, "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"14\" height=\"12\"/>"
			"<text x=\"%u\" y=\"%u\">%s</text>\n", box[i].kind,
			(unsigned int)(MARGIN + 120 * i), y - 11,
			(unsigned int)(MARGIN + 20 + 120 * i), y, box[i].text);
	if (p->narrow)
		fprintf(p->f, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%zu frames are too "
			"narrow to be drawn</text>\n", WIDTH - MARGIN, y, p->narrow);
}

static void free_children(struct node *n)
{
	size_t i;

	for (i = 0; i < n->children; i++) {
		free_children(n->child[i]);
		free(n->child[i]);
	}
	free(n->child);
}

/**
 * show_svg() - write sites as a flame graph
 * @r: the answer
 * @f: to write to; the caller sees from it whether that went well
 */
void show_svg(const struct result *r, FILE *f)
{
	struct picture p = { .f = f, .r = r };
	unsigned int height;
	size_t i;

	for (i = 0; i < json_object_array_length(r->sites); i++)
		add_site(&p, json_object_array_get_idx(r->sites, i));
	if (!p.root.bytes)
		p.rows = 0;
	height = TOP + p.rows * ROW + BOTTOM;
	begin(&p, height);
	if (p.root.bytes)
		draw(&p, &p.root, MARGIN, 0);
	legend(&p, height);
	if (p.root.bytes)
		svg_script(f);
	fputs("</svg>\n", f);
	free_children(&p.root);
}
