/* Breakpoints and watchpoints, and where they are in a kernel. */
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/qualified.h"
#include "debug/debugger.h"

struct point *point_add(struct debugger *d, enum point_kind kind)
{
    struct point *p = calloc(1, sizeof *p), **at = p ? VEC_ADD(&d->points) : NULL;
    if (!at) {
        free(p);
        return NULL;
    }
    *at = p;
    p->id = ++d->next_id;
    p->kind = kind;
    p->enabled = true;
    d->watches += kind == POINT_WATCH;
    return p;
}

struct point *point_find(struct debugger *d, uint32_t id)
{
    for (uint32_t i = 0; i < d->points.n; i++)
        if (d->points.at[i]->id == id)
            return d->points.at[i];
    return NULL;
}

bool point_read_hits(struct point *p, const char *text)
{
    static const struct {
        const char *sign;
        enum hit_rule rule;
        int more;
    } rules[] = {{">=", HIT_FROM, 0}, {"<=", HIT_UP_TO, 0}, {"==", HIT_AT, 0},  {"=", HIT_AT, 0},
                 {">", HIT_FROM, 1},  {"<", HIT_UP_TO, -1}, {"%", HIT_EACH, 0}, {"", HIT_FROM, 0}};
    char *end;
    size_t i = 0;
    text += strspn(text, " ");
    while (strncmp(text, rules[i].sign, strlen(rules[i].sign)) != 0)
        i++;
    text += strlen(rules[i].sign);
    long long n = strtoll(text, &end, 10);
    if (end == text || end[strspn(end, " ")] || n < 1)
        return false;
    p->rule = rules[i].rule;
    p->rule_count = (uint64_t)(n + rules[i].more);
    return true;
}

bool point_hit(struct point *p)
{
    uint64_t n = ++p->hits;
    if (n <= p->ignored)
        return false;
    switch (p->rule) {
    case HIT_FROM: return n >= p->rule_count;
    case HIT_AT: return n == p->rule_count;
    case HIT_EACH: return n % p->rule_count == 0;
    case HIT_UP_TO: return n <= p->rule_count;
    case HIT_ALL: break;
    }
    return true;
}

static void forget(struct run *r, const struct point *p)
{
    for (uint32_t i = 0; r && i < r->locations.n; i++)
        if (r->locations.at[i].point == p)
            r->locations.at[i].point = NULL;
    if (r && r->written.point == p)
        r->written = (struct written){0};
}

void point_delete(struct debugger *d, struct point *p)
{
    forget(d->run, p);
    d->watches -= p->kind == POINT_WATCH;
    for (uint32_t i = 0; i < d->points.n; i++)
        if (d->points.at[i] == p) {
            VEC_REMOVE(&d->points, i, 1);
            break;
        }
    free(p->file);
    free(p->function);
    free(p->condition);
    free(p->expression);
    free(p->log);
    arena_free(&p->arena);
    free(p);
}

void points_delete_reached(struct debugger *d)
{
    for (uint32_t i = d->points.n; i-- > 0;)
        if (d->points.at[i]->temporary && d->points.at[i]->hits > d->points.at[i]->ignored)
            point_delete(d, d->points.at[i]);
}

/* ---- files and functions ---- */

static bool ends_path(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return m <= n && strcmp(path + n - m, end) == 0 && (m == n || path[n - m - 1] == '/');
}

static const char *past_dots(const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    return path;
}

/* Does `asked` name this file: its path, the last components of it, or the absolute path of a file
 * that the compiler was given by a relative one? */
bool point_is_file(const char *path, const char *asked)
{
    path = past_dots(path);
    asked = past_dots(asked);
    return ends_path(path, asked) || (*asked == '/' && *path != '/' && ends_path(asked, path));
}

/* The name without a list of parameters, which readable names do not have:
 * "sum" of "sum(float*, int)". */
static const char *without_parameters(const char *name, struct arena *arena)
{
    static const char call[] = "operator()";
    size_t n = strlen(name), at = n, m = strlen(call);
    unsigned depth = 0;
    if (!n || name[n - 1] != ')' || (n >= m && strcmp(name + n - m, call) == 0))
        return name;
    do {
        at--;
        depth += name[at] == ')';
        depth -= name[at] == '(';
    } while (at && depth);
    return arena_strndup(arena, name, at);
}

