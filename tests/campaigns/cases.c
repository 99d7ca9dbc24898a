/* See cases.h. */
#include "cases.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_BYTES = 16 << 20 };

static const char *const verdicts[] = {"ok",      "refused",      "print", "canary", "bounds",
                                       "differs", "unrepeatable", "crash", "hang"};

struct told *told;
bool loud;
const char *crime = "";
const char *(*case_describe)(const void *address);
static unsigned seconds_a_case = 15;

/* Sanitizers have a handler of their own, which says more. */
#if defined __SANITIZE_ADDRESS__
#define OWN_HANDLER 0
#elif defined __has_feature
#define OWN_HANDLER !__has_feature(address_sanitizer)
#else
#define OWN_HANDLER 1
#endif

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    snprintf(told->what, sizeof told->what, "at %p, %s", info->si_addr,
             case_describe ? case_describe(info->si_addr) : "");
    signal(number, SIG_DFL);
    raise(number);
}

static void tell_of_signals(void)
{
    static uint8_t stack[1 << 16];
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (unsigned i = 0; i < 4; i++)
        sigaction((int[]){SIGSEGV, SIGBUS, SIGILL, SIGFPE}[i], &action, NULL);
}

static void limit_time(void)
{
    struct rlimit cpu = {seconds_a_case, seconds_a_case + 5}, core = {0, 0};
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
}

/* How many processes want each processor, at most 20. */
static unsigned load_of_a_processor(void)
{
    double load = 1, processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    bool is_busy = getloadavg(&load, 1) == 1 && load > processors;
    return !is_busy ? 1 : load < 20 * processors ? (unsigned)(load / processors + 1) : 20;
}

/* Its status; one that takes ten times as long as it may use the processor, and as much longer as
 * others use it, is killed: it waits for something, and may have blocked whatever else would end
 * it. */
static int wait_for(pid_t pid, bool *waits)
{
    int status, fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd end = {.fd = fd, .events = POLLIN};
    *waits = fd >= 0;
    for (unsigned i = 0; *waits && i < load_of_a_processor(); i++)
        *waits = poll(&end, 1, (int)(10000 * seconds_a_case)) == 0;
    if (*waits)
        kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    close(fd);
    return status;
}

static void judge_end(int status, bool waits)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    char what[1024];
    snprintf(what, sizeof what, "%.1000s", told->what);
    if (number == SIGXCPU || waits) {
        told->verdict = V_HANG;
        snprintf(told->what, sizeof told->what, "no end within its time%s", waits ? ", waiting" : "");
    } else if (status != 0) {
        told->verdict = V_CRASH;
        snprintf(told->what, sizeof told->what, "%s %d %s", number ? "signal" : "exit status",
                 number ? number : WEXITSTATUS(status), what);
    }
}

void do_in_child(void (*function)(const void *), const void *argument)
{
    bool waits;
    *told = (struct told){0};
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(2);
    }
    if (pid == 0) {
        limit_time();
        if (OWN_HANDLER)
            tell_of_signals();
        function(argument);
        _exit(0);
    }
    int status = wait_for(pid, &waits);
    judge_end(status, waits);
}

void case_fails(enum verdict verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    told->verdict = verdict;
    vsnprintf(told->what, sizeof told->what, format, args);
    va_end(args);
    _exit(0);
}

/* True where nothing is found. */
static bool say(const char *number, const char *bytes, size_t n)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do_case(bytes, n);
    clock_gettime(CLOCK_MONOTONIC, &to);
    bool found = told->verdict >= V_PRINT;
    printf("%s %s", number, verdicts[told->verdict]);
    for (unsigned i = 0; case_counts[i]; i++)
        if (told->counts[i])
            printf(" %s=%u", case_counts[i], told->counts[i]);
    for (char *p = told->what; *p; p++)
        *p = *p == '\n' ? ' ' : *p;
    printf(" %.0fms %s%s%s\n", (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) * 1e-6,
           found ? told->where : "", found ? ": " : "", told->what);
    fflush(stdout);
    return !found;
}

static bool do_file(const char *path, char *bytes)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(2);
    }
    size_t n = fread(bytes, 1, MAX_BYTES, f);
    bytes[n] = 0;
    fclose(f);
    return say(path, bytes, n);
}

int main(int argc, char **argv)
{
    char number[64], *bytes = malloc(MAX_BYTES + 1);
    size_t n;
    bool good = true;
    int i = 1;
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED || !bytes)
        return 2;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2)
        if (strcmp(argv[i], "--crime") == 0)
            crime = argv[i + 1];
        else
            seconds_a_case = (unsigned)strtoul(argv[i + 1], NULL, 10);
    for (loud = i < argc; i < argc; i++)
        good &= do_file(argv[i], bytes);
    while (!loud && scanf("CASE %63s %zu%*1[\n]", number, &n) == 2) {
        if (n > MAX_BYTES || fread(bytes, 1, n, stdin) != n)
            return 2;
        bytes[n] = 0;
        say(number, bytes, n);
    }
    free(bytes);
    return loud && !good;
}
