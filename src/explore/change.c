/* See change.h. */
#include "explore/change.h"

#include <stdlib.h>
#include <string.h>

#include "isa/opcodes.h"

/* ---- what the text has ---- */

bool site_is(const struct ir_insn *i)
{
    if (!i->origin)
        return false;
    switch ((enum ir_kind)i->kind) {
    case IR_LD:
    case IR_ST:
        return !ir_is_copy(i) && (i->access->mem.space == SPACE_GENERIC || i->access->mem.space == SPACE_GLOBAL ||
                                  i->access->mem.space == SPACE_SHARED);
    case IR_ATOM: return true;
    case IR_FENCE: return i->origin->inst->op == OP_fence || i->origin->inst->op == OP_membar;
    case IR_BAR: return i->mode == BAR_CLUSTER_ARRIVE;
    default: return false;
    }
}

bool site_same(const struct ir_insn *a, const struct ir_insn *b)
{
    return a == b || (a->origin && a->origin == b->origin);
}

/* membar has .cta, .gl and .sys (PTX ISA 9.0, 9.7.13.5). */
static enum scope scope_of(const struct isa_inst *i, enum scope otherwise)
{
    return isa_has(i, MOD_cta)       ? SCOPE_CTA
           : isa_has(i, MOD_cluster) ? SCOPE_CLUSTER
           : isa_has(i, MOD_gpu)     ? SCOPE_GPU
           : isa_has(i, MOD_sys)     ? SCOPE_SYS
                                     : otherwise;
}

static enum scope scope_of_access(const struct mem_access *m)
{
    switch ((enum isa_mod)m->scope) {
    case MOD_cta: return SCOPE_CTA;
    case MOD_cluster: return SCOPE_CLUSTER;
    case MOD_sys: return SCOPE_SYS;
    default: return SCOPE_GPU;
    }
}

struct strength strength_of(const struct ir_insn *i)
{
    const struct isa_inst *inst = i->origin ? i->origin->inst : NULL;
    if (ir_has_access(i))
        return (struct strength){.order = i->kind == IR_MBARRIER && !mbarrier_tests(i->mode) ? (uint8_t)i->imm
                                                                                             : i->access->mem.order,
                                 .scope = (uint8_t)scope_of_access(&i->access->mem)};
    if (i->kind == IR_FENCE && inst)
        return (struct strength){.order = i->imm == ORDER_SC           ? ORDER_SC
                                          : isa_has(inst, MOD_acquire) ? ORDER_ACQUIRE
                                          : isa_has(inst, MOD_release) ? ORDER_RELEASE
                                                                       : ORDER_ACQ_REL,
                                 .scope = (uint8_t)scope_of(inst, SCOPE_GPU)};
    return (struct strength){.order = inst && isa_has(inst, MOD_relaxed) ? ORDER_RELAXED : ORDER_ACQ_REL};
}

/* ---- changes ---- */

struct strength strength_with(const struct changes *c, const struct ir_insn *insn)
{
    for (uint32_t i = 0; c && i < c->n; i++)
        if (site_same(c->at[i].site, insn))
            return c->at[i].to;
    return strength_of(insn);
}

bool strength_equal(struct strength a, struct strength b)
{
    return a.order == b.order && a.scope == b.scope && a.before == b.before && a.after == b.after &&
           (a.fence_scope == b.fence_scope || (!a.before && !a.after));
}

static uint8_t order_join(uint8_t a, uint8_t b)
{
    if ((a == ORDER_ACQUIRE && b == ORDER_RELEASE) || (a == ORDER_RELEASE && b == ORDER_ACQUIRE))
        return ORDER_ACQ_REL;
    return a > b ? a : b;
}

static bool order_at_least(uint8_t a, uint8_t b)
{
    return order_join(a, b) == a;
}

static uint8_t larger(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

struct strength strength_join(struct strength a, struct strength b)
{
    struct strength j = {.order = order_join(a.order, b.order),
                         .scope = a.order == ORDER_WEAK   ? b.scope
                                  : b.order == ORDER_WEAK ? a.scope
                                                          : larger(a.scope, b.scope),
                         .before = larger(a.before, b.before),
                         .after = larger(a.after, b.after)};
    bool in_a = a.before || a.after, in_b = b.before || b.after;
    j.fence_scope = !in_a ? b.fence_scope : !in_b ? a.fence_scope : larger(a.fence_scope, b.fence_scope);
    return j;
}

struct changes changes_copy(struct arena *arena, const struct changes *c)
{
    struct changes to = {.n = c->n, .at = ARENA_ARRAY(arena, struct change, c->n + 1)};
    if (c->n)
        memcpy(to.at, c->at, c->n * sizeof *to.at);
    return to;
}

static int by_place(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    uint32_t p = x->site->origin->offset, q = y->site->origin->offset;
    return x->site->module != y->site->module ? (x->site->module < y->site->module ? -1 : 1) : (p > q) - (p < q);
}

void changes_put(struct changes *c, const struct ir_insn *site, struct strength to)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (site_same(c->at[i].site, site)) {
            c->at[i].to = strength_join(c->at[i].to, to);
            return;
        }
    c->at[c->n++] = (struct change){site, strength_join(strength_of(site), to)};
    qsort(c->at, c->n, sizeof *c->at, by_place);
}

