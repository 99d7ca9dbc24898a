/* contention [--workers N] [--policy P] [--every N]: atomic operations of many threads on one cell
 * and on few, judged by their histories; of each N kernels one.
 *
 * For each operation, type and state space a kernel is generated in which every thread does some
 * operations on the cell that its number picks, and notes what each returned. Whatever the order
 * was, the notes must be those of SOME order in which the operations were done one after the other.
 * Nothing here knows how the machine performs them. Prints TAP.
 */
#include "oracle.h"

enum { BLOCKS = 24, THREADS = 64, OPS = 4, TOTAL = BLOCKS * THREADS * OPS, MAX_CELLS = 8, CELL_BYTES = 16 };

struct value {
    uint64_t lo, hi;
};

/* One operation of the history of a cell: what it was given, what it returned. */
struct event {
    struct value operand, old;
};

struct subject {
    const char *op, *type; /* "add", "u32" */
    unsigned bytes;        /* of what is updated as one: an element of packed types and vectors */
    enum { ADD, EXCH, CAS, INC, DEC, MIN, MAX, AND, OR, XOR } kind;
    enum { INTEGER, F32, F64, F16, BF16 } arithmetic;
    uint64_t initial;
    unsigned reg_bytes, regs; /* of an operand: registers hold several elements of packed types; vectors have several */
};

