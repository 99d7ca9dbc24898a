/* See process.h. The other side is main.c. */
#include "jit/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void process_init(struct jit_process *p, bool keep_stderr)
{
    *p = (struct jit_process){.fd = -1, .keep_stderr = keep_stderr};
    pthread_mutex_init(&p->lock, NULL);
}

/* ---- the descriptor ---- */

static bool is_ours(const struct jit_process *p)
{
    struct stat s;
    return p->fd >= 0 && fstat(p->fd, &s) == 0 && s.st_dev == p->device && s.st_ino == p->inode;
}

/* With the lock held. */
static void drop(struct jit_process *p)
{
    if (is_ours(p))
        close(p->fd);
    p->fd = -1;
}

/* Out of the way of programs that count on low numbers, or close them: the same file under a high one. */
static int move_high(int fd)
{
    struct rlimit limit;
    int least = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 256
                    ? (limit.rlim_cur < 4096 ? (int)limit.rlim_cur : 4096) - 64
                    : 0;
    int high = least ? fcntl(fd, F_DUPFD_CLOEXEC, least) : -1;
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* ---- starting ---- */

enum { STACK_BYTES = 64 << 10, ABOVE_STANDARD = 10 };

/* What the two processes between this one and the compiler need. They share our memory while this thread waits, as in
 * vfork(): nothing is copied, no handler of pthread_atfork runs. */
struct birth {
    const char *program;
    char **argv, **envp;
    int socket, pidfd;
    bool keep_stderr;
    char *stack; /* two */
    int error;
};

/* Runs on a stack that nobody leaves by a return: what AddressSanitizer notes of its frames would be held against whoever has that
 * memory next. */
#define ON_LENT_STACK __attribute__((no_sanitize_address))

ON_LENT_STACK static void close_from(unsigned first)
{
    struct rlimit limit;
    if (syscall(SYS_close_range, first, ~0u, 0) == 0)
        return;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        for (unsigned fd = first; fd < limit.rlim_cur; fd++)
            close((int)fd);
}

/* What is open in the compiler: JIT_SOCKET, JIT_PIDFD, and, where something is dumped, stderr. */
ON_LENT_STACK static void arrange_files(struct birth *b)
{
    int socket = fcntl(b->socket, F_DUPFD, ABOVE_STANDARD), pidfd = fcntl(b->pidfd, F_DUPFD, ABOVE_STANDARD);
    int null = open("/dev/null", O_RDWR);
    int far = fcntl(null, F_DUPFD, ABOVE_STANDARD);
    for (int fd = 0; fd < (b->keep_stderr ? 2 : 3); fd++)
        dup2(far, fd);
    dup2(socket, JIT_SOCKET);
    if (pidfd < 0 || dup2(pidfd, JIT_PIDFD) < 0)
        close(JIT_PIDFD);
    close_from(JIT_PIDFD + 1);
}

ON_LENT_STACK static int grandchild(void *data)
{
    struct birth *b = data;
    setsid();
    arrange_files(b);
    if (chdir("/") == 0)
        execve(b->program, b->argv, b->envp);
    b->error = errno;
    _exit(127);
}

/* Ends at once, so that the compiler is no descendant of ours that we, or the program, would have to wait for. */
ON_LENT_STACK static int child(void *data)
{
    struct birth *b = data;
    if (clone(grandchild, b->stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, b) < 0)
        b->error = errno;
    _exit(0);
}

/* What the loader of the compiler would be led astray by stays behind: LD_PRELOAD, LD_LIBRARY_PATH and their like. */
static char **environment(void)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n])
        n++;
    char **e = calloc(n + 1, sizeof *e);
    for (size_t i = 0; e && i < n && environ[i]; i++)
        if (strncmp(environ[i], "LD_", 3) != 0)
            e[kept++] = environ[i];
    return e;
}

/* No signal of the child's end (clone's last flags name none), and wait() without __WCLONE does not find it. (qemu-user
 * knows children with SIGCHLD only.) */