/* Compares with a function's name in the PTX, its whole name in the source, or "ns::k<int>",
 * "k<int>", "ns::k", "k", "list::push" of "list<int>::push". */
bool point_is_called(struct str mangled, const char *asked, struct arena *arena)
{
    const char *whole = name_compact(demangle(mangled, arena), arena);
    asked = without_parameters(name_compact(asked, arena), arena);
    return str_is(mangled, asked) || name_ends_with(str_of(whole), str_of(asked)) ||
           name_ends_with(str_of(name_without_templates(whole, arena)), str_of(asked));
}

/* ---- places ---- */

/* A place that may be one of a point. */
struct candidate {
    const struct code *code;
    struct op *op;
    uint32_t level; /* of the inlined calls */
    uint32_t column, offset;
    struct line_keys keys;
    const struct source_place *place, *before; /* before: of the operation before; or NULL */
};

struct candidates {
    VEC(struct candidate) list;
};

static bool same_place(const struct candidate *a, const struct candidate *b)
{
    uint32_t depth;
    struct line_keys x = a->keys, y = b->keys;
    x.n = y.n = a->level;
    return a->code == b->code && a->level == b->level && !keys_begin_line(&x, &y, &depth);
}

/* Calls `each` where a thread that comes by in the order of the text begins a line: with the levels
 * that begin there. */
static void each_line(const struct run *r, struct code *c, void *data,
                      void (*each)(void *data, const struct candidate *at, uint32_t first_level))
{
    struct line_keys before = {0};
    const struct source_place *last = NULL;
    for (uint32_t i = 0; i < c->n_ops; i++) {
        const struct site *s = site_of(&r->lines, &c->ops[i]);
        const struct source_place *p = place_of_op(&r->lines, &c->ops[i]);
        uint32_t depth;
        if (!p)
            continue;
        struct candidate at = {.code = c,
                               .op = &c->ops[i],
                               .offset = s->place.offset,
                               .column = s->loc ? s->loc->column : 0,
                               .place = p,
                               .before = last};
        for (uint32_t k = 0; k < p->n && k < MOST_KEYS; k++)
            at.keys.at[at.keys.n++] = (struct line_key){p->at[k].file, NULL, p->at[k].line};
        bool begins = keys_begin_line(&before, &at.keys, &depth);
        before = at.keys;
        last = p;
        if (begins)
            each(data, &at, depth - 1);
    }
}

struct finding {
    struct run *r;
    const struct point *point;
    struct candidates *to;
    const char *file;
    uint32_t line, nearest, last;
};

static bool is_in_file(const struct finding *f, const char *file)
{
    return f->file ? file && point_is_file(file, f->file) : true;
}

static void find_line(void *data, const struct candidate *at, uint32_t first_level)
{
    struct finding *f = data;
    for (uint32_t k = first_level; k < at->keys.n; k++) {
        const struct line_key *key = &at->keys.at[k];
        if (!is_in_file(f, key->file))
            continue;
        f->last = key->line > f->last ? key->line : f->last;
        if (key->line > f->line && (!f->nearest || key->line < f->nearest))
            f->nearest = key->line;
        if (key->line != f->line || !f->to)
            continue;
        struct candidate *c = VEC_PUSH(&f->r->arena, &f->to->list);
        *c = *at;
        c->level = k;
    }
}

/* The file that a function is in; NULL: it is not known. */
static const char *first_file(const struct run *r, const struct code *c)
{
    for (uint32_t i = 0; i < c->n_ops; i++) {
        const struct source_place *p = place_of_op(&r->lines, &c->ops[i]);
        if (p)
            return p->at[0].file;
    }
    return NULL;
}

/* The file for a line that is given without a file: the kernel's own. */
static const char *default_file(const struct run *r)
{
    return first_file(r, r->kernel->entry);
}

