/* See broker.h. */
#include "sandbox/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/above_standard.h"

enum { MOST_SERVICES = 8 };

static struct service {
    broker_serve_fn *serve;
    void *data;
    int inside, outside; /* the two ends of its connection */
} services[MOST_SERVICES];
static int n_services;
static pid_t broker; /* 0: none; else it ends when `life` is closed */
static int life;

int broker_add(broker_serve_fn *serve, void *data)
{
    int ends[2];
    if (n_services == MOST_SERVICES)
        errno = EMFILE;
    if (n_services == MOST_SERVICES || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    struct service s = {serve, data, above_standard(ends[0]), above_standard(ends[1])};
    if (s.inside < 0 || s.outside < 0)
        return -1;
    services[n_services++] = s;
    return s.inside;
}

/* ---- the broker itself ---- */

static void *service_main(void *data)
{
    struct service *s = data;
    s->serve(s->outside, s->data);
    close(s->outside);
    return NULL;
}

static void close_ends(bool inside)
{
    for (int i = 0; i < n_services; i++)
        close(inside ? services[i].inside : services[i].outside);
}

/* Most services are never asked for anything: each gets its thread with the first word that comes.
 * `end` is at its end when the process inside is. */
static void watch(int end)
{
    struct pollfd watched[MOST_SERVICES + 1] = {{.fd = end, .events = POLLIN}};
    pthread_t thread;
    for (int i = 0; i < n_services; i++)
        watched[i + 1] = (struct pollfd){.fd = services[i].outside, .events = POLLIN};
    while (!watched[0].revents) {
        if (poll(watched, (nfds_t)n_services + 1, -1) < 0 && errno != EINTR)
            return;
        for (int i = 0; i < n_services; i++) {
            if (!watched[i + 1].revents)
                continue;
            watched[i + 1].fd = -1;
            if (watched[i + 1].revents & POLLHUP || pthread_create(&thread, NULL, service_main, &services[i]) != 0)
                close(services[i].outside);
        }
    }
}

static void broker_main(int end)
{
    sigset_t none;
    setsid();
    prctl(PR_SET_NAME, "heddle-broker");
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    close_ends(true);
    watch(end);
    _exit(0); /* whatever its services are at */
}

bool broker_start(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        broker_main(ends[0]);
    }
    int error = errno;
    close(ends[0]);
    if (pid < 0)
        close(ends[1]);
    close_ends(pid < 0);
    broker = pid > 0 ? pid : 0;
    life = pid > 0 ? above_standard(ends[1]) : -1;
    errno = error;
    return pid > 0;
}

const char *broker_shortage(int error)
{
    switch (error) {
    case EMFILE: return "there are no more file descriptors for this process: raise `ulimit -n`";
    case ENFILE: return "there are no more file descriptors on this system";
    case EAGAIN: return "there are no more processes for this user: raise `ulimit -u`";
    default: return "out of memory";
    }
}

/* A process that ends well leaves no child behind that it has not waited for. */
__attribute__((destructor)) static void end_broker(void)
{
    if (!broker)
        return;
    close(life);
    while (waitpid(broker, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- messages ---- */

/* Room for one descriptor beside a message. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

bool broker_send_fd(int fd, int error, int passed)
{
    union control control = {0};
    struct iovec part = {&error, sizeof error};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (!error && passed >= 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof passed), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(c), &passed, sizeof passed);
    }
    ssize_t sent;
    while ((sent = sendmsg(fd, &m, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent == (ssize_t)sizeof error;
}

int broker_receive_fd(int fd, int *error)
{
    union control control = {0};
    struct iovec part = {error, sizeof *error};
    struct msghdr m = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    int passed = -1;
    ssize_t got;
    while ((got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_WAITALL)) < 0 && errno == EINTR)
        ;
    if (got != (ssize_t)sizeof *error)
        *error = EPIPE;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!*error && c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(&passed, CMSG_DATA(c), sizeof passed);
    errno = *error;
    return passed;
}