struct changes changes_with(struct arena *arena, const struct changes *c, const struct ir_insn *site,
                            struct strength to)
{
    struct changes all = changes_copy(arena, c);
    changes_put(&all, site, to);
    return all;
}

bool changes_equal(const struct changes *a, const struct changes *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!site_same(a->at[i].site, b->at[i].site) || !strength_equal(a->at[i].to, b->at[i].to))
            return false;
    return true;
}

/* ---- the lattice of a site ---- */

static bool returns(const struct ir_insn *site)
{
    return site->kind == IR_LD || (site->kind == IR_ATOM && site->origin->inst->kind != KIND_RED);
}

/* The orders stronger than relaxed that the instruction may have. */
static unsigned orders_of(const struct ir_insn *site, uint8_t orders[3])
{
    unsigned n = 0;
    switch ((enum ir_kind)site->kind) {
    case IR_LD: orders[n++] = ORDER_ACQUIRE; break;
    case IR_ST: orders[n++] = ORDER_RELEASE; break;
    case IR_ATOM:
        orders[n++] = ORDER_RELEASE;
        if (returns(site)) {
            orders[n++] = ORDER_ACQUIRE;
            orders[n++] = ORDER_ACQ_REL;
        }
        break;
    case IR_FENCE:
        orders[n++] = ORDER_ACQ_REL;
        orders[n++] = ORDER_SC;
        break;
    default: orders[n++] = ORDER_ACQ_REL;
    }
    return n;
}

static void add_step(const struct ir_insn *site, struct strength s, struct strength *steps, unsigned *n)
{
    s = strength_join(strength_of(site), s);
    if (strength_equal(s, strength_of(site)))
        return;
    for (unsigned i = 0; i < *n; i++)
        if (strength_equal(steps[i], s))
            return;
    steps[(*n)++] = s;
}

unsigned change_steps(const struct ir_insn *site, enum scope scope, struct strength steps[MAX_STEPS_OF_SITE])
{
    struct strength now = strength_of(site);
    uint8_t orders[3];
    unsigned n = 0, n_orders = orders_of(site, orders);
    bool weak = now.order == ORDER_WEAK;
    if (site->kind != IR_BAR)
        add_step(site, (struct strength){.order = weak ? ORDER_RELAXED : now.order, .scope = (uint8_t)scope}, steps,
                 &n);
    for (unsigned i = 0; i < n_orders; i++) {
        if (!weak)
            add_step(site, (struct strength){.order = orders[i], .scope = now.scope}, steps, &n);
        add_step(site, (struct strength){.order = orders[i], .scope = (uint8_t)scope}, steps, &n);
    }
    if (!ir_has_access(site))
        return n;
    now.fence_scope = (uint8_t)scope;
    if (site->kind != IR_LD) {
        now.before = ORDER_ACQ_REL;
        add_step(site, now, steps, &n);
    }
    if (returns(site)) {
        now.after = ORDER_ACQ_REL;
        /* An atomic operation has both an acquire and a release side. */
        add_step(site, now, steps, &n);
        now.before = ORDER_WEAK;
        add_step(site, now, steps, &n);
    }
    now.before = ORDER_SC;
    now.after = ORDER_WEAK;
    add_step(site, now, steps, &n);
    return n;
}

struct strength change_top(const struct ir_insn *site, enum scope scope)
{
    struct strength steps[MAX_STEPS_OF_SITE], top = strength_of(site);
    unsigned n = change_steps(site, scope, steps);
    for (unsigned i = 0; i < n; i++)
        top = strength_join(top, steps[i]);
    return top;
}

static void add_part(const struct ir_insn *site, struct strength s, struct strength *parts, unsigned *n)
{
    struct strength text = strength_of(site);
    if (!order_at_least(s.order, text.order))
        return;
    if (s.order == ORDER_WEAK)
        s.scope = text.scope;
    else if (text.order != ORDER_WEAK && s.scope < text.scope)
        return;
    parts[(*n)++] = s;
}

