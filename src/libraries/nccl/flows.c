/* See flows.h. */
#include "libraries/nccl/flows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { FLOW_COPY, FLOW_SEND, FLOW_RECEIVE, FLOW_REDUCE };

struct flow {
    const struct operation *operation;
    enum kind kind;
    bool gives;     /* sends what others reduce */
    unsigned stage; /* collectives: begins when all earlier stages have ended */
    int peer;
    const char *from; /* addresses in CUDA memory */
    char *to;
    size_t bytes, done;
};

struct flows {
    const struct comm *comm;
    size_t n, capacity;
    struct flow *at;
    uint32_t awaited;
    struct {
        const struct operation *operation;
        int rank;
        struct message own, other;
    } difference;
};

static enum lane lane_of(const struct flow *f)
{
    return f->operation->function >= FUNCTION_Send ? LANE_PAIR : LANE_COLLECTIVE;
}

/* ---- what a call becomes ---- */

static bool add(struct flows *f, struct flow flow)
{
    if (!flow.bytes)
        return true;
    if (f->n == f->capacity) {
        size_t more = f->capacity ? 2 * f->capacity : 16;
        struct flow *grown = realloc(f->at, more * sizeof *grown);
        if (!grown)
            return false;
        f->at = grown;
        f->capacity = more;
    }
    f->at[f->n++] = flow;
    return true;
}

/* Each rank reduces a part, and sends it to the others. */
static bool add_all_reduce(struct flows *f, const struct operation *o, unsigned *stage)
{
    const int n = f->comm->n_ranks, me = f->comm->rank;
    bool ok = true;
    for (unsigned second = 0; second < 2; second++)
        for (int i = 0; i < n; i++) {
            size_t begin = o->count * (size_t)i / (size_t)n * o->element_bytes,
                   end = o->count * (size_t)(i + 1) / (size_t)n * o->element_bytes,
                   own = o->count * (size_t)me / (size_t)n * o->element_bytes,
                   own_end = o->count * (size_t)(me + 1) / (size_t)n * o->element_bytes;
            const char *send = o->send;
            char *receive = o->receive;
            struct flow x = {.operation = o, .stage = *stage + second, .peer = i};
            if (!second) {
                x.kind = i == me ? FLOW_REDUCE : FLOW_SEND;
                x.gives = true;
                x.from = send + begin;
                x.to = receive + begin;
                x.bytes = end - begin;
                ok = ok && add(f, x);
            } else if (i != me) {
                x.kind = FLOW_SEND;
                x.from = receive + own;
                x.bytes = own_end - own;
                ok = ok && add(f, x);
                x.kind = FLOW_RECEIVE;
                x.to = receive + begin;
                x.bytes = end - begin;
                ok = ok && add(f, x);
            }
        }
    *stage += 2;
    return ok;
}

struct collective {
    bool sends_each, receives_each, from_root, to_root, reduces;
};

static struct collective collective_of(enum function function)
{
    enum { ONE, EACH, ALL = 0, ROOT, COPIED = 0, REDUCED };
    static const struct collective all[] = {
#define COLLECTIVE(name, sent, received, from, to, becomes) [FUNCTION_##name] = {sent, received, from, to, becomes},
#include "libraries/nccl/collectives.def"
#undef COLLECTIVE
    };
    return all[function];
}

static bool add_sends(struct flows *f, const struct operation *o, const struct collective *c, unsigned stage)
{
    const size_t bytes = o->count * o->element_bytes;
    bool ok = true;
    for (int i = 0; i < f->comm->n_ranks; i++)
        if (i != f->comm->rank && (!c->to_root || i == o->root))
            ok = ok && add(f, (struct flow){.operation = o,
                                            .kind = FLOW_SEND,
                                            .gives = c->reduces,
                                            .stage = stage,
                                            .peer = i,
                                            .from = (const char *)o->send + (c->sends_each ? (size_t)i * bytes : 0),
                                            .bytes = bytes});
    return ok;
}

static bool add_receives(struct flows *f, const struct operation *o, const struct collective *c, unsigned stage)
{
    const int me = f->comm->rank;
    const size_t bytes = o->count * o->element_bytes;
    const char *own = (const char *)o->send + (c->sends_each ? (size_t)me * bytes : 0);
    struct flow x = {
        .operation = o, .kind = FLOW_REDUCE, .stage = stage, .from = own, .to = o->receive, .bytes = bytes};
    if (c->reduces)
        return add(f, x);
    bool ok = true;
    for (int i = 0; i < f->comm->n_ranks; i++) {
        if (c->from_root && i != o->root)
            continue;
        x.kind = i == me ? FLOW_COPY : FLOW_RECEIVE;
        x.peer = i;
        x.to = (char *)o->receive + (c->receives_each ? (size_t)i * bytes : 0);
        ok = ok && (x.kind == FLOW_COPY && x.to == own ? true : add(f, x));
    }
    return ok;
}