static const struct subject subjects[] = {
    {"add", "u32", 4, ADD, INTEGER, 0, 4, 1},
    {"add", "s32", 4, ADD, INTEGER, 0xfffffff0, 4, 1},
    {"add", "u64", 8, ADD, INTEGER, 1ull << 40, 8, 1},
    {"add", "f32", 4, ADD, F32, 0, 4, 1},
    {"add", "f64", 8, ADD, F64, 0, 8, 1},
    {"add.noftz", "f16", 2, ADD, F16, 0, 2, 1},
    {"add.noftz", "bf16", 2, ADD, BF16, 0, 2, 1},
    {"exch", "b32", 4, EXCH, INTEGER, 77777777, 4, 1},
    {"exch", "b64", 8, EXCH, INTEGER, 77777777, 8, 1},
    {"exch", "b128", 16, EXCH, INTEGER, 77777777, 16, 1},
    {"cas", "b16", 2, CAS, INTEGER, 5, 2, 1},
    {"cas", "b32", 4, CAS, INTEGER, 5, 4, 1},
    {"cas", "b64", 8, CAS, INTEGER, 5, 8, 1},
    {"cas", "b128", 16, CAS, INTEGER, 5, 16, 1},
    {"inc", "u32", 4, INC, INTEGER, 3, 4, 1},
    {"dec", "u32", 4, DEC, INTEGER, 3, 4, 1},
    {"min", "u32", 4, MIN, INTEGER, 1u << 31, 4, 1},
    {"min", "s32", 4, MIN, INTEGER, 1u << 30, 4, 1},
    {"min", "u64", 8, MIN, INTEGER, 1ull << 40, 8, 1},
    {"min", "s64", 8, MIN, INTEGER, 1ull << 40, 8, 1},
    {"max", "u32", 4, MAX, INTEGER, 0, 4, 1},
    {"max", "s32", 4, MAX, INTEGER, 0, 4, 1},
    {"max", "u64", 8, MAX, INTEGER, 0, 8, 1},
    {"max", "s64", 8, MAX, INTEGER, 0, 8, 1},
    {"and", "b32", 4, AND, INTEGER, ~0ull, 4, 1},
    {"and", "b64", 8, AND, INTEGER, ~0ull, 8, 1},
    {"or", "b32", 4, OR, INTEGER, 0, 4, 1},
    {"or", "b64", 8, OR, INTEGER, 0, 8, 1},
    {"xor", "b32", 4, XOR, INTEGER, 0, 4, 1},
    {"xor", "b64", 8, XOR, INTEGER, 0, 8, 1},
    {"add.noftz", "f16x2", 2, ADD, F16, 0, 4, 1},
    {"add.noftz", "bf16x2", 2, ADD, BF16, 0, 4, 1},
    {"add.v2", "f32", 4, ADD, F32, 0, 4, 2},
    {"add.v4", "f32", 4, ADD, F32, 0, 4, 4},
    {"add.noftz.v2", "f16", 2, ADD, F16, 0, 2, 2},
    {"add.noftz.v4", "f16", 2, ADD, F16, 0, 2, 4},
    {"add.noftz.v8", "f16", 2, ADD, F16, 0, 2, 8},
    {"add.noftz.v8", "bf16", 2, ADD, BF16, 0, 2, 8},
    {"min.noftz.v2", "f16", 2, MIN, F16, 0x6400, 2, 2}, /* 1024 */
    {"max.noftz.v4", "f16", 2, MAX, F16, 0, 2, 4},
    {"min.noftz.v4", "bf16", 2, MIN, BF16, 0x4300, 2, 4}, /* 128 */
    {"max.noftz.v8", "bf16", 2, MAX, BF16, 0, 2, 8},
    {"add.noftz.v2", "f16x2", 2, ADD, F16, 0, 4, 2},
    {"add.noftz.v4", "f16x2", 2, ADD, F16, 0, 4, 4},
    {"max.noftz.v2", "bf16x2", 2, MAX, BF16, 0, 4, 2},
    {"min.noftz.v4", "bf16x2", 2, MIN, BF16, 0x4300, 4, 4},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

enum { WRAP = 100 }; /* bound of inc and dec */

/* 9.7.13.5: elements of packed types and vectors are updated each for itself. */
static unsigned elements(const struct subject *s)
{
    return s->reg_bytes * s->regs / s->bytes;
}

/* ---- numbers as the cell holds them ---- */

static uint64_t encode(const struct subject *s, unsigned n)
{
    float f = (float)n;
    double d = n;
    uint32_t u;
    uint64_t v;
    memcpy(&u, &f, 4);
    memcpy(&v, &d, 8);
    switch (s->arithmetic) {
    case F32: return u;
    case F64: return v;
    case BF16: return u >> 16;
    case F16: return n == 0 ? 0 : (u >> 13 & 0x3ff) | ((u >> 23) - 112) << 10; /* small whole numbers */
    default: return n;
    }
}

static double decode(const struct subject *s, uint64_t bits)
{
    uint32_t u = (uint32_t)bits;
    float f;
    double d;
    switch (s->arithmetic) {
    case F64: memcpy(&d, &bits, 8); return d;
    case BF16: u <<= 16; break;
    case F16: u = bits ? ((u >> 10 & 31) + 112) << 23 | (u & 0x3ff) << 13 : 0; break;
    default: break;
    }
    memcpy(&f, &u, 4);
    return f;
}

static uint64_t mask_of(const struct subject *s)
{
    return s->bytes >= 8 ? ~0ull : (1ull << 8 * s->bytes) - 1;
}

static bool is_signed(const struct subject *s)
{
    return s->type[0] == 's';
}

static bool less(const struct subject *s, uint64_t a, uint64_t b)
{
    if (s->arithmetic != INTEGER)
        return decode(s, a) < decode(s, b);
    if (!is_signed(s))
        return a < b;
    return s->bytes == 4 ? (int32_t)a < (int32_t)b : (int64_t)a < (int64_t)b;
}

/* What the operation makes of `old`: the definition, from PTX ISA 9.7.13.5. */
static struct value apply(const struct subject *s, struct value old, struct value x)
{
    uint64_t r = old.lo, b = x.lo;
    switch (s->kind) {
    case ADD:
        if (s->arithmetic == INTEGER)
            return (struct value){(r + b) & mask_of(s), 0};
        return (struct value){encode(s, (unsigned)(decode(s, r) + decode(s, b))), 0};
    case EXCH: return x;
    case CAS: return (struct value){(r + 1) & mask_of(s), 0}; /* successful ones count up */
    case INC: return (struct value){r >= WRAP ? 0 : r + 1, 0};
    case DEC: return (struct value){r == 0 || r > WRAP ? WRAP : r - 1, 0};
    case MIN: return less(s, b, r) ? x : old;
    case MAX: return less(s, r, b) ? x : old;
    case AND: return (struct value){r & b, 0};
    case OR: return (struct value){r | b, 0};
    default: return (struct value){r ^ b, 0};
    }
}

/* ---- the history of one cell ----
 *
 * An operation that returned r and makes r' of it is an edge from value r to value r'. Some order
 * explains the history exactly where the edges form one trail from the initial value to the final:
 * at each value as many edges come in as go out, but for the ends, and all edges hang together with
 * the start.
 */

static int by_value(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    if (x->hi != y->hi)
        return x->hi < y->hi ? -1 : 1;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

struct graph {
    struct value value[2 * TOTAL + 2];
    int surplus[2 * TOTAL + 2]; /* edges out less edges in */
    unsigned parent[2 * TOTAL + 2], n;
};

static unsigned node(const struct graph *g, struct value v)
{
    const struct value *p = bsearch(&v, g->value, g->n, sizeof v, by_value);
    return (unsigned)(p - g->value);
}

static unsigned root(struct graph *g, unsigned i)
{
    while (g->parent[i] != i)
        i = g->parent[i] = g->parent[g->parent[i]];
    return i;
}

static void fill_graph(struct graph *g, const struct subject *s, const struct event *e, unsigned n, struct value start,
                       struct value end)
{
    struct value *v = g->value;
    *v++ = start;
    *v++ = end;
    for (unsigned i = 0; i < n; i++) {
        *v++ = e[i].old;
        *v++ = apply(s, e[i].old, e[i].operand);
    }
    qsort(g->value, (size_t)(v - g->value), sizeof *v, by_value);
    g->n = 0;
    for (struct value *u = g->value; u < v; u++)
        if (g->n == 0 || by_value(&g->value[g->n - 1], u))
            g->value[g->n++] = *u;
    for (unsigned i = 0; i < g->n; i++) {
        g->surplus[i] = 0;
        g->parent[i] = i;
    }
}

static bool explained(const struct subject *s, const struct event *e, unsigned n, struct value start, struct value end)
{
    static struct graph g;
    fill_graph(&g, s, e, n, start, end);
    for (unsigned i = 0; i < n; i++) {
        unsigned from = node(&g, e[i].old), to = node(&g, apply(s, e[i].old, e[i].operand));
        g.surplus[from]++;
        g.surplus[to]--;
        g.parent[root(&g, from)] = root(&g, to);
    }
    unsigned first = node(&g, start);
    g.surplus[first]--;
    g.surplus[node(&g, end)]++;
    for (unsigned i = 0; i < g.n; i++)
        if (g.surplus[i] != 0 || (n > 0 && root(&g, i) != root(&g, first)))
            return false;
    return true;
}

/* ---- kernels ---- */

static const char *reg_type(unsigned bytes)
{
    return bytes == 2 ? "b16" : bytes == 4 ? "b32" : bytes == 8 ? "b64" : "b128";
}

/* "x0", or "{x0, x1}" for the registers of a vector. */
static const char *reg_list(const struct subject *s, char name, char text[64])
{
    size_t n = 0;
    for (unsigned i = 0; i < s->regs; i++)
        n += (size_t)snprintf(text + n, 64 - n, "%s%c%u", i ? ", " : s->regs > 1 ? "{" : "", name, i);
    snprintf(text + n, 64 - n, "%s", s->regs > 1 ? "}" : "");
    return text;
}

/* The operand of operation k of a thread goes from a table that the host fills; results go to
 * another. cas counts up by a loop of its own, and notes the value that its success returned. */
static void write_kernel(char *text, size_t size, const struct subject *s, bool shared, unsigned cells)
{
    const char *t = reg_type(s->reg_bytes), *space = shared ? "shared" : "global";
    char operands[64], results[64];
    size_t n = (size_t)snprintf(
        text, size,
        ".version 8.4\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 pcell, .param .u64 pin, .param .u64 pold)\n{\n"
        ".shared .align 16 .b8 cells[%d];\n"
        ".reg .b32 tid, cta, n, i, c, s; .reg .b64 cell, in, old, o, sc; .reg .%s x<8>, d<8>, e, w; .reg .pred p, q;\n"
        ".reg .b64 lo, hi, lo2, hi2; .reg .b64 g;\n"
        "mov.u32 tid, %%tid.x; mov.u32 cta, %%ctaid.x; mad.lo.u32 n, cta, %d, tid;\n"
        "ld.param.u64 cell, [pcell]; ld.param.u64 in, [pin]; ld.param.u64 old, [pold];\n"
        "mul.wide.u32 o, n, %d; add.u64 in, in, o; add.u64 old, old, o;\n",
        MAX_CELLS * CELL_BYTES, t, THREADS, OPS * CELL_BYTES);
    if (shared) /* a block has cells of its own: copied in, copied out */
        n += (size_t)snprintf(
            text + n, size - n,
            "mul.wide.u32 o, cta, %d; add.u64 cell, cell, o; setp.lt.u32 q, tid, %d; mul.wide.u32 o, tid, 16;\n"
            "add.u64 g, cell, o; mov.u64 sc, cells; add.u64 sc, sc, o;\n"
            "@q ld.global.v2.u64 {lo, hi}, [g]; @q st.shared.v2.u64 [sc], {lo, hi}; bar.sync 0; mov.u64 cell, cells;\n",
            MAX_CELLS * CELL_BYTES, MAX_CELLS);
    n += (size_t)snprintf(text + n, size - n,
                          "rem.u32 c, tid, %u; mul.wide.u32 o, c, %d; add.u64 cell, cell, o;\nmov.u32 i, 0;\nL:\n",
                          cells, CELL_BYTES);
    for (unsigned i = 0; i < s->regs; i++)
        n += (size_t)snprintf(text + n, size - n, "ld.global.%s x%u, [in+%u];\n", t, i, i * s->reg_bytes);
    if (s->kind == CAS)
        n += (size_t)snprintf(
            text + n, size - n,
            s->bytes == 16
                ? "ld.%s.b128 e, [cell];\nR: mov.b128 {lo, hi}, e; add.u64 lo, lo, 1; mov.b128 w, {lo, hi};\n"
                  "atom.%s.cas.b128 d0, [cell], e, w; mov.b128 {lo, hi}, d0; mov.b128 {lo2, hi2}, e;\n"
                  "setp.ne.b64 p, lo, lo2; mov.b128 e, d0; @p bra R;\n"
                : "ld.%s.%s e, [cell];\nR: add.%s w, e, 1;\n"
                  "atom.%s.cas.%s d0, [cell], e, w; setp.ne.%s p, d0, e; mov.%s e, d0; @p bra R;\n",
            space, s->bytes == 16 ? space : t,
            s->bytes == 2   ? "u16"
            : s->bytes == 4 ? "u32"
                            : "u64",
            space, t, t, t);
    else
        n += (size_t)snprintf(text + n, size - n, "atom.%s.%s.%s %s, [cell], %s;\n", space, s->op, s->type,
                              reg_list(s, 'd', results), reg_list(s, 'x', operands));
    for (unsigned i = 0; i < s->regs; i++)
        n += (size_t)snprintf(text + n, size - n, "st.global.%s [old+%u], d%u;\n", t, i * s->reg_bytes, i);
    n +=
        (size_t)snprintf(text + n, size - n,
                         "add.u64 in, in, %d; add.u64 old, old, %d; add.u32 i, i, 1; setp.lt.u32 p, i, %d; @p bra L;\n",
                         CELL_BYTES, CELL_BYTES, OPS);
    if (shared)
        n += (size_t)snprintf(text + n, size - n,
                              "bar.sync 0; @q ld.shared.v2.u64 {lo, hi}, [sc]; @q st.global.v2.u64 [g], {lo, hi};\n");
    snprintf(text + n, size - n, "ret;\n}\n");
}

/* Operands that tell the operations apart, as far as the type allows. */
static uint64_t operand(const struct subject *s, unsigned thread, unsigned k, unsigned cells)
{
    unsigned n = thread * OPS + k;
    switch (s->kind) {
    case ADD: return s->arithmetic == INTEGER ? n + 1 : encode(s, s->bytes == 2 ? n % 64 == 0 : n % 7);
    case INC:
    case DEC: return WRAP;
    case MIN:
    case MAX:
        if (s->arithmetic != INTEGER)
            return encode(s, n * 2654435761u >> (s->arithmetic == F16 ? 22 : 25));
        return (n * 2654435761u & 0x3fffffff) | 1;
    case OR:
    case XOR: return 1ull << (n / cells % (8 * s->bytes));
    case AND: return ~(1ull << (n / cells % (8 * s->bytes))) & mask_of(s);
    default: return n + 1;
    }
}

struct arena_of_test {
    uint8_t *cells, *in, *old;
};

/* Gathers the events of one cell (of one block, where it is shared) and judges them. */
static bool judge(const struct subject *s, const struct arena_of_test *a, int block, unsigned cell, unsigned cells,
                  unsigned element, unsigned *count)
{
    static struct event e[TOTAL];
    unsigned n = 0, at = element * s->bytes;
    for (unsigned t = 0; t < BLOCKS * THREADS; t++) {
        if (t % THREADS % cells != cell || (block >= 0 && t / THREADS != (unsigned)block))
            continue;
        for (unsigned k = 0; k < OPS; k++) {
            struct event *x = &e[n++];
            *x = (struct event){0};
            memcpy(&x->operand, a->in + (t * OPS + k) * CELL_BYTES + at, s->bytes);
            memcpy(&x->old, a->old + (t * OPS + k) * CELL_BYTES + at, s->bytes);
        }
    }
    struct value start = {s->initial & mask_of(s), 0}, end = {0};
    memcpy(&end, a->cells + ((block >= 0 ? (unsigned)block * MAX_CELLS : 0) + cell) * CELL_BYTES + at, s->bytes);
    *count += n;
    return explained(s, e, n, start, end);
}

static void fill(const struct subject *s, unsigned cells, const struct arena_of_test *a)
{
    size_t n = s->bytes < 8 ? s->bytes : 8;
    for (unsigned i = 0; i < BLOCKS * MAX_CELLS; i++)
        for (unsigned e = 0; e < elements(s); e++)
            memcpy(a->cells + i * CELL_BYTES + e * s->bytes, &s->initial, n);
    for (unsigned i = 0; i < TOTAL; i++)
        for (unsigned e = 0; e < elements(s); e++) {
            uint64_t x = operand(s, i / OPS, i % OPS + e, cells);
            memcpy(a->in + i * CELL_BYTES + e * s->bytes, &x, n);
        }
}

static bool test(hd_machine *m, const struct subject *s, bool shared, unsigned cells, const struct arena_of_test *a,
                 char *why, size_t size)
{
    char text[8192];
    hd_module *module;
    hd_kernel *k;
    hd_report *report = NULL;
    write_kernel(text, sizeof text, s, shared, cells);
    memset(a->old, 0, TOTAL * CELL_BYTES);
    memset(a->in, 0, TOTAL * CELL_BYTES);
    memset(a->cells, 0, BLOCKS * MAX_CELLS * CELL_BYTES);
    fill(s, cells, a);
    hd_source source = {"contention.ptx", text, strlen(text)};
    hd_result r = hd_module_load(m, &source, 1, &module, &report);
    if (!r)
        r = hd_module_get_kernel(module, "k", &k, &report);
    if (!r) {
        const void *args[] = {&a->cells, &a->in, &a->old};
        hd_launch_config c = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}, .args = args};
        r = hd_launch(k, &c, NULL, &report);
    }
    bool ok = r == HD_SUCCESS;
    if (!ok)
        snprintf(why, size, "%s%s", report ? hd_report_text(report) : hd_result_string(r), text);
    unsigned events = 0;
    for (int block = shared ? 0 : -1; ok && block < (shared ? BLOCKS : 0); block++)
        for (unsigned c = 0; c < cells && ok; c++)
            for (unsigned e = 0; e < elements(s) && ok; e++)
                if (!(ok = judge(s, a, block, c, cells, e, &events)))
                    snprintf(why, size, "no order explains what the operations on cell %u, element %u returned", c, e);
    if (ok && events != TOTAL * elements(s) && !(ok = false))
        snprintf(why, size, "%u events, not %u", events, TOTAL * elements(s));
    hd_report_free(report);
    if (r != HD_ERROR_INVALID_PTX)
        hd_module_unload(module);
    return ok;
}

