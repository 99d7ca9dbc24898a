/* ir-test PASS [SETTING...] FILE.ir: what a pass or analysis of src/ir and src/jit/analysis finds
 * out of a function that is given as text (src/ir/text.h), as the function's text with notes.
 * ir-test --check FILE.ir...: is each file what comes out of itself? One TAP line a file. With
 * --write they are made so.
 *
 * The first line of such a file says what to run: `; ranges block=64`. The comments that follow it
 * stay as they are; all other comments are what is found. Settings: block=X,Y,Z (threads),
 * level=LEVEL (of the CPU), tier=1 or 2, shared=BYTES (static), params=BYTES, rows (see ir_build).
 */
#include <stdio.h>
#include <stdlib.h>

#include "ir/text.h"
#include "jit/analysis/access.h"
#include "jit/analysis/lane_library.h"
#include "read_file.h"

/* A function, what it is to be looked at as, and what has been found. */
struct subject {
    struct arena *arena;
    struct ir_func *f;
    const struct pass *pass;
    bool rows;
    struct jit_request request;
    const struct jit_target *target;
    struct ir_shapes shapes;
    struct function fn;
    uint32_t *places; /* by block */
    struct ir_live live;
    struct ir_known known;
    uint64_t *clean;
};

struct pass {
    const char *name;
    enum { ON_TEXT, ON_FUNCTION, ON_SHAPES, ON_CODE } on; /* what it needs */
    bool (*run)(struct subject *s);
    void (*of_function)(const struct subject *s, struct text *t);
    void (*of_block)(const struct subject *s, uint32_t block, struct text *t);
    void (*of_insn)(const struct subject *s, struct cursor here, struct text *t);
    void (*of_result)(const struct subject *s, uint32_t reg, struct text *t);
};

static void put_set(const struct ir_live *live, const char *name, const uint64_t *set, struct text *t)
{
    bool is_any = false;
    for (uint32_t n = 0; n < live->n; n++) {
        if (!ir_in_set(set, n))
            continue;
        if (!is_any)
            text_printf(t, "%s%s", t->n ? "; " : "", name);
        text_printf(t, " %%%u", live->regs[n]);
        is_any = true;
    }
}

/* ---- passes of src/ir ---- */

/* The blocks stay where they stand in the text, so that it can be seen which goes where. */
static bool run_order(struct subject *s)
{
    struct ir_func *f = s->f;
    for (uint32_t b = 0; b < f->blocks.n; b++)
        f->blocks.at[b].loop_header = false;
    bool ok = ir_order_blocks(f);
    s->places = ARENA_ARRAY(s->arena, uint32_t, f->blocks.n);
    f->order = ARENA_ARRAY(s->arena, uint32_t, f->blocks.n);
    f->n_ordered = f->blocks.n;
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        s->places[b] = f->blocks.at[b].order;
        f->blocks.at[b].order = b;
        f->order[b] = b;
    }
    return ok;
}

static void note_place(const struct subject *s, uint32_t block, struct text *t)
{
    if (s->places[block] == NO_BLOCK)
        text_puts(t, "never reached");
    else
        text_printf(t, "runs as %u", s->places[block]);
}

static bool run_spins(struct subject *s)
{
    for (uint32_t b = 0; b < s->f->blocks.n; b++)
        s->f->blocks.at[b].spins = false;
    return ir_find_spins(s->f);
}

static bool run_serial(struct subject *s)
{
    bool has_cut = true;
    for (uint32_t b = 0; b < s->f->blocks.n; b++)
        s->f->blocks.at[b].serial_from = s->f->blocks.at[b].serial_to = 0;
    bool ok = true;
    while (ok && (ok = ir_find_serial(s->f, s->rows, &has_cut)) && has_cut)
        ok = ir_order_blocks(s->f) && ir_find_spins(s->f);
    return ok;
}

static bool run_live(struct subject *s)
{
    return ir_find_live(s->f, s->arena, &s->live);
}

static void note_live(const struct subject *s, uint32_t block, struct text *t)
{
    put_set(&s->live, "in", s->live.in + (size_t)block * s->live.words, t);
    put_set(&s->live, "out", s->live.out + (size_t)block * s->live.words, t);
}

static bool run_nothing(struct subject *s)
{
    (void)s;
    return true;
}

static void note_slot(const struct subject *s, uint32_t reg, struct text *t)
{
    text_printf(t, "row at %u", s->f->regs.at[reg].slot);
}

