/* See picture.h. */
#include "explore/picture.h"

#include <stdio.h>
#include <string.h>

#include "explore/layout.h"

/* ---- text ---- */

static void put_escaped(struct text *t, const char *s)
{
    for (; *s; s++) {
        const char *as = *s == '&'    ? "&amp;"
                         : *s == '<'  ? "&lt;"
                         : *s == '>'  ? "&gt;"
                         : *s == '"'  ? "&quot;"
                         : *s == '\t' ? " "
                                      : NULL;
        if (as)
            text_puts(t, as);
        else if ((unsigned char)*s >= ' ')
            text_put(t, s, 1);
    }
}

/* The first characters of a UTF-8 text, with a sign if some were cut. */
static const char *clipped(struct arena *arena, const char *s, size_t most)
{
    size_t bytes = 0, n = 0;
    for (; s[bytes] && n < most; n++)
        for (bytes++; (s[bytes] & 0xc0) == 0x80; bytes++) {
        }
    if (!s[bytes])
        return s;
    while (bytes && (s[bytes - 1] & 0xc0) == 0x80)
        bytes--;
    return arena_printf(arena, "%.*s\xe2\x80\xa6", (int)bytes - 1, s);
}

static size_t length(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += (*s & 0xc0) != 0x80;
    return n;
}

/* ---- what stands in a box ---- */

enum { MAX_CHARACTERS = 60, LINES = 3, LINE_HEIGHT = 15, BOX_TEXT = LINES * LINE_HEIGHT + 10 };

struct source_file {
    const char *path, *text; /* text NULL: the file cannot be read */
};

struct canvas {
    const struct picture *p;
    struct text *t;
    struct layout *l;
    const char *(*lines)[LINES]; /* by event; NULL: none */
    VEC(struct source_file) files;
    const char *file; /* the file of all events; NULL: there are several */
};

