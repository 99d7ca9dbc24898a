/* harness: texts of PTX, read, verified, printed and read again; and their kernels, by the
 * interpreter and by compiled code, among canaries (guarded.h). See cases.h for how it is used.
 * Lines at a text's beginning say what is to be launched:
 *
 *     //! machine LEVEL TIER STEPS      CPU level by number (0: the best), tier of the compiler (0: both), step limit
 *     //! buffer BYTES hash SEED        memory of words that look random,
 *     //! buffer BYTES below N SEED     or of words below N; after either, OFFSET=WORD sets words
 *     //! launch GRID BLOCK HOW VALUE...    arguments: numbers, @N the address of buffer N, auto: made up for all kernels
 *
 * Both engines run on one machine, with the same memory before each launch. What must be the same:
 * the result; after success, all buffers and variables, what was printed, and the counts (of warps,
 * where no lanes part); after a fault of one warp, its code and line. HOW says when that is so:
 *
 *     exact     always
 *     result    always, but for the counts, and which of several faults comes first: lanes run one after the other
 *     warp      where one warp, which the interpreter runs under several schedules, has one result
 *     inside    as exact, and it has to succeed: what it accesses are its buffers' bytes and its shared memory's
 *     outside   as exact, and it has to fault: it accesses others, too
 *     free      never: it has to end, and to leave alone what is not its own
 *
 * Verdicts: ok, refused; and findings: crash, hang, canary, bounds (not inside, or not outside),
 * differs, print (what was printed is not the same module), unrepeatable (the interpreter itself
 * differs the second time).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "guarded.h"

enum {
    MAX_BUFFERS = 16,
    MAX_ARGS = 64,
    MAX_TEXT = 4 << 20,
    MAX_LAUNCHES = 64,
    MAX_PARAM_BYTES = 4096,
    MAX_KERNELS = 4
};
enum { AUTO_BUFFER_BYTES = 4096, MEMORY_BYTES = 256 << 20, STEP_LIMIT = 200000, PRINTED_BYTES = 1 << 16 };

/* How a launch ended, in both engines. */
enum outcome { SUCCESS, FAULT, ENDLESS, RACES, UNCOMPARED, UNCOMPILED, OUTCOMES };
const char *const case_counts[] = {"success", "fault", "endless", "races", "uncompared", "uncompiled", NULL};

/* Which engines and policies a child takes. */
enum mode { COMPARE, REPEAT, RESCHEDULE };

/* ---- the case ---- */

struct launch {
    unsigned grid, block;
    enum { EXACT, RESULT, WARP, INSIDE, OUTSIDE, FREE } how;
    char args[4096];
};

struct testcase {
    const char *text;
    size_t bytes;
    unsigned level, n_buffers, n_launches;
    char tier[16];
    uint64_t steps;
    char buffers[MAX_BUFFERS][512];
    struct launch launches[MAX_LAUNCHES];
};

static void read_line(struct testcase *c, const char *line)
{
    char how[16] = "";
    struct launch *l = &c->launches[c->n_launches];
    int n = 0;
    unsigned long long steps;
    if (sscanf(line, "machine %u %15s %llu", &c->level, c->tier, &steps) == 3) {
        c->steps = steps;
    } else if (strncmp(line, "buffer ", 7) == 0 && c->n_buffers < MAX_BUFFERS) {
        snprintf(c->buffers[c->n_buffers++], sizeof c->buffers[0], "%.511s", line + 7);
    } else if (sscanf(line, "launch %u %u %15s %n", &l->grid, &l->block, how, &n) >= 3 &&
               c->n_launches + 1 < MAX_LAUNCHES) {
        l->how = strcmp(how, "exact") == 0     ? EXACT
                 : strcmp(how, "result") == 0  ? RESULT
                 : strcmp(how, "warp") == 0    ? WARP
                 : strcmp(how, "inside") == 0  ? INSIDE
                 : strcmp(how, "outside") == 0 ? OUTSIDE
                                               : FREE;
        snprintf(l->args, sizeof l->args, "%.4095s", line + n);
        c->n_launches++;
    }
}