static bool run_known(struct subject *s)
{
    ir_find_known(s->f, &s->shapes, s->arena, &s->known);
    return true;
}

static void note_known(const struct subject *s, uint32_t reg, struct text *t)
{
    enum { SHOWN = 5 };
    if (!s->known.rows[reg])
        return;
    uint32_t n = s->known.n_threads;
    for (uint32_t k = 0; k < n && k < SHOWN; k++)
        text_printf(t, k ? ", %llu" : "%llu", (unsigned long long)ir_known_value(s->f, &s->known, reg, k));
    if (n > SHOWN)
        text_printf(t, " ... %llu", (unsigned long long)ir_known_value(s->f, &s->known, reg, n - 1));
}

static void note_range(const struct subject *s, uint32_t reg, struct text *t)
{
    const struct ir_range *r = &s->shapes.ranges[reg];
    if (r->lo == r->hi)
        text_printf(t, "%lld", (long long)r->lo);
    else if (r->lo < r->hi)
        text_printf(t, "%lld .. %lld", (long long)r->lo, (long long)r->hi);
}

static void put_bits(const char *whose, struct ir_bits b, struct text *t)
{
    if (b.n)
        text_printf(t, "%s%s: %u low bits 0x%llx", t->n ? ", " : "", whose, b.n, (unsigned long long)b.v);
}

static void note_bits(const struct subject *s, uint32_t reg, struct text *t)
{
    put_bits("lane 0", s->shapes.bits[reg], t);
    put_bits("all", s->shapes.common[reg], t);
}

static void note_step(const struct subject *s, uint32_t reg, struct text *t)
{
    if (s->shapes.steps[reg] != UNKNOWN_STEP)
        text_printf(t, "%+lld", (long long)s->shapes.steps[reg]);
    if (s->shapes.claimed[reg])
        text_puts(t, t->n ? ", claimed" : "claimed");
}

static void note_pending(const struct subject *s, uint32_t block, struct text *t)
{
    const struct ir_shapes *x = &s->shapes;
    const char *begins = "pending in";
    for (uint32_t b = 0; b < s->f->n_ordered; b++) {
        if (!ir_in_set(x->pending + (size_t)block * x->block_words, b))
            continue;
        text_printf(t, "%s %u", begins, b);
        begins = "";
    }
    put_set(&x->live, "live in them", x->pending_live + (size_t)block * x->live.words, t);
    if (!x->whole[block])
        text_puts(t, t->n ? "; some may have ended" : "some may have ended");
}

/* Of registers that an instruction of a loop reads: what they are over its iterations. The
 * innermost loop that is one block. */
static void note_affine(const struct subject *s, struct cursor here, struct text *t)
{
    static const char *const evolutions[] = {[EVOLVES_NOT] = "stays",
                                             [EVOLVES_BY_STEP] = "steps",
                                             [EVOLVES_BY_ADDENDS] = "steps by what stays",
                                             [EVOLVES_OTHERWISE] = "unknown",
                                             [EVOLVES_LOADED] = "loaded"};
    const struct ir_block *block = &s->f->blocks.at[s->f->order[here.block]];
    struct ir_loop loop = ir_loop_of(s->f, &s->shapes, s->shapes.defs, here.block, here.block + 1, s->arena);
    ir_ref reads[IR_MAX_REFS];
    bool is_loop = false;
    for (uint32_t k = 0; k < ir_successor_count(s->f, s->f->order[here.block]); k++)
        is_loop |= ir_successor(s->f, s->f->order[here.block], k) == s->f->order[here.block];
    for (unsigned k = 0, n = ir_reads(&s->f->insns.at[block->first + here.index], reads); k < n && is_loop; k++) {
        if (ir_ref_kind(reads[k]) != REF_REG)
            continue;
        const struct ir_affine *x = ir_affine_of(&loop, reads[k], block->first + here.index);
        text_printf(t, "%s%%%u %s", t->n ? ", " : "", ir_ref_index(reads[k]), evolutions[x->over]);
        if (x->over == EVOLVES_BY_STEP)
            text_printf(t, " %+lld", (long long)x->step);
    }
}

/* ---- analyses of src/jit ---- */

static void note_lane_serial(const struct subject *s, uint32_t block, struct text *t)
{
    if (s->shapes.lane_serial[block])
        text_puts(t, "lane after lane");
}

