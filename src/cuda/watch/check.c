/* See check.h. */
#include "cuda/watch/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/findings.h"
#include "base/monotonic.h"
#include "cuda/process/file.h"
#include "cuda/process/stack.h"
#include "cuda/state/contexts.h"
#include "cuda/state/state.h"
#include "cuda/watch/check_file.h"
#include "cuda/watch/watch.h"

static const double SECONDS_BETWEEN_COUNTS = 0.25, SECONDS_AT_END = 5, TIMES_THE_COST = 20;

static struct {
    bool on, recorded;
    pid_t process;
    struct check_options options;
    pthread_mutex_t lock; /* protects what follows */
    struct launch_choice choice;
    uint64_t replayed; /* launches so far of the kernel whose launch is replayed */
    hd_checker *checkers[MAX_DEVICES];
    hd_machine *machines[MAX_DEVICES]; /* their machines */
    unsigned n_checkers;
    hd_report *others; /* findings of no checker: host mistakes */
    struct check_progress progress;
    _Atomic uint64_t calls;  /* library calls; progress.calls counts those in the file */
    double written_at, cost; /* the time of the last write, and how many seconds it took */
} check = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the file ---- */

/* All findings so far; NULL if there are none. */
static hd_report *all_findings(void)
{
    hd_report *all = NULL;
    for (unsigned i = 0; i < check.n_checkers; i++) {
        hd_report *report = NULL;
        hd_checker_report(check.checkers[i], &report);
        if (report)
            hd_report_add(&all, report);
        hd_report_free(report);
    }
    if (check.others)
        hd_report_add(&all, check.others);
    watch_report(&all);
    return all;
}

/* Counts the blocks of running launches. At the end machines may be gone, with their launches. */
static void count_blocks(void)
{
    struct check_progress *p = &check.progress;
    p->blocks_done = p->blocks = 0;
    for (unsigned i = 0; i < check.n_checkers && json_object_size(p->running) && !p->ended; i++) {
        hd_progress now;
        hd_machine_get_progress(check.machines[i], &now);
        p->blocks_done += now.blocks_done;
        p->blocks += now.blocks;
    }
}

/* Call with the lock held. */
static void write_file(void)
{
    double begun = seconds_now();
    if (!check_file_is_open())
        return;
    check.progress.calls = check.calls;
    count_blocks();
    hd_report *findings = all_findings();
    check_file_write(&check.progress, findings);
    hd_report_free(findings);
    check.written_at = seconds_now();
    check.cost = check.written_at - begun;
}

/* ---- start ---- */

static void write_now(void)
{
    pthread_mutex_lock(&check.lock);
    write_file();
    pthread_mutex_unlock(&check.lock);
}

static void watch_host(const struct check_options *o)
{
    static const enum watch_errors errors[] = {
        [API_ERRORS_NO] = WATCH_ERRORS_NONE,
        [API_ERRORS_UNSEEN] = WATCH_ERRORS_UNSEEN,
        [API_ERRORS_ALL] = WATCH_ERRORS_ALL,
    };
    bool memcheck = o->tools == 0 || o->tools & HD_TOOL_MEMCHECK;
    watch_start(&(struct watch_options){.memory = memcheck,
                                        .leaks = memcheck && o->leak_check,
                                        .unused = o->unused_memory && (!o->tools || o->tools & HD_TOOL_INITCHECK),
                                        .errors = memcheck ? errors[o->api_errors] : WATCH_ERRORS_NONE,
                                        .fresh = write_now});
}

bool check_start(const char *text)
{
    struct check_options *o = &check.options;
    if (!check_options_read(text, o) || !launch_choice_start(&check.choice, &o->launches))
        return false;
    check.process = getpid();
    if (o->process && o->process != check.process)
        return true;
    if (o->folder)
        check_file_open(o->folder);
    check.progress.kernels = json_object();
    check.progress.running = json_object();
    check.on = true;
    write_now();
    watch_host(o);
    return true;
}

const struct check_options *check_options(void)
{
    return check.on ? &check.options : NULL;
}

void check_after_fork(void)
{
    check.on = false;
    watch_stop();
    pthread_mutex_init(&check.lock, NULL);
}

/* ---- launches ---- */

bool check_wants(const char *kernel)
{
    if (!check.on)
        return true;
    pthread_mutex_lock(&check.lock);
    bool wanted = launch_choice_takes(&check.choice, kernel);
    check.progress.unchecked += !wanted;
    pthread_mutex_unlock(&check.lock);
    return wanted;
}

bool check_replays(const char *kernel)
{
    const struct check_options *o = &check.options;
    if (!check.on || !o->replayed || strcmp(kernel, o->replayed) != 0)
        return false;
    pthread_mutex_lock(&check.lock);
    bool is_it = ++check.replayed == o->replayed_number;
    pthread_mutex_unlock(&check.lock);
    return is_it && process_takes(o->folder);
}

/* Call with the lock held. */
static void count_running(const char *kernel, int by)
{
    json_int_t n = json_integer_value(json_object_get(check.progress.running, kernel)) + by;
    if (n > 0)
        json_object_set_new(check.progress.running, kernel, json_integer(n));
    else
        json_object_del(check.progress.running, kernel);
}

