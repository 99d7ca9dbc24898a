/* See wire.h. One function for each struct both writes and reads its fields, so the two sides
 * agree. */
#include "jit/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/channel.h"
#include "base/vec.h"
#include "isa/lane_ids.h"

enum { MAX_PART_BYTES = 1 << 30 };

struct wire {
    uint8_t *at;
    size_t n, capacity;  /* bytes passed; bytes available, or room */
    struct arena *arena; /* reading: for new objects; NULL: writing */
    bool failed;
};

static void pass(struct wire *w, void *p, size_t n)
{
    if (n == 0)
        return; /* p may be NULL */
    w->failed = w->failed || (w->arena ? n > w->capacity - w->n : !VEC_RESERVE(w, n));
    if (w->failed) {
        if (w->arena)
            memset(p, 0, n);
        return;
    }
    if (w->arena)
        memcpy(p, w->at + w->n, n);
    else
        memcpy(w->at + w->n, p, n);
    w->n += n;
}

#define PASS(w, x) pass((w), &(x), sizeof(x))

/* Passes the number of elements, and makes room for them. */
static void pass_array(struct wire *w, void **at, uint32_t *n, size_t size)
{
    PASS(w, *n);
    if (!w->arena)
        return;
    w->failed |= *n > w->capacity - w->n; /* each has at least one byte */
    *n = w->failed ? 0 : *n;
    *at = arena_array(w->arena, *n, size);
}

#define PASS_ARRAY(w, array, n) pass_array((w), (void **)&(array), &(n), sizeof *(array))

static void pass_str(struct wire *w, struct str *s)
{
    uint32_t n = (uint32_t)s->n;
    PASS(w, n);
    if (!w->arena) {
        pass(w, (char *)s->p, n); /* which is only read */
        return;
    }
    w->failed |= n > w->capacity - w->n;
    *s = w->failed ? (struct str){"", 0} : (struct str){(const char *)w->at + w->n, n};
    w->n += s->n;
}

/* ---- records, of which not all fields are passed ---- */

struct field {
    uint16_t at, size;
};

#define FIELD(type, member) {offsetof(type, member), sizeof((type *)0)->member}

static void pass_fields(struct wire *w, void *record, const struct field *fields, size_t n)
{
    for (size_t k = 0; k < n; k++)
        pass(w, (char *)record + fields[k].at, fields[k].size);
}

static void pass_records(struct wire *w, void **at, uint32_t *n, size_t size, const struct field *fields,
                         size_t n_fields)
{
    pass_array(w, at, n, size);
    for (uint32_t i = 0; i < *n; i++)
        pass_fields(w, (char *)*at + i * size, fields, n_fields);
}

#define PASS_FIELDS(w, record, fields) pass_fields((w), (record), (fields), sizeof(fields) / sizeof *(fields))
#define PASS_RECORDS(w, array, n, fields)                                                                              \
    pass_records((w), (void **)&(array), &(n), sizeof *(array), (fields), sizeof(fields) / sizeof *(fields))

/* ---- functions ---- */

static const struct field access_fields[] = {
    FIELD(struct ir_access, mem.space),    FIELD(struct ir_access, mem.frame),
    FIELD(struct ir_access, mem.bytes),    FIELD(struct ir_access, mem.n),
    FIELD(struct ir_access, mem.sign),     FIELD(struct ir_access, mem.order),
    FIELD(struct ir_access, mem.scope),    FIELD(struct ir_access, mem.is_volatile),
    FIELD(struct ir_access, mem.is_const), FIELD(struct ir_access, mem.atom),
    FIELD(struct ir_access, mem.type),     FIELD(struct ir_access, disp),
    FIELD(struct ir_access, disp_const),   FIELD(struct ir_access, regs),
    FIELD(struct ir_access, operands)};

static void pass_access(struct wire *w, struct ir_access **access)
{
    if (w->arena)
        *access = ARENA_NEW(w->arena, struct ir_access);
    PASS_FIELDS(w, *access, access_fields);
}

static void pass_call(struct wire *w, struct ir_call **call)
{
    if (w->arena)
        *call = ARENA_NEW(w->arena, struct ir_call);
    PASS(w, (*call)->syscall);
}

/* Passes a list of at most `most` registers; returns its length. */
static uint32_t pass_refs(struct wire *w, ir_ref **refs, uint32_t n, uint32_t most)
{
    PASS_ARRAY(w, *refs, n);
    pass(w, *refs, n * sizeof **refs);
    w->failed |= n > most;
    return w->failed ? 0 : n;
}