unsigned change_parts(const struct ir_insn *site, struct strength now, struct strength parts[MAX_STEPS_OF_SITE])
{
    static const uint8_t below[][2] = {[ORDER_RELAXED] = {ORDER_WEAK, ORDER_WEAK},
                                       [ORDER_ACQUIRE] = {ORDER_RELAXED, ORDER_RELAXED},
                                       [ORDER_RELEASE] = {ORDER_RELAXED, ORDER_RELAXED},
                                       [ORDER_ACQ_REL] = {ORDER_ACQUIRE, ORDER_RELEASE},
                                       [ORDER_SC] = {ORDER_ACQ_REL, ORDER_ACQ_REL}};
    struct strength s;
    unsigned n = 0;
    bool barrier = site->kind == IR_BAR;
    for (int after = 0; after < 2; after++) {
        s = now;
        uint8_t *fence = after ? &s.after : &s.before;
        if (*fence) {
            *fence = *fence == ORDER_SC ? ORDER_ACQ_REL : ORDER_WEAK;
            add_part(site, s, parts, &n);
        }
    }
    s = now;
    if ((now.before || now.after) && now.fence_scope > SCOPE_CTA) {
        s.fence_scope--;
        add_part(site, s, parts, &n);
    }
    for (unsigned i = 0; i < 2 && now.order != ORDER_WEAK && !(i && now.order != ORDER_ACQ_REL); i++) {
        s = now;
        s.order = barrier ? ORDER_RELAXED : below[now.order][i];
        if (s.order != ORDER_WEAK || strength_of(site).order == ORDER_WEAK)
            add_part(site, s, parts, &n);
    }
    s = now;
    if (now.order != ORDER_WEAK && now.scope > SCOPE_CTA && !barrier) {
        s.scope--;
        add_part(site, s, parts, &n);
    }
    return n;
}

/* Does the source name an order in words, as cuda::atomic's operations do? atomicAdd() and volatile
 * do not. */
static bool has_word(const struct ir_insn *site)
{
    const struct isa_inst *i = site->origin->inst;
    return isa_has(i, MOD_relaxed) || isa_has(i, MOD_acquire) || isa_has(i, MOD_release) || isa_has(i, MOD_acq_rel);
}

/* Changing a word of the source, such as memory_order_relaxed, is cheapest. atomicAdd() and
 * volatile would have to be rewritten, but a fence can stand beside them. Making a plain access
 * atomic changes what the program means, and costs most. */
unsigned change_cost(const struct ir_insn *site, struct strength to)
{
    struct strength text = strength_of(site);
    bool worded = !ir_has_access(site) || has_word(site), plain = text.order == ORDER_WEAK;
    unsigned step = worded ? 2 : 5, fence = plain ? 6 : worded ? 5 : 4, cost = 0;
    if (plain && to.order != ORDER_WEAK)
        cost += 8;
    if (!plain && to.scope != text.scope)
        cost += worded ? 1 : 2;
    if (to.order != text.order && to.order != ORDER_RELAXED)
        cost += to.order == ORDER_ACQ_REL && text.order == ORDER_RELAXED ? 2 * step - worded : step;
    if (to.before)
        cost += to.before == ORDER_SC && !worded ? fence + 3 : fence;
    return cost + (to.after ? fence : 0);
}

/* ---- words ---- */

static const char *const order_words[] = {
    [ORDER_WEAK] = ".weak",       [ORDER_RELAXED] = ".relaxed", [ORDER_ACQUIRE] = ".acquire",
    [ORDER_RELEASE] = ".release", [ORDER_ACQ_REL] = ".acq_rel", [ORDER_SC] = ".sc"};
static const char *const scope_words[] = {".cta", ".cluster", ".gpu", ".sys"};

const char *fence_opcode(struct arena *arena, enum ir_order order, enum scope scope)
{
    return arena_printf(arena, "fence%s%s", order_words[order], scope_words[scope]);
}

static bool is_one_of(const char *word, size_t n, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == n && memcmp(*words, word, n) == 0)
            return true;
    return false;
}

/* Words that an order and a scope replace, and words that only weak accesses take (PTX ISA 9.0,
 * 9.7.9.8). */
static bool is_replaced(const char *word, size_t n)
{
    static const char *const words[] = {"weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "mmio",
                                        "cta",  "cluster", "gpu",     "sys",     "nc",      "ca", "cg",       "cs",
                                        "lu",   "cv",      "wb",      "wt",      "gl",      NULL};
    return is_one_of(word, n, words);
}

