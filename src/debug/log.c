/* Points that tell instead of stopping: "i is {i}"; see debugger.h. */
#include <string.h>

#include "debug/link.h"
#include "debug/show.h"

struct log_piece {
    const char *text;        /* literal text, or the expression of a value */
    const struct node *node; /* or NULL */
    const char *wrong;       /* why the expression has no value; or NULL */
};

/* The end of an expression that begins behind a brace: its closing one, or the end of the text. */
static const char *end_of_value(const char *p)
{
    for (unsigned depth = 1; *p; p++) {
        depth += *p == '{';
        depth -= *p == '}';
        if (!depth)
            break;
    }
    return p;
}

struct log_pieces *log_parse(const char *text, const struct scope *scope, struct arena *arena)
{
    struct log_pieces *l = ARENA_NEW(arena, struct log_pieces);
    for (const char *p = text; *p;) {
        struct log_piece *piece = VEC_PUSH(arena, &l->list);
        const char *from = p + (*p == '{'), *end = *p == '{' ? end_of_value(from) : p + strcspn(p, "{");
        *piece = (struct log_piece){.text = arena_strndup(arena, from, (size_t)(end - from))};
        if (*p == '{')
            piece->node = expression_parse(piece->text, scope, arena, &piece->wrong);
        p = end + (*p == '{' && *end);
    }
    return l;
}

static const char *line_of(const struct log_pieces *l, const struct frame *f, unsigned lane, struct arena *arena)
{
    struct text t = {.arena = arena};
    for (uint32_t i = 0; i < l->list.n; i++) {
        const struct log_piece *p = &l->list.at[i];
        if (p->node)
            show_node(p->node, f, lane, 0, &t);
        else if (p->wrong)
            text_printf(&t, "<%s>", p->wrong);
        else
            text_puts(&t, p->text);
    }
    return t.p ? t.p : "";
}

void log_tell(struct run *r, const struct location_at *at, const struct frame *f, uint32_t lanes)
{
    struct arena arena = {0};
    json_t *list = json_array();
    for (uint32_t left = lanes; left; left &= left - 1) {
        const char *line = line_of(at->log, f, (unsigned)__builtin_ctz(left), &arena);
        json_t *text = json_string(line);
        json_array_append_new(list, text ? text : json_string("<text that is not UTF-8>"));
    }
    r->d->gone |= !link_send(
        r->d->link, json_pack("{s:s, s:I, s:o}", "event", "log", "id", (json_int_t)at->point->id, "lines", list));
    arena_free(&arena);
}
