/* A compiler of kernels (HEDDLE_JIT) for tests/tiers: heddle-jit (HEDDLE_TEST_JIT), between which
 * and the program it stands (jit/wire.h).
 *
 * It writes the tier of each request to HEDDLE_TEST_ASKED, a line each. What it does with those of
 * the second tier is HEDDLE_TEST_SECOND: `pass` them on, `mark` them (code stores MARKED where the
 * kernel says PLAIN, so that who runs it is to be seen), `crash`, or `hang`. With
 * HEDDLE_TEST_RECORD, requests and answers are written to files of that name and .request, .answer
 * (tests/campaigns).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/channel.h"
#include "jit/wire.h"

enum { PLAIN = 0x51525354, MARKED = 0x61626364 }; /* test.py's */

/* heddle-jit, which has the same files open but the connection. */
static int start_inner(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        exit(1);
    if (fork() == 0) {
        dup2(ends[1], JIT_SOCKET);
        execl(getenv("HEDDLE_TEST_JIT"), "heddle-jit", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return ends[0];
}

static void record(const char *what, const void *bytes, size_t n)
{
    const char *name = getenv("HEDDLE_TEST_RECORD");
    char path[4096];
    if (!name)
        return;
    snprintf(path, sizeof path, "%s.%s", name, what);
    FILE *f = fopen(path, "ab");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        exit(1);
}

/* All that it says; its end is ours. */
static void *pass_answers(void *inner)
{
    static char bytes[1 << 16];
    for (ssize_t n; (n = recv(*(int *)inner, bytes, sizeof bytes, 0)) > 0;) {
        record("answer", bytes, (size_t)n);
        channel_send(JIT_SOCKET, bytes, (size_t)n);
    }
    _exit(0);
}

static void note(uint32_t tier)
{
    FILE *f = fopen(getenv("HEDDLE_TEST_ASKED"), "a");
    if (!f)
        exit(1);
    fprintf(f, "%u\n", tier);
    fclose(f);
}

static void mark(uint8_t *request, size_t bytes)
{
    const uint32_t plain = PLAIN, marked = MARKED;
    for (size_t i = 0; i + sizeof plain <= bytes; i++)
        if (memcmp(request + i, &plain, sizeof plain) == 0)
            memcpy(request + i, &marked, sizeof marked);
}

static void treat(uint8_t *request, size_t bytes)
{
    const char *set = getenv("HEDDLE_TEST_SECOND"), *how = set ? set : "pass";
    if (strcmp(how, "crash") == 0)
        _exit(1);
    if (strcmp(how, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(how, "mark") == 0)
        mark(request, bytes);
}

static bool pass_request(int inner, const struct wire_ask *ask)
{
    uint8_t *request = malloc(ask->bytes);
    bool ok = request && channel_receive(JIT_SOCKET, request, ask->bytes);
    if (ok) {
        note(ask->tier);
        record("request", request, ask->bytes);
    }
    if (ok && ask->tier == TIER_SECOND)
        treat(request, ask->bytes);
    ok = ok && channel_send(inner, ask, sizeof *ask) && channel_send(inner, request, ask->bytes);
    free(request);
    return ok;
}

int main(void)
{
    int inner = start_inner();
    pthread_t answers;
    struct wire_ask ask;
    if (pthread_create(&answers, NULL, pass_answers, &inner) != 0)
        return 1;
    while (channel_receive(JIT_SOCKET, &ask, sizeof ask) && pass_request(inner, &ask))
        ;
    _exit(0);
}