static struct finding find_lines(struct run *r, const struct point *p, uint32_t line, struct candidates *to)
{
    struct finding f = {.r = r, .point = p, .to = to, .file = p->file ? p->file : default_file(r), .line = line};
    for (uint32_t i = 0; i < r->kernel->functions.n; i++)
        each_line(r, r->kernel->functions.at[i], &f, find_line);
    return f;
}

uint32_t point_nearest(const struct run *r, const struct point *p, uint32_t *last)
{
    struct finding f = find_lines((struct run *)r, p, p->line, NULL);
    *last = f.last;
    return f.nearest;
}

uint32_t point_elsewhere(const struct run *r, const struct point *p)
{
    const struct ptx_module *m = r->kernel->func->module;
    const char *file = p->file ? p->file : default_file(r);
    uint32_t nearest = 0;
    for (uint32_t i = 0; i < m->items.n && file; i++) {
        const struct ptx_func *f = m->items.at[i].kind == ITEM_FUNC ? m->items.at[i].func : NULL;
        for (uint32_t k = 0; f && k < r->kernel->functions.n; k++)
            if (r->kernel->functions.at[k]->ir->func == f)
                f = NULL;
        for (uint32_t k = 0; f && k < f->body.n; k++) {
            const struct ptx_loc *l = f->body.at[k].kind == STMT_LOC ? f->body.at[k].loc : NULL;
            if (!l || l->line < p->line || (nearest && l->line >= nearest))
                continue;
            const struct ptx_file *of = map_get(&m->files, (struct str){(const char *)&l->file, sizeof l->file});
            if (of && point_is_file(arena_strndup(&((struct run *)r)->arena, of->name.p, of->name.n), file))
                nearest = l->line;
        }
    }
    return nearest;
}

static void add_location(struct run *r, struct point *p, const struct code *c, struct op *o, uint32_t level)
{
    struct location_at *at = VEC_PUSH(&r->arena, &r->locations);
    *at = (struct location_at){.point = p, .op = o, .level = level};
    o->breaks = true;
    if (p->condition) {
        struct scope scope = scope_at(r, c, o, level);
        at->test = expression_parse(p->condition, &scope, &r->arena, &at->wrong);
    }
    if (p->log) {
        struct scope scope = scope_at(r, c, o, level);
        at->log = log_parse(p->log, &scope, &r->arena);
    }
}

/* .target debug: its code keeps to the order of the source. */
static bool is_for_debugging(const struct code *c)
{
    const struct ptx_module *m = c->ir->func->module;
    bool is = false;
    for (uint32_t i = 0; i < m->target_words.n; i++)
        is |= str_is(m->target_words.at[i], "debug");
    return is;
}

/* Operations stand in the order of execution. */
static bool goes_straight_on(const struct op *o)
{
    return o->kind <= OP_FALL || (o->kind == OP_BRA && !(o->flags & OPF_GUARD));
}

/* The place after a function's prologue, where its parameters are in their places: the second
 * source place in its code. It is the first operation if a loop or a branch comes before that, or
 * in code that is not compiled for debugging. */
static struct op *behind_start(const struct run *r, const struct code *c)
{
    const struct source_place *first = NULL;
    uint32_t column = 0;
    for (uint32_t i = 0; is_for_debugging(c) && i < c->n_ops && goes_straight_on(&c->ops[i]); i++) {
        const struct site *s = site_of(&r->lines, &c->ops[i]);
        const struct source_place *p = place_of_op(&r->lines, &c->ops[i]);
        if (first && p && (p->at[0].line != first->at[0].line || (p->n == 1 && s->loc && s->loc->column != column)))
            return &c->ops[i];
        if (!first && p) {
            first = p;
            column = s->loc ? s->loc->column : 0;
        }
    }
    return &c->ops[0];
}

/* Of the pieces of code made from a line, the first in the text and its copies (of an unrolled
 * loop), which begin in the same column. */
static void add_first_pieces(struct run *r, struct point *p, const struct candidates *c)
{
    for (uint32_t i = 0; i < c->list.n; i++) {
        const struct candidate *first = &c->list.at[i];
        for (uint32_t k = 0; k < c->list.n; k++)
            if (same_place(&c->list.at[k], first) && c->list.at[k].offset < first->offset)
                first = &c->list.at[k];
        const struct candidate *at = &c->list.at[i];
        bool innermost = at->level + 1 == at->keys.n;
        if (at == first || (innermost && at->column == first->column && at->keys.n == first->keys.n)) {
            struct op *behind = behind_start(r, at->code);
            add_location(r, p, at->code, at->op < behind ? behind : at->op, at->level);
        }
    }
}

