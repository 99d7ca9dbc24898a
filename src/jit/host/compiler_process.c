/* See compiler_process.h. main.c is the compiler's side. */
#include "jit/host/compiler_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/channel.h"

/* ---- the program ---- */

static bool is_there(char program[PROGRAM_BYTES], const char *path)
{
    if (access(path, X_OK) != 0)
        return false;
    snprintf(program, PROGRAM_BYTES, "%s", path);
    return true;
}

void process_find_program(char program[PROGRAM_BYTES])
{
    static const char *const places[] = {"", "../", "../" HEDDLE_LIBEXEC "/", "../../" HEDDLE_LIBEXEC "/",
                                         "../../../" HEDDLE_LIBEXEC "/"};
    const char *set = secure_getenv("HEDDLE_JIT");
    char path[PROGRAM_BYTES], real[PATH_MAX], resolved[PATH_MAX];
    Dl_info self;
    if (set && *set) {
        is_there(program, set);
        return;
    }
    ssize_t n = readlink("/proc/self/exe", real, sizeof real - 1);
    real[n > 0 ? n : 0] = 0;
    bool known =
        dladdr((void *)(uintptr_t)process_find_program, &self) && self.dli_fname && realpath(self.dli_fname, resolved);
    const char *starts[2] = {known ? resolved : "", real};
    if (getauxval(AT_SECURE) && (!known || strcmp(resolved, real) == 0))
        return;
    for (int from = 0; from < (getauxval(AT_SECURE) ? 1 : 2); from++) {
        const char *slash = strrchr(starts[from], '/');
        for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
            snprintf(path, sizeof path, "%.*s%sheddle-jit", (int)(slash + 1 - starts[from]), starts[from], places[i]);
            if (is_there(program, path))
                return;
        }
    }
}

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

/* Call with the lock held. */
static void drop(struct jit_process *p)
{
    if (is_ours(p))
        close(p->fd);
    p->fd = -1;
}

/* Moves a file to a high number, away from programs that rely on low ones, or close them. */
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

/* Data of the two processes between this one and the compiler. They share our memory while this
 * thread waits, as with vfork(): nothing is copied, and no pthread_atfork handler runs. */
struct birth {
    const char *program;
    char **argv, **envp;
    int socket, pidfd;
    bool keep_stderr;
    char *stack; /* two stacks */
    pid_t pid;   /* the compiler's */
    int error;
};

/* Runs on a stack that is never left by a return: AddressSanitizer's notes about its frames would
 * be wrong for the next user of that memory. */
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

/* Sets up the compiler's descriptors: JIT_SOCKET, JIT_PIDFD, and stderr if something is dumped. */
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

/* Exits at once, so that the compiler is not our descendant, which we or the program would have to
 * wait for. */
ON_LENT_STACK static int child(void *data)
{
    struct birth *b = data;
    b->pid = clone(grandchild, b->stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, b);
    if (b->pid < 0)
        b->error = errno;
    _exit(0);
}

/* Removes variables that would mislead the compiler's loader, such as LD_PRELOAD and
 * LD_LIBRARY_PATH. */
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

/* The child's end raises no signal (clone's flags name none), and wait() without __WCLONE does not
 * find it. (qemu-user supports only children with SIGCHLD.) */
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

/* Any input on the connection, above all its end, lets a stopped compiler continue, and end. */
static void wake_by(int socket, pid_t compiler)
{
    fcntl(socket, F_SETOWN, compiler);
    fcntl(socket, F_SETSIG, SIGCONT);
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_ASYNC);
}

static int spawn(const char *program, int socket, bool keep_stderr, pid_t *pid)
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
    *pid = b.error ? 0 : b.pid;
    if (!b.error)
        wake_by(socket, b.pid);
    if (b.pidfd >= 0)
        close(b.pidfd);
    if (b.stack != MAP_FAILED)
        munmap(b.stack, 2 * STACK_BYTES);
    free(b.envp);
    return b.error;
}

/* ---- patience ---- */

/* A compiler that makes no progress, because it was stopped or hangs, is waited for at most
 * PATIENCE_SECONDS: so long it may be without processor time, unless it is only waiting for a
 * processor. One that has used more processor time than a request may does not end by itself. */
enum { TICK_MS = 1000, PATIENCE_SECONDS = 10, START_SECONDS = 30, SPARE_SECONDS = 10 };

struct life {
    unsigned long long started, worked; /* in clock ticks: start time since boot; processor time */
    bool is_ready;                      /* running, or waiting for a processor */
};

/* Returns false if there is no such process, or no /proc (proc(5), stat:
 * fields 3, 14, 15 and 22). */
static bool look_at(pid_t pid, struct life *l)
{
    char path[32], text[1024];
    unsigned long long user, system;
    char state;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = pid > 0 ? fopen(path, "re") : NULL;
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    const char *behind_name = strrchr(text, ')');
    if (!behind_name ||
        sscanf(behind_name + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %*s %*s %*s %*s %*s %*s %llu",
               &state, &user, &system, &l->started) != 4)
        return false;
    l->is_ready = state == 'R';
    l->worked = user + system;
    return true;
}

