/* Finds which .loc is meant by one that says that it is inlined at a place (PTX ISA 11.5.3).
 *
 * Compilers write the .locs of the calls, from the outermost inwards, before the first instruction
 * of an inlined function, and leave them out before later ones (as LLVM's NVPTXDwarfDebug does). A
 * place alone is then ambiguous: a function in a header that calls another function has one .loc
 * for each call of it.
 *
 * The newest .loc of that place is meant, unless the same .loc has been inlined at it already. In
 * that case this is a copy, as in unrolled loops. Then the neighbouring .locs decide among the
 * calls that have had it.
 */
#include "ptx/parser.h"

enum { MOST_CANDIDATES = 32, MOST_NEIGHBOURS = 16 };

struct locs {
    struct ptx_loc **at;
    /* Of each: the number from 1 of the one before it that says the same, or 0. */
    uint32_t *same;
    struct ptx_loc **first; /* of each: see first_of_call() */
    /* It stands right before the next one: what it says is of no instruction. */
    bool *before;
    uint32_t n;
};

/* What two .locs say of an instruction is the same. */
static bool are_same(const struct ptx_loc *a, const struct ptx_loc *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column && a->inlined == b->inlined &&
           a->at_file == b->at_file && a->at_line == b->at_line && a->at_column == b->at_column &&
           a->function_disp == b->function_disp && str_eq(a->function_name, b->function_name);
}

/* The next one in a direction that says something of an instruction; n: none. */
static uint32_t neighbour(const struct locs *l, uint32_t i, uint32_t step)
{
    do
        i += step;
    while (i < l->n && l->before[i]);
    return i < l->n ? i : l->n;
}

/* How many of those around two places are the same, one after the other; of those before them it is
 * known whose they are. */
static uint32_t alike(const struct locs *l, uint32_t a, uint32_t b)
{
    uint32_t n = 0;
    for (unsigned direction = 0; direction < 2; direction++) {
        uint32_t step = direction ? 1 : UINT32_MAX, x = a, y = b;
        for (uint32_t k = 0; k < MOST_NEIGHBOURS; k++, n++) {
            x = neighbour(l, x, step);
            y = neighbour(l, y, step);
            if (x == l->n || y == l->n || !are_same(l->at[x], l->at[y]) ||
                (direction == 0 && l->at[x]->at != l->at[y]->at))
                break;
        }
    }
    return n;
}

/* Of .locs that are of one call one stands for all. */
static struct ptx_loc *first_of_call(const struct locs *l, uint32_t i)
{
    uint32_t tries = 0;
    for (uint32_t k = l->same[i]; k && tries < MOST_CANDIDATES; k = l->same[k - 1], tries++)
        if (l->at[k - 1]->at == l->at[i]->at)
            return l->first[k - 1];
    return l->at[i];
}

/* Which of the calls is it, of which `newest` is the last one? */
static const struct ptx_loc *call_of(const struct locs *l, uint32_t i, const struct ptx_loc *newest)
{
    const struct ptx_loc *call = newest;
    uint32_t most = 0, tries = 0;
    bool is_copy = false;
    for (uint32_t k = l->same[i]; k && tries < MOST_CANDIDATES; k = l->same[k - 1], tries++) {
        uint32_t n = 1 + alike(l, i, k - 1);
        is_copy |= l->at[k - 1]->at == newest;
        if (n > most) {
            most = n;
            call = l->at[k - 1]->at;
        }
    }
    return is_copy ? call : newest;
}

static struct str key_of_place(uint32_t file, uint32_t line, uint32_t column, struct arena *arena)
{
    return str_of(arena_printf(arena, "%u %u %u", file, line, column));
}

static struct str key_of(const struct ptx_loc *l, struct arena *arena)
{
    return str_of(arena_printf(arena, "%u %u %u %u %u %u %.*s+%lld", l->file, l->line, l->column, l->at_file,
                               l->at_line, l->at_column, STR_ARG(l->function_name), (long long)l->function_disp));
}

/* Those of the function, in the order of its text. */
static struct locs collect(const struct ptx_func *f, struct arena *arena)
{
    struct locs l = {.n = 0};
    uint32_t n = 0;
    bool inlined = false;
    for (uint32_t i = 0; i < f->body.n; i++)
        if (f->body.at[i].kind == STMT_LOC) {
            n++;
            inlined |= f->body.at[i].loc->inlined;
        }
    if (!inlined)
        return l;
    l.at = ARENA_ARRAY(arena, struct ptx_loc *, n);
    l.same = ARENA_ARRAY(arena, uint32_t, n);
    l.first = ARENA_ARRAY(arena, struct ptx_loc *, n);
    l.before = ARENA_ARRAY(arena, bool, n);
    for (uint32_t i = 0, last = 0; i < f->body.n; i++) {
        if (f->body.at[i].kind != STMT_LOC)
            continue;
        if (l.n && last + 1 == i)
            l.before[l.n - 1] = true;
        last = i;
        l.at[l.n++] = f->body.at[i].loc;
    }
    return l;
}

static void find_same(struct locs *l, struct arena *arena)
{
    struct map newest;
    map_init(&newest, arena);
    for (uint32_t i = 0; i < l->n; i++)
        l->same[i] = (uint32_t)(uintptr_t)map_put(&newest, key_of(l->at[i], arena), (void *)(uintptr_t)(i + 1));
}

void parse_find_calls(const struct ptx_func *f)
{
    struct arena scratch = {.on_oom = f->module->arena->on_oom};
    struct locs l = collect(f, &scratch);
    struct map newest; /* .loc of each place */
    map_init(&newest, &scratch);
    find_same(&l, &scratch);
    for (uint32_t i = 0; i < l.n; i++) {
        struct ptx_loc *loc = l.at[i];
        if (loc->inlined) {
            const struct ptx_loc *call =
                map_get(&newest, key_of_place(loc->at_file, loc->at_line, loc->at_column, &scratch));
            loc->at = i && l.before[i - 1] && call == l.first[i - 1] ? call : call_of(&l, i, call);
        }
        map_put(&newest, key_of_place(loc->file, loc->line, loc->column, &scratch), l.first[i] = first_of_call(&l, i));
    }
    arena_free(&scratch);
}