static void locate_line(struct run *r, struct point *p)
{
    struct candidates c = {0};
    find_lines(r, p, p->line, &c);
    add_first_pieces(r, p, &c);
}

/* The beginnings of inlined calls of a function with this name. */
static void find_inlined(void *data, const struct candidate *at, uint32_t first_level)
{
    struct finding *f = data;
    for (uint32_t k = first_level ? first_level : 1; k < at->place->n && k < at->keys.n; k++) {
        const char *function = at->place->at[k].function, *before = NULL;
        if (!function || !point_is_called(str_of(function), f->point->function, &f->r->arena) ||
            !is_in_file(f, at->place->at[k].file))
            continue;
        if (k == first_level && at->before && k < at->before->n)
            before = at->before->at[k].function;
        if (before && strcmp(before, function) == 0) /* it goes on */
            continue;
        struct candidate *c = VEC_PUSH(&f->r->arena, &f->to->list);
        *c = *at;
        c->level = k;
    }
}

/* Behind what a function does first, where its parameters are in their places. */
static void locate_function(struct run *r, struct point *p)
{
    struct candidates inlined = {0};
    struct finding f = {.r = r, .point = p, .to = &inlined, .file = p->file};
    for (uint32_t i = 0; i < r->kernel->functions.n; i++) {
        struct code *c = r->kernel->functions.at[i];
        each_line(r, c, &f, find_inlined);
        if (c->n_ops && point_is_called(c->ir->func->symbol.name, p->function, &r->arena) &&
            is_in_file(&f, first_file(r, c)))
            add_location(r, p, c, behind_start(r, c), 0);
    }
    add_first_pieces(r, p, &inlined);
}

static uint32_t innermost(const struct run *r, const struct op *o)
{
    const struct source_place *p = place_of_op(&r->lines, o);
    return p ? p->n - 1 : 0;
}

static void locate_ptx_line(struct run *r, struct point *p)
{
    const struct site_table *sites = r->lines.sites;
    for (uint32_t f = 0; sites && f < r->kernel->functions.n; f++) {
        struct code *c = r->kernel->functions.at[f];
        for (uint32_t i = 0; i < c->n_ops; i++)
            if (ptx_line(&sites->at[c->first_site + i]) == p->line &&
                !(i && ptx_line(&sites->at[c->first_site + i - 1]) == p->line))
                add_location(r, p, c, &c->ops[i], innermost(r, &c->ops[i]));
    }
}

void points_locate(struct run *r)
{
    for (uint32_t i = 0; i < r->locations.n; i++)
        r->locations.at[i].op->breaks = false;
    r->locations.n = 0;
    for (uint32_t i = 0; i < r->d->points.n; i++) {
        struct point *p = r->d->points.at[i];
        if (!p->enabled)
            continue;
        switch (p->kind) {
        case POINT_LINE: locate_line(r, p); break;
        case POINT_FUNCTION: locate_function(r, p); break;
        case POINT_PTX_LINE: locate_ptx_line(r, p); break;
        case POINT_WATCH: break;
        }
    }
}

uint32_t point_places(const struct run *r, const struct point *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->locations.n; i++)
        n += r->locations.at[i].point == p;
    return n;
}

const char *point_suggestion(const struct run *r, const struct point *p, struct arena *arena)
{
    enum { FAR = 4 };
    unsigned best = FAR;
    const char *name = NULL;
    for (uint32_t i = 0; p->function && i < r->kernel->functions.n; i++) {
        const char *whole = demangle(r->kernel->functions.at[i]->ir->func->symbol.name, arena);
        size_t n = strcspn(whole, "(<");
        unsigned edits = str_distance(str_of(p->function), (struct str){whole, n}, best);
        if (edits < best) {
            best = edits;
            name = arena_strndup(arena, whole, n);
        }
    }
    return name;
}
