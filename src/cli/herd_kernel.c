/* Writes the kernel of a litmus test: each thread of the launch branches to its column, and stores
 * its observed registers at the end. Proxies other than the generic one (surfaces, textures,
 * constants, aliases), and operations that PTX does not have, are refused with their line. */
#include "cli/herd_parts.h"

#include <string.h>

/* ---- where threads are ---- */

struct barrier {
    int32_t instance, id, quorum; /* -1: not given */
    bool by_register;
};

static bool is_barrier(const struct instruction *i)
{
    return str_starts(i->words[0].text, "bar.");
}

static struct barrier barrier_of(const struct instruction *i)
{
    struct barrier b = {-1, -1, -1, false};
    int32_t *const fields[] = {&b.instance, &b.id, &b.quorum};
    for (uint32_t k = 1, f = 0; k < i->n && f < 3; k += 2, f++) {
        uint32_t value;
        bool is = herd_number(i->words[k].text, &value);
        *fields[f] = is ? (int32_t)value : -1;
        b.by_register |= !is && f == 1;
    }
    return b;
}

/* A block stands for each pair of a GPU and a CTA. If there are several GPUs, each gets the same
   number of blocks. */
static void place_threads(struct herd *h)
{
    struct herd_test *t = h->test;
    VEC(struct litmus_thread *) blocks = {0};
    uint32_t gpus = 0, most = 0;
    for (uint32_t i = 0; i < h->threads.n; i++) {
        struct litmus_thread *me = &h->threads.at[i];
        gpus = me->gpu >= gpus ? me->gpu + 1 : gpus;
        for (uint32_t k = 0; k < me->code.n; k++)
            if (is_barrier(&me->code.at[k])) {
                h->warp = 32;
                h->any_id |= me->code.at[k].n > 2;
            }
    }
    for (uint32_t g = 0; g < gpus; g++) {
        uint32_t first = blocks.n;
        for (uint32_t i = 0; i < h->threads.n; i++) {
            struct litmus_thread *me = &h->threads.at[i];
            uint32_t b = first;
            if (me->gpu != g)
                continue;
            while (b < blocks.n && blocks.at[b]->cta != me->cta)
                b++;
            if (b == blocks.n)
                *VEC_PUSH(h->arena, &blocks) = me;
            me->block = b - first;
            for (uint32_t k = 0; k < i; k++)
                me->index += h->threads.at[k].gpu == g && h->threads.at[k].cta == me->cta;
            t->block = me->index >= t->block ? me->index + 1 : t->block;
        }
        most = blocks.n - first > most ? blocks.n - first : most;
    }
    h->gpus = gpus > 1;
    for (uint32_t i = 0; i < h->threads.n; i++)
        h->threads.at[i].block += h->threads.at[i].gpu * most;
    t->cluster = h->gpus ? most : 0;
    t->grid = gpus * most;
    t->block *= h->warp;
}

/* ---- instructions ---- */

struct operation {
    struct herd *h;
    uint32_t thread;
    const struct instruction *i;
    struct str parts[6]; /* parts of the opcode */
    uint32_t n_parts;
    struct str args[4];
    uint32_t n_args;
};

static bool wrong(struct operation *o, const char *what)
{
    const struct word *first = o->i->words, *last = &first[o->i->n - 1];
    return herd_fail(o->h, first->line, what,
                     (struct str){first->text.p, (size_t)(last->text.p + last->text.n - first->text.p)});
}

/* An operand as PTX: a register of the thread, a variable's address, or a number. */
static const char *operand(struct operation *o, uint32_t i)
{
    struct herd *h = o->h;
    struct str s = i < o->n_args ? o->args[i] : str_of("0");
    uint32_t value;
    if (herd_number(s, &value))
        return arena_printf(h->arena, "%u", value);
    struct litmus_thread *t = &h->threads.at[o->thread];
    uint32_t k = 0;
    while (k < t->registers.n && !str_eq(t->registers.at[k], s))
        k++;
    if (k == t->registers.n)
        *VEC_PUSH(h->arena, &t->registers) = s;
    return arena_printf(h->arena, "%%P%u_%.*s", o->thread, STR_ARG(s));
}

static const char *address(struct operation *o, uint32_t i)
{
    return arena_printf(o->h->arena, "[%%memory+%u]", herd_offset(o->h, o->args[i]));
}

static const char *scope_of(struct operation *o, uint32_t part)
{
    struct str s = part < o->n_parts ? o->parts[part] : str_of("");
    if (str_is(s, "cta"))
        return ".cta";
    if (str_is(s, "gpu"))
        return o->h->gpus ? ".cluster" : ".gpu";
    if (str_is(s, "sys"))
        return o->h->gpus ? ".gpu" : ".sys";
    return NULL;
}

