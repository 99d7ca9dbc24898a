/* Functions that programs linked with glibc 2.34 or newer need, and that glibc 2.27 lacks: scripts/older_libc.py. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- files (2.33): on x86-64 the kernel's struct stat is the C library's ---- */

int fstatat(int folder, const char *restrict path, struct stat *restrict to, int flags)
{
    return (int)syscall(SYS_newfstatat, folder, path, to, flags);
}

int fstatat64(int folder, const char *restrict path, struct stat64 *restrict to, int flags)
{
    return fstatat(folder, path, (struct stat *)to, flags);
}

int stat(const char *restrict path, struct stat *restrict to)
{
    return fstatat(AT_FDCWD, path, to, 0);
}

int stat64(const char *restrict path, struct stat64 *restrict to)
{
    return fstatat64(AT_FDCWD, path, to, 0);
}

int lstat(const char *restrict path, struct stat *restrict to)
{
    return fstatat(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW);
}

int lstat64(const char *restrict path, struct stat64 *restrict to)
{
    return fstatat64(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *to)
{
    return (int)syscall(SYS_fstat, fd, to);
}

int fstat64(int fd, struct stat64 *to)
{
    return fstat(fd, (struct stat *)to);
}

int fcntl64(int fd, int command, ...) /* 2.28 */
{
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    return fcntl(fd, command, argument);
}

/* ---- others ---- */

char __libc_single_threaded; /* 2.32: not known to be, so that libstdc++ takes atomic operations */

struct mallinfo2 mallinfo2(void) /* 2.33 */
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    struct mallinfo m = mallinfo();
#pragma GCC diagnostic pop
    return (struct mallinfo2){.arena = (unsigned)m.arena,
                              .ordblks = (unsigned)m.ordblks,
                              .smblks = (unsigned)m.smblks,
                              .hblks = (unsigned)m.hblks,
                              .hblkhd = (unsigned)m.hblkhd,
                              .usmblks = (unsigned)m.usmblks,
                              .fsmblks = (unsigned)m.fsmblks,
                              .uordblks = (unsigned)m.uordblks,
                              .fordblks = (unsigned)m.fordblks,
                              .keepcost = (unsigned)m.keepcost};
}

unsigned arc4random(void) /* 2.36 */
{
    unsigned number;
    while (getrandom(&number, sizeof number, 0) != sizeof number)
        if (errno != EINTR)
            abort();
    return number;
}

const char *sigabbrev_np(int signal) /* 2.32 */
{
    static const char *const names[] = {
        [SIGHUP] = "HUP",   [SIGINT] = "INT",       [SIGQUIT] = "QUIT", [SIGILL] = "ILL",   [SIGTRAP] = "TRAP",
        [SIGABRT] = "ABRT", [SIGBUS] = "BUS",       [SIGFPE] = "FPE",   [SIGKILL] = "KILL", [SIGUSR1] = "USR1",
        [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",     [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
        [SIGCHLD] = "CHLD", [SIGSTKFLT] = "STKFLT", [SIGCONT] = "CONT", [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
        [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",     [SIGURG] = "URG",   [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",
        [SIGPROF] = "PROF", [SIGVTALRM] = "VTALRM", [SIGIO] = "POLL",   [SIGPWR] = "PWR",   [SIGWINCH] = "WINCH",
        [SIGSYS] = "SYS"};
    return signal > 0 && (size_t)signal < sizeof names / sizeof *names ? names[signal] : NULL;
}

int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until) /* 2.31 */
{
    struct timespec now, end;
    clock_gettime(clock, &now);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += until->tv_sec - now.tv_sec;
    end.tv_nsec += until->tv_nsec - now.tv_nsec;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    } else if (end.tv_nsec < 0) {
        end.tv_sec--;
        end.tv_nsec += 1000000000;
    }
    return pthread_timedjoin_np(thread, result, &end);
}

/* ---- the begin of a program (2.34): what it was linked with no longer calls its constructors, which the C library does now ---- */

static void call_constructors(int argc, char **argv, char **environment)
{
    const struct link_map *program = _r_debug.r_map;
    void (**functions)(int, char **, char **) = NULL;
    size_t size = 0;
    for (const ElfW(Dyn) *d = program->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_INIT)
            ((void (*)(int, char **, char **))(program->l_addr + d->d_un.d_ptr))(argc, argv, environment);
        if (d->d_tag == DT_INIT_ARRAY)
            functions = (void (**)(int, char **, char **))(program->l_addr + d->d_un.d_ptr);
        if (d->d_tag == DT_INIT_ARRAYSZ)
            size = d->d_un.d_val;
    }
    for (size_t i = 0; i < size / sizeof *functions; i++)
        functions[i](argc, argv, environment);
}

typedef int start(int (*)(int, char **, char **), int, char **, void (*)(int, char **, char **), void (*)(void),
                  void (*)(void), void *);

int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(int, char **, char **),
                      void (*finish)(void), void (*finish_linker)(void), void *stack)
{
    start *next = (start *)dlsym(RTLD_NEXT, "__libc_start_main");
    return next(program, argc, argv, init ? init : call_constructors, finish, finish_linker, stack);
}