static bool add_pair(struct flows *f, const struct operation *o)
{
    bool sends = o->function == FUNCTION_Send;
    return add(f, (struct flow){.operation = o,
                                .kind = sends ? FLOW_SEND : FLOW_RECEIVE,
                                .peer = o->root,
                                .from = o->send,
                                .to = o->receive,
                                .bytes = o->count * o->element_bytes});
}

static bool add_operation(struct flows *f, const struct operation *o, unsigned *stage)
{
    if (o->function >= FUNCTION_Send)
        return add_pair(f, o);
    if (o->function == FUNCTION_AllReduce)
        return add_all_reduce(f, o, stage);
    struct collective c = collective_of(o->function);
    bool ok = true;
    if (!c.from_root || o->root == f->comm->rank)
        ok = add_sends(f, o, &c, *stage);
    if (!c.to_root || o->root == f->comm->rank)
        ok = ok && add_receives(f, o, &c, *stage);
    ++*stage;
    return ok;
}

struct flows *flows_new(const struct comm *c, const struct operation *operations, size_t n)
{
    struct flows *f = calloc(1, sizeof *f);
    unsigned stage = 0;
    bool ok = f != NULL;
    if (ok)
        f->comm = c;
    for (size_t i = 0; i < n && ok; i++)
        ok = add_operation(f, &operations[i], &stage);
    if (ok || !f)
        return f;
    flows_free(f);
    return NULL;
}

void flows_free(struct flows *f)
{
    free(f->at);
    free(f);
}

/* ---- how it goes on ---- */

static struct message message_of(const struct flow *f)
{
    const struct operation *o = f->operation;
    bool pair = o->function >= FUNCTION_Send, reduces = !pair && collective_of(o->function).reduces;
    return (struct message){.function = pair ? FUNCTION_Send : o->function,
                            .type = reduces ? o->reduction.type : 0,
                            .op = reduces ? o->reduction.combine : 0,
                            .root = pair ? 0 : o->root,
                            .bytes = o->count * o->element_bytes};
}

static bool is_same(const struct message *a, const struct message *b)
{
    return a->function == b->function && a->type == b->type && a->op == b->op && a->root == b->root &&
           a->bytes == b->bytes;
}

static size_t piece(const struct flow *f)
{
    size_t left = f->bytes - f->done;
    return left < SLOT_BYTES ? left : SLOT_BYTES;
}

/* The operator's scalar may be on the device. */
static struct reduction reduction_of(const struct flow *f)
{
    struct reduction r = f->operation->reduction;
    if (r.scalar_at)
        memcpy(r.scalar, library_view(r.scalar_at), f->operation->element_bytes);
    return r;
}

static void fill_slot(const struct flow *f, struct slot *s)
{
    const void *from = library_view(f->from + f->done);
    struct reduction r = f->gives ? reduction_of(f) : (struct reduction){0};
    if (f->gives)
        reduction_give(&r, s->data, from, s->bytes / f->operation->element_bytes);
    else
        memcpy(s->data, from, s->bytes);
}

static bool send_piece(struct flows *all, struct flow *f)
{
    struct channel *c = world_channel(all->comm->world, lane_of(f), all->comm->rank, f->peer);
    uint64_t written = atomic_load_explicit(&c->written, memory_order_relaxed);
    if (written - atomic_load_explicit(&c->read, memory_order_acquire) == CHANNEL_SLOTS)
        return false;
    struct slot *s = &c->slots[written % CHANNEL_SLOTS];
    s->of = message_of(f);
    s->bytes = (uint32_t)piece(f);
    fill_slot(f, s);
    f->done += s->bytes;
    atomic_store_explicit(&c->written, written + 1, memory_order_release);
    return true;
}

/* The message from a rank for this flow; NULL if there is none yet, or, with `difference`, if it
 * belongs to something else. */
static const struct slot *arrived(struct flows *all, const struct flow *f, int from)
{
    struct channel *c = world_channel(all->comm->world, lane_of(f), from, all->comm->rank);
    uint64_t read = atomic_load_explicit(&c->read, memory_order_relaxed);
    if (atomic_load_explicit(&c->written, memory_order_acquire) == read)
        return NULL;
    const struct slot *s = &c->slots[read % CHANNEL_SLOTS];
    struct message own = message_of(f), other = s->of;
    if (is_same(&own, &other) && s->bytes == piece(f))
        return s;
    all->difference.operation = f->operation;
    all->difference.rank = from;
    all->difference.own = own;
    all->difference.other = other;
    return NULL;
}

