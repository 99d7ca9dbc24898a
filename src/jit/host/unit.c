/* See unit.h. */
#include "jit/host/unit.h"

#include <stdlib.h>
#include <string.h>

#include "exec/machine.h"
#include "jit/costs.h"

/* The work after which a kernel of large functions is worth compiling; 0: the limit in costs.def
 * for all kernels is later. */
static uint64_t worth_of(const struct kernel *k)
{
    uint64_t total = 0, squares = 0;
    bool is_large = false;
    for (uint32_t i = 0; i < k->functions.n; i++) {
        uint64_t n = k->functions.at[i]->ir->insns.n;
        if (n > LIMIT_function)
            continue;
        total += n + LIMIT_each_function;
        squares += n * n;
        is_large = is_large || n > LIMIT_function_soon;
    }
    return is_large || total > LIMIT_functions * LIMIT_function_soon ? LIMIT_worth_large * squares : 0;
}

/* The most that the kernel's code can use: an access has one in the function, and one in its serial
 * parts; a load or store has another one in the function, for what blocks claim
 * (jit/emit/inline_cache.c). The number from the compiler or the cache is not trusted. */
static uint32_t count_inline_caches(const struct kernel *k)
{
    uint32_t n = 0;
    for (uint32_t f = 0; f < k->functions.n; f++)
        for (uint32_t i = 0; i < k->functions.at[f]->ir->insns.n; i++) {
            enum ir_kind kind = k->functions.at[f]->ir->insns.at[i].kind;
            n += kind == IR_LD || kind == IR_ST ? 3 : kind == IR_ATOM ? 2 : 0;
        }
    return n;
}

static struct unit *new_unit(struct kernel *k, const uint32_t block[3], enum jit_tier tier)
{
    struct str name = k->func->symbol.name;
    struct unit *u = calloc(1, sizeof *u + name.n);
    if (!u || !(u->compiled.functions = calloc(2 * k->functions.n, sizeof *u->compiled.functions))) {
        free(u);
        return NULL;
    }
    u->name = (struct str){memcpy(u + 1, name.p, name.n), name.n};
    u->n_functions = k->functions.n;
    u->compiled.n_inline_caches = count_inline_caches(k);
    u->compiled.serial = u->compiled.functions + k->functions.n;
    u->instructions = k->instructions;
    u->worth = worth_of(k);
    u->tier = tier;
    memcpy(u->block, block, sizeof u->block);
    u->next = k->compiled;
    k->compiled = u;
    return u;
}

void unit_free(struct unit *u)
{
    gdb_forget(u->gdb);
    loader_unload(&u->object);
    free(u->compiled.functions);
    free(u->request);
    free(u);
}

bool unit_is_free(const struct jit *j, const struct unit *u)
{
    int state = atomic_load(&u->state);
    return state == UNIT_NEW || (state == UNIT_QUEUED && atomic_load(&u->queued_by) != j->owner);
}

bool unit_claim(const struct jit *j, struct unit *u, bool asked)
{
    /* What is too large for `auto` may be requested explicitly. */
    bool again = asked && !u->asked && atomic_load(&u->state) == UNIT_FAILED;
    if (!unit_is_free(j, u) && !again)
        return false;
    u->asked |= asked;
    atomic_store(&u->queued_by, j->owner);
    atomic_store(&u->state, UNIT_QUEUED);
    return true;
}

struct unit *unit_find(struct jit *j, struct kernel *k, const uint32_t block[3], enum jit_tier tier, bool asked)
{
    pthread_mutex_lock(&j->lock);
    struct unit *u = k->compiled;
    while (u && (u->tier != tier || memcmp(u->block, block, sizeof u->block) != 0))
        u = u->next;
    if (!u && (u = new_unit(k, block, tier))) {
        u->is_last = j->settings.tier || tier == TIER_SECOND;
        u->asked = asked;
    }
    pthread_mutex_unlock(&j->lock);
    return u;
}

void unit_finish(struct jit *j, struct unit *u, bool ok)
{
    free(u->request);
    u->request = NULL;
    atomic_store(&u->state, ok ? UNIT_READY : UNIT_FAILED);
    pthread_cond_broadcast(&j->done);
}