static void note_gang(const struct subject *s, struct text *t)
{
    const struct gang_plan *p = &s->fn.plan;
    if (p->n)
        text_printf(t, "gangs of %u warps%s%s%s", p->n, p->is_block ? ", all of the block" : "",
                    p->is_straight ? ", straight" : "", p->turn ? ", in turns" : "");
    else
        text_puts(t, "no gangs");
}

static void note_gang_block(const struct subject *s, uint32_t block, struct text *t)
{
    const struct gang_plan *p = &s->fn.plan;
    if (!p->n)
        return;
    text_puts(t, p->entries[block] ? "gangs begin" : p->inside[block] ? "inside" : "");
    if (p->is_side_region && p->is_side_region[block])
        text_puts(t, "a side region");
    if (p->is_block && p->side_region[block])
        text_printf(t, ", side region %u", p->side_region[block]);
}

/* Of those that are emitted warp after warp, a colon behind each that the next one belongs to. */
static void note_once(const struct subject *s, struct cursor here, struct text *t)
{
    uint32_t from = 0, n = 0;
    bool restarts = true;
    if (!s->fn.plan.n || !s->fn.plan.inside[here.block])
        return;
    if (s->fn.plan.once[block_at(here.fn, here.block)->first + here.index])
        text_puts(t, "once");
    for (; from <= here.index; from += n ? n : 1) {
        n = gang_count_in_turns(here.fn, here.block, from, restarts);
        for (uint32_t k = 0; k < (n ? n : 1); k++)
            restarts &= !gang_changes(here.fn, here.block, from + k);
    }
    if (n && from > here.index + 1)
        text_puts(t, ":");
}

static void note_canonical(const struct subject *s, uint32_t reg, struct text *t)
{
    if (s->fn.canonical[reg])
        text_puts(t, "one NaN");
}

static bool moves(const struct ir_insn *i)
{
    return i->kind == IR_LD || i->kind == IR_ST;
}

static void note_check_group(const struct subject *s, struct cursor here, struct text *t)
{
    const struct check_group *g = &here.check_groups[here.index];
    const struct interleave_group *r = g->interleaved;
    (void)s;
    if (!moves(fn_insn_at(here, here.index)) || !access_is_simple(here.fn, fn_insn_at(here, here.index)))
        return;
    if (access_needs_no_test(here, here.index))
        text_puts(t, "inside for certain");
    else if (g->first != here.index)
        text_printf(t, "tested by %u", g->first);
    else if (g->n)
        text_printf(t, "tests bytes %lld .. %lld for %u", (long long)g->from, (long long)g->to, g->n);
    else
        text_puts(t, "tested by itself");
    if (r)
        text_printf(t, ", moved by %u .. %u: %u of %u elements", r->first, r->last, r->n * WARP_LANES, r->elements);
}

static void note_tested_loop(const struct subject *s, uint32_t block, struct text *t)
{
    struct cursor here = {
        .fn = &s->fn, .block = block, .check_groups = s->fn.check_groups + block_at(&s->fn, block)->first};
    struct tested_loop loop;
    here.is_full = ir_is_full(&s->shapes, block);
    if (loop_tests_find(here, true, &loop))
        text_puts(t, "tested before it begins");
}

static void note_nontemporal(const struct subject *s, struct cursor here, struct text *t)
{
    const struct ir_insn *i = fn_insn_at(here, here.index);
    (void)s;
    if (!moves(i))
        return;
    struct access a = access_begin(here.fn, i);
    if (access_is_nontemporal(here, &a))
        text_puts(t, "past the caches");
}

static void note_index(const struct subject *s, struct cursor here, struct text *t)
{
    const struct ir_insn *i = fn_insn_at(here, here.index);
    struct index x;
    (void)s;
    if (!moves(i) || ir_ref_kind(i->a) != REF_REG)
        return;
    struct access a = access_begin(here.fn, i);
    if (a.shape == SHAPE_DIVERGENT && base_index_find(here, &a, &x))
        text_printf(t, "base %s%u, index %%%u * %u", ir_ref_kind(x.base) == REF_REG ? "%" : "constant ",
                    ir_ref_index(x.base), ir_ref_index(x.lanes), x.scale);
}

