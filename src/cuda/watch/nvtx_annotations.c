/* See nvtx_annotations.h. */
#include "cuda/watch/nvtx_annotations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/watch/nvtx_memory.h"

struct said said = {.lock = PTHREAD_MUTEX_INITIALIZER};
_Thread_local struct said_binding said_bound;

void said_changed(void)
{
    said.changes++;
    __atomic_store_n(&said.any, true, __ATOMIC_RELEASE);
}

bool said_is_in(const struct range *inner, const struct range *outer)
{
    return inner->start >= outer->start && inner->end <= outer->end && inner->start < inner->end;
}

void said_forget_permissions(const struct range *at)
{
    REMOVE(permission, said.permissions, said_is_in(&x->at, at), (void)0)
}

void said_remove_region(const struct range *at)
{
    struct range gone = *at;
    REMOVE(region, said.regions, x->at.start == gone.start && x->at.end == gone.end, (void)0)
    said_forget_permissions(&gone);
    REMOVE(name, said.names, x->start == gone.start, free(x->text))
}

void said_empty_pool(const struct pool *p)
{
    for (struct region *r = said.regions, *next; r; r = next) {
        next = r->next;
        if (r->of == p)
            said_remove_region(&r->at);
    }
}

struct pool *said_find_pool(const void *handle)
{
    struct pool *p = said.pools;
    while (p && p->at.start != (uint64_t)(uintptr_t)handle)
        p = p->next;
    return p;
}

struct region *said_find_region(uint64_t start)
{
    struct region *r = said.regions;
    while (r && r->at.start != start)
        r = r->next;
    return r;
}

void said_set_name(uint64_t start, char *text)
{
    REMOVE(name, said.names, x->start == start, free(x->text))
    struct name *n = text ? malloc(sizeof *n) : NULL;
    if (n) {
        *n = (struct name){said.names, start, text};
        said.names = n;
    } else {
        free(text);
    }
}

const char *said_name_of(uint64_t start)
{
    const struct name *n = said.names;
    while (n && n->start != start)
        n = n->next;
    return n ? n->text : NULL;
}

uint32_t said_object_of(nvtxMemPermissionsHandle_t handle)
{
    uint32_t number = handle ? (uint32_t)(uintptr_t)handle : PROCESS;
    const struct object *o = said.objects;
    while (o && o->number != number)
        o = o->next;
    return number < FIRST_MADE || o ? number : 0;
}

/* ---- rules of a launch ---- */

/* What an object allows there; true if it has a rule. */
static bool allowed_by(uint32_t object, const struct range *at, unsigned *uses)
{
    for (const struct permission *p = said.permissions; p; p = p->next)
        if (p->object == object && p->at.start == at->start && p->at.end == at->end) {
            *uses = p->uses;
            return true;
        }
    return false;
}

/* The nearest object with a rule decides: the thread's bound object,
 * the device's, the process's. */
static unsigned allowed_at(const struct range *at, int device)
{
    unsigned uses = HD_MEMORY_ALL, excludes = said_bound.object ? said_bound.excludes : 0;
    if (said_bound.object && said_object_of((nvtxMemPermissionsHandle_t)(uintptr_t)said_bound.object) &&
        allowed_by(said_bound.object, at, &uses))
        return uses;
    for (const struct object *o = said.objects; o; o = o->next)
        excludes |= o->number == said_bound.object ? o->excludes : 0;
    if (!allowed_by(FIRST_DEVICE + (uint32_t)device, at, &uses))
        allowed_by(PROCESS, at, &uses);
    return uses | excludes;
}