static const char *name_in(const char *path)
{
    return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

enum { MAX_SOURCE_BYTES = 16 << 20 };

static const char *read_text(struct arena *arena, const char *path)
{
    struct text t = {.arena = arena};
    char part[4096];
    FILE *f = fopen(path, "re");
    for (size_t n; f && t.n < MAX_SOURCE_BYTES && (n = fread(part, 1, sizeof part, f)) > 0;)
        text_put(&t, part, n);
    if (f)
        fclose(f);
    return t.p;
}

/* Reads a source at the compiler's path, or beside the PTX. */
static const char *read_source(const struct canvas *c, const char *path, const struct ir_insn *insn)
{
    const char *ptx = insn->module->source->name, *slash = strrchr(ptx, '/'), *text = read_text(c->p->arena, path);
    return text ? text
                : read_text(c->p->arena, arena_printf(c->p->arena, "%.*s%s", slash ? (int)(slash + 1 - ptx) : 0, ptx,
                                                      name_in(path)));
}

/* A line of CUDA source without leading blanks; "" if the file cannot be read. */
static const char *source_line(struct canvas *c, const char *path, uint32_t line, const struct ir_insn *insn)
{
    struct source_file *f = NULL;
    for (uint32_t i = 0; i < c->files.n && !f; i++)
        f = strcmp(c->files.at[i].path, path) == 0 ? &c->files.at[i] : NULL;
    if (!f) {
        f = VEC_PUSH(c->p->arena, &c->files);
        *f = (struct source_file){path, read_source(c, path, insn)};
    }
    const char *at = f->text;
    for (; at && --line; at = at ? at + 1 : NULL)
        at = strchr(at, '\n');
    if (!at)
        return "";
    at += strspn(at, " \t");
    return arena_strndup(c->p->arena, at, strcspn(at, "\r\n"));
}

/* The file that contains all events; NULL if there are several files, or none. */
static const char *only_file(const struct picture *p)
{
    const char *file = NULL;
    for (uint16_t i = 0; i < p->e->n_events; i++) {
        const struct ir_insn *insn = p->e->events[i].run.insn;
        const struct cuda_place *cuda = ptx_cuda_place(insn->module, insn->loc, p->arena);
        if (!cuda || (file && strcmp(file, cuda->file) != 0))
            return NULL;
        file = cuda->file;
    }
    return file;
}

static void find_lines(struct canvas *c, uint16_t event)
{
    struct arena *arena = c->p->arena;
    const struct ir_insn *insn = c->p->e->events[event].run.insn;
    const struct cuda_place *cuda = ptx_cuda_place(insn->module, insn->loc, arena);
    unsigned n = 0;
    c->lines[event][n++] = picture_event_text(c->p, event);
    if (cuda) {
        const char *source = source_line(c, cuda->file, cuda->line, insn);
        c->lines[event][n++] = c->file && *source
                                   ? arena_printf(arena, "%u: %s", cuda->line, source)
                                   : arena_printf(arena, "%s:%u %s", name_in(cuda->file), cuda->line, source);
    }
    c->lines[event][n++] = arena_printf(arena, "PTX %u: %s", program_line(insn), exploration_insn_text(arena, insn));
    for (unsigned i = 0; i < n; i++)
        c->lines[event][i] = clipped(arena, c->lines[event][i], MAX_CHARACTERS);
}

/* ---- SVG ---- */

/* Colours and dashes of edges, and the page's colours, for light and dark themes. */
static const char style[] =
    ":root { color-scheme: light dark; --paper: #fcfcfa; --panel: #ffffff; --ink: #1d2126; --soft: #5a636e; --line: "
    "#c4cad1; --box: #f4f6f8;"
    " --po: #7d858f; --rf: #1f5fbf; --co: #b4540a; --fr: #b3261e; --sync: #1e7a46; --barrier: #1e7a46; --fence-sc: "
    "#8a3ab0; --causality: #0e7c86;"
    " --race: #d0103a; }\n"
    "@media (prefers-color-scheme: dark) { :root { --paper: #15181c; --panel: #1c2025; --ink: #e6e8eb; --soft: "
    "#a2abb6; --line: #4a525c; --box: #252b32;"
    " --po: #8f98a3; --rf: #7fb2ff; --co: #f0a35c; --fr: #ff8a80; --sync: #7bd19b; --barrier: #7bd19b; --fence-sc: "
    "#cf9bf0; --causality: #6fd3dc;"
    " --race: #ff6b8b; } }\n"
    ".execution { background: var(--panel); }\n"
    ".execution text { font: 12px ui-monospace, \"DejaVu Sans Mono\", \"Liberation Mono\", Menlo, Consolas, monospace; "
    "fill: var(--soft); }\n"
    ".execution .thread, .execution .what { fill: var(--ink); font-weight: 600; }\n"
    ".execution .event rect { fill: var(--box); stroke: var(--line); }\n"
    ".execution .edge path { fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linejoin: round; }\n"
    ".execution .edge .hit { stroke: transparent; stroke-width: 9; pointer-events: stroke; }\n"
    ".execution .edge text { font-size: 9.5px; fill: currentColor; }\n"
    ".execution marker path, .execution circle { fill: currentColor; }\n"
    ".po { color: var(--po); } .rf { color: var(--rf); } .co { color: var(--co); } .fr { color: var(--fr); } .sync { "
    "color: var(--sync); }"
    " .barrier { color: var(--barrier); } .fence-sc { color: var(--fence-sc); } .causality { color: var(--causality); "
    "} .race { color: var(--race); }\n"
    ".execution .fr .line { stroke-dasharray: 6 3; } .execution .causality .line { stroke-dasharray: 1.5 3; }"
    " .execution .fence-sc .line { stroke-dasharray: 8 3 2 3; } .execution .sync .line, .execution .race .line { "
    "stroke-width: 2.6; }\n"
    ".execution.looking .edge:not(.hot), .execution.looking .event:not(.hot) { opacity: .25; } .execution .hot rect { "
    "stroke: var(--ink);"
    " stroke-width: 2; }\n"
    ".execution .edge, .execution .event { cursor: pointer; } .execution :focus { outline: none; } .execution "
    ":focus-visible .line { stroke-width: 4; }"
    " .execution :focus-visible rect { stroke: var(--rf); stroke-width: 3; }\n"
    ".no-po .po.edge, .no-rf .rf.edge, .no-co .co.edge, .no-fr .fr.edge, .no-sync .sync.edge, .no-barrier "
    ".barrier.edge, .no-fence-sc .fence-sc.edge,"
    " .no-causality .causality.edge, .no-race .race.edge { display: none; }\n";

static void put_text(struct canvas *c, float x, float y, const char *attributes, const char *s)
{
    text_printf(c->t, "<text x=\"%.1f\" y=\"%.1f\"%s>", (double)x, (double)y, attributes);
    put_escaped(c->t, s);
    text_puts(c->t, "</text>\n");
}

static void put_event(struct canvas *c, uint16_t event)
{
    const struct box *b = &c->l->boxes[event];
    float width = c->l->column_width, text = b->x + (width - c->l->text_width) / 2;
    text_printf(
        c->t,
        "<g class=\"event\" id=\"e%u\" role=\"img\" tabindex=\"0\" data-name=\"event\" data-thread=\"%u\">\n<title>",
        event, c->p->e->events[event].thread);
    put_escaped(c->t, picture_event_sentence(c->p, event));
    text_printf(c->t, "</title>\n<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"5\"/>\n", (double)b->x,
                (double)b->y, (double)width, (double)b->height);
    float y = b->y + (b->height - BOX_TEXT) / 2 + 4;
    for (unsigned i = 0; i < LINES && c->lines[event][i]; i++)
        put_text(c, text, y + (float)(LINE_HEIGHT * i) + 12, i ? "" : " class=\"what\"", c->lines[event][i]);
    text_puts(c->t, "</g>\n");
}

static void begin_edge(struct canvas *c, const struct why_edge *e)
{
    const char *name = edge_name(e->kind);
    text_printf(c->t, "<g class=\"edge %s\" role=\"img\" tabindex=\"0\" data-name=\"%s\" data-from=\"", name, name);
    if (e->from == NO_EVENT)
        text_puts(c->t, "initially");
    else
        text_printf(c->t, "e%u", e->from);
    text_printf(c->t, "\" data-to=\"e%u\">\n<title>", e->to);
    put_escaped(c->t, picture_edge_sentence(c->p, e));
    text_puts(c->t, "</title>\n");
}

static bool has_arrow(const struct why_edge *e)
{
    return e->kind != EDGE_BARRIER && e->kind != EDGE_RACE;
}

static void put_line(struct canvas *c, const struct why_edge *e, const char *d)
{
    text_printf(c->t, "<path class=\"hit\" d=\"%s\"/>\n<path class=\"line\" d=\"%s\"", d, d);
    if (has_arrow(e))
        text_printf(c->t, " marker-end=\"url(#to-%s)\"", edge_name(e->kind));
    text_puts(c->t, "/>\n");
}

static void put_port(struct canvas *c, const struct why_edge *e, float x, float y, bool right)
{
    put_text(c, right ? x - 5 : x + 5, y + 3, right ? " text-anchor=\"end\"" : "", edge_name(e->kind));
}

static void put_wire(struct canvas *c, const struct wire *w)
{
    const struct why_edge *e = &c->p->why->edges.at[w->edge];
    struct text d = {.arena = c->p->arena};
    for (unsigned i = 0; i < w->n; i++)
        text_printf(&d, "%s%.1f %.1f", i ? " L" : "M", (double)w->x[i], (double)w->y[i]);
    begin_edge(c, e);
    put_line(c, e, d.p);
    if (e->from == NO_EVENT)
        text_printf(c->t, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", (double)w->x[0], (double)w->y[0]);
    else
        put_port(c, e, w->x[0], w->y[0], w->from_right);
    put_port(c, e, w->x[w->n - 1], w->y[w->n - 1], w->to_right);
    text_puts(c->t, "</g>\n");
}

/* Program order: draws lines to each thread's next event below. */
static void put_program_order(struct canvas *c, const struct why_edge *e)
{
    const struct box *a = &c->l->boxes[e->from], *b = &c->l->boxes[e->to];
    float x = a->x + c->l->column_width / 2;
    begin_edge(c, e);
    put_line(c, e,
             arena_printf(c->p->arena, "M%.1f %.1f L%.1f %.1f", (double)x, (double)(a->y + a->height), (double)x,
                          (double)b->y));
    text_puts(c->t, "</g>\n");
}

static bool has_kind(const struct picture *p, unsigned kind)
{
    for (uint32_t i = 0; i < p->why->edges.n; i++)
        if (p->why->edges.at[i].kind == kind)
            return true;
    return false;
}

static const char *kind_text(unsigned kind)
{
    static const char *const texts[EDGE_KINDS] = {"po: program order",
                                                  "rf: reads from",
                                                  "co: coherence order",
                                                  "fr: from-read",
                                                  "sync: synchronizes with",
                                                  "barrier: meet",
                                                  "fence-sc: Fence-SC order",
                                                  "causality: of one location",
                                                  "race"};
    return texts[kind];
}

static void put_markers(struct canvas *c)
{
    text_puts(c->t, "<defs>\n");
    for (unsigned k = 0; k < EDGE_KINDS; k++)
        text_printf(c->t,
                    "<marker id=\"to-%s\" class=\"%s\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" "
                    "markerHeight=\"8\" "
                    "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0.5 L8 4 L0 7.5 z\"/></marker>\n",
                    edge_name(k), edge_name(k));
    text_puts(c->t, "</defs>\n");
}

/* Draws the legend of the kinds of edges; returns its lower end. */
static float put_legend(struct canvas *c, float y)
{
    float x = 14;
    for (unsigned k = 0; k < EDGE_KINDS; k++) {
        if (!has_kind(c->p, k))
            continue;
        float width = 42 + 7.4f * (float)strlen(kind_text(k));
        if (x > 14 && x + width > c->l->width) {
            x = 14;
            y += 20;
        }
        text_printf(c->t, "<g class=\"edge %s legend\"><path class=\"line\" d=\"M%.1f %.1f h24\"/></g>\n", edge_name(k),
                    (double)x, (double)y - 4);
        put_text(c, x + 30, y, "", kind_text(k));
        x += width + 10;
    }
    return y + 14;
}

/* Writes text in lines of the picture's width. */
static float put_paragraph(struct canvas *c, float y, const char *class, const char *s)
{
    size_t most = (size_t)((c->l->width - 28) / 7.4f);
    while (*s) {
        size_t n = strlen(s) <= most ? strlen(s) : most;
        while (s[n] && n > most / 2 && s[n] != ' ')
            n--;
        put_text(c, 14, y, class, arena_strndup(c->p->arena, s, n));
        s += n + strspn(s + n, " ");
        y += 17;
    }
    return y;
}

static void put_content(struct canvas *c)
{
    const struct picture *p = c->p;
    if (c->file)
        put_text(c, 14, 18, "", name_in(c->file));
    for (uint16_t i = 0; i < c->l->n_columns; i++) {
        const struct execution_thread *t = &p->e->thread[c->l->thread[i]];
        put_text(c, c->l->column_x[i] + c->l->column_width / 2, c->l->top - 6,
                 " class=\"thread\" text-anchor=\"middle\"", exploration_thread_text(p->x, t->block, t->number));
    }
    for (uint16_t i = 0; i < p->e->n_events; i++)
        put_event(c, i);
    for (uint32_t i = 0; i < p->why->edges.n; i++)
        if (p->why->edges.at[i].kind == EDGE_PO)
            put_program_order(c, &p->why->edges.at[i]);
    for (uint32_t i = 0; i < c->l->n_wires; i++)
        put_wire(c, &c->l->wires[i]);
}

static struct canvas canvas_of(const struct picture *p, struct text *t)
{
    struct canvas c = {.p = p, .t = t, .file = only_file(p)};
    size_t most = 12, label = 0;
    c.lines = arena_alloc(p->arena, (p->e->n_events + 1u) * sizeof *c.lines);
    memset(c.lines, 0, (p->e->n_events + 1u) * sizeof *c.lines);
    for (uint16_t i = 0; i < p->e->n_events; i++) {
        find_lines(&c, i);
        for (unsigned k = 0; k < LINES && c.lines[i][k]; k++)
            most = length(c.lines[i][k]) > most ? length(c.lines[i][k]) : most;
    }
    for (unsigned k = 0; k < EDGE_KINDS; k++)
        if (has_kind(p, k) && k != EDGE_PO)
            label = strlen(edge_name(k)) > label ? strlen(edge_name(k)) : label;
    c.l = layout_make(p->arena, p->e, p->why, 7.4f * (float)most, BOX_TEXT, 5.9f * (float)label);
    return c;
}

static const char *remedies_intro(const struct picture *p, unsigned n)
{
    return n > 1 ? "It would have been forbidden by either of these:"
           : n   ? "It would have been forbidden by this:"
           : p->why->at_top == ALLOWED
               ? PICTURE_NO_REMEDY
               : "The execution has too many events to try whether orders, scopes or fences forbid it.";
}

/* `alone`: includes the text that the page would show around it. */
static void put_svg(struct canvas *c, bool alone)
{
    struct text body = {.arena = c->p->arena}, *t = c->t;
    float y = c->l->height + 18;
    c->t = &body;
    put_content(c);
    if (alone) {
        y = put_legend(c, y) + 10;
        y = put_paragraph(c, y, " class=\"what\"", picture_title(c->p));
        const char *texts[MAX_REASONS];
        unsigned n = picture_remedies(c->p, texts);
        y = put_paragraph(c, y, "", remedies_intro(c->p, n));
        for (unsigned i = 0; i < n; i++)
            y = put_paragraph(c, y, "", arena_printf(c->p->arena, "- %s", texts[i]));
    }
    c->t = t;
    text_printf(t,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"execution\" id=\"picture\" width=\"%.0f\" "
                "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
                (double)c->l->width, (double)y, (double)c->l->width, (double)y);
    text_printf(t, "<title>%s</title>\n", "An execution that the memory model allows");
    if (alone)
        text_printf(t, "<style>\n%s</style>\n", style);
    put_markers(c);
    text_puts(t, body.p);
    text_puts(t, "</svg>\n");
}

void picture_svg(const struct picture *p, struct text *t)
{
    struct canvas c = canvas_of(p, t);
    text_puts(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    put_svg(&c, true);
}

static void put_paragraph_of_page(struct text *t, const char *s)
{
    text_puts(t, "<p>");
    put_escaped(t, s);
    text_puts(t, "</p>\n");
}

void picture_page(const struct picture *p, struct text *t)
{
    struct canvas c = canvas_of(p, t);
    text_puts(t, picture_head);
    text_printf(t, "<style>\n%s</style>\n<header>\n<h1><span>heddle explore</span> ", style);
    put_escaped(t, picture_title(p));
    text_puts(t, "</h1>\n");
    const char *texts[MAX_REASONS];
    unsigned n = picture_remedies(p, texts);
    put_paragraph_of_page(t, remedies_intro(p, n));
    text_puts(t, n ? "<ul>\n" : "");
    for (unsigned i = 0; i < n; i++) {
        text_puts(t, "<li>");
        put_escaped(t, texts[i]);
        text_puts(t, "</li>\n");
    }
    text_puts(t, n ? "</ul>\n" : "");
    text_puts(t, "<fieldset class=\"kinds\" aria-label=\"Edges that are shown\">\n");
    for (unsigned k = 0; k < EDGE_KINDS; k++)
        if (has_kind(p, k))
            text_printf(t, "<label class=\"%s\"><input type=\"checkbox\" value=\"%s\"%s><i></i>%s</label>\n",
                        edge_name(k), edge_name(k), k == EDGE_CAUSE ? "" : " checked", kind_text(k));
    text_puts(t, "</fieldset>\n</header>\n<main>\n<div class=\"scroll\" tabindex=\"-1\">\n");
    put_svg(&c, false);
    text_puts(t, "</div>\n</main>\n<details>\n<summary>All edges in words</summary>\n<ul>\n");
    for (uint32_t i = 0; i < p->why->edges.n; i++) {
        const struct why_edge *e = &p->why->edges.at[i];
        text_printf(t, "<li><b class=\"%s\">%s</b> ", edge_name(e->kind), edge_name(e->kind));
        put_escaped(t, picture_edge_sentence(p, e));
        text_puts(t, "</li>\n");
    }
    text_puts(t, "</ul>\n</details>\n");
    text_puts(t, picture_tail);
}