static void note_frame_places(const struct subject *s, struct cursor here, struct text *t)
{
    const struct ir_insn *i = fn_insn_at(here, here.index);
    (void)s;
    if (!moves(i))
        return;
    struct access a = access_begin(here.fn, i);
    for (unsigned k = 0; a.frame && k < a.frame->n; k++)
        text_printf(t, k ? ", %u" : "frame %u", a.frame->at[k]);
}

static void note_through(const struct subject *s, uint32_t block, struct text *t)
{
    put_set(&s->shapes.live, "through", live_through(&s->fn, block), t);
}

static bool run_dirty(struct subject *s)
{
    uint8_t entries[s->f->n_ordered];
    fn_find_entries(&s->fn, entries);
    s->clean = dirty_find_clean(&s->fn, entries, false);
    return true;
}

static void note_clean(const struct subject *s, uint32_t block, struct text *t)
{
    const uint64_t *sets = s->clean + (size_t)block * dirty_words(&s->fn);
    uint64_t live[s->shapes.live.words];
    for (int seeds = 0; seeds < 2; seeds++) {
        for (uint32_t w = 0; w < s->shapes.live.words; w++)
            live[w] = sets[(uint32_t)seeds * s->shapes.live.words + w] & live_in(&s->fn, block)[w];
        put_set(&s->shapes.live, seeds ? "seeds" : "clean", live, t);
    }
}

static const struct pass passes[] = {
    {"order", ON_TEXT, run_order, NULL, note_place, NULL, NULL},
    {"spins", ON_FUNCTION, run_spins, NULL, NULL, NULL, NULL},
    {"serial", ON_FUNCTION, run_serial, NULL, NULL, NULL, NULL},
    {"live", ON_FUNCTION, run_live, NULL, note_live, NULL, NULL},
    {"slots", ON_FUNCTION, run_nothing, NULL, NULL, NULL, note_slot},
    {"known", ON_SHAPES, run_known, NULL, NULL, NULL, note_known},
    {"shapes", ON_SHAPES, run_nothing, NULL, NULL, NULL, NULL},
    {"pending", ON_SHAPES, run_nothing, NULL, note_pending, NULL, NULL},
    {"ranges", ON_SHAPES, run_nothing, NULL, NULL, NULL, note_range},
    {"bits", ON_SHAPES, run_nothing, NULL, NULL, NULL, note_bits},
    {"steps", ON_SHAPES, run_nothing, NULL, NULL, NULL, note_step},
    {"affine", ON_SHAPES, run_nothing, NULL, NULL, note_affine, NULL},
    {"lane-serial", ON_CODE, run_nothing, NULL, note_lane_serial, NULL, NULL},
    {"gangs", ON_CODE, run_nothing, note_gang, note_gang_block, note_once, NULL},
    {"access-groups", ON_CODE, run_nothing, NULL, NULL, note_check_group, NULL},
    {"loop-tests", ON_CODE, run_nothing, NULL, note_tested_loop, NULL, NULL},
    {"nontemporal", ON_CODE, run_nothing, NULL, NULL, note_nontemporal, NULL},
    {"base-index", ON_CODE, run_nothing, NULL, NULL, note_index, NULL},
    {"frame-places", ON_CODE, run_nothing, NULL, NULL, note_frame_places, NULL},
    {"canonical-nans", ON_CODE, run_nothing, NULL, NULL, NULL, note_canonical},
    {"live-state", ON_CODE, run_nothing, NULL, note_through, NULL, NULL},
    {"dirty", ON_CODE, run_dirty, NULL, note_clean, NULL, NULL},
};

/* ---- notes ---- */

static void of_function(const void *data, struct text *t)
{
    const struct subject *s = data;
    if (s->pass->of_function)
        s->pass->of_function(s, t);
}

static void of_block(const void *data, uint32_t block, struct text *t)
{
    const struct subject *s = data;
    if (s->pass->of_block)
        s->pass->of_block(s, block, t);
}

static void of_insn(const void *data, uint32_t insn, struct text *t)
{
    const struct subject *s = data;
    uint32_t block = 0;
    while (insn < block_at(&s->fn, block)->first || insn >= block_at(&s->fn, block)->first + block_at(&s->fn, block)->n)
        block++;
    struct cursor here = {.fn = &s->fn, .block = block, .index = insn - block_at(&s->fn, block)->first};
    if (s->pass->of_insn) {
        here.is_full = ir_is_full(&s->shapes, block);
        here.check_groups = s->fn.check_groups ? s->fn.check_groups + block_at(&s->fn, block)->first : NULL;
        s->pass->of_insn(s, here, t);
    }
    ir_ref results[IR_MAX_REFS];
    for (unsigned k = 0, n = ir_writes(&s->f->insns.at[insn], results); k < n && s->pass->of_result; k++) {
        text_puts(t, k ? " | " : "");
        s->pass->of_result(s, ir_ref_index(results[k]), t);
    }
}