/* Called by the launch's thread. */
static void begun(void *data, const char *kernel)
{
    (void)data;
    if (!check.on)
        return;
    pthread_mutex_lock(&check.lock);
    count_running(kernel, 1);
    pthread_mutex_unlock(&check.lock);
}

void check_called(void)
{
    check.calls++;
}

/* Writes interim findings of long launches, and of library calls. */
static void look(void)
{
    pthread_mutex_lock(&check.lock);
    double since = seconds_now() - check.written_at;
    bool has_more = json_object_size(check.progress.running) || check.calls != check.progress.calls;
    if (has_more && since > SECONDS_BETWEEN_COUNTS && since > TIMES_THE_COST * check.cost)
        write_file();
    pthread_mutex_unlock(&check.lock);
}

static void launched(void *data, const char *kernel, bool fresh)
{
    (void)data;
    if (!check.on)
        return;
    pthread_mutex_lock(&check.lock);
    check.progress.launches++;
    count_running(kernel, -1);
    json_object_set_new(check.progress.kernels, kernel, json_true());
    if (fresh || seconds_now() - check.written_at > SECONDS_BETWEEN_COUNTS)
        write_file();
    pthread_mutex_unlock(&check.lock);
}

static const void *host_place(void *data)
{
    (void)data;
    return stack_here();
}

static size_t host_frames(void *data, const void *place, const hd_frame **frames)
{
    struct stack_text text = stack_text(place);
    (void)data;
    *frames = text.frames;
    return text.n;
}

/* Starts io.c if `heddle check` has preloaded it. */
static void watch_io(void)
{
    void (*watch)(void *(*)(const void *), void (*)(const void *, size_t, bool)) = NULL;
    *(void **)&watch = dlsym(RTLD_DEFAULT, "heddle_watch_io");
    if (watch)
        watch(hd_host_view, hd_host_access);
}

/* Records events: the first process into the file, others into files named after it; all machines
 * of a process share one. */
static void record_events(hd_checker *checker)
{
    char path[PATH_MAX];
    if (!check.options.events || check.n_checkers)
        return;
    int own = open(check.options.events, O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool taken = own < 0 && errno == EEXIST;
    snprintf(path, sizeof path, taken ? "%s.%d" : "%s", check.options.events, (int)check.process);
    if (own >= 0)
        close(own);
    check.recorded = hd_checker_record(checker, path) == HD_SUCCESS;
    if (!check.recorded)
        say("cannot write %s: %s: events are not recorded", path, strerror(errno));
}

static void end_record(void)
{
    hd_report *others = NULL;
    if (!check.recorded)
        return;
    if (check.others)
        hd_report_add(&others, check.others);
    watch_report(&others);
    if (hd_checker_record_end(check.checkers[0], program_invocation_short_name, others))
        say("cannot write %s: %s: the file is incomplete", check.options.events, strerror(errno));
    hd_report_free(others);
    check.recorded = false;
}

hd_result check_machine(hd_machine *machine, bool alone)
{
    hd_checker_options o = {.tools = check.options.tools,
                            .on_error = check.options.on_error,
                            .host = alone,
                            .with = check.n_checkers ? check.checkers[0] : NULL,
                            .place = host_place,
                            .frames = host_frames,
                            .undefined_copy = watch_undefined_copy,
                            .begun = begun,
                            .launched = launched,
                            .shadow_bytes = check.options.shadow_bytes};
    if (!check.on)
        return HD_SUCCESS;
    hd_checker *checker;
    hd_result r = hd_checker_create(machine, &o, &checker);
    watch_io();
    pthread_mutex_lock(&check.lock);
    if (!r) {
        record_events(checker);
        check.machines[check.n_checkers] = machine;
        check.checkers[check.n_checkers++] = checker;
    }
    pthread_mutex_unlock(&check.lock);
    if (check_file_is_open())
        process_file_watch(look);
    return r;
}

bool check_found(const hd_report *findings)
{
    if (!check.on)
        return false;
    pthread_mutex_lock(&check.lock);
    hd_report_add(&check.others, findings);
    write_file();
    pthread_mutex_unlock(&check.lock);
    return true;
}

char *heddle_check_findings(void)
{
    if (!check.on)
        return NULL;
    contexts_wait();
    pthread_mutex_lock(&check.lock);
    hd_report *findings = all_findings();
    char *text = strdup(hd_report_json(findings));
    for (unsigned i = 0; i < check.n_checkers; i++)
        api_findings_period(check.checkers[i]);
    pthread_mutex_unlock(&check.lock);
    hd_report_free(findings);
    return text;
}

/* ---- the end ---- */

static void add_unfinished(void)
{
    hd_diagnostic d = {.severity = HD_SEVERITY_WARNING,
                       .code = "unfinished",
                       .text = "the program ended while kernels were running; they were not checked to their end",
                       .help = "wait for them, for example by cudaDeviceSynchronize"};
    hd_report_add_diagnostic(&check.others, &d);
}

/* A program may end without waiting for its launches: these are checked, too, unless they do not
 * end. */
__attribute__((destructor)) static void finish(void)
{
    if (!check.on || check.process != getpid())
        return;
    if (!contexts_finish(SECONDS_AT_END))
        add_unfinished();
    process_file_unwatch();
    watch_end();
    for (unsigned i = 0; i < check.n_checkers; i++)
        hd_checker_end(check.checkers[i]);
    end_record();
    check.progress.ended = true;
    write_now();
}