/* Ends the compiler, unless its number belongs to another process by now. */
static void end_compiler(const struct jit_process *p)
{
    struct life l;
    if (look_at(p->pid, &l) && l.started == p->started)
        kill(p->pid, SIGKILL);
}

/* Waits until something can be read; false if that cannot be expected. `seconds`: of processor
 * time. */
static bool await(const struct jit_process *p, int fd, uint32_t seconds)
{
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    struct life before = {0}, now = {0};
    unsigned ticks = 0, idle = 0, ticks_per_second = (unsigned)sysconf(_SC_CLK_TCK);
    bool known = look_at(p->pid, &before);
    const unsigned long long most = before.worked + (unsigned long long)(seconds + SPARE_SECONDS) * ticks_per_second;
    for (;;) {
        int n = poll(&answer, 1, TICK_MS);
        if (n > 0 || (n < 0 && errno != EINTR) || p->ended)
            return true;
        known = known && look_at(p->pid, &now);
        idle = known && (now.is_ready || now.worked > before.worked) ? 0 : idle + (n == 0);
        ticks += n == 0;
        before = now;
        if ((known ? idle : ticks / 10) > PATIENCE_SECONDS || now.worked > most)
            return false;
    }
}

/* Sets a timeout within a message. */
static void limit_transfers(int fd)
{
    struct timeval most = {.tv_sec = PATIENCE_SECONDS};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
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
    limit_transfers(ends[0]);
    int error = spawn(program, ends[1], p->keep_stderr, &p->pid);
    struct life life = {0};
    look_at(p->pid, &life);
    p->started = life.started;
    close(ends[1]);
    if (error) {
        close(ends[0]);
        char text[128];
        snprintf(text, sizeof text, "cannot be started: %s", strerror(error));
        return refuse(p, program, text);
    }
    if (!keep(p, ends[0]))
        return false;
    bool answers = await(p, ends[0], START_SECONDS), came = answers && channel_receive(ends[0], &hello, sizeof hello);
    if (came && memcmp(&hello, &expected, sizeof hello) == 0)
        return true;
    pthread_mutex_lock(&p->lock);
    drop(p);
    pthread_mutex_unlock(&p->lock);
    if (!answers)
        end_compiler(p);
    return p->ended   ? false
           : !answers ? refuse(p, program, "does not answer, and was ended")
                      : refuse(p, program, came ? "is of another version" : "does not start");
}

/* ---- asking ---- */

/* The connection, if it is still ours. */
static int connection(struct jit_process *p)
{
    pthread_mutex_lock(&p->lock);
    if (!is_ours(p))
        p->fd = -1;
    int fd = p->ended ? -1 : p->fd;
    pthread_mutex_unlock(&p->lock);
    return fd;
}

enum asked { ANSWERED, GONE, STUCK };

static enum asked try(struct jit_process *p, int fd, const struct wire_ask *ask, const uint8_t *request,
                      struct jit_result *result)
{
    bool sent = channel_send(fd, ask, sizeof *ask) && channel_send(fd, request, ask->bytes);
    bool answers = sent && await(p, fd, ask->seconds);
    if (answers && wire_receive_result(fd, result))
        return ANSWERED;
    jit_release(result);
    if (sent && !answers)
        end_compiler(p);
    pthread_mutex_lock(&p->lock);
    drop(p);
    pthread_mutex_unlock(&p->lock);
    return sent && !answers ? STUCK : GONE;
}

bool process_ask(struct jit_process *p, const char *program, const struct wire_ask *ask, const uint8_t *request,
                 struct jit_result *result)
{
    *result = (struct jit_result){0};
    int fd = connection(p);
    enum asked how = fd >= 0 ? try(p, fd, ask, request, result) : GONE;
    if (how == GONE) { /* it may have ended because it was idle */
        if (p->refused || p->ended || !start(p, program))
            return false;
        fd = connection(p);
        how = fd >= 0 ? try(p, fd, ask, request, result) : GONE;
    }
    if (how != ANSWERED)
        snprintf(p->why, sizeof p->why, "the compiler %s",
                 how == STUCK ? "has made no progress for too long, and was ended" : "ended while compiling it");
    return how == ANSWERED;
}

void process_end(struct jit_process *p)
{
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    if (is_ours(p))
        shutdown(p->fd, SHUT_RDWR); /* wakes a thread that waits for an answer */
    pthread_mutex_unlock(&p->lock);
}

void process_close(struct jit_process *p)
{
    if (is_ours(p))
        end_compiler(p);
    drop(p);
    pthread_mutex_destroy(&p->lock);
}

void process_leave_to_parent(struct jit_process *p)
{
    pthread_mutex_init(&p->lock, NULL); /* the thread that held it does not exist here */
    drop(p);
}
