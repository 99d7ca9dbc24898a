/* heddle-jit: compiles kernels for one program, which started it (compiler_process.c) and sends
 * requests through a socket (wire.h).
 *
 * It ends when the program does, even in the middle of a compilation, and when it was idle for
 * IDLE_MS; the next request starts another. It waits for the first request without a limit.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/channel.h"
#include "jit/compile.h"
#include "jit/wire.h"
#include "sandbox/sandbox.h"

enum { IDLE_MS = 10000 };

/* The answer for a request that takes too long, if no other answer is being sent. */
static struct jit_result overtime;
static char overtime_text[96];
static volatile sig_atomic_t may_take_too_long;

/* Watches for the end of the program: a closed connection, or, because its children may have
   inherited that, its pidfd. */
static void *watch(void *data)
{
    struct pollfd watched[2] = {{.fd = JIT_SOCKET, .events = POLLRDHUP}, {.fd = JIT_PIDFD, .events = POLLIN}};
    (void)data;
    for (;;) {
        if (poll(watched, 2, -1) <= 0)
            continue;
        if (watched[0].revents || watched[1].revents & POLLIN)
            _exit(0);
        if (watched[1].revents) /* without a pidfd */
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
            jit_compile(&request, ask, &arena, result);
    }
    arena_free(&arena);
    return ok;
}

/* There is no other way to interrupt LLVM. */
static void end_overtime(int signal)
{
    (void)signal;
    if (!may_take_too_long)
        return;
    /* Calls send(), and nothing that is unsafe in a signal handler. */
    wire_send_result(JIT_SOCKET, &overtime);
    _exit(0);
}

/* Limits the processor time, because LLVM can loop forever, which would keep a core busy and a
 * launch waiting. If the user's own limit is lower, its last second is used for the answer: at the
 * hard limit the kernel kills the process. */
static void limit_time(uint32_t seconds)
{
    struct rusage used;
    struct rlimit limit;
    getrusage(RUSAGE_SELF, &used);
    getrlimit(RLIMIT_CPU, &limit);
    rlim_t now = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
    limit.rlim_cur = now + seconds;
    if (limit.rlim_cur >= limit.rlim_max) /* RLIM_INFINITY is the largest value */
        limit.rlim_cur = limit.rlim_max > now + 1 ? limit.rlim_max - 1 : limit.rlim_max;
    snprintf(overtime_text, sizeof overtime_text, "compiling it took more than %llu seconds of processor time",
             (unsigned long long)(limit.rlim_cur - now));
    overtime = (struct jit_result){.error = overtime_text, .is_overtime = true};
    setrlimit(RLIMIT_CPU, &limit);
}

static bool answer(const struct wire_ask *ask)
{
    struct jit_result result = {0};
    uint8_t *bytes = malloc(ask->bytes);
    bool ok = bytes && channel_receive(JIT_SOCKET, bytes, ask->bytes);
    limit_time(ask->seconds);
    may_take_too_long = true;
    ok = ok && compile_bytes(ask, bytes, &result);
    may_take_too_long = false;
    ok = ok && wire_send_result(JIT_SOCKET, &result);
    jit_release(&result);
    free(bytes);
    return ok;
}

static bool serve(int patience_ms)
{
    struct pollfd request = {.fd = JIT_SOCKET, .events = POLLIN};
    struct wire_ask ask;
    return poll(&request, 1, patience_ms) > 0 && channel_receive(JIT_SOCKET, &ask, sizeof ask) && answer(&ask);
}

int main(void)
{
    sigset_t none, time_is_up;
    pthread_t watcher;
    struct sigaction when_time_is_up = {.sa_handler = end_overtime};
    struct wire_hello hello = wire_hello();
    struct rlimit no_core = {0, 0};
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &no_core);
    jit_compile_init();
    if (!channel_send(JIT_SOCKET, &hello, sizeof hello)) {
        if (errno != EPIPE) /* the program has ended */
            fputs("heddle-jit: libheddle starts this program to compile kernels; see docs/JIT.md\n", stderr);
        return 2;
    }
    sigemptyset(&time_is_up);
    sigaddset(&time_is_up, SIGXCPU);
    /* for the watcher: the signal must go to the compiling thread */
    pthread_sigmask(SIG_BLOCK, &time_is_up, NULL);
    if (pthread_create(&watcher, NULL, watch, NULL) != 0)
        return 1;
    sigaction(SIGXCPU, &when_time_is_up, NULL);
    pthread_sigmask(SIG_UNBLOCK, &time_is_up, NULL);
    /* The code may be a stranger's; without sandbox support it goes on without. */
    sandbox_enter(SANDBOX_COMPILER);
    for (bool more = serve(-1); more; more = serve(IDLE_MS))
        ;
    _exit(0); /* without LLVM's destructors, because the watcher still runs */
}
