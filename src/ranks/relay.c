/* See relay.h. */
#include "ranks/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* What stands before a message's bytes. */
struct head {
    uint32_t rank; /* to whom, or from whom */
    int32_t kind;
    uint64_t n;
};

/* A pipe's both ends are open on both sides, so that nobody waits for the other one's, and nothing
 * ends by itself. */
static int open_pipe(const char *folder, const char *name, bool make)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (make && mkfifo(path, 0600) && errno != EEXIST)
        return -1;
    return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static const char TO_PROGRAM[] = "rank-receives", FROM_PROGRAM[] = "rank-sends";

enum { LOOK_MS = 50 };

/* Waits for the pipe, but not behind the end (NULL: there is none). */
static bool await(int fd, short what, const atomic_bool *ended)
{
    struct pollfd p = {.fd = fd, .events = what};
    for (;;) {
        bool last = ended && atomic_load(ended);
        int n = poll(&p, 1, last ? 0 : LOOK_MS);
        if (n > 0)
            return true;
        if (last || (n < 0 && errno != EINTR))
            return false;
    }
}

/* Reads (POLLIN) or writes (POLLOUT) all of the bytes. */
static bool move_all(int fd, short way, void *bytes, size_t n, const atomic_bool *ended)
{
    uint8_t *at = bytes;
    while (n) {
        ssize_t done = way == POLLIN ? read(fd, at, n) : write(fd, at, n);
        if (done < 0 && errno != EINTR && (errno != EAGAIN || !await(fd, way, ended)))
            return false;
        at += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

static bool write_all(int fd, const void *bytes, size_t n, const atomic_bool *ended)
{
    return move_all(fd, POLLOUT, (void *)bytes, n, ended);
}

static bool read_all(int fd, void *bytes, size_t n, const atomic_bool *ended)
{
    return move_all(fd, POLLIN, bytes, n, ended);
}

static bool write_message(int fd, uint32_t rank, int kind, const void *bytes, size_t n, const atomic_bool *ended)
{
    struct head h = {rank, kind, n};
    return write_all(fd, &h, sizeof h, ended) && write_all(fd, bytes, n, ended);
}

/* False: there is none, or no memory for it. */
static bool read_message(int fd, struct rank_message *m, const atomic_bool *ended)
{
    struct head h;
    if (!read_all(fd, &h, sizeof h, ended))
        return false;
    *m = (struct rank_message){.from = h.rank, .kind = h.kind, .n = h.n, .bytes = malloc(h.n + 1)};
    if (m->bytes && read_all(fd, m->bytes, h.n, ended))
        return true;
    free(m->bytes);
    return false;
}

/* ---- the rank's process ---- */

static void *pass_in(void *data)
{
    struct relay *r = data;
    while (!atomic_load(&r->ended)) {
        struct rank_message m;
        pthread_mutex_lock(&r->lock);
        bool any = ranks_receive(r->ranks, &m);
        pthread_mutex_unlock(&r->lock);
        if (!any) {
            ranks_rest(r->ranks);
            continue;
        }
        write_message(r->to_program, m.from, m.kind, m.bytes, m.n, &r->ended);
        free(m.bytes);
    }
    return NULL;
}

static void *pass_out(void *data)
{
    struct relay *r = data;
    struct rank_message m; /* `from`: to whom */
    while (read_message(r->from_program, &m, &r->ended)) {
        pthread_mutex_lock(&r->lock);
        ranks_send(r->ranks, m.from, m.kind, m.bytes, m.n);
        pthread_mutex_unlock(&r->lock);
        free(m.bytes);
    }
    return NULL;
}

bool relay_begin(struct relay *r, struct ranks *ranks, const char *folder)
{
    static void *(*const passing[2])(void *) = {pass_in, pass_out};
    sigset_t all, before;
    *r = (struct relay){.ranks = ranks,
                        .to_program = open_pipe(folder, TO_PROGRAM, true),
                        .from_program = open_pipe(folder, FROM_PROGRAM, true),
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (r->to_program >= 0 && r->from_program >= 0 && r->n_threads < 2 &&
           (errno = pthread_create(&r->threads[r->n_threads], NULL, passing[r->n_threads], r)) == 0)
        r->n_threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r->n_threads == 2;
}

void relay_end(struct relay *r)
{
    atomic_store(&r->ended, true);
    while (r->n_threads)
        pthread_join(r->threads[--r->n_threads], NULL);
    if (r->to_program >= 0)
        close(r->to_program);
    if (r->from_program >= 0)
        close(r->from_program);
}

/* ---- the program's ---- */

static int relay_in = -1, relay_out = -1;

static bool relay_send(unsigned to, int kind, const void *bytes, size_t n)
{
    return write_message(relay_out, to, kind, bytes, n, NULL);
}

static bool relay_receive(struct rank_message *m)
{
    struct pollfd p = {.fd = relay_in, .events = POLLIN};
    return poll(&p, 1, 0) > 0 && read_message(relay_in, m, NULL);
}

static void relay_leave(void)
{
    close(relay_in);
    close(relay_out);
}

bool relay_join(struct ranks *ranks, const char *folder)
{
    static const struct rank_transport transport = {
        .send = relay_send, .receive = relay_receive, .disconnect = relay_leave, .abort = _exit};
    relay_in = open_pipe(folder, TO_PROGRAM, false);
    relay_out = open_pipe(folder, FROM_PROGRAM, false);
    ranks->transport = &transport;
    return relay_in >= 0 && relay_out >= 0;
}
