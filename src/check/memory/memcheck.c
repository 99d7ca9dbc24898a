/* memcheck: bad accesses, leaks of the kernels' heap; and the life of the room. See memory.h. */
#include "check/checker.h"

/* ---- bad accesses ---- */

static bool on_fault(void *data, const struct fault_event *e)
{
    static const char *const kinds[] = {"reads", "writes", "updates"};
    struct checker *c = data;
    if (c->options.on_error) /* the launch's own report says it */
        return false;
    struct finding *f =
        findings_count(&c->findings, &(struct occurrence){.code = fault_code(e->kind),
                                                          .site = e->site,
                                                          .key = NULL,
                                                          .block = e->block,
                                                          .warp = e->warp,
                                                          .lanes = 1u << e->lane,
                                                          .kind = kinds[site_is_atomic(e->site) + e->writes]});
    if (f)
        findings_describe(&c->findings, f, NULL, "%s %s", thread_name(&c->findings.arena, e->block, e->warp, e->lane),
                          e->block->launch->asks->describe(e, &c->findings.arena));
    return true;
}

/* ---- the heap of the kernels ---- */

static void on_malloc(struct checker *c, const struct heap_event *e)
{
    const struct occurrence o = {.code = "leak",
                                 .site = e->site,
                                 .block = e->block,
                                 .warp = e->warp,
                                 .lanes = 1u << e->lane,
                                 .severity = DIAG_WARNING};
    struct finding *leak = NULL;
    if (c->options.tools & HD_TOOL_MEMCHECK) {
        pthread_mutex_lock(&c->findings.lock);
        leak = findings_add(&c->findings, &o);
        pthread_mutex_unlock(&c->findings.lock);
    }
    region_note(c, e->address, e->bytes, "malloc", leak);
    if (c->options.tools & HD_TOOL_INITCHECK)
        defined_set_undefined(&c->memory.written->defined, e->address, e->bytes);
}

static void on_heap(void *data, const struct heap_event *e)
{
    struct checker *c = data;
    struct mem_block b;
    if (!e->is_free)
        on_malloc(data, e);
    else if (checker_find(c, e->address, &b) && b.kind == MEM_HEAP && b.start == e->address) {
        region_freed(c, e->address);
        memory_forget(data, e->address, b.size);
    }
}

void memory_count_leaks(struct checker *c)
{
    for (struct finding *f = c->findings.newest; f; f = f->next)
        if (strcmp(f->code, "leak") == 0)
            f->count = f->leaked;
    pthread_rwlock_rdlock(&c->memory.regions_lock);
    for (unsigned i = 0; i < REGION_BUCKETS; i++)
        for (const struct region *r = c->memory.regions[i]; r; r = r->next) {
            if (r->leak)
                region_count_leak(c, r);
        }
    pthread_rwlock_unlock(&c->memory.regions_lock);
}

/* ---- lives ---- */

void memory_forget(struct checker *c, uint64_t at, uint64_t bytes)
{
    region_forget(c, at);
    memory_set_defined(c, at, bytes);
}

static bool open_written(struct checker *c, const struct checker *with)
{
    struct written *own = &c->memory.own;
    struct written *w = c->memory.written = with ? with->memory.written : own;
    if (!with) {
        pthread_mutex_init(&own->lock, NULL);
        if (!defined_init(&own->defined, c->budget))
            return false;
    }
    pthread_mutex_lock(&w->lock);
    c->memory.next = w->checkers;
    w->checkers = c;
    pthread_mutex_unlock(&w->lock);
    return true;
}

static void close_written(struct checker *c)
{
    struct written *w = c->memory.written;
    struct checker **link = &w->checkers;
    pthread_mutex_lock(&w->lock);
    while (*link && *link != c)
        link = &(*link)->memory.next;
    if (*link)
        *link = c->memory.next;
    pthread_mutex_unlock(&w->lock);
    if (w != &c->memory.own)
        return;
    defined_destroy(&w->defined);
    pthread_mutex_destroy(&w->lock);
}

void memory_begin(struct checker *c)
{
    struct written *w = c->memory.written;
    pthread_mutex_lock(&w->lock);
    w->running++;
    pthread_mutex_unlock(&w->lock);
}

void memory_end(struct checker *c)
{
    struct written *w = c->memory.written;
    pthread_mutex_lock(&w->lock);
    if (--w->running == 0)
        shadow_reclaim(&w->defined.pages);
    pthread_mutex_unlock(&w->lock);
}

bool memory_open(struct checker *c, const struct checker *with)
{
    bool init = c->options.tools & HD_TOOL_INITCHECK, memory = c->options.tools & HD_TOOL_MEMCHECK;
    c->memory.client =
        (struct event_client){.data = c,
                              .wants = (init ? EVENT_BIT(EVENT_ACCESS) | EVENT_BIT(EVENT_BLOCK_END) : 0) |
                                       (memory ? EVENT_BIT(EVENT_FAULT) : 0) | EVENT_BIT(EVENT_HEAP),
                              .access = initcheck_access,
                              .fault = on_fault,
                              .heap = on_heap,
                              .schedule = initcheck_block_ends};
    initcheck_open(c);
    rules_open(c);
    pthread_rwlock_init(&c->memory.regions_lock, NULL);
    return open_written(c, with);
}

void memory_idle(struct checker *c)
{
    regions_idle(c);
    initcheck_idle(c);
}

void memory_close(struct checker *c)
{
    memory_idle(c);
    regions_close(c);
    close_written(c);
    pthread_mutex_destroy(&c->memory.blocks_lock);
}