static void take(struct flows *all, const struct flow *f, int from)
{
    struct channel *c = world_channel(all->comm->world, lane_of(f), from, all->comm->rank);
    atomic_fetch_add_explicit(&c->read, 1, memory_order_release);
}

static bool receive_piece(struct flows *all, struct flow *f)
{
    const struct slot *s = arrived(all, f, f->peer);
    if (!s)
        return false;
    size_t bytes = piece(f);
    memcpy(library_view(f->to + f->done), s->data, bytes);
    f->done += bytes;
    take(all, f, f->peer);
    return true;
}

static bool reduce_piece(struct flows *all, struct flow *f)
{
    const void *operands[WORLD_RANKS];
    const int n = all->comm->n_ranks;
    const size_t bytes = piece(f);
    struct reduction r = reduction_of(f);
    for (int i = 0; i < n; i++) {
        const struct slot *s = i == all->comm->rank ? NULL : arrived(all, f, i);
        operands[i] = s ? s->data : i == all->comm->rank ? library_view(f->from + f->done) : NULL;
        if (!operands[i])
            return false;
    }
    reduce(&r, library_view(f->to + f->done), operands, n, all->comm->rank, bytes / f->operation->element_bytes);
    f->done += bytes;
    for (int i = 0; i < n; i++)
        if (i != all->comm->rank)
            take(all, f, i);
    return true;
}

static bool move(struct flows *all, struct flow *f)
{
    switch (f->kind) {
    case FLOW_COPY:
        memmove(library_view(f->to), library_view(f->from), f->bytes);
        f->done = f->bytes;
        return true;
    case FLOW_SEND: return send_piece(all, f);
    case FLOW_RECEIVE: return receive_piece(all, f);
    default: return reduce_piece(all, f);
    }
}

/* Ranks (bits) whose later flows must wait for an unfinished one, because their bytes would follow
 * its own. */
static uint32_t in_use(const struct flows *all, const struct flow *f)
{
    return f->kind == FLOW_REDUCE ? ((1u << all->comm->n_ranks) - 1) & ~(1u << all->comm->rank)
           : f->kind == FLOW_COPY ? 0
                                  : 1u << f->peer;
}

enum progress flows_go_on(struct flows *all)
{
    uint32_t used[LANES][2] = {{0}};
    bool moved = false, done = true, open = false;
    unsigned stage = 0; /* the first stage with an unfinished flow */
    all->awaited = 0;
    for (size_t i = 0; i < all->n; i++) {
        struct flow *f = &all->at[i];
        enum lane lane = lane_of(f);
        if (f->done == f->bytes)
            continue;
        done = false;
        if (lane == LANE_COLLECTIVE && open && f->stage > stage)
            continue;
        uint32_t ranks = in_use(all, f), *direction = &used[lane][f->kind != FLOW_SEND];
        while (f->done < f->bytes && !(ranks & *direction) && move(all, f))
            moved = true;
        if (all->difference.operation)
            return FLOWS_DIFFER;
        if (f->done == f->bytes)
            continue;
        *direction |= ranks;
        all->awaited |= ranks;
        open |= lane == LANE_COLLECTIVE;
        stage = lane == LANE_COLLECTIVE ? f->stage : stage;
    }
    return done ? FLOWS_DONE : moved ? FLOWS_MOVED : FLOWS_STUCK;
}

uint32_t flows_awaited(const struct flows *f)
{
    return f->awaited;
}

static const char *function_name(uint32_t function)
{
    static const char *const names[] = {
#define COLLECTIVE(name, sent, received, from, to, becomes) [FUNCTION_##name] = "nccl" #name,
#include "libraries/nccl/collectives.def"
#undef COLLECTIVE
        [FUNCTION_Send] = "ncclSend"};
    return function < sizeof names / sizeof names[0] ? names[function] : "something unknown";
}

void flows_difference(const struct flows *f, char *text, size_t bytes)
{
    const struct message *own = &f->difference.own, *other = &f->difference.other;
    if (own->function != other->function)
        snprintf(text, bytes, "rank %d calls %s, but rank %d calls %s", f->comm->rank, f->difference.operation->name,
                 f->difference.rank, function_name(other->function));
    else if (own->bytes != other->bytes)
        snprintf(text, bytes, "rank %d passes %llu bytes, but rank %d passes %llu", f->comm->rank,
                 (unsigned long long)own->bytes, f->difference.rank, (unsigned long long)other->bytes);
    else
        snprintf(text, bytes, "ranks %d and %d pass different types, operations or roots", f->comm->rank,
                 f->difference.rank);
}