static void read_case(struct testcase *c, const char *text, size_t bytes)
{
    *c = (struct testcase){.text = text, .bytes = bytes, .steps = STEP_LIMIT};
    const char *p = text, *end;
    for (; strncmp(p, "//! ", 4) == 0 && (end = strchr(p, '\n')); p = end + 1) {
        char line[8192];
        snprintf(line, sizeof line, "%.*s", (int)(end - p - 4), p + 4);
        read_line(c, line);
    }
}

/* What a child is to do. */
struct order {
    const struct testcase *c;
    const char *policy;
    int only; /* this launch, or -1: all */
    enum mode mode;
};

/* ---- memory ---- */

struct memory { /* what launches may change, and its contents before each */
    void *at;
    void *before;
    void *after; /* the first of two launches */
    size_t bytes;
};

struct seat {
    hd_machine *machine;
    hd_module *module;
    struct memory memory[MAX_BUFFERS + 256];
    size_t n_memory;
    void *buffers[MAX_BUFFERS];
    char printed[PRINTED_BYTES];
    size_t n_printed;
    bool has_heap; /* kernels may allocate, where the pattern is, too */
};
static struct seat seat;

static uint32_t hash32(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)(x >> 32);
}

static size_t buffer_bytes(const char *spec)
{
    return strtoull(spec, NULL, 0);
}

static void fill(uint8_t *to, const char *spec)
{
    char *p;
    size_t bytes = strtoull(spec, &p, 0);
    uint64_t below = 0, seed;
    if (strncmp(p, " below ", 7) == 0)
        below = strtoull(p + 7, &p, 0);
    else
        p += 5;
    seed = strtoull(p, &p, 0);
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t word = hash32(seed << 32 ^ (i + 1) * 0x9E3779B97F4A7C15u);
        word = below ? word % below : word;
        memcpy(to + i, &word, bytes - i < 4 ? bytes - i : 4);
    }
    while (*p == ' ') {
        size_t at = strtoull(p, &p, 0);
        uint32_t word = *p == '=' ? (uint32_t)strtoull(p + 1, &p, 0) : 0;
        if (at + 4 <= bytes)
            memcpy(to + at, &word, 4);
    }
}

static void add_memory(void *at, size_t bytes)
{
    if (!at || seat.n_memory == sizeof seat.memory / sizeof seat.memory[0])
        return;
    struct memory *m = &seat.memory[seat.n_memory++];
    *m = (struct memory){at, malloc(bytes), malloc(bytes), bytes};
    memcpy(m->before, at, bytes);
}

/* Between two buffers is what no allocation has: what misses one does not meet the other. */
static bool allocate(const struct testcase *c)
{
    enum { APART_BYTES = 1 << 20 };
    void *between[MAX_BUFFERS] = {0};
    for (unsigned i = 0; i < c->n_buffers; i++) {
        size_t bytes = buffer_bytes(c->buffers[i]);
        if (hd_alloc(seat.machine, bytes, &seat.buffers[i]) || hd_alloc(seat.machine, APART_BYTES, &between[i]))
            return false;
        fill(seat.buffers[i], c->buffers[i]);
        add_memory(seat.buffers[i], bytes);
    }
    for (unsigned i = 0; i < c->n_buffers; i++)
        hd_free(seat.machine, between[i]);
    hd_variable_info v;
    for (size_t i = 0; hd_module_get_variable(seat.module, i, &v); i++)
        if (strcmp(v.space, "global") == 0) /* beside constants are the parameters of launches to come */
            add_memory(v.pointer, v.bytes);
    for (size_t i = 0; i < seat.n_memory; i++)
        guard_around(seat.machine, seat.memory[i].at);
    return true;
}