static bool order_is(struct operation *o, const char *orders)
{
    struct str s = o->n_parts > 1 ? o->parts[1] : str_of("");
    for (const char *p = orders; *p; p += strcspn(p, " "), p += *p == ' ')
        if (str_eq(s, (struct str){p, strcspn(p, " ")}))
            return true;
    return false;
}

static bool needs_args(struct operation *o, uint32_t n)
{
    return o->n_args == n || wrong(o, "this instruction has too many or too few operands");
}

static bool put_access(struct operation *o, bool store)
{
    struct text *out = &o->h->out;
    if (!store && o->n_parts == 1) {
        if (needs_args(o, 2))
            text_printf(out, "mov.u32 %s, %s;\n", operand(o, 0), operand(o, 1));
        return !o->h->error;
    }
    const char *scope = scope_of(o, 2);
    bool weak = order_is(o, "weak");
    if (!needs_args(o, 2) || (!weak && (!scope || !order_is(o, store ? "relaxed release" : "relaxed acquire"))))
        return wrong(o, "this order or scope does not exist in PTX");
    text_printf(out, store ? "st.%.*s%s.global.u32 %s, %s;\n" : "ld.%.*s%s.global.u32 %s, %s;\n", STR_ARG(o->parts[1]),
                weak ? "" : scope, store ? address(o, 0) : operand(o, 0), store ? operand(o, 1) : address(o, 1));
    return true;
}

static bool put_fence(struct operation *o)
{
    const char *scope = scope_of(o, 2);
    if (order_is(o, "proxy"))
        return wrong(o, "only the generic proxy is explored");
    if (o->n_parts != 3 || !scope || !order_is(o, "sc acq_rel acquire release"))
        return wrong(o, "this order or scope does not exist in PTX");
    text_printf(&o->h->out, "fence.%.*s%s;\n", STR_ARG(o->parts[1]), scope);
    return true;
}

/* atom.ORDER.SCOPE.OPERATION, and red, which becomes an atom with an unused result because PTX has
 * no red with acquire. */
static bool put_atom(struct operation *o, bool red)
{
    static const struct {
        const char *name, *ptx;
    } operations[] = {{"add", "add.u32"}, {"sub", "add.u32"},   {"and", "and.b32"}, {"or", "or.b32"},
                      {"xor", "xor.b32"}, {"exch", "exch.b32"}, {"cas", "cas.b32"}};
    struct text *out = &o->h->out;
    const char *scope = scope_of(o, 2), *ptx = NULL;
    struct str name = o->n_parts == 4 ? o->parts[3] : str_of("");
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (str_is(name, operations[i].name))
            ptx = operations[i].ptx;
    if (!ptx || !scope || !order_is(o, "relaxed acquire release acq_rel"))
        return wrong(o, "this operation, order or scope does not exist in PTX");
    if (!needs_args(o, 3u - red + str_is(name, "cas")))
        return false;
    const char *value = operand(o, 2 - red), *result = red ? "%none" : operand(o, 0);
    if (str_is(name, "sub")) {
        text_printf(out, "neg.s32 %%value, %s;\n", value);
        value = "%value";
    }
    text_printf(out, "atom.%.*s%s.global.%s %s, %s, %s", STR_ARG(o->parts[1]), scope, ptx, result, address(o, 1 - red),
                value);
    text_puts(out, str_is(name, "cas") ? arena_printf(o->h->arena, ", %s;\n", operand(o, 3 - red)) : ";\n");
    return true;
}

