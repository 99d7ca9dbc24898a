/* See supervise.h.
 *
 * The program stays in the terminal's foreground process group, so Ctrl-C reaches it directly;
 * other signals to this process are passed on to it. PR_SET_CHILD_SUBREAPER makes orphaned
 * grandchildren this process's children, so that all of them can be found.
 */
#include "cli/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cli/program.h"

/* Grace periods, in seconds: for a program to finish after its kernels were stopped, and after it
   was asked to end. */
static const double grace_seconds = 5, last_seconds = 2;

static const double tick_seconds = 0.25;

/* Between supervise_begin_series() and supervise_end_series(): the signals
 * that were blocked before. */
static bool in_series;
static sigset_t before_series;

static bool asks_to_end(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGQUIT || signal == SIGHUP;
}

static sigset_t passed_on(void)
{
    static const int signals[] = {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaddset(&set, signals[i]);
    return set;
}

/* Runs in the child. Sends the error to the parent if the program cannot start, since the parent
 * knows what to print. */
static void become(const struct supervision *v, pid_t parent, int tell, const sigset_t *before)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, before, NULL);
    signal(SIGXFSZ, SIG_DFL); /* main() ignores SIGXFSZ */
    if (v->in_child)
        v->in_child(v->data);
    if (getppid() == parent)
        execv(v->file, v->words);
    int error = errno;
    while (write(tell, &error, sizeof error) < 0 && errno == EINTR)
        ;
    _exit(PROGRAM_CANNOT_RUN);
}

/* Returns the exit status if the program could not be started. */
static int start(struct session *s, const struct supervision *v, const sigset_t *before, pid_t *pid)
{
    pid_t self = getpid();
    int ends[2], error = 0;
    if (pipe2(ends, O_CLOEXEC) != 0 || (*pid = fork()) < 0)
        return cli_failure(s, "cannot start a process: %s", strerror(errno));
    if (*pid == 0)
        become(v, self, ends[1], before);
    close(ends[1]);
    /* Nothing arrives if the program has started. */
    ssize_t n = read(ends[0], &error, sizeof error);
    close(ends[0]);
    if (n <= 0)
        return 0;
    waitpid(*pid, NULL, 0);
    usage_error(s, "cannot run `%s`: %s", v->file, strerror(error));
    return PROGRAM_CANNOT_RUN;
}

/* Waits until the program ends or a time has come, and reaps other children meanwhile. */
static bool wait_until(const struct supervision *v, pid_t pid, double end, struct ending *e)
{
    sigset_t set = passed_on();
    for (;;) {
        pid_t gone;
        int how;
        while ((gone = waitpid(-1, &how, WNOHANG)) > 0)
            if (gone == pid) {
                e->status = how;
                return true;
            }
        double left = end - seconds_now();
        if (left <= 0)
            return false;
        left = v->tick && left > tick_seconds ? tick_seconds : left < 1e6 ? left : 1e6;
        struct timespec most = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
        siginfo_t info;
        int signal = sigtimedwait(&set, &info, &most);
        /* Ctrl-C from the terminal has reached the program itself */
        if (signal > 0 && signal != SIGCHLD && info.si_code <= 0)
            kill(pid, signal);
        if (asks_to_end(signal) && !e->asked && v->asked)
            v->asked(v->data);
        e->asked |= asks_to_end(signal);
        if (v->tick)
            v->tick(v->data);
    }
}

/* Kills this process's children and grandchildren. */
static void kill_children(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (int round = 0; round < 100; round++) {
        FILE *f = fopen(path, "r");
        int child;
        while (f && fscanf(f, "%d", &child) == 1)
            kill(child, SIGKILL);
        if (f)
            fclose(f);
        double end = seconds_now() + 0.1;
        pid_t gone;
        while ((gone = waitpid(-1, NULL, WNOHANG)) >= 0 && seconds_now() < end)
            if (gone == 0)
                nanosleep(&(struct timespec){0, 1000000}, NULL);
        if (gone < 0)
            return;
    }
}

int ending_signal(const struct ending *e)
{
    return !e->over_time && WIFSIGNALED(e->status) ? WTERMSIG(e->status) : 0;
}

int end_as(int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    sigset_t all;
    sigfillset(&all);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(WTERMSIG(status), SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

/* Sets the time limit for kernels of the program and its children by this process's clock, so that
 * none of them ends before the limit here. */
static bool set_clock(double began, double seconds)
{
    char from[32], limit[32];
    snprintf(from, sizeof from, "%.17g", began);
    snprintf(limit, sizeof limit, "%.6f", seconds);
    return setenv("HEDDLE_TIMEOUT", limit, 1) == 0 && setenv("HEDDLE_TIMEOUT_FROM", from, 1) == 0;
}

/* Ends the program. Its exit status then is not used. */
static void end_it(struct session *s, const struct supervision *v, pid_t pid, double end, bool has_ended,
                   struct ending *e)
{
    struct ending late = *e;
    if (has_ended || wait_until(v, pid, end + grace_seconds, &late)) {
        cli_failure(s, "the time limit of %g s ran out", v->seconds);
    } else {
        cli_failure(s, "the time limit of %g s ran out and the program did not end: it is killed", v->seconds);
        kill(pid, SIGTERM);
        wait_until(v, pid, end + grace_seconds + last_seconds, &late);
    }
    e->asked = late.asked;
    kill_children();
}

int supervise(struct session *s, const struct supervision *v, struct ending *e)
{
    sigset_t set = passed_on(), before;
    double began = seconds_now(), end = v->seconds > 0 ? began + v->seconds : INFINITY;
    *e = (struct ending){0};
    if (v->seconds > 0 && !set_clock(began, v->seconds))
        return cli_failure(s, "out of memory");
    sigprocmask(SIG_BLOCK, &set, &before);
    before = in_series ? before_series : before;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t pid = 0;
    int status = start(s, v, &before, &pid);
    bool has_ended = status || wait_until(v, pid, end, e);
    /* Other processes may have seen the limit first. */
    e->over_time = !status && seconds_now() >= end;
    if (e->over_time)
        end_it(s, v, pid, end, has_ended, e);
    bool asked = supervise_is_asked(); /* a signal that is still pending was for this process */
    if (asked && !e->asked && v->asked)
        v->asked(v->data);
    e->asked |= asked;
    if (!in_series)
        sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

void supervise_begin_series(void)
{
    sigset_t set = passed_on();
    sigprocmask(SIG_BLOCK, &set, &before_series);
    in_series = true;
}

void supervise_end_series(void)
{
    in_series = false;
    sigprocmask(SIG_SETMASK, &before_series, NULL);
}

bool supervise_is_asked(void)
{
    sigset_t set = passed_on();
    bool asked = false;
    for (int signal; (signal = sigtimedwait(&set, NULL, &(struct timespec){0})) > 0;)
        asked |= asks_to_end(signal);
    return asked;
}