static void restore(void)
{
    for (size_t i = 0; i < seat.n_memory; i++)
        memcpy(seat.memory[i].at, seat.memory[i].before, seat.memory[i].bytes);
    seat.n_printed = 0;
}

static void take_printed(void *data, const char *text, size_t bytes)
{
    (void)data;
    size_t room = sizeof seat.printed - seat.n_printed;
    memcpy(seat.printed + seat.n_printed, text, bytes < room ? bytes : room);
    seat.n_printed += bytes < room ? bytes : room;
}

static uint64_t fnv(uint64_t h, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const uint8_t *)p)[i]) * 0x100000001b3u;
    return h;
}

/* ---- launches ---- */

struct ended {
    hd_result result;
    char code[32], text[1024];
    unsigned line;
    uint64_t hash, instructions, lane_instructions;
};

static void pack(const hd_kernel *k, const struct launch *l, uint8_t *packed)
{
    hd_param_info param;
    bool is_auto = strncmp(l->args, "auto", 4) == 0;
    const char *p = l->args;
    for (size_t i = 0; hd_kernel_get_param(k, i, &param); i++) {
        uint64_t v;
        while (*p == ' ')
            p++;
        if (is_auto) {
            v = param.bytes == 8 ? (uintptr_t)seat.buffers[i % 2] : 33;
        } else if (*p == '@') {
            char *q;
            v = strtoull(p + 1, &q, 0) % MAX_BUFFERS;
            v = (uintptr_t)seat.buffers[v];
            p = q;
        } else {
            char *q;
            v = strtoull(p, &q, 0);
            p = q;
        }
        if (param.offset + param.bytes <= MAX_PARAM_BYTES)
            memcpy(packed + param.offset, &v, param.bytes < 8 ? param.bytes : 8);
    }
}

static void look_for_broken_canaries(void)
{
    const char *beside;
    const void *p = guard_broken(&beside);
    if (!p || seat.has_heap)
        return;
    case_fails(V_CANARY, "byte %p has been written, %s", p, beside);
}

static void commit(const char *name, struct ended *e)
{
    volatile uint8_t *buffer = seat.buffers[0];
    if (strcmp(name, "writes-beside") == 0)
        buffer[seat.memory[0].bytes] ^= 1;
    else if (strcmp(name, "reads-far") == 0)
        (void)*(buffer + (1ll << 32));
    else if (strcmp(name, "another-result") == 0)
        e->hash ^= 1;
    else if (strcmp(name, "another-count") == 0)
        e->instructions++;
    else if (strcmp(name, "no-end") == 0)
        for (;;)
            ;
}

/* Counts of endless launches tell where they were stopped; the hash is of what must be the same. */
static struct ended run(hd_kernel *k, const struct testcase *c, int number, hd_engine engine)
{
    static uint8_t packed[MAX_PARAM_BYTES];
    const struct launch *l = &c->launches[number];
    struct ended e = {0};
    hd_kernel_info info;
    hd_launch_stats stats = {0};
    hd_report *report = NULL;
    snprintf(told->where, sizeof told->where, "launch %d by %s", number, engine == HD_ENGINE_JIT ? "jit" : "interp");
    hd_kernel_get_info(k, &info);
    memset(packed, 0, sizeof packed);
    pack(k, l, packed);
    restore();
    hd_launch_config config = {.grid = {l->grid, 1, 1},
                               .block = {l->block, 1, 1},
                               .flags = HD_LAUNCH_CLOSED,
                               .engine = engine,
                               .packed_args = info.param_bytes ? packed : NULL,
                               .packed_bytes = info.param_bytes};
    memcpy(config.block, info.required_block[0] ? info.required_block : config.block, sizeof config.block);
    e.result = hd_launch(k, &config, &stats, &report);
    hd_diagnostic d = {0};
    if (e.result && hd_report_get(report, 0, &d)) {
        snprintf(e.code, sizeof e.code, "%s", d.code);
        e.line = d.line;
        snprintf(e.text, sizeof e.text, "%s", hd_report_text(report));
    }
    if (loud)
        fprintf(stderr, "%s: %s, %llu warp instructions\n%s", told->where, hd_result_name(e.result),
                (unsigned long long)stats.warp_instructions, e.text);
    hd_report_free(report);
    e.hash = fnv(0xcbf29ce484222325u, &e.result, sizeof e.result);
    if (e.result) {
        e.hash = fnv(fnv(e.hash, e.code, strlen(e.code)), &e.line, sizeof e.line);
    } else {
        for (size_t i = 0; i < seat.n_memory; i++)
            e.hash = fnv(e.hash, seat.memory[i].at, seat.memory[i].bytes);
        e.hash = fnv(e.hash, seat.printed, seat.n_printed);
    }
    e.instructions = stats.warp_instructions;
    e.lane_instructions = stats.lane_instructions;
    if (engine == HD_ENGINE_JIT)
        commit(crime, &e);
    look_for_broken_canaries();
    return e;
}

