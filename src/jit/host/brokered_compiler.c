/* See brokered_compiler.h. A question is a header and the bytes of a request; the answer is the
 * compiler's (wire.h). */
#include "jit/host/brokered_compiler.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/channel.h"
#include "jit/host/code_cache.h"
#include "sandbox/broker.h"

enum { MOST_REQUEST_BYTES = 1 << 30 };

struct question {
    struct wire_ask ask;
    uint32_t compile; /* 0: only code that is on disk is wanted */
};

void brokered_init(struct brokered_compiler *o)
{
    *o = (struct brokered_compiler){.fd = -1};
    pthread_mutex_init(&o->lock, NULL);
}

/* ---- in the broker ---- */

static struct code_cache_key key_of(const struct brokered_compiler *o, const struct wire_ask *ask,
                                    const uint8_t *request)
{
    return code_cache_key(request, ask->bytes, (enum jit_tier)ask->tier, o->program, true);
}

static void answer(const struct brokered_compiler *o, const struct question *q, const uint8_t *request,
                   struct jit_result *r)
{
    struct code_cache_key key = key_of(o, &q->ask, request);
    if (!q->compile)
        code_cache_load(&key, r);
    else if (!process_ask(o->process, o->program, &q->ask, request, r))
        r->error = strdup(o->process->why);
    else if (r->object && o->keeps)
        code_cache_store(&key, r);
}

static void serve(int fd, void *data)
{
    const struct brokered_compiler *o = data;
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

bool brokered_open(struct brokered_compiler *o, const char *program, struct jit_process *process, bool keeps)
{
    o->program = program;
    o->process = process;
    o->keeps = keeps;
    o->fd = broker_add(serve, o);
    return o->fd >= 0;
}

/* ---- inside ---- */

static bool ask_broker(struct brokered_compiler *o, const struct question *q, const uint8_t *request,
                       struct jit_result *result)
{
    pthread_mutex_lock(&o->lock);
    bool ok = channel_send(o->fd, q, sizeof *q) && channel_send(o->fd, request, q->ask.bytes) &&
              wire_receive_result(o->fd, result);
    pthread_mutex_unlock(&o->lock);
    if (!ok)
        jit_release(result);
    return ok;
}

bool brokered_recall(struct brokered_compiler *o, enum jit_tier tier, const uint8_t *request, size_t bytes,
                     struct jit_result *result)
{
    struct question q = {.ask = {.bytes = bytes, .tier = tier}};
    return ask_broker(o, &q, request, result) && result->object;
}

bool brokered_compile(struct brokered_compiler *o, const struct wire_ask *ask, const uint8_t *request,
                      struct jit_result *result)
{
    struct question q = {.ask = *ask, .compile = 1};
    return ask_broker(o, &q, request, result);
}

void brokered_end(struct brokered_compiler *o)
{
    if (o->fd >= 0)
        shutdown(o->fd, SHUT_RDWR);
}

void brokered_close(struct brokered_compiler *o)
{
    if (o->fd >= 0)
        close(o->fd);
    pthread_mutex_destroy(&o->lock);
}
