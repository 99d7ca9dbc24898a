/* Streams and events of grids; see nested.h. */
#include "api/nest.h"

#include <stdlib.h>

/* A handle contains its grid's number, so that another grid's handle is invalid. */
enum { FIRST_HANDLE = 1 << 8, HANDLE_BITS = 24 };

static uint64_t handle_of(const struct nest *n, uint32_t index)
{
    return n->number << HANDLE_BITS | (FIRST_HANDLE + index);
}

bool nest_is_handle(uint64_t handle)
{
    return nest_was_numbered(handle >> HANDLE_BITS) && (handle & ((1u << HANDLE_BITS) - 1)) >= FIRST_HANDLE;
}

static bool index_of(const struct nest *n, uint64_t handle, uint32_t count, uint32_t *index)
{
    uint64_t place = (handle & ((1u << HANDLE_BITS) - 1)) - FIRST_HANDLE;
    *index = (uint32_t)place;
    return handle >> HANDLE_BITS == n->number && place < count;
}

struct stream *nest_new_stream(const struct nest *n)
{
    return stream_create_within(n->context->context, n->stream);
}

static struct nest_block_stream *place_of_block(struct nest_block_stream *at, uint32_t room, uint64_t block)
{
    uint64_t i = block * 0x9e3779b97f4a7c15 >> 32;
    while (at[i & (room - 1)].stream && at[i & (room - 1)].block != block)
        i++;
    return &at[i & (room - 1)];
}

/* Frees entries of blocks whose streams have nothing pending. */
static bool make_room(struct nest *n)
{
    enum { LEAST = 64 };
    uint32_t busy = 0, room = LEAST;
    if (n->room_for_blocks && n->n_of_blocks < n->room_for_blocks / 2)
        return true;
    for (uint32_t i = 0; i < n->room_for_blocks; i++) {
        struct nest_block_stream *b = &n->of_blocks[i];
        if (b->stream && !n->task && !n->holds && stream_is_idle(b->stream)) {
            stream_destroy(b->stream);
            b->stream = NULL;
        }
        busy += b->stream != NULL;
    }
    while (room < 4 * busy)
        room *= 2;
    struct nest_block_stream *new = calloc(room, sizeof *new);
    if (!new)
        return false;
    for (uint32_t i = 0; i < n->room_for_blocks; i++)
        if (n->of_blocks[i].stream)
            *place_of_block(new, room, n->of_blocks[i].block) = n->of_blocks[i];
    free(n->of_blocks);
    n->of_blocks = new;
    n->room_for_blocks = room;
    n->n_of_blocks = busy;
    return true;
}

static struct stream *stream_of_block(struct nest *n, uint64_t block)
{
    if (!make_room(n))
        return NULL;
    struct nest_block_stream *b = place_of_block(n->of_blocks, n->room_for_blocks, block);
    if (!b->stream) {
        *b = (struct nest_block_stream){block, nest_new_stream(n)};
        n->n_of_blocks += b->stream != NULL;
    }
    return b->stream;
}

/* The ordered stream of a handle; NULL with *error if there is none. */
struct stream *nest_find_stream(struct nest *n, const struct nested_call *c, uint64_t handle, enum nest_error *error)
{
    uint32_t i;
    struct stream *s = NULL;
    *error = NEST_INVALID_VALUE;
    if (handle == NEST_STREAM_NULL || handle == NEST_STREAM_LEGACY || handle == NEST_STREAM_PER_THREAD) {
        *error = NEST_MEMORY_ALLOCATION;
        s = stream_of_block(n, nested_block(c));
    } else if (index_of(n, handle, n->streams.n, &i)) {
        s = n->streams.at[i];
    }
    if (s)
        *error = NEST_SUCCESS;
    return s;
}

enum nest_error nest_stream_create(struct nest *n, struct nested_call *c, uint64_t *handle)
{
    (void)c;
    pthread_mutex_lock(&n->lock);
    struct stream *s = nest_new_stream(n), **new = s ? VEC_ADD(&n->streams) : NULL;
    if (new)
        *new = s;
    else if (s)
        stream_destroy(s);
    *handle = handle_of(n, n->streams.n - 1);
    pthread_mutex_unlock(&n->lock);
    return new ? NEST_SUCCESS : NEST_MEMORY_ALLOCATION;
}

/* As on an H200, a destroyed stream can be used until the grid ends, and destroyed again. */
enum nest_error nest_stream_destroy(struct nest *n, uint64_t handle)
{
    uint32_t i;
    pthread_mutex_lock(&n->lock);
    bool known = index_of(n, handle, n->streams.n, &i);
    pthread_mutex_unlock(&n->lock);
    return known ? NEST_SUCCESS : NEST_INVALID_VALUE;
}

enum nest_error nest_event_create(struct nest *n, uint64_t *handle)
{
    pthread_mutex_lock(&n->lock);
    struct task **new = VEC_ADD(&n->events);
    if (new)
        *new = NULL;
    *handle = handle_of(n, n->events.n - 1);
    pthread_mutex_unlock(&n->lock);
    return new ? NEST_SUCCESS : NEST_MEMORY_ALLOCATION;
}

/* Call with the lock held. */
static struct task **find_event(struct nest *n, uint64_t handle)
{
    uint32_t i;
    return index_of(n, handle, n->events.n, &i) ? &n->events.at[i] : NULL;
}

enum nest_error nest_event_destroy(struct nest *n, uint64_t handle)
{
    pthread_mutex_lock(&n->lock);
    struct task **event = find_event(n, handle);
    pthread_mutex_unlock(&n->lock);
    return event ? NEST_SUCCESS : NEST_INVALID_VALUE;
}

enum nest_error nest_event_record(struct nest *n, struct nested_call *c, uint64_t handle, uint64_t stream)
{
    enum nest_error e;
    pthread_mutex_lock(&n->lock);
    struct task **event = find_event(n, handle);
    struct stream *s = nest_find_stream(n, c, stream, &e);
    if (!event)
        e = NEST_INVALID_VALUE;
    if (!e && n->holds) {
        e = nest_add_held(n,
                          (struct nest_held){.stream = s, .event = (uint32_t)(event - n->events.at), .records = true});
    } else if (!e) {
        task_release(*event);
        *event = stream_last(s);
    }
    pthread_mutex_unlock(&n->lock);
    return e;
}

enum nest_error nest_event_wait(struct nest *n, struct nested_call *c, uint64_t handle, uint64_t stream)
{
    enum nest_error e;
    pthread_mutex_lock(&n->lock);
    struct task **event = find_event(n, handle);
    struct stream *s = nest_find_stream(n, c, stream, &e);
    if (!event)
        e = NEST_INVALID_VALUE;
    if (!e && n->holds)
        e = nest_add_held(n, (struct nest_held){.stream = s, .event = (uint32_t)(event - n->events.at)});
    else if (!e && *event && !stream_after(s, *event))
        e = NEST_MEMORY_ALLOCATION;
    pthread_mutex_unlock(&n->lock);
    return e;
}

void nest_destroy_streams(struct nest *n)
{
    for (uint32_t i = 0; i < n->room_for_blocks; i++)
        if (n->of_blocks[i].stream)
            stream_destroy(n->of_blocks[i].stream);
    for (uint32_t i = 0; i < n->streams.n; i++)
        stream_destroy(n->streams.at[i]);
    free(n->of_blocks);
    n->of_blocks = NULL;
    n->n_of_blocks = n->room_for_blocks = n->streams.n = 0;
}
