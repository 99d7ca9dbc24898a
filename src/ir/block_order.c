/* The order in which an engine runs the blocks of a function.
 *
 * A weak topological order: the blocks of a loop stand together, headed by one block, and every
 * branch either goes forward or back to the head of a loop around it. Irreducible loops are loops
 * like others: one of their entries is the head. (F. Bourdoncle, "Efficient chaotic iteration
 * strategies with widenings", FMPA 1993, made iterative: a function may have more blocks than a
 * stack has frames.)
 */
#include "ir/ir.h"

enum { VISITED = UINT32_MAX };

struct frame {
    uint32_t block, next_successor, head;
    bool loop, inside; /* inside: going through the loop's blocks again, without the head */
};

struct orderer {
    struct ir_func *f;
    uint32_t *number; /* 0 not seen, VISITED placed, else the time of the visit */
    uint32_t time;
    struct frame *frames;
    uint32_t n_frames;
    uint32_t *stack; /* blocks of components not closed yet */
    uint32_t n_stack;
    uint32_t place; /* the order fills from its end */
};

static void enter(struct orderer *o, uint32_t block)
{
    o->number[block] = ++o->time;
    o->stack[o->n_stack++] = block;
    o->frames[o->n_frames++] = (struct frame){.block = block, .head = o->time};
}

static void place(struct orderer *o, uint32_t block)
{
    o->f->order[--o->place] = block;
}

/* Closes the component of a block that nothing earlier is reachable from; true where it is a loop,
 * whose blocks other than the head are then to be visited anew. */
static bool close_component(struct orderer *o, const struct frame *t)
{
    uint32_t block;
    do {
        block = o->stack[--o->n_stack];
        o->number[block] = block == t->block ? VISITED : 0;
    } while (block != t->block);
    return t->loop;
}

static void leave(struct orderer *o)
{
    struct frame done = o->frames[--o->n_frames];
    if (o->n_frames == 0)
        return;
    struct frame *parent = &o->frames[o->n_frames - 1];
    if (!parent->inside && done.head <= parent->head) {
        parent->head = done.head;
        parent->loop = true;
    }
}

static void step(struct orderer *o)
{
    struct frame *t = &o->frames[o->n_frames - 1];
    uint32_t n = ir_successor_count(o->f, t->block);
    while (t->next_successor < n) {
        uint32_t s = ir_successor(o->f, t->block, t->next_successor++);
        if (o->number[s] == 0) {
            enter(o, s);
            return;
        }
        if (!t->inside && o->number[s] <= t->head) {
            t->head = o->number[s];
            t->loop = true;
        }
    }
    if (!t->inside && t->head == o->number[t->block]) {
        if (close_component(o, t)) {
            o->f->blocks.at[t->block].loop_header = true;
            t->inside = true;
            t->next_successor = 0;
            return;
        }
        place(o, t->block);
        t->head = VISITED; /* nothing for the parent to learn */
    } else if (t->inside) {
        place(o, t->block);
        t->head = VISITED;
    }
    leave(o);
}

bool ir_order_blocks(struct ir_func *f)
{
    enum { STEP_WORK = 16 }; /* a loop's blocks are gone through again for each loop around them */
    struct arena scratch = {.on_oom = f->arena->on_oom};
    uint32_t n = f->blocks.n;
    bool enough = true;
    struct orderer o = {.f = f, .place = n};
    o.number = ARENA_ARRAY(&scratch, uint32_t, n);
    o.frames = ARENA_ARRAY(&scratch, struct frame, n);
    o.stack = ARENA_ARRAY(&scratch, uint32_t, n);
    f->order = ARENA_ARRAY(f->arena, uint32_t, n);
    enter(&o, 0);
    while (o.n_frames && (enough = ir_spend(f, STEP_WORK)))
        step(&o);
    /* Blocks that no path reaches are left out. */
    f->n_ordered = n - o.place;
    memmove(f->order, f->order + o.place, f->n_ordered * sizeof *f->order);
    for (uint32_t i = 0; i < n; i++)
        f->blocks.at[i].order = NO_BLOCK;
    for (uint32_t i = 0; i < f->n_ordered; i++)
        f->blocks.at[f->order[i]].order = i;
    arena_free(&scratch);
    return enough;
}
