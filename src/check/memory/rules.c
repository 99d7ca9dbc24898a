/* memcheck: accesses that the program's own rules about its memory do not allow; see rules.h. */
#include "check/memory/rules.h"

#include <stdlib.h>

#include "check/checker.h"
#include "exec/events.h"

struct memory_rules *rules_new(const hd_memory_rule *rules, size_t n)
{
    size_t names = 0;
    for (size_t i = 0; i < n; i++)
        names += rules[i].name ? strlen(rules[i].name) + 1 : 0;
    struct memory_rules *r = malloc(sizeof *r + n * sizeof r->at[0] + names);
    if (!r)
        return NULL;
    char *name = (char *)&r->at[n];
    atomic_init(&r->users, 1);
    r->n = n;
    for (size_t i = 0; i < n; i++) {
        uint64_t start = (uint64_t)(uintptr_t)rules[i].start;
        r->at[i] = (struct memory_rule){start, start + rules[i].bytes, rules[i].uses, rules[i].given,
                                        rules[i].name ? name : NULL};
        if (rules[i].name)
            name = stpcpy(name, rules[i].name) + 1;
    }
    return r;
}

struct memory_rules *rules_keep(struct memory_rules *rules)
{
    if (rules)
        atomic_fetch_add(&rules->users, 1);
    return rules;
}

void rules_release(struct memory_rules *rules)
{
    if (rules && atomic_fetch_sub(&rules->users, 1) == 1)
        free(rules);
}

/* The first rule that ends behind an address; rules->n: none does. */
static size_t first_behind(const struct memory_rules *rules, uint64_t address)
{
    size_t low = 0, high = rules->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rules->at[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- in words ---- */

static const char *named(const struct memory_rule *r, struct arena *arena)
{
    return r->name ? arena_printf(arena, " `%s`", r->name) : "";
}

/* Where an address lies beside the nearest memory that was given out; NULL: there is none near. */
static const char *beside(const struct memory_rules *rules, size_t at, uint64_t address, struct arena *arena)
{
    enum { NEAR = 64 << 10 };
    const struct memory_rule *before = NULL, *behind = NULL;
    for (size_t i = at; i-- > 0 && !before;)
        before = rules->at[i].given ? &rules->at[i] : NULL;
    for (size_t i = at; i < rules->n && !behind; i++)
        behind = rules->at[i].given ? &rules->at[i] : NULL;
    uint64_t past = before && address >= before->end ? address - before->end : UINT64_MAX,
             ahead = behind && address < behind->start ? behind->start - address : UINT64_MAX;
    const struct memory_rule *r = past <= ahead ? before : behind;
    uint64_t distance = past <= ahead ? past : ahead;
    if (distance > NEAR)
        return NULL;
    const char *side = past <= ahead ? "past the end" : "before the start";
    return arena_printf(arena, "%s%s of a region of %llu bytes%s",
                        distance ? arena_printf(arena, "%llu bytes ", (unsigned long long)distance) : "just ", side,
                        (unsigned long long)(r->end - r->start), named(r, arena));
}

static const char *missing_words(unsigned missing, bool atomic)
{
    return !(missing & HD_MEMORY_READ) ? missing & HD_MEMORY_WRITE ? "writable" : "for atomic operations"
           : atomic                    ? "readable by atomic operations"
           : missing & HD_MEMORY_WRITE ? "readable and writable"
                                       : "readable";
}

/* "writes 4 bytes at 0x..., which ..." */
static const char *describe(const struct access_event *e, const struct memory_rules *rules, size_t at, uint64_t address,
                            unsigned missing, struct arena *arena)
{
    const struct memory_rule *r = &rules->at[at];
    bool atomic = e->reads && e->writes;
    const char *what = arena_printf(arena, "%s %u bytes at 0x%llx",
                                    atomic      ? "updates"
                                    : e->writes ? "writes"
                                                : "reads",
                                    e->bytes, (unsigned long long)address);
    if (!r->given) {
        const char *where = beside(rules, at, address, arena);
        return where ? arena_printf(arena, "%s, in a pool, %s that it has handed out (NVTX)", what, where)
                     : arena_printf(arena,
                                    "%s, in a pool that has not handed out that memory, or has taken it back (NVTX)",
                                    what);
    }
    return arena_printf(arena, "%s, byte %llu of memory of %llu bytes%s that is not %s (nvtxMemPermissionsAssign)",
                        what, (unsigned long long)(address - r->start), (unsigned long long)(r->end - r->start),
                        named(r, arena), missing_words(missing, atomic));
}

/* ---- what happens ---- */

/* False where the launch ends with it. */
static bool violated(struct checker *c, const struct access_event *e, const struct memory_rules *rules, size_t at,
                     uint64_t address, unsigned missing, unsigned lane)
{
    static const char *const kinds[] = {"reads-ruled", "writes-ruled", "updates-ruled"};
    struct arena *arena = &c->findings.arena, words = {0};
    enum fault_kind kind = rules->at[at].given                  ? FAULT_not_permitted
                           : beside(rules, at, address, &words) ? FAULT_beyond_region
                                                                : FAULT_not_given;
    if (c->options.on_error) { /* the launch's own report says it */
        e->block->launch->asks->fail(e, lane, kind, describe(e, rules, at, address, missing, &words));
        arena_free(&words);
        return false;
    }
    arena_free(&words);
    struct finding *f =
        findings_count(&c->findings, &(struct occurrence){.code = fault_code(kind),
                                                          .site = e->site,
                                                          .key = (const void *)(uintptr_t)missing,
                                                          .block = e->block,
                                                          .warp = e->warp,
                                                          .lanes = 1u << lane,
                                                          .kind = kinds[(e->reads && e->writes) + e->writes]});
    if (f)
        findings_describe(&c->findings, f, NULL, "%s %s", thread_name(arena, e->block, e->warp, lane),
                          describe(e, rules, at, address, missing, arena));
    return true;
}

static void on_access(void *data, const struct access_event *e)
{
    const struct memory_rules *rules = e->block->launch->rules;
    unsigned needed = (e->reads ? HD_MEMORY_READ : 0) | (e->writes ? HD_MEMORY_WRITE : 0) |
                      (e->reads && e->writes ? HD_MEMORY_ATOMIC : 0);
    size_t first =
        rules && e->space != SPACE_SHARED && e->space != SPACE_LOCAL ? first_behind(rules, e->low) : SIZE_MAX;
    if (first == SIZE_MAX || first == rules->n || rules->at[first].start >= e->high)
        return;
    bool goes_on = true;
    for (uint32_t lanes = e->lanes; lanes && goes_on; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        uint64_t address = access_address(e, lane);
        for (size_t i = first_behind(rules, address); i < rules->n && rules->at[i].start < address + e->bytes; i++) {
            unsigned missing = needed & ~rules->at[i].uses;
            if (!missing)
                continue;
            goes_on =
                violated(data, e, rules, i, address > rules->at[i].start ? address : rules->at[i].start, missing, lane);
            break;
        }
    }
}

void rules_open(struct checker *c)
{
    c->memory.rules = (struct event_client){.data = c, .wants = EVENT_BIT(EVENT_ACCESS), .access = on_access};
}