int main(int argc, char **argv)
{
    hd_machine_options options = {.memory_bytes = 64 << 20};
    unsigned every = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--workers") == 0)
            options.workers = (unsigned)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--policy") == 0)
            options.policy = argv[i + 1];
        else if (strcmp(argv[i], "--every") == 0)
            every = (unsigned)atoi(argv[i + 1]);
    }
    hd_machine *m;
    struct arena_of_test a;
    const char *error;
    if (hd_machine_create(&options, &m, &error) || hd_alloc(m, BLOCKS * MAX_CELLS * CELL_BYTES, (void **)&a.cells) ||
        hd_alloc(m, TOTAL * CELL_BYTES, (void **)&a.in) || hd_alloc(m, TOTAL * CELL_BYTES, (void **)&a.old)) {
        printf("not ok - no machine\n");
        return 1;
    }
    unsigned count = 0, failed = 0, kernels = 0;
    for (unsigned i = 0; i < SUBJECTS; i++)
        for (unsigned form = 0; form < 4; form++) {
            const struct subject *s = &subjects[i];
            bool shared = form & 1;
            if (shared && s->regs > 1) /* .vec is for .global alone */
                continue;
            if (kernels++ % every != 0)
                continue;
            unsigned cells = form & 2 ? MAX_CELLS : 1;
            char why[16384] = "";
            bool ok = test(m, s, shared, cells, &a, why, sizeof why);
            printf("%sok %u - %s.%s.%s on %u cell%s\n", ok ? "" : "not ", ++count, shared ? "shared" : "global", s->op,
                   s->type, cells, cells > 1 ? "s" : "");
            if (!ok)
                printf("# %s\n", why);
            failed += !ok;
        }
    hd_machine_destroy(m);
    printf("1..%u\n", count);
    return failed != 0;
}