static bool put_arithmetic(struct operation *o)
{
    static const char *const names[] = {"add", "sub", "mul", "div"}, *const ptx[] = {"add.u32", "sub.u32", "mul.lo.u32",
                                                                                     "div.s32"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (str_is(o->parts[0], names[i]) && needs_args(o, 3))
            text_printf(&o->h->out, "%s %s, %s, %s;\n", ptx[i], operand(o, 0), operand(o, 1), operand(o, 2));
    return !o->h->error;
}

static bool has_label(const struct operation *o, struct str name)
{
    const struct litmus_thread *t = &o->h->threads.at[o->thread];
    for (uint32_t i = 0; i < t->code.n; i++)
        if (t->code.at[i].n == 2 && str_is(t->code.at[i].words[1].text, ":") &&
            str_eq(t->code.at[i].words[0].text, name))
            return true;
    return false;
}

static bool put_branch(struct operation *o)
{
    struct text *out = &o->h->out;
    if (!needs_args(o, 3))
        return false;
    if (!has_label(o, o->args[2]))
        return wrong(o, "the thread has no such label");
    text_printf(out, "setp.%.*s.s32 %%condition, %s, %s;\n@%%condition bra P%u_%.*s;\n",
                STR_ARG(((struct str){o->parts[0].p + 1, 2})), operand(o, 0), operand(o, 1), o->thread,
                STR_ARG(o->args[2]));
    return true;
}

/* The number of threads at a barrier without a quorum: the threads of the CTA whose text names it.
 * If a thread names its barrier by a register, the answer is 0, the whole block, which is PTX's
 * default. */
static uint32_t quorum_of(struct herd *h, uint32_t thread, const struct barrier *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->threads.n; i++) {
        const struct litmus_thread *t = &h->threads.at[i];
        bool names = false;
        for (uint32_t k = 0; t->block == h->threads.at[thread].block && k < t->code.n; k++) {
            struct barrier other =
                is_barrier(&t->code.at[k]) ? barrier_of(&t->code.at[k]) : (struct barrier){-1, -1, -1, false};
            if (other.by_register)
                return 0;
            names |= is_barrier(&t->code.at[k]) && other.instance == b->instance && other.id == b->id;
        }
        n += names;
    }
    return n;
}

/* bar.cta.sync INSTANCE [, ID [, QUORUM]]: PTX's barrier with that ID, or INSTANCE if no ID is
   given. */
static bool put_barrier(struct operation *o)
{
    enum { BARRIERS = 16, OF_INSTANCES = 8 };
    struct herd *h = o->h;
    struct barrier b = barrier_of(o->i);
    bool arrive = o->n_parts == 3 && str_is(o->parts[2], "arrive");
    if (o->n_parts != 3 || !str_is(o->parts[1], "cta") || !(arrive || str_is(o->parts[2], "sync")) || b.instance < 0 ||
        o->n_args > 3)
        return wrong(o, "this is not a PTX barrier");
    int32_t id = o->n_args > 1 ? b.id : h->any_id ? b.instance + OF_INSTANCES : b.instance;
    uint32_t quorum = b.quorum >= 0 ? (uint32_t)b.quorum : quorum_of(h, o->thread, &b);
    if (id >= BARRIERS || quorum > 32 || (o->n_args == 3 && b.quorum < 1))
        return wrong(o, "PTX has barriers 0 to 15, of up to 32 warps");
    text_printf(&h->out, "bar.%s %s", arrive ? "arrive" : "sync",
                b.by_register ? operand(o, 1) : arena_printf(h->arena, "%d", id));
    if (quorum || arrive)
        text_printf(&h->out, ", %u", quorum ? quorum * h->warp : h->test->block);
    text_puts(&h->out, ";\n");
    return true;
}

static bool cut_operation(struct operation *o)
{
    struct str s = o->i->words[0].text;
    while (s.n && o->n_parts < 6) {
        size_t n = 0;
        while (n < s.n && s.p[n] != '.')
            n++;
        o->parts[o->n_parts++] = (struct str){s.p, n};
        s.p += n + (n < s.n);
        s.n -= n + (n < s.n);
    }
    for (uint32_t k = 1; k < o->i->n; k++) {
        const struct word *w = &o->i->words[k];
        bool comma = str_is(w->text, ","), minus = str_is(w->text, "-") && k + 1 < o->i->n;
        if (comma != (k % 2 == 0) && !minus)
            return wrong(o, "this is not an instruction");
        if (comma)
            continue;
        if (o->n_args == 4 || minus)
            return wrong(o, minus ? "numbers have no sign here" : "this is not an instruction");
        o->args[o->n_args++] = w->text;
    }
    return true;
}