static void keep_memory(void)
{
    for (size_t i = 0; i < seat.n_memory; i++)
        memcpy(seat.memory[i].after, seat.memory[i].at, seat.memory[i].bytes);
}

/* Compiled code was asked for, and there was none: a compiler that uses no processor time for ten
 * seconds, and is not ready to run, is given up (docs/JIT.md, "A process of its own"). */
static bool is_uncompiled(const struct ended *e)
{
    return e->result == HD_ERROR_NOT_SUPPORTED && strcmp(e->code, "engine") == 0;
}

/* Of a launch of which it is known what it accesses. */
static void look_at_bounds(const struct launch *l, const struct ended *e)
{
    if (is_uncompiled(e))
        return;
    bool outside = strcmp(e->code, "illegal-address") == 0;
    if (l->how == INSIDE && e->result)
        case_fails(V_BOUNDS, "all is inside, and it ends with %s %s, line %u", hd_result_name(e->result), e->code,
                   e->line);
    if (l->how == OUTSIDE && !outside)
        case_fails(V_BOUNDS, "it accesses what is outside, and ends with %s %s", hd_result_name(e->result), e->code);
}

/* The first byte that two launches left otherwise, in words. */
static void describe_memory(void)
{
    for (size_t i = 0; i < seat.n_memory; i++)
        for (size_t at = 0; at < seat.memory[i].bytes; at++) {
            uint8_t first = ((uint8_t *)seat.memory[i].after)[at], second = ((uint8_t *)seat.memory[i].at)[at];
            if (first == second)
                continue;
            size_t n = strlen(told->what);
            snprintf(told->what + n, sizeof told->what - n, "; byte %zu of memory %zu: %#x, then %#x", at, i, first,
                     second);
            return;
        }
}

static bool is_endless(const struct ended *e)
{
    return e->result == HD_ERROR_LAUNCH_TIMEOUT || strcmp(e->code, "deadlock") == 0;
}

static void differ(const char *how, const struct ended *a, const struct ended *b, const struct launch *l, int number)
{
    told->verdict = V_DIFFERS;
    told->hash = a->hash;
    told->launch = number;
    told->may_vary = l->how == WARP;
    snprintf(told->what, sizeof told->what,
             "%s: %s%s%s line %u, %llu and %llu instructions; then %s%s%s line %u, %llu and %llu", how,
             hd_result_name(a->result), *a->code ? " " : "", a->code, a->line, (unsigned long long)a->instructions,
             (unsigned long long)a->lane_instructions, hd_result_name(b->result), *b->code ? " " : "", b->code, b->line,
             (unsigned long long)b->instructions, (unsigned long long)b->lane_instructions);
}

/* Where lanes have parted, in how many groups a warp went on depends on when its turns end, and
 * these differ. */
