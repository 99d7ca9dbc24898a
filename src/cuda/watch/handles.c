/* Uses of invalid or destroyed streams and events: watch.h. */
#include "cuda/watch/watch_state.h"

#include <stdlib.h>

enum { N_HANDLES = 1 << 10, MAX_DESTROYED = 1 << 12 };

/* A stream or event. */
struct watched {
    struct watched *next;
    const void *handle;
    const char *what;
    CUcontext context;
    bool ended; /* destroyed with its context */
    const struct stack *created, *destroyed;
};

static struct {
    pthread_mutex_t lock;
    struct watched *at[N_HANDLES];
    const void *destroyed[MAX_DESTROYED]; /* a ring of remembered handles */
    size_t n_destroyed;
} handles = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct watched **bucket(const void *handle)
{
    return &handles.at[((uintptr_t)handle >> 4) % N_HANDLES];
}

static struct watched *watched_find(const void *handle)
{
    struct watched *h = *bucket(handle);
    while (h && h->handle != handle)
        h = h->next;
    return h;
}

void watch_created(const void *handle, const char *what, CUcontext c)
{
    struct watched *h = watch_is_on() ? calloc(1, sizeof *h) : NULL;
    if (!h)
        return;
    *h = (struct watched){.handle = handle, .what = what, .context = c, .created = stack_here()};
    pthread_mutex_lock(&handles.lock);
    h->next = *bucket(handle);
    *bucket(handle) = h;
    pthread_mutex_unlock(&handles.lock);
}

static void forget_handle(const void *handle)
{
    struct watched **link = bucket(handle);
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    struct watched *h = *link;
    if (h)
        *link = h->next;
    free(h);
}

void watch_destroyed(const void *handle)
{
    if (!watch_is_on())
        return;
    const struct stack *s = stack_here();
    pthread_mutex_lock(&handles.lock);
    struct watched *h = watched_find(handle);
    const void **oldest = &handles.destroyed[handles.n_destroyed++ % MAX_DESTROYED];
    if (*oldest)
        forget_handle(*oldest);
    *oldest = handle;
    if (h)
        h->destroyed = s;
    pthread_mutex_unlock(&handles.lock);
}

bool watch_handle(const void *handle, const char *what)
{
    if (!watch_options()->memory)
        return true;
    pthread_mutex_lock(&handles.lock);
    struct watched *known = watched_find(handle), h = known ? *known : (struct watched){0};
    pthread_mutex_unlock(&handles.lock);
    if (known && !h.destroyed)
        return true;
    struct watch_finding w = {.severity = HD_SEVERITY_ERROR, .code = "invalid-handle"};
    const char *call = watch_call_of(stack_here());
    if (known) {
        w.code = "use-after-destroy";
        w.notes[0] = (struct watch_note){"destroyed", "it was destroyed here", h.destroyed};
        w.notes[1] = (struct watch_note){"created", "it was created here", h.created};
        watch_found(&w, "%s with the %s %p, which was already destroyed %s", call, h.what, handle,
                    stack_text(h.destroyed).place);
    } else if (handle) {
        watch_found(&w, "%s with %p, which is not a %s", call, handle, what);
    }
    return false;
}

void watch_each_left(CUcontext c, void (*visit)(const char *what, const struct stack *created))
{
    for (size_t i = 0; i < N_HANDLES; i++)
        for (struct watched *h = handles.at[i]; h; h = h->next) {
            if (h->context != c || h->destroyed || h->ended)
                continue;
            h->ended = true;
            visit(h->what, h->created);
        }
}
