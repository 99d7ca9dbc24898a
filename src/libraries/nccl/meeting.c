/* See meeting.h. */
#include "libraries/nccl/meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory_file.h"
#include "libraries/nccl/world.h"

static const char MAGIC[8] = "heddle1";

/* The contents of an ncclUniqueId. */
struct id {
    char magic[8];
    unsigned char key[16];
    char machine[40]; /* identifies the system, and its last boot */
};
_Static_assert(sizeof(struct id) <= NCCL_UNIQUE_ID_BYTES, "an id has room");

struct request {
    char magic[8];
    int n_ranks, rank;
};
struct answer {
    int result; /* ncclResult_t; ncclSuccess comes with the file */
};

struct meeting {
    struct meeting *next;
    struct id id;
    int listener;      /* -1: other processes cannot come */
    int n_ranks, file; /* 0, -1: no rank has come yet */
    uint32_t taken;    /* a bit for each rank */
    struct pollfd guests[WORLD_RANKS + 1];
    nfds_t n_guests;
};

static struct {
    pthread_mutex_t lock;
    struct meeting *first;
} meetings = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- names ---- */

static void this_machine(char text[40])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!f || !fgets(text, 37, f))
        strcpy(text, "unknown");
    if (f)
        fclose(f);
}

static socklen_t address_of(const struct id *id, struct sockaddr_un *a)
{
    int n = 0;
    /* An abstract socket: its name begins with 0. */
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    n += snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "heddle-nccl-");
    for (size_t i = 0; i < sizeof id->key; i++)
        n += snprintf(a->sun_path + 1 + n, sizeof a->sun_path - 1 - (size_t)n, "%02x", id->key[i]);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int listen_at(const struct id *id)
{
    struct sockaddr_un a;
    socklen_t n = address_of(id, &a);
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (s >= 0 && bind(s, (struct sockaddr *)&a, n) == 0 && listen(s, WORLD_RANKS) == 0)
        return s;
    if (s >= 0)
        close(s);
    return -1;
}

static bool is_own_user(int connection)
{
    struct ucred other;
    socklen_t n = sizeof other;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &other, &n) == 0 && other.uid == geteuid();
}

/* ---- seats ---- */

static int new_file(int n_ranks)
{
    int file = memory_file_new(world_bytes(n_ranks));
    struct shared *s = file >= 0 ? mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (s != MAP_FAILED) {
        s->n_ranks = (uint32_t)n_ranks;
        munmap(s, sizeof *s);
        return file;
    }
    if (file >= 0)
        close(file);
    return -1;
}

static bool is_complete(const struct meeting *m)
{
    return m->n_ranks && m->taken == (1u << m->n_ranks) - 1;
}

static void note_complete(const struct meeting *m)
{
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, m->file, 0);
    if (s == MAP_FAILED)
        return;
    atomic_store(&s->complete, true);
    munmap(s, sizeof *s);
}

/* Call with the lock of meetings held. */
static ncclResult_t give_seat(struct meeting *m, int n_ranks, int rank)
{
    if (n_ranks < 1 || n_ranks > WORLD_RANKS || rank < 0 || rank >= n_ranks)
        return ncclInvalidArgument;
    if (m->n_ranks && n_ranks != m->n_ranks)
        return ncclInvalidArgument;
    if (m->taken & 1u << rank)
        return ncclInvalidUsage;
    if (m->file < 0 && (m->file = new_file(n_ranks)) < 0)
        return ncclSystemError;
    m->n_ranks = n_ranks;
    m->taken |= 1u << rank;
    if (is_complete(m))
        note_complete(m);
    return ncclSuccess;
}

/* ---- the thread ---- */

static void send_answer(int connection, struct answer a, int file)
{
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof file)] = {0};
    struct iovec io = {&a, sizeof a};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
    if (a.result == ncclSuccess) {
        m.msg_control = control;
        m.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof file), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(c), &file, sizeof file);
    }
    sendmsg(connection, &m, MSG_NOSIGNAL);
}

/* Returns false if the connection must be closed. */
static bool answer(struct meeting *m, int connection)
{
    struct request q;
    ssize_t n = recv(connection, &q, sizeof q, MSG_DONTWAIT);
    if (n != (ssize_t)sizeof q || memcmp(q.magic, MAGIC, sizeof MAGIC) != 0)
        return n < 0 && errno == EAGAIN;
    pthread_mutex_lock(&meetings.lock);
    struct answer a = {(int)give_seat(m, q.n_ranks, q.rank)};
    pthread_mutex_unlock(&meetings.lock);
    send_answer(connection, a, m->file);
    return a.result == ncclSuccess;
}

static void welcome(struct meeting *m)
{
    int connection = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection >= 0 && m->n_guests < sizeof m->guests / sizeof m->guests[0] && is_own_user(connection))
        m->guests[m->n_guests++] = (struct pollfd){.fd = connection, .events = POLLIN};
    else if (connection >= 0)
        close(connection);
}

/* Called by the thread, or by the last rank if there is none; with the lock of meetings held. */
static void end_meeting(struct meeting *m)
{
    struct meeting **at = &meetings.first;
    while (*at && *at != m)
        at = &(*at)->next;
    if (*at)
        *at = m->next;
    if (m->file >= 0)
        close(m->file);
    free(m);
}