static bool put_instruction(struct herd *h, uint32_t thread, const struct instruction *i)
{
    struct operation o = {.h = h, .thread = thread, .i = i};
    static const char *const proxies[] = {"tld", "suld", "cold", "sust", "suatom", "sured"};
    if (i->n == 2 && str_is(i->words[1].text, ":")) {
        text_printf(&h->out, "P%u_%.*s:\n", thread, STR_ARG(i->words[0].text));
        return true;
    }
    if (!cut_operation(&o))
        return false;
    struct str name = o.parts[0];
    for (size_t k = 0; k < sizeof proxies / sizeof proxies[0]; k++)
        if (str_is(name, proxies[k]))
            return wrong(&o, "only the generic proxy is explored");
    text_printf(&h->out, ".loc 1 %u 0\n", i->words[0].line);
    if (str_is(name, "st") || str_is(name, "ld"))
        return put_access(&o, *name.p == 's');
    if (str_is(name, "fence"))
        return put_fence(&o);
    if (str_is(name, "atom") || str_is(name, "red"))
        return put_atom(&o, *name.p == 'r');
    if (str_is(name, "bar"))
        return put_barrier(&o);
    if (str_is(name, "add") || str_is(name, "sub") || str_is(name, "mul") || str_is(name, "div"))
        return put_arithmetic(&o);
    if (str_is(name, "goto") && needs_args(&o, 1)) {
        if (!has_label(&o, o.args[0]))
            return wrong(&o, "the thread has no such label");
        text_printf(&h->out, "bra P%u_%.*s;\n", thread, STR_ARG(o.args[0]));
        return true;
    }
    for (const char *p = "beq bne blt bgt ble bge"; *p; p += strcspn(p, " "), p += *p == ' ')
        if (str_eq(name, (struct str){p, 3}))
            return put_branch(&o);
    return wrong(&o, "this is not an instruction of litmus tests");
}

/* ---- the kernel ---- */

static bool put_thread(struct herd *h, uint32_t number)
{
    struct litmus_thread *t = &h->threads.at[number];
    struct operation names = {.h = h, .thread = number};
    text_printf(&h->out, "P%u:\n", number);
    for (uint32_t i = 0; i < t->initial.n; i++) {
        names.args[0] = str_of(t->initial.at[i].name);
        names.n_args = 1;
        text_printf(&h->out, "mov.u32 %s, %u;\n", operand(&names, 0), t->initial.at[i].value);
    }
    for (uint32_t i = 0; i < t->code.n; i++)
        if (!put_instruction(h, number, &t->code.at[i]))
            return false;
    for (uint32_t i = 0; i < h->test->places.n; i++) {
        const struct herd_place *p = &h->test->places.at[i];
        const char *prefix = arena_printf(h->arena, "P%u:", number);
        if (p->of_memory || strncmp(p->name, prefix, strlen(prefix)) != 0)
            continue;
        names.args[0] = str_of(p->name + strlen(prefix));
        names.n_args = 1;
        text_printf(&h->out, "st.global.u32 [%%registers+%u], %s;\n", p->offset, operand(&names, 0));
    }
    text_puts(&h->out, "ret;\n");
    return true;
}

/* A thread of the test branches to its column; other threads exit. */
static void put_dispatch(struct herd *h, struct text *out)
{
    for (uint32_t i = 0; i < h->threads.n; i++) {
        const struct litmus_thread *t = &h->threads.at[i];
        text_printf(out,
                    "setp.eq.u32 %%condition, %%block, %u;\nsetp.eq.and.u32 %%condition, %%thread, %u, %%condition;\n"
                    "@%%condition bra P%u;\n",
                    t->block, t->index * h->warp, i);
    }
    text_puts(out, "ret;\n");
}

/* Writes for each register: the text before its name, the name, the text behind it. */
static void put_for_registers(struct herd *h, const char *before, const char *after, struct text *out)
{
    for (uint32_t i = 0; i < h->threads.n; i++)
        for (uint32_t k = 0; k < h->threads.at[i].registers.n; k++)
            text_printf(out, "%s %%P%u_%.*s%s;\n", before, i, STR_ARG(h->threads.at[i].registers.at[k]), after);
}

bool herd_write_kernel(struct herd *h)
{
    struct text all = {.arena = h->arena};
    place_threads(h);
    for (uint32_t i = 0; i < h->threads.n; i++)
        if (!put_thread(h, i))
            return false;
    const char *slash = strrchr(h->path, '/');
    text_printf(
        &all,
        ".version 8.6\n.target sm_90\n.address_size 64\n.file 1 \"%s\"\n"
        ".visible .entry litmus(.param .u64 memory, .param .u64 registers)\n{\n"
        ".reg .pred %%condition;\n.reg .b32 %%block, %%thread, %%none, %%value;\n.reg .b64 %%memory, %%registers;\n"
        "ld.param.u64 %%memory, [memory];\nld.param.u64 %%registers, [registers];\n"
        "mov.u32 %%block, %%ctaid.x;\nmov.u32 %%thread, %%tid.x;\n",
        slash ? slash + 1 : h->path);
    put_for_registers(h, ".reg .b32", "", &all);
    put_for_registers(h, "mov.u32", ", 0", &all);
    put_dispatch(h, &all);
    text_put(&all, h->out.p, h->out.n);
    text_puts(&all, "}\n");
    h->test->ptx = all.p;
    return true;
}