static bool has_parted(const struct launch *l, const struct ended *e)
{
    return e->lane_instructions != e->instructions * (l->block < 32 ? l->block : 32);
}

/* Of the interpreter's and compiled code's. Where one is stopped by the limit, the other must have
 * come near to it. */
static bool compare(const struct testcase *c, int number, const struct ended *a, const struct ended *b)
{
    const struct launch *l = &c->launches[number];
    bool one_warp = l->grid == 1 && l->block <= 32 && l->how != RESULT; /* one order of what it does */
    if (is_uncompiled(b)) {
        told->counts[UNCOMPILED]++;
    } else if (l->how == FREE) {
        told->counts[UNCOMPARED]++;
    } else if (is_endless(a) || is_endless(b)) {
        const struct ended *other = is_endless(a) ? b : a;
        if (!is_endless(other) && !other->result && other->instructions < c->steps / 2) {
            differ("one ends", a, b, l, number);
            return false;
        }
        told->counts[ENDLESS]++;
    } else if (a->result != b->result && (one_warp || !a->result || !b->result)) {
        differ("results", a, b, l, number);
        return false;
    } else if (a->result) {
        if (one_warp && (strcmp(a->code, b->code) != 0 || a->line != b->line)) {
            differ("faults", a, b, l, number);
            return false;
        }
        told->counts[FAULT]++;
    } else if (a->hash != b->hash) {
        differ("memory", a, b, l, number);
        describe_memory();
        return false;
    } else if (l->how != RESULT && (a->lane_instructions != b->lane_instructions ||
                                    (a->instructions != b->instructions && !has_parted(l, a)))) {
        differ("counts", a, b, l, number);
        return false;
    } else {
        told->counts[SUCCESS]++;
    }
    return true;
}

static bool launch_kernel(const struct order *o, const char *name)
{
    const struct testcase *c = o->c;
    hd_kernel *k;
    hd_report *report = NULL;
    hd_result r = hd_module_get_kernel(seat.module, name, &k, &report);
    hd_report_text(report);
    hd_report_free(report);
    hd_kernel_info info;
    if (r)
        return true;
    hd_kernel_get_info(k, &info);
    if (info.param_bytes > MAX_PARAM_BYTES)
        return true;
    for (int i = 0; i < (int)c->n_launches; i++) {
        if (o->only >= 0 && i != o->only)
            continue;
        struct ended a = run(k, c, i, HD_ENGINE_INTERP), b;
        if (o->mode == RESCHEDULE) {
            told->hash = a.hash;
            continue;
        }
        keep_memory();
        b = run(k, c, i, o->mode == REPEAT ? HD_ENGINE_INTERP : HD_ENGINE_JIT);
        look_at_bounds(&c->launches[i], &a);
        look_at_bounds(&c->launches[i], &b);
        if (!compare(c, i, &a, &b))
            return false;
    }
    return true;
}

static void launch_all(const struct order *o)
{
    const struct testcase *c = o->c;
    unsigned levels = 0;
    while (hd_cpu_level(levels))
        levels++;
    hd_machine_options options = {.workers = 1,
                                  .memory_bytes = MEMORY_BYTES,
                                  .step_limit = c->steps,
                                  .policy = o->policy,
                                  .cpu_level = hd_cpu_level(c->level % levels),
                                  .engine = HD_ENGINE_INTERP,
                                  .print = take_printed};
    hd_source source = {"case.ptx", c->text, c->bytes};
    hd_report *report = NULL;
    hd_result r = guard_machine(&options, &seat.machine);
    if (r) {
        fprintf(stderr, "no machine: %s\n", hd_result_name(r));
        abort();
    }
    hd_machine_info info;
    hd_machine_get_info(seat.machine, &info);
    told->addresses = (void *)(uintptr_t)info.addresses.start;
    r = hd_module_load(seat.machine, &source, 1, &seat.module, &report);
    if (!r && allocate(c))
        for (size_t i = 0; i < hd_module_kernel_count(seat.module) && i < MAX_KERNELS; i++)
            if (!launch_kernel(o, hd_module_kernel_name(seat.module, i)))
                break;
    hd_report_free(report);
    guard_forget();
    hd_machine_destroy(seat.machine);
    look_for_broken_canaries();
}