/* Serves until every rank has come. */
static void *host_meeting(void *data)
{
    enum { LOOK_MS = 500 };
    struct meeting *m = data;
    bool complete = false;
    m->guests[0] = (struct pollfd){.fd = m->listener, .events = POLLIN};
    m->n_guests = 1;
    while (!complete) {
        poll(m->guests, m->n_guests, LOOK_MS); /* ranks of this process come without a connection */
        for (nfds_t i = m->n_guests; i-- > 1;)
            if (m->guests[i].revents && !answer(m, m->guests[i].fd)) {
                close(m->guests[i].fd);
                m->guests[i] = m->guests[--m->n_guests];
            }
        if (m->guests[0].revents & POLLIN)
            welcome(m);
        pthread_mutex_lock(&meetings.lock);
        complete = is_complete(m);
        pthread_mutex_unlock(&meetings.lock);
    }
    for (nfds_t i = 0; i < m->n_guests; i++)
        close(m->guests[i].fd);
    pthread_mutex_lock(&meetings.lock);
    end_meeting(m);
    pthread_mutex_unlock(&meetings.lock);
    return NULL;
}

static bool start_thread(struct meeting *m)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&thread, &attributes, host_meeting, m) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return ok;
}

/* If other processes cannot come (in a sandbox), ranks of this one still can. */
ncclResult_t meeting_open(ncclUniqueId *id)
{
    struct meeting *m = calloc(1, sizeof *m);
    if (!m)
        return ncclSystemError;
    m->file = -1;
    memcpy(m->id.magic, MAGIC, sizeof MAGIC);
    this_machine(m->id.machine);
    if (getrandom(m->id.key, sizeof m->id.key, 0) != (ssize_t)sizeof m->id.key) {
        free(m);
        return ncclSystemError;
    }
    m->listener = listen_at(&m->id);
    *id = (ncclUniqueId){{0}};
    memcpy(id, &m->id, sizeof m->id);
    pthread_mutex_lock(&meetings.lock);
    m->next = meetings.first;
    meetings.first = m;
    if (m->listener >= 0 && !start_thread(m)) {
        close(m->listener);
        m->listener = -1;
    }
    pthread_mutex_unlock(&meetings.lock);
    return ncclSuccess;
}

/* ---- guests ---- */

/* Joins with an id that this process has made. */
static bool join_here(const struct id *id, int n_ranks, int rank, struct invitation *v, ncclResult_t *result)
{
    pthread_mutex_lock(&meetings.lock);
    struct meeting *m = meetings.first;
    while (m && memcmp(m->id.key, id->key, sizeof id->key) != 0)
        m = m->next;
    if (m) {
        *result = give_seat(m, n_ranks, rank);
        v->file = *result == ncclSuccess ? fcntl(m->file, F_DUPFD_CLOEXEC, 0) : -1;
        if (is_complete(m) && m->listener < 0)
            end_meeting(m);
    }
    pthread_mutex_unlock(&meetings.lock);
    return m != NULL;
}

static ncclResult_t receive(int connection, int *file)
{
    struct answer a = {ncclRemoteError};
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof *file)] = {0};
    struct iovec io = {&a, sizeof a};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(connection, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof a)
        return ncclRemoteError;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof *file))
        memcpy(file, CMSG_DATA(c), sizeof *file);
    return a.result || *file >= 0 ? (ncclResult_t)a.result : ncclSystemError;
}

static ncclResult_t ask(const struct id *id, int n_ranks, int rank, struct invitation *v)
{
    struct sockaddr_un a;
    struct request q = {.n_ranks = n_ranks, .rank = rank};
    socklen_t n = address_of(id, &a);
    memcpy(q.magic, MAGIC, sizeof MAGIC);
    v->connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (v->connection < 0)
        return ncclSystemError;
    if (connect(v->connection, (struct sockaddr *)&a, n) != 0 || !is_own_user(v->connection) ||
        send(v->connection, &q, sizeof q, MSG_NOSIGNAL) != (ssize_t)sizeof q)
        return ncclRemoteError;
    return receive(v->connection, &v->file);
}

static const char *why_not(ncclResult_t r)
{
    return r == ncclInvalidUsage      ? "another process already has this rank"
           : r == ncclInvalidArgument ? "the other ranks expect another number of ranks"
           : r == ncclRemoteError     ? "the process that made the id has ended, or all ranks have already joined"
                                      : "the system has no socket or memory left for it";
}

ncclResult_t meeting_join(const ncclUniqueId *unique, int n_ranks, int rank, struct invitation *v, const char **why)
{
    struct id id;
    char machine[40] = {0};
    ncclResult_t r;
    memcpy(&id, unique, sizeof id);
    *v = (struct invitation){-1, -1};
    this_machine(machine);
    if (memcmp(id.magic, MAGIC, sizeof MAGIC) != 0) {
        *why = "the id does not come from Heddle's ncclGetUniqueId";
        return ncclInvalidArgument;
    }
    if (strncmp(id.machine, machine, sizeof id.machine) != 0) {
        *why = "the id was made on another machine: Heddle's NCCL connects processes of one";
        return ncclInvalidUsage;
    }
    if (!join_here(&id, n_ranks, rank, v, &r))
        r = ask(&id, n_ranks, rank, v);
    *why = r ? why_not(r) : NULL;
    if (r && v->connection >= 0)
        close(v->connection);
    return r;
}

/* The thread, and the ids, belong to the parent. */
void meeting_after_fork(void)
{
    pthread_mutex_init(&meetings.lock, NULL);
    for (struct meeting *m = meetings.first; m; m = m->next) {
        if (m->listener >= 0)
            close(m->listener);
        if (m->file >= 0)
            close(m->file);
        for (nfds_t i = 1; i < m->n_guests; i++)
            close(m->guests[i].fd);
    }
    meetings.first = NULL;
}