/* ---- running ---- */

static const char *set_target(struct subject *s)
{
    s->target = jit_target_find(s->request.level);
    return s->target ? NULL : "there is no such CPU level";
}

/* Do its blocks stand as they run? */
static bool stands_in_order(struct ir_func *f)
{
    bool in_order = ir_order_blocks(f) && f->n_ordered == f->blocks.n;
    for (uint32_t b = 0; b < f->n_ordered; b++)
        in_order &= f->order[b] == b;
    return in_order;
}

static const char *analyse(struct subject *s)
{
    static LLVMContextRef context;
    const char *wrong = set_target(s);
    context = context ? context : LLVMContextCreate();
    if (wrong)
        return wrong;
    s->request.n_functions = 1;
    s->request.functions = &s->f;
    s->request.shapes = &s->shapes;
    s->fn.request = &s->request;
    s->fn.target = s->target;
    s->fn.lanes = lane_library_open(context, s->target);
    function_analyse(&s->fn, 0);
    free(s->fn.lanes);
    return NULL;
}

static const char *run(struct subject *s)
{
    const char *wrong = NULL;
    s->fn = (struct function){.ir = s->f, .shapes = &s->shapes, .arena = s->arena};
    if (s->pass->on >= ON_FUNCTION && !stands_in_order(s->f))
        return "its blocks do not stand as they run: see what the pass `order` says";
    if (s->pass->on >= ON_FUNCTION) {
        s->f->zeroed.n = 0; /* found again with the slots */
        if (!ir_assign_slots(s->f))
            return "it is too large for slots";
    }
    if (s->pass->on >= ON_SHAPES && !ir_find_shapes(s->f, s->request.block, s->arena, &s->shapes))
        return "it is too large for shapes";
    if (s->pass->on >= ON_CODE)
        wrong = analyse(s);
    return wrong ? wrong : s->pass->run(s) ? NULL : "the pass gave up";
}

/* ---- files ---- */

static const struct pass *find_pass(struct str name)
{
    for (size_t k = 0; k < sizeof passes / sizeof passes[0]; k++)
        if (str_is(name, passes[k].name))
            return &passes[k];
    return NULL;
}

static const char *set(struct subject *s, const char *word)
{
    const char *value = strchr(word, '=');
    struct str name = {word, value ? (size_t)(value - word) : strlen(word)};
    uint32_t number = value ? (uint32_t)strtoul(value + 1, NULL, 10) : 0, *b = s->request.block;
    if (str_is(name, "block") && value)
        sscanf(value + 1, "%u,%u,%u", &b[0], &b[1], &b[2]);
    else if (str_is(name, "level") && value)
        s->request.level = str_of(value + 1);
    else if (str_is(name, "tier"))
        s->request.tier = (enum jit_tier)number;
    else if (str_is(name, "shared"))
        s->request.static_shared_bytes = number;
    else if (str_is(name, "params"))
        s->request.param_bytes = number;
    else if (str_is(name, "rows"))
        s->rows = true;
    else
        return arena_printf(s->arena, "there is no setting `%s`", word);
    return b[0] * b[1] * b[2] - 1 < 1024 ? NULL : "a block has 1 to 1024 threads";
}

/* The comments before a text's function. */
static struct str head_of(struct str text)
{
    size_t n = 0;
    while (n < text.n && text.p[n] == ';') {
        const char *end = memchr(text.p + n, '\n', text.n - n);
        n = end ? (size_t)(end - text.p) + 1 : text.n;
    }
    return (struct str){text.p, n};
}

/* `; PASS SETTING...` */
static const char *read_first_line(struct subject *s, struct str text)
{
    const char *end = memchr(text.p, '\n', text.n), *wrong = NULL;
    char *line =
        end && text.n > 2 && text.p[0] == ';' ? arena_strndup(s->arena, text.p + 1, (size_t)(end - text.p) - 1) : "";
    char *rest = NULL, *word = *line ? strtok_r(line, " ", &rest) : NULL;
    s->pass = word ? find_pass(str_of(word)) : NULL;
    if (!s->pass)
        return "its first line names no pass, as `; ranges block=64` does";
    while (!wrong && (word = strtok_r(NULL, " ", &rest)))
        wrong = set(s, word);
    return wrong;
}

