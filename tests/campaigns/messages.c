/* messages: what the processes of Heddle hand to each other, and what it keeps on disk, damaged;
 * see cases.h for how it is used. A case's first byte says what follows: an object as heddle-jit
 * makes it and the cache keeps it, which is put into memory and not run; a request, which a
 * compiler gets; an answer, as it comes over a connection; or an array in a file (.npy).
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/channel.h"
#include "cases.h"
#include "cli/npy.h"
#include "jit/host/elf_loader.h"
#include "jit/wire.h"

enum kind { OBJECT, REQUEST, ANSWER, ARRAY, KINDS };

const char *const case_counts[] = {"accepted", "refused", NULL};

struct bytes {
    const uint8_t *at;
    size_t n;
    int fd;
};

static void note(bool accepted)
{
    told->counts[!accepted]++;
}

/* ---- cases ---- */

static bool put_into_memory(const uint8_t *elf, size_t n)
{
    enum { FUNCTIONS = 16 };
    compiled_fn *functions[FUNCTIONS] = {0};
    char error[LOADER_ERROR_BYTES] = "";
    struct loaded_object o = {0};
    bool good = loader_load(&o, elf, n, functions, FUNCTIONS, error);
    for (unsigned i = 0; good && i < FUNCTIONS; i++) {
        uint8_t *at = (uint8_t *)(uintptr_t)functions[i];
        if (at && (at < o.at || at >= o.at + o.bytes))
            case_fails(V_CANARY, "function %u is outside of what was loaded", i);
    }
    if (!good && !*error)
        case_fails(V_DIFFERS, "refused without a reason");
    if (good)
        loader_unload(&o);
    return good;
}

static void *send_all(void *data)
{
    const struct bytes *b = data;
    channel_send(b->fd, b->at, b->n);
    close(b->fd);
    return NULL;
}

static bool receive_answer(const uint8_t *at, size_t n)
{
    int ends[2];
    pthread_t sender;
    struct jit_result r;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        abort();
    struct bytes b = {at, n, ends[1]};
    if (pthread_create(&sender, NULL, send_all, &b))
        abort();
    bool good = wire_receive_result(ends[0], &r);
    if (good && r.object)
        put_into_memory(r.object, r.bytes);
    jit_release(&r);
    close(ends[0]);
    pthread_join(sender, NULL);
    return good;
}

/* A compiler of its own, at the other end of a connection. */
static int start_compiler(void)
{
    int ends[2];
    const char *build = getenv("HEDDLE_BUILD");
    char path[4096];
    snprintf(path, sizeof path, "%s/heddle-jit", build ? build : "build");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(127);
        dup2(ends[1], JIT_SOCKET);
        execl(path, "heddle-jit", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return pid < 0 ? -1 : ends[0];
}

/* It answers, or it ends, which costs a kernel its speed; and it does so in time. */
static bool ask_compiler(const uint8_t *request, size_t n)
{
    enum { SECONDS = 3, PATIENCE_SECONDS = 60 };
    struct timeval patience = {PATIENCE_SECONDS, 0};
    struct wire_ask ask = {.bytes = n, .tier = TIER_FIRST, .seconds = SECONDS, .object = true};
    struct wire_hello hello;
    struct jit_result r = {0};
    int fd = start_compiler();
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) ||
        !channel_receive(fd, &hello, sizeof hello))
        abort();
    bool good = channel_send(fd, &ask, sizeof ask) && channel_send(fd, request, n);
    errno = 0;
    good = good && wire_receive_result(fd, &r);
    if (!good && (errno == EAGAIN || errno == EWOULDBLOCK))
        case_fails(V_HANG, "the compiler neither answers nor ends");
    if (good && r.object)
        put_into_memory(r.object, r.bytes);
    jit_release(&r);
    close(fd);
    while (wait(NULL) > 0)
        ;
    return good;
}

static bool read_array(const uint8_t *at, size_t n)
{
    struct arena arena = {0};
    struct npy npy;
    const char *why = npy_read(&arena, (const char *)at, n, &npy);
    uint64_t room = why ? 0 : n - (size_t)((const uint8_t *)npy.data - at);
    if (!why && npy.count > room * 8 / isa_type_bits(npy.type))
        case_fails(V_CANARY, "the array is larger than its file");
    arena_free(&arena);
    return !why;
}

static void child(const void *argument)
{
    static const char *const names[KINDS] = {"loading an object", "compiling a request", "receiving an answer",
                                             "reading an array"};
    const struct bytes *b = argument;
    unsigned kind = b->at[0] % KINDS;
    size_t n = b->n - 1;
    uint8_t *own = malloc(n + !n); /* so that a sanitizer sees reads behind its end */
    memcpy(own, b->at + 1, n);
    snprintf(told->where, sizeof told->where, "%s", names[kind]);
    static bool (*const readers[KINDS])(const uint8_t *, size_t) = {put_into_memory, ask_compiler, receive_answer,
                                                                    read_array};
    note(readers[kind](own, n));
    free(own);
}

void do_case(const char *bytes, size_t n)
{
    if (n > 0)
        do_in_child(child, &(struct bytes){(const uint8_t *)bytes, n, -1});
}