/* Passes only the registers that it reads and writes; the engine knows the rest. */
static void pass_matrix(struct wire *w, struct ir_insn *i)
{
    if (w->arena)
        i->matrix = ARENA_NEW(w->arena, struct ir_matrix);
    struct ir_matrix *m = i->matrix;
    pass_str(w, &m->name);
    uint32_t reads = pass_refs(w, &m->reads, m->n_reads, IR_MAX_REFS + FRAGMENT_MAX_REGS);
    uint32_t writes = pass_refs(w, &m->writes, m->n_writes, FRAGMENT_MAX_REGS);
    w->failed |= reads + writes > IR_MAX_REFS + FRAGMENT_MAX_REGS;
    if (w->arena) { /* writing: the kernel's own record, which is only read */
        m->n_reads = (uint16_t)(w->failed ? 0 : reads);
        m->n_writes = (uint16_t)(w->failed ? 0 : writes);
    }
    bool accesses = i->access != NULL;
    PASS(w, accesses);
    if (accesses)
        pass_access(w, &i->access);
}

static void pass_texture(struct wire *w, struct ir_insn *i)
{
    if (w->arena)
        i->texture = ARENA_NEW(w->arena, struct ir_texture);
    struct ir_texture *t = i->texture;
    pass_str(w, &t->name);
    uint32_t reads = pass_refs(w, &t->reads, t->n_reads, IR_TEXTURE_READS);
    uint32_t writes = pass_refs(w, &t->writes, t->n_writes, IR_TEXTURE_WRITES);
    if (w->arena) {
        t->n_reads = (uint8_t)reads;
        t->n_writes = (uint8_t)writes;
    }
}

static const struct field insn_fields[] = {FIELD(struct ir_insn, kind),  FIELD(struct ir_insn, guard_negated),
                                           FIELD(struct ir_insn, mode),  FIELD(struct ir_insn, lane),
                                           FIELD(struct ir_insn, guard), FIELD(struct ir_insn, d),
                                           FIELD(struct ir_insn, e),     FIELD(struct ir_insn, a),
                                           FIELD(struct ir_insn, b),     FIELD(struct ir_insn, c),
                                           FIELD(struct ir_insn, f),     FIELD(struct ir_insn, imm)};

static void pass_insn(struct wire *w, struct ir_insn *i)
{
    PASS_FIELDS(w, i, insn_fields);
    if (i->kind == IR_MATRIX)
        pass_matrix(w, i);
    else if (i->kind == IR_TEXTURE)
        pass_texture(w, i);
    else if (ir_has_access(i))
        pass_access(w, &i->access);
    if (i->kind == IR_CALL)
        pass_call(w, &i->call);
    if (i->kind == IR_BRA || i->kind == IR_BRX) {
        PASS_ARRAY(w, i->targets, i->n_targets);
        pass(w, i->targets, i->n_targets * sizeof *i->targets);
    }
}

static const struct field reg_fields[] = {FIELD(struct ir_reg, width), FIELD(struct ir_reg, slot)};
static const struct field const_fields[] = {FIELD(struct ir_const, width), FIELD(struct ir_const, base),
                                            FIELD(struct ir_const, lo)};
static const struct field block_fields[] = {FIELD(struct ir_block, first),       FIELD(struct ir_block, n),
                                            FIELD(struct ir_block, next),        FIELD(struct ir_block, order),
                                            FIELD(struct ir_block, loop_header), FIELD(struct ir_block, spins),
                                            FIELD(struct ir_block, serial_from), FIELD(struct ir_block, serial_to)};

static void pass_values(struct wire *w, struct ir_func *f)
{
    PASS_RECORDS(w, f->regs.at, f->regs.n, reg_fields);
    PASS_RECORDS(w, f->consts.at, f->consts.n, const_fields);
    PASS_ARRAY(w, f->zeroed.at, f->zeroed.n);
    pass(w, f->zeroed.at, f->zeroed.n * sizeof *f->zeroed.at);
}

static void pass_blocks(struct wire *w, struct ir_func *f)
{
    PASS_RECORDS(w, f->blocks.at, f->blocks.n, block_fields);
    PASS_ARRAY(w, f->order, f->n_ordered);
    pass(w, f->order, f->n_ordered * sizeof *f->order);
}

static void pass_function(struct wire *w, struct ir_func **function)
{
    bool is_there = *function != NULL;
    PASS(w, is_there);
    if (!is_there)
        return;
    if (w->arena) {
        *function = ARENA_NEW(w->arena, struct ir_func);
        (*function)->func = ARENA_NEW(w->arena, struct ptx_func);
        (*function)->arena = w->arena;
    }
    struct ir_func *f = *function;
    pass_str(w, &f->func->symbol.name);
    PASS(w, f->func->entry);
    PASS(w, f->frame_bytes);
    pass_values(w, f);
    PASS_ARRAY(w, f->insns.at, f->insns.n);
    for (uint32_t i = 0; i < f->insns.n; i++)
        pass_insn(w, &f->insns.at[i]);
    pass_blocks(w, f);
}

