/* See supervise.h.
 *
 * The program keeps its terminal and its process group, so a Ctrl-C reaches it as ever; signals that somebody sends to this process
 * are passed on to it. Children that outlive it become this process's (PR_SET_CHILD_SUBREAPER), so that all of them can be found.
 */
#include "cli/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* For a program whose kernels have ended to wind up; and for one that has been asked to end. */
static const double grace_seconds = 5, last_seconds = 2;

enum { CANNOT_RUN = 126 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

static pid_t start(struct session *s, const char *file, char *const *words, const sigset_t *before)
{
    pid_t self = getpid(), pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, before, NULL);
    if (getppid() == self)
        execv(file, words);
    usage_error(s, "cannot run `%s`: %s", file, strerror(errno));
    _exit(CANNOT_RUN);
}

/* Waits for the program's end until a moment, reaping whatever else ends. */
static bool wait_until(pid_t pid, double end, int *status)
{
    sigset_t set = passed_on();
    for (;;) {
        pid_t gone;
        int how;
        while ((gone = waitpid(-1, &how, WNOHANG)) > 0)
            if (gone == pid) {
                *status = how;
                return true;
            }
        double left = end - now();
        if (left <= 0)
            return false;
        struct timespec most = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
        siginfo_t info;
        int signal = sigtimedwait(&set, &info, &most);
        if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) /* not from the terminal, which it has itself */
            kill(pid, signal);
    }
}

/* Those of this process, with whatever they leave behind. */
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
        double end = now() + 0.1;
        pid_t gone;
        while ((gone = waitpid(-1, NULL, WNOHANG)) >= 0 && now() < end)
            if (gone == 0)
                nanosleep(&(struct timespec){0, 1000000}, NULL);
        if (gone < 0)
            return;
    }
}

static int as_it_ended(int status)
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

int supervise(struct session *s, const char *file, char *const *words, double seconds)
{
    sigset_t set = passed_on(), before;
    double end = now() + seconds;
    int status;
    sigprocmask(SIG_BLOCK, &set, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t pid = start(s, file, words, &before);
    if (pid < 0)
        return failure(s, "cannot start a process: %s", strerror(errno));
    if (wait_until(pid, end, &status))
        return as_it_ended(status);
    bool ended = wait_until(pid, end + grace_seconds, &status);
    if (ended) {
        failure(s, "the time limit of %g s is over", seconds);
    } else {
        failure(s, "the time limit of %g s is over, and the program goes on: it is ended", seconds);
        kill(pid, SIGTERM);
        wait_until(pid, end + grace_seconds + last_seconds, &status);
    }
    kill_children();
    return TIME_IS_OVER;
}