const char *change_opcode(struct arena *arena, const struct change *c)
{
    struct str from = c->site->origin->inst->text;
    struct text t = {.arena = arena};
    bool barrier = c->site->kind == IR_BAR, first = true;
    if (c->site->kind == IR_FENCE)
        return fence_opcode(arena, c->to.order, c->to.scope);
    for (size_t i = 0; i < from.n;) {
        size_t n = 0;
        while (i + n < from.n && from.p[i + n] != '.')
            n++;
        if (first || barrier ? !(barrier && is_one_of(from.p + i, n, (const char *const[]){"relaxed", NULL}))
                             : !is_replaced(from.p + i, n) || c->to.order == ORDER_WEAK)
            text_printf(&t, "%s%.*s", first ? "" : ".", (int)n, from.p + i);
        if (first && !barrier && c->to.order != ORDER_WEAK)
            text_printf(&t, "%s%s", order_words[c->to.order], scope_words[c->to.scope]);
        first = false;
        i += n + 1;
    }
    return t.p;
}

/* "st.relaxed.gpu": the instruction, its order and its scope. */
static const char *short_opcode(struct arena *arena, const struct ir_insn *site, struct strength s, bool of_text)
{
    struct str name = site->origin->inst->text;
    size_t n = 0;
    while (n < name.n && name.p[n] != '.')
        n++;
    if (of_text && ir_has_access(site) && site->access->mem.is_volatile)
        return arena_printf(arena, "%.*s.volatile", (int)n, name.p);
    if (site->kind == IR_BAR)
        return arena_printf(arena, "barrier.cluster.arrive%s", s.order == ORDER_RELAXED ? ".relaxed" : ".release");
    if (site->kind == IR_FENCE)
        return fence_opcode(arena, s.order, s.scope);
    return arena_printf(arena, "%.*s%s%s", (int)n, name.p, order_words[s.order],
                        s.order == ORDER_WEAK ? "" : scope_words[s.scope]);
}

bool change_moves_order(const struct change *c)
{
    struct strength text = strength_of(c->site);
    return text.order != c->to.order || (text.order != ORDER_WEAK && text.scope != c->to.scope);
}

const char *change_text(struct arena *arena, const struct change *c)
{
    struct text t = {.arena = arena};
    const char *now = short_opcode(arena, c->site, strength_of(c->site), true);
    if (change_moves_order(c))
        text_printf(&t, "%s -> %s", now, short_opcode(arena, c->site, c->to, false));
    else
        text_puts(&t, now);
    if (c->to.before)
        text_printf(&t, ", %s before it", fence_opcode(arena, c->to.before, c->to.fence_scope));
    if (c->to.after)
        text_printf(&t, ", %s behind it", fence_opcode(arena, c->to.after, c->to.fence_scope));
    return t.p;
}

static const char *const cuda_orders[] = {[ORDER_RELAXED] = "memory_order_relaxed",
                                          [ORDER_ACQUIRE] = "memory_order_acquire",
                                          [ORDER_RELEASE] = "memory_order_release",
                                          [ORDER_ACQ_REL] = "memory_order_acq_rel",
                                          [ORDER_SC] = "memory_order_seq_cst"};
static const char *const cuda_scopes[] = {"cuda::thread_scope_block", "PTX's scope .cluster",
                                          "cuda::thread_scope_device", "cuda::thread_scope_system"};

static const char *cuda_fence(struct arena *arena, uint8_t order, uint8_t scope)
{
    static const char *const names[] = {"__threadfence_block()", NULL, "__threadfence()", "__threadfence_system()"};
    return names[scope]
               ? names[scope]
               : arena_printf(arena, "asm volatile(\"%s;\" ::: \"memory\")", fence_opcode(arena, order, scope));
}

const char *change_cuda_text(struct arena *arena, const struct change *c)
{
    struct text t = {.arena = arena};
    struct strength text = strength_of(c->site);
    bool access = ir_has_access(c->site), worded = access && has_word(c->site);
    if (c->site->kind == IR_BAR)
        return "cluster_arrive() without .relaxed";
    /* the form that cuda::atomic compiles to */
    if (worded && c->to.before == ORDER_SC && !c->to.after && !change_moves_order(c))
        return arena_printf(arena, "cuda::memory_order_seq_cst, or %s before it",
                            cuda_fence(arena, ORDER_SC, c->to.fence_scope));
    if (change_moves_order(c) && access && !worded)
        text_printf(&t, "cuda::atomic_ref<T, %s> with cuda::%s", cuda_scopes[c->to.scope], cuda_orders[c->to.order]);
    else if (change_moves_order(c))
        text_printf(&t, "%scuda::%s%s%s", access ? "" : "cuda::atomic_thread_fence: ", cuda_orders[c->to.order],
                    text.scope != c->to.scope ? ", " : "", text.scope != c->to.scope ? cuda_scopes[c->to.scope] : "");
    if (c->to.before)
        text_printf(&t, "%s%s before it", t.n ? ", " : "", cuda_fence(arena, c->to.before, c->to.fence_scope));
    if (c->to.after)
        text_printf(&t, "%s%s behind it", t.n ? ", " : "", cuda_fence(arena, c->to.after, c->to.fence_scope));
    return t.p ? t.p : "";
}