static const struct field row_fields[] = {FIELD(struct row_fill, at), FIELD(struct row_fill, sreg)};

static void pass_request(struct wire *w, struct jit_request *r)
{
    pass_str(w, &r->name);
    pass_str(w, &r->level);
    PASS(w, r->block);
    PASS(w, r->param_bytes);
    PASS(w, r->static_shared_bytes);
    PASS_RECORDS(w, r->block_rows.list.at, r->block_rows.list.n, row_fields);
    PASS_ARRAY(w, r->functions, r->n_functions);
    for (uint32_t i = 0; i < r->n_functions; i++)
        pass_function(w, &r->functions[i]);
}

uint8_t *wire_write(const struct jit_request *r, size_t *bytes)
{
    struct wire w = {0};
    struct jit_request copy = *r;
    pass_request(&w, &copy);
    *bytes = w.n;
    if (!w.failed)
        return w.at;
    free(w.at);
    return NULL;
}

bool wire_read(struct jit_request *r, const uint8_t *at, size_t bytes, struct arena *arena)
{
    struct wire w = {.at = (uint8_t *)at, .capacity = bytes, .arena = arena};
    *r = (struct jit_request){.shapes = NULL};
    pass_request(&w, r);
    return !w.failed && w.n == bytes;
}

/* ---- messages ---- */

uint32_t wire_layout(void)
{
    static const uint32_t sizes[] = {sizeof(struct jit_request), sizeof(struct jit_result), sizeof(struct ir_insn),
                                     sizeof(struct ir_access), LANE_COUNT};
    uint32_t h = abi_number();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        h = h * 31 + sizes[i];
    return h;
}

struct wire_hello wire_hello(void)
{
    struct wire_hello h = {.version = HEDDLE_VERSION, .layout = wire_layout()};
    return h;
}

enum { PARTS = 6 };

/* An answer: this header, and its parts. */
struct answer {
    uint64_t bytes[PARTS]; /* UINT64_MAX: NULL */
    struct jit_result numbers;
};

static void list_parts(struct jit_result *r, void **parts[PARTS])
{
    parts[0] = (void **)&r->object;
    parts[1] = (void **)&r->error;
    parts[2] = (void **)&r->llvm;
    parts[3] = (void **)&r->assembly;
    parts[4] = (void **)&r->ir;
    parts[5] = (void **)&r->cache_error;
}

bool wire_send_result(int fd, const struct jit_result *r)
{
    struct answer a = {.numbers = *r};
    void **parts[PARTS];
    struct jit_result copy = *r;
    list_parts(&a.numbers, parts);
    for (int i = 0; i < PARTS; i++)
        *parts[i] = NULL; /* addresses must not leave the process */
    list_parts(&copy, parts);
    for (int i = 0; i < PARTS; i++)
        a.bytes[i] = !*parts[i] ? UINT64_MAX : i == 0 ? r->bytes : strlen(*parts[i]);
    bool ok = channel_send(fd, &a, sizeof a);
    for (int i = 0; i < PARTS; i++)
        ok = ok && (!*parts[i] || channel_send(fd, *parts[i], a.bytes[i]));
    return ok;
}

bool wire_receive_result(int fd, struct jit_result *r)
{
    struct answer a;
    void **parts[PARTS];
    *r = (struct jit_result){0};
    if (!channel_receive(fd, &a, sizeof a))
        return false;
    *r = a.numbers;
    list_parts(r, parts);
    for (int i = 0; i < PARTS; i++)
        *parts[i] = NULL;
    for (int i = 0; i < PARTS; i++) {
        if (a.bytes[i] == UINT64_MAX)
            continue;
        /* texts need a zero behind them */
        char *part = a.bytes[i] < MAX_PART_BYTES ? calloc(1, a.bytes[i] + 1) : NULL;
        *parts[i] = part;
        if (!part || !channel_receive(fd, part, a.bytes[i]))
            return false;
    }
    r->bytes = r->object ? a.bytes[0] : 0;
    return true;
}

void jit_release(struct jit_result *r)
{
    void **parts[PARTS];
    list_parts(r, parts);
    for (int i = 0; i < PARTS; i++)
        free(*parts[i]);
    *r = (struct jit_result){0};
}
