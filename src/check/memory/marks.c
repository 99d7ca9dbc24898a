/* What the host says and asks about memory that has been written; see check.h. */
#include "check/checker.h"

static const char *keep_text(struct checker *c, const char *text)
{
    pthread_mutex_lock(&c->findings.lock);
    const char *copy = text ? arena_strdup(&c->findings.arena, text) : NULL;
    pthread_mutex_unlock(&c->findings.lock);
    return copy;
}

bool checker_mark_undefined(struct checker *c, const void *p, uint64_t bytes, const char *name)
{
    uint64_t at = (uint64_t)(uintptr_t)p;
    checker_tell(c, &(struct host_event){.kind = HOST_UNDEFINED, .address = at, .bytes = bytes, .name = name});
    if (!(c->options.tools & HD_TOOL_INITCHECK))
        return true;
    pthread_mutex_lock(&c->lock);
    bool ok =
        region_note(c, at, bytes, keep_text(c, name), NULL) && defined_set_undefined(&c->memory.defined, at, bytes);
    pthread_mutex_unlock(&c->lock);
    if (!ok)
        initcheck_note_lost(c, NULL, NULL);
    return ok;
}

void checker_forget_undefined(struct checker *c)
{
    checker_tell(c, &(struct host_event){.kind = HOST_WRITTEN});
    pthread_mutex_lock(&c->lock);
    shadow_clear(&c->memory.defined.pages);
    pthread_mutex_unlock(&c->lock);
}

void memory_set_defined(struct checker *c, const void *p, uint64_t bytes)
{
    pthread_mutex_lock(&c->lock);
    defined_set_all(&c->memory.defined, (uint64_t)(uintptr_t)p, bytes);
    pthread_mutex_unlock(&c->lock);
}

void checker_mark_defined(struct checker *c, const void *p, uint64_t bytes)
{
    checker_tell(c, &(struct host_event){.kind = HOST_DEFINED, .address = (uintptr_t)p, .bytes = bytes});
    memory_set_defined(c, p, bytes);
}

void checker_mark_copied(struct checker *c, const void *to, const void *from, uint64_t bytes)
{
    uint64_t a = (uint64_t)(uintptr_t)to, b = (uint64_t)(uintptr_t)from;
    checker_tell(c, &(struct host_event){.kind = HOST_COPIED, .address = a, .from = b, .bytes = bytes});
    if (!region_find(c, a)) /* memory that the host may write unseen */
        return;
    pthread_mutex_lock(&c->lock);
    while (bytes) {
        uint64_t n = defined_bytes(&c->memory.defined, b, bytes);
        defined_set_all(&c->memory.defined, a, n);
        bytes -= n;
        a += n;
        b += n;
        n = undefined_bytes(&c->memory.defined, b, bytes);
        defined_set_undefined(&c->memory.defined, a, n);
        bytes -= n;
        a += n;
        b += n;
    }
    pthread_mutex_unlock(&c->lock);
}

uint64_t checker_undefined_bytes(struct checker *c, const void *p, uint64_t bytes)
{
    uint64_t at = (uint64_t)(uintptr_t)p, sum = 0;
    pthread_mutex_lock(&c->lock);
    while (bytes) {
        uint64_t good = defined_bytes(&c->memory.defined, at, bytes),
                 bad = undefined_bytes(&c->memory.defined, at + good, bytes - good);
        sum += bad;
        at += good + bad;
        bytes -= good + bad;
    }
    pthread_mutex_unlock(&c->lock);
    return sum;
}

uint64_t checker_defined_bytes(struct checker *c, const void *p, uint64_t bytes)
{
    pthread_mutex_lock(&c->lock);
    uint64_t n = defined_bytes(&c->memory.defined, (uint64_t)(uintptr_t)p, bytes);
    pthread_mutex_unlock(&c->lock);
    return n;
}

/* Are they like the padding of a struct: a few bytes after written ones, up to the end of a word? */
static bool is_padding(uint64_t at, uint64_t bytes)
{
    return at % 4 != 0 && bytes > 1 && bytes < 8 && (at + bytes) % 4 == 0;
}

uint64_t checker_defined_data(struct checker *c, const void *p, uint64_t bytes)
{
    uint64_t from = (uint64_t)(uintptr_t)p, n = 0, gap = 0;
    pthread_mutex_lock(&c->lock);
    do {
        n += gap;
        n += defined_bytes(&c->memory.defined, from + n, bytes - n);
        gap = undefined_bytes(&c->memory.defined, from + n, bytes - n);
    } while (n && gap && is_padding(from + n, gap));
    pthread_mutex_unlock(&c->lock);
    return n;
}