static int by_start(const void *a, const void *b)
{
    const hd_memory_rule *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static hd_memory_rule rule_of(uint64_t start, uint64_t end, unsigned uses, bool given)
{
    return (hd_memory_rule){(const void *)(uintptr_t)start, end - start, uses, given,
                            given ? said_name_of(start) : NULL};
}

/* If rules overlap, as regions of one pool may, cuts the earlier where the later begins. Returns
 * how many are left. */
static size_t untangle(hd_memory_rule *rules, size_t n)
{
    size_t to = 0;
    qsort(rules, n, sizeof *rules, by_start);
    for (size_t i = 0; i < n; i++) {
        if (to && (const char *)rules[to - 1].start + rules[to - 1].bytes > (const char *)rules[i].start)
            rules[to - 1].bytes = (size_t)((const char *)rules[i].start - (const char *)rules[to - 1].start);
        to -= to && !rules[to - 1].bytes;
        rules[to++] = rules[i];
    }
    return to;
}

/* Adds the gaps between a pool's regions, which are in the rules from `first` on. */
static size_t add_gaps(hd_memory_rule *rules, size_t first, size_t n, const struct pool *p)
{
    uint64_t at = p->at.start;
    size_t regions = untangle(rules + first, n - first), to = first + regions;
    for (size_t i = first; i < first + regions; i++) {
        uint64_t start = (uint64_t)(uintptr_t)rules[i].start;
        if (start > at)
            rules[to++] = rule_of(at, start, 0, false);
        at = start + rules[i].bytes;
    }
    if (at < p->at.end)
        rules[to++] = rule_of(at, p->at.end, 0, false);
    return to;
}

static bool is_of_pool(const struct range *at)
{
    for (const struct pool *p = said.pools; p; p = p->next)
        if (at->start < p->at.end && at->end > p->at.start)
            return true;
    return false;
}

/* Call with the lock held. */
static hd_memory_rules *make_rules(int device)
{
    size_t most = 0, n = 0;
    for (const struct region *r = said.regions; r; r = r->next)
        most += 2;
    for (const struct pool *p = said.pools; p; p = p->next)
        most++;
    for (const struct permission *p = said.permissions; p; p = p->next)
        most++;
    hd_memory_rule *rules = calloc(most + 1, sizeof *rules);
    hd_memory_rules *made = NULL;
    for (const struct pool *p = rules ? said.pools : NULL; p; p = p->next) {
        size_t first = n;
        for (const struct region *r = said.regions; r; r = r->next)
            if (r->of == p)
                rules[n++] = rule_of(r->at.start, r->at.end, allowed_at(&r->at, device), true);
        n = add_gaps(rules, first, n, p);
    }
    for (const struct permission *p = rules ? said.permissions : NULL; p; p = p->next)
        if (!is_of_pool(&p->at))
            rules[n++] = rule_of(p->at.start, p->at.end, allowed_at(&p->at, device), true);
    n = rules ? untangle(rules, n) : 0;
    if (n)
        hd_memory_rules_create(rules, n, &made);
    free(rules);
    return made;
}

hd_memory_rules *nvtx_memory_rules(int device)
{
    if (!__atomic_load_n(&said.any, __ATOMIC_ACQUIRE))
        return NULL;
    pthread_mutex_lock(&said.lock);
    if (said.made_at != said.changes || said.made_for != said_bound.object || said.made_on != device ||
        said_bound.excludes) {
        hd_memory_rules_destroy(said.made);
        said.made = make_rules(device);
        said.made_at = said.changes;
        said.made_for = said_bound.object;
        said.made_on = device;
    }
    hd_memory_rules *rules = hd_memory_rules_keep(said.made);
    pthread_mutex_unlock(&said.lock);
    return rules;
}

/* ---- what others ask ---- */

void nvtx_memory_freed(const void *start, size_t bytes)
{
    if (!__atomic_load_n(&said.any, __ATOMIC_ACQUIRE))
        return;
    struct range at = {(uint64_t)(uintptr_t)start, (uint64_t)(uintptr_t)start + bytes};
    pthread_mutex_lock(&said.lock);
    for (const struct pool *p = said.pools; p; p = p->next)
        if (said_is_in(&p->at, &at))
            said_empty_pool(p);
    REMOVE(pool, said.pools, said_is_in(&x->at, &at), free(x->name))
    said_forget_permissions(&at);
    REMOVE(name, said.names, x->start >= at.start && x->start < at.end, free(x->text))
    said_changed();
    pthread_mutex_unlock(&said.lock);
}

const char *nvtx_memory_name(const void *start, char *text, size_t bytes)
{
    text[0] = 0;
    if (!__atomic_load_n(&said.any, __ATOMIC_ACQUIRE))
        return text;
    pthread_mutex_lock(&said.lock);
    const char *name = said_name_of((uint64_t)(uintptr_t)start);
    if (name)
        snprintf(text, bytes, " `%s`", name);
    pthread_mutex_unlock(&said.lock);
    return text;
}

void nvtx_memory_each_region(const void *start, size_t bytes, void (*visit)(void *data, size_t bytes, const char *name),
                             void *data)
{
    struct range at = {(uint64_t)(uintptr_t)start, (uint64_t)(uintptr_t)start + bytes};
    pthread_mutex_lock(&said.lock);
    for (const struct region *r = said.regions; r; r = r->next)
        if (said_is_in(&r->at, &at))
            visit(data, r->at.end - r->at.start, said_name_of(r->at.start));
    pthread_mutex_unlock(&said.lock);
}