static const char *read_function(struct subject *s, const char *path, struct str text)
{
    struct diags diags = {.arena = s->arena};
    s->f = ir_read(s->arena, source_new(s->arena, path, text), &diags);
    if (s->f)
        return NULL;
    struct place_line at = place_locate(diags.list.at[0].place);
    return arena_printf(s->arena, "%s:%u:%u: %s", path, at.line, at.column, diags.list.at[0].text);
}

static struct subject new_subject(struct arena *a)
{
    return (struct subject){
        .arena = a, .request = {.tier = TIER_FIRST, .block = {64, 1, 1}, .param_bytes = 64, .level = {"x86-64-v4", 9}}};
}

/* What comes out of a text. */
static struct str result_of(struct subject *s, struct str head)
{
    const struct ir_notes notes = {s, of_function, of_block, of_insn};
    struct str body = s->pass == find_pass(str_of("shapes")) ? ir_print_shapes(s->f, &s->shapes, s->arena)
                                                             : ir_print(s->f, &notes, s->arena);
    struct text t = {.arena = s->arena};
    text_str(&t, head);
    text_str(&t, body);
    return (struct str){t.p, t.n};
}

static const char *write_file(const char *path, struct str text)
{
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(text.p, 1, text.n, f) == text.n;
    return (f ? fclose(f) == 0 && ok : ok) ? NULL : "it cannot be written";
}

/* What is wrong with a file, or NULL. */
static const char *check_file(struct arena *a, const char *path, bool writes)
{
    struct subject s = new_subject(a);
    struct str text, found;
    const char *wrong = read_file(path, a, &text) ? read_first_line(&s, text) : "it cannot be read";
    wrong = wrong ? wrong : read_function(&s, path, text);
    wrong = wrong ? wrong : run(&s);
    if (wrong)
        return wrong;
    found = result_of(&s, head_of(text));
    if (str_eq(found, text))
        return NULL;
    return writes ? write_file(path, found) : arena_printf(a, "what is found now:\n%.*s", STR_ARG(found));
}

static int check_files(int n, char **paths, bool writes)
{
    int failed = 0;
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        struct arena arena = {0};
        const char *wrong = check_file(&arena, paths[i], writes);
        for (const char *line = wrong; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
            printf("# %.*s\n", (int)strcspn(line, "\n"), line);
        printf("%sok %d - %s\n", wrong ? "not " : "", i + 1, paths[i]);
        failed += wrong != NULL;
        arena_free(&arena);
    }
    return failed > 0;
}

static int show(int n, char **words)
{
    struct arena arena = {0};
    struct subject s = new_subject(&arena);
    struct str text;
    s.pass = find_pass(str_of(words[0]));
    const char *wrong = s.pass ? NULL : "there is no such pass", *path = words[n - 1];
    for (int i = 1; i < n - 1 && !wrong; i++)
        wrong = set(&s, words[i]);
    wrong = wrong ? wrong : !read_file(path, &arena, &text) ? "it cannot be read" : read_function(&s, path, text);
    wrong = wrong ? wrong : run(&s);
    if (!wrong) {
        struct str found = result_of(&s, head_of(text));
        fwrite(found.p, 1, found.n, stdout);
    } else {
        fprintf(stderr, "ir-test: %s\n", wrong);
    }
    arena_free(&arena);
    return wrong != NULL;
}

int main(int argc, char **argv)
{
    bool checks = argc > 2 && strcmp(argv[1], "--check") == 0, writes = argc > 2 && strcmp(argv[1], "--write") == 0;
    if (checks || writes)
        return check_files(argc - 2, argv + 2, writes);
    if (argc > 2)
        return show(argc - 1, argv + 1);
    fputs("usage: ir-test PASS [SETTING...] FILE.ir | ir-test --check|--write FILE.ir...\npasses:", stderr);
    for (size_t k = 0; k < sizeof passes / sizeof passes[0]; k++)
        fprintf(stderr, " %s", passes[k].name);
    fputs("\n", stderr);
    return 2;
}