/* ---- the text ---- */

/* False where it is refused, which must have a reason. */
static bool read_and_print(const struct testcase *c)
{
    char *own = malloc(c->bytes + 1); /* its own piece of memory, so that a sanitizer sees reads behind its end */
    memcpy(own, c->text, c->bytes);
    hd_source source = {"case.ptx", own, c->bytes};
    hd_ptx *ptx, *again;
    hd_report *report;
    snprintf(told->where, sizeof told->where, "reading");
    hd_result r = hd_ptx_read(&source, &ptx, &report);
    if (r && !hd_report_count(report))
        case_fails(V_PRINT, "refused without a reason");
    hd_diagnostic d;
    if (r && hd_report_get(report, 0, &d))
        snprintf(told->what, sizeof told->what, "%s", d.code);
    if (loud)
        fputs(hd_report_text(report), stderr);
    hd_report_text(report);
    hd_report_json(report);
    hd_report_free(report);
    free(own);
    if (r)
        return false;
    source.name = "printed.ptx";
    source.text = hd_ptx_print(ptx, &source.bytes);
    snprintf(told->where, sizeof told->where, "reading what was printed");
    if (hd_ptx_read(&source, &again, &report))
        case_fails(V_PRINT, "what was printed is not accepted");
    if (strcmp(hd_ptx_print(again, NULL), source.text) != 0)
        case_fails(V_PRINT, "printed twice, it differs");
    hd_report_free(report);
    hd_ptx_free(again);
    hd_ptx_free(ptx);
    return true;
}

/* ---- processes ---- */

static void child(const void *argument)
{
    const struct order *o = argument;
    const struct testcase *c = o->c;
    setenv("HEDDLE_CACHE", "off", 1);
    setenv("HEDDLE_VERIFY", "1", 1);
    if (c->tier[0] == '1' || c->tier[0] == '2')
        setenv("HEDDLE_TIER", c->tier, 1);
    guard_pieces(c->bytes % 5 == 0 ? GUARD_NONE : c->bytes % 2 ? GUARD_ENDS : GUARD_STARTS);
    if (o->mode == COMPARE && !read_and_print(c)) {
        told->verdict = V_REFUSED;
        return;
    }
    seat.has_heap = strstr(c->text, "malloc");
    if (c->n_launches)
        launch_all(o);
}

/* A difference is one only where the interpreter agrees with itself: twice, and, of one warp, under
 * other schedules. The system gives a child's machine the same addresses each time. */
static void judge_difference(const struct testcase *c)
{
    static const char *const policies[] = {"fair", "serial", "random:1", "random:2", "random:3", "random:4"};
    const struct told first = *told;
    do_in_child(child, &(struct order){c, "fair", first.launch, REPEAT});
    if (told->verdict == V_DIFFERS) {
        told->verdict = V_UNREPEATABLE;
        return;
    }
    for (unsigned i = 0; first.may_vary && i < sizeof policies / sizeof policies[0]; i++) {
        do_in_child(child, &(struct order){c, policies[i], first.launch, RESCHEDULE});
        if (told->verdict == V_OK && told->addresses == first.addresses && told->hash != first.hash) {
            *told = first;
            told->verdict = V_OK;
            told->what[0] = 0;
            told->counts[RACES]++;
            return;
        }
    }
    *told = first;
}

void do_case(const char *text, size_t bytes)
{
    static struct testcase c;
    case_describe = guard_describe;
    read_case(&c, text, bytes);
    do_in_child(child, &(struct order){&c, "fair", -1, COMPARE});
    if (told->verdict == V_DIFFERS)
        judge_difference(&c);
}
