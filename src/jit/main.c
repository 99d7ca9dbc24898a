/* heddle-jit: compiles kernels for one program, which has started it (process.c) and asks through a socket (wire.h).
 *
 * It ends when the program does, be it in the middle of a compilation, and when it has had nothing more to do for IDLE_MS: then
 * the next request starts another. For the first request it waits, however long the program takes to come to it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "jit/compile.h"
#include "jit/wire.h"

/* Of processor time, for a request; 36,000 simple instructions take 20. */
enum { IDLE_MS = 10000, MOST_SECONDS = 120 };

/* The other side closes the connection, or is no more: its children may have inherited its end. */
static void *watch(void *data)
{
    struct pollfd watched[2] = {{.fd = JIT_SOCKET, .events = POLLRDHUP}, {.fd = JIT_PIDFD, .events = POLLIN}};
    (void)data;
    for (;;) {
        if (poll(watched, 2, -1) <= 0)
            continue;
        if (watched[0].revents || watched[1].revents & POLLIN)
            _exit(0);
        if (watched[1].revents) /* there is no pidfd */
            watched[1].fd = -1;
    }
}

static bool compile_bytes(const struct wire_ask *ask, const uint8_t *bytes, struct jit_result *result)
{
    struct jit_request request;
    jmp_buf oom;
    struct arena arena = {.on_oom = &oom};
    volatile bool ok = false;
    if (setjmp(oom) == 0) {
        ok = wire_read(&request, bytes, ask->bytes, &arena);
        request.tier = (enum jit_tier)ask->tier;
        if (ok)
            compile(&request, ask, &arena, result);
    }
    arena_free(&arena);
    return ok;
}

/* LLVM has been seen to go round for ever: who waits for code is not to wait for that. */
static void limit_time(void)
{
    struct rusage used;
    struct rlimit limit;
    getrusage(RUSAGE_SELF, &used);
    getrlimit(RLIMIT_CPU, &limit);
    limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + MOST_SECONDS);
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_cur < limit.rlim_max)
        setrlimit(RLIMIT_CPU, &limit);
}

static bool answer(const struct wire_ask *ask)
{
    struct jit_result result = {0};
    uint8_t *bytes = malloc(ask->bytes);
    limit_time();
    bool ok = bytes && wire_receive(JIT_SOCKET, bytes, ask->bytes) && compile_bytes(ask, bytes, &result) &&
              wire_send_result(JIT_SOCKET, &result);
    jit_release(&result);
    free(bytes);
    return ok;
}

static bool serve(int patience_ms)
{
    struct pollfd request = {.fd = JIT_SOCKET, .events = POLLIN};
    struct wire_ask ask;
    return poll(&request, 1, patience_ms) > 0 && wire_receive(JIT_SOCKET, &ask, sizeof ask) && answer(&ask);
}

int main(void)
{
    sigset_t none;
    pthread_t watcher;
    struct wire_hello hello = wire_hello();
    struct rlimit no_core = {0, 0};
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &no_core);
    compile_init();
    if (!wire_send(JIT_SOCKET, &hello, sizeof hello)) {
        if (errno != EPIPE) /* the program is no more */
            fputs("heddle-jit: programs that run kernels start this one; see docs/JIT.md\n", stderr);
        return 2;
    }
    if (pthread_create(&watcher, NULL, watch, NULL) != 0)
        return 1;
    for (bool more = serve(-1); more; more = serve(IDLE_MS))
        ;
    _exit(0); /* without LLVM's destructors: the watcher runs */
}
