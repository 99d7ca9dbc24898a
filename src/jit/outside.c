/* See outside.h. A question is its head and the bytes of a request, the answer that of the compiler (wire.h). */
#include "jit/outside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/channel.h"
#include "jit/cache.h"
#include "sandbox/broker.h"

enum { MOST_REQUEST_BYTES = 1 << 30 };

struct question {
    struct wire_ask ask;
    uint32_t compile; /* 0: what is on disk is wanted, if it is there */
};

void outside_init(struct outside *o)
{
    *o = (struct outside){.fd = -1};
    pthread_mutex_init(&o->lock, NULL);
}

/* ---- in the broker ---- */

static struct cache_key key_of(const struct outside *o, const struct wire_ask *ask, const uint8_t *request)
{
    return cache_key(request, ask->bytes, (enum jit_tier)ask->tier, o->program, true);
}

static void answer(const struct outside *o, const struct question *q, const uint8_t *request, struct jit_result *r)
{
    struct cache_key key = key_of(o, &q->ask, request);
    if (!q->compile)
        cache_load(&key, r);
    else if (!process_ask(o->process, o->program, &q->ask, request, r))
        r->error = strdup(o->process->why);
    else if (r->object && o->keeps)
        cache_store(&key, r);
}

static void serve(int fd, void *data)
{
    const struct outside *o = data;
    struct question q;
    bool more = true;
    while (more && channel_receive(fd, &q, sizeof q) && q.ask.bytes <= MOST_REQUEST_BYTES) {
        struct jit_result result = {0};
        uint8_t *request = malloc(q.ask.bytes + 1);
        more = request && channel_receive(fd, request, q.ask.bytes);
        if (more)
            answer(o, &q, request, &result);
        more = more && wire_send_result(fd, &result);
        jit_release(&result);
        free(request);
    }
}

bool outside_open(struct outside *o, const char *program, struct jit_process *process, bool keeps)
{
    o->program = program;
    o->process = process;
    o->keeps = keeps;
    o->fd = broker_add(serve, o);
    return o->fd >= 0;
}

/* ---- inside ---- */

static bool ask_broker(struct outside *o, const struct question *q, const uint8_t *request, struct jit_result *result)
{
    pthread_mutex_lock(&o->lock);
    bool ok = channel_send(o->fd, q, sizeof *q) && channel_send(o->fd, request, q->ask.bytes) &&
              wire_receive_result(o->fd, result);
    pthread_mutex_unlock(&o->lock);
    if (!ok)
        jit_release(result);
    return ok;
}

bool outside_recall(struct outside *o, enum jit_tier tier, const uint8_t *request, size_t bytes,
                    struct jit_result *result)
{
    struct question q = {.ask = {.bytes = bytes, .tier = tier}};
    return ask_broker(o, &q, request, result) && result->object;
}

bool outside_compile(struct outside *o, const struct wire_ask *ask, const uint8_t *request, struct jit_result *result)
{
    struct question q = {.ask = *ask, .compile = 1};
    return ask_broker(o, &q, request, result);
}

void outside_end(struct outside *o)
{
    if (o->fd >= 0)
        shutdown(o->fd, SHUT_RDWR);
}

void outside_close(struct outside *o)
{
    if (o->fd >= 0)
        close(o->fd);
    pthread_mutex_destroy(&o->lock);
}
