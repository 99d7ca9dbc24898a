/* What the host says and asks about memory that has been written; see memory.h and check.h. */
#include "check/checker.h"

static const char *keep_text(struct checker *c, const char *text)
{
    pthread_mutex_lock(&c->findings.lock);
    const char *copy = text ? arena_strdup(&c->findings.arena, text) : NULL;
    pthread_mutex_unlock(&c->findings.lock);
    return copy;
}

bool memory_set_undefined(struct checker *c, uint64_t at, uint64_t bytes, const char *name)
{
    if (!(c->options.tools & HD_TOOL_INITCHECK))
        return true;
    pthread_mutex_lock(&c->memory.written->lock);
    bool ok = region_note(c, at, bytes, keep_text(c, name), NULL) &&
              defined_set_undefined(&c->memory.written->defined, at, bytes);
    pthread_mutex_unlock(&c->memory.written->lock);
    if (!ok)
        initcheck_note_lost(c, NULL, NULL);
    return ok;
}

void memory_set_all_defined(struct checker *c)
{
    pthread_mutex_lock(&c->memory.written->lock);
    shadow_clear(&c->memory.written->defined.pages);
    pthread_mutex_unlock(&c->memory.written->lock);
}

void memory_set_defined(struct checker *c, uint64_t at, uint64_t bytes)
{
    pthread_mutex_lock(&c->memory.written->lock);
    defined_set_all(&c->memory.written->defined, at, bytes);
    pthread_mutex_unlock(&c->memory.written->lock);
}

/* Has the host said of an allocation that nobody has written it? It may write what else there is
 * unseen. With the lock of `written` held. */
static bool is_followed(const struct written *w, uint64_t address)
{
    for (struct checker *c = w->checkers; c; c = c->memory.next)
        if (region_find(c, address))
            return true;
    return false;
}

void memory_copy_defined(struct checker *c, uint64_t to, uint64_t from, uint64_t bytes)
{
    pthread_mutex_lock(&c->memory.written->lock);
    if (!is_followed(c->memory.written, to))
        bytes = 0;
    for (uint64_t good, bad; bytes; bytes -= good + bad, to += good + bad, from += good + bad) {
        good = defined_bytes(&c->memory.written->defined, from, bytes);
        bad = undefined_bytes(&c->memory.written->defined, from + good, bytes - good);
        defined_set_all(&c->memory.written->defined, to, good);
        defined_set_undefined(&c->memory.written->defined, to + good, bad);
    }
    pthread_mutex_unlock(&c->memory.written->lock);
}

uint64_t checker_undefined_bytes(struct checker *c, const void *p, uint64_t bytes)
{
    uint64_t at = (uint64_t)(uintptr_t)p, sum = 0;
    pthread_mutex_lock(&c->memory.written->lock);
    while (bytes) {
        uint64_t good = defined_bytes(&c->memory.written->defined, at, bytes),
                 bad = undefined_bytes(&c->memory.written->defined, at + good, bytes - good);
        sum += bad;
        at += good + bad;
        bytes -= good + bad;
    }
    pthread_mutex_unlock(&c->memory.written->lock);
    return sum;
}

uint64_t checker_defined_bytes(struct checker *c, const void *p, uint64_t bytes)
{
    pthread_mutex_lock(&c->memory.written->lock);
    uint64_t n = defined_bytes(&c->memory.written->defined, (uint64_t)(uintptr_t)p, bytes);
    pthread_mutex_unlock(&c->memory.written->lock);
    return n;
}

/* Are they like the padding of a struct: a few bytes after written
 * ones, up to the end of a word? */
static bool is_padding(uint64_t at, uint64_t bytes)
{
    return at % 4 != 0 && bytes > 1 && bytes < 8 && (at + bytes) % 4 == 0;
}

uint64_t checker_defined_data(struct checker *c, const void *p, uint64_t bytes)
{
    uint64_t from = (uint64_t)(uintptr_t)p, n = 0, gap = 0;
    pthread_mutex_lock(&c->memory.written->lock);
    do {
        n += gap;
        n += defined_bytes(&c->memory.written->defined, from + n, bytes - n);
        gap = undefined_bytes(&c->memory.written->defined, from + n, bytes - n);
    } while (n && gap && is_padding(from + n, gap));
    pthread_mutex_unlock(&c->memory.written->lock);
    return n;
}