static void give_birth(struct birth *b)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone(child, b->stack + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, b);
    if (pid < 0 && errno == EINVAL)
        pid = clone(child, b->stack + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, b);
    if (pid < 0)
        b->error = errno;
    while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int spawn(const char *program, int socket, bool keep_stderr)
{
    char *argv[] = {(char *)program, NULL};
    struct birth b = {.program = program, .argv = argv, .socket = socket, .keep_stderr = keep_stderr};
    b.envp = environment();
    b.stack = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    b.pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (!b.envp || b.stack == MAP_FAILED)
        b.error = ENOMEM;
    else
        give_birth(&b);
    if (b.pidfd >= 0)
        close(b.pidfd);
    if (b.stack != MAP_FAILED)
        munmap(b.stack, 2 * STACK_BYTES);
    free(b.envp);
    return b.error;
}

static bool refuse(struct jit_process *p, const char *program, const char *why)
{
    p->refused = true;
    snprintf(p->why, sizeof p->why, "%.150s %.100s", program, why);
    return false;
}

/* Keeps the connection, unless the process is to end. */
static bool keep(struct jit_process *p, int fd)
{
    struct stat s;
    pthread_mutex_lock(&p->lock);
    bool good = !p->ended && fstat(fd, &s) == 0;
    if (good) {
        p->fd = fd;
        p->device = s.st_dev;
        p->inode = s.st_ino;
    } else {
        close(fd);
    }
    pthread_mutex_unlock(&p->lock);
    return good;
}

static bool start(struct jit_process *p, const char *program)
{
    int ends[2];
    struct wire_hello hello, expected = wire_hello();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return refuse(p, program, strerror(errno));
    ends[0] = move_high(ends[0]);
    int error = spawn(program, ends[1], p->keep_stderr);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        char text[128];
        snprintf(text, sizeof text, "cannot be started: %s", strerror(error));
        return refuse(p, program, text);
    }
    if (!keep(p, ends[0]))
        return false;
    bool came = wire_receive(ends[0], &hello, sizeof hello);
    if (came && memcmp(&hello, &expected, sizeof hello) == 0)
        return true;
    pthread_mutex_lock(&p->lock);
    drop(p);
    pthread_mutex_unlock(&p->lock);
    return p->ended ? false : refuse(p, program, came ? "is of another version" : "does not start");
}

/* ---- asking ---- */

/* The connection, if there is one that is still ours. */
static int connection(struct jit_process *p)
{
    pthread_mutex_lock(&p->lock);
    if (!is_ours(p))
        p->fd = -1;
    int fd = p->ended ? -1 : p->fd;
    pthread_mutex_unlock(&p->lock);
    return fd;
}

static bool try(struct jit_process *p, int fd, const struct wire_ask *ask, const uint8_t *request,
                struct jit_result *result)
{
    if (wire_send(fd, ask, sizeof *ask) && wire_send(fd, request, ask->bytes) && wire_receive_result(fd, result))
        return true;
    jit_release(result);
    pthread_mutex_lock(&p->lock);
    drop(p);
    pthread_mutex_unlock(&p->lock);
    return false;
}

bool process_ask(struct jit_process *p, const char *program, const struct wire_ask *ask, const uint8_t *request,
                 struct jit_result *result)
{
    int fd = connection(p);
    if (fd >= 0 && try(p, fd, ask, request, result)) /* it may have ended, having had nothing to do */
        return true;
    if (p->refused || p->ended || !start(p, program))
        return false;
    fd = connection(p);
    if (fd >= 0 && try(p, fd, ask, request, result))
        return true;
    snprintf(p->why, sizeof p->why, "the compiler has ended while it worked on it");
    return false;
}

void process_end(struct jit_process *p)
{
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    if (is_ours(p))
        shutdown(p->fd, SHUT_RDWR); /* wakes who waits for an answer */
    pthread_mutex_unlock(&p->lock);
}

void process_close(struct jit_process *p)
{
    drop(p);
    pthread_mutex_destroy(&p->lock);
}

void process_leave_to_parent(struct jit_process *p)
{
    pthread_mutex_init(&p->lock, NULL); /* whoever held it is not here */
    drop(p);
}
