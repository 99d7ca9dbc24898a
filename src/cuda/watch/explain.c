/* See explain.h. */
#include "cuda/watch/explain.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cuda/process/file.h"
#include "cuda/state/contexts.h"
#include "cuda/state/state.h"

/* Kernels by line, and library calls by function, are written again after a second, after an eighth
 * of the process's run time, and after twenty times the time that writing takes, whichever is
 * longest. So neither the file nor the cost grows with every launch. */
static const double LEAST_SECONDS = 1, SHARE_OF_RUN = 1.0 / 8, TIMES_THE_COST = 20, SECONDS_AT_END = 5;

static struct {
    bool on;
    pid_t process;
    struct explain_options options;
    pthread_mutex_t lock; /* protects what follows */
    struct process_file file;
    struct launch_choice choice;
    hd_explainer *explainers[MAX_DEVICES];
    unsigned n_explainers;
    uint64_t uncounted;
    double started;
    double sums_due;          /* when kernels and calls are written next */
    bool kernels_old;         /* launches have ended since the last write */
    char *calls[MAX_DEVICES]; /* as last written, or NULL */
    uint64_t running, ended;  /* running launches; launches that have ended */
    uint64_t running_written; /* the values in the file: running launches, finished blocks */
    char kernel[128];         /* the last launch's, mangled: only letters, digits and _ */
    hd_machine *machines[MAX_DEVICES];
} explain = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the file ---- */

/* Call with the lock held. */
static void write_line(const char *head, const char *text)
{
    process_file_append(&explain.file, head, text, "}\n");
}

/* Writes data of a device. Call with the lock held. */
static void write_of_device(unsigned device, const char *key, const char *text)
{
    char head[64];
    snprintf(head, sizeof head, "{\"device\": %u, \"%s\": ", device, key);
    write_line(head, text);
}

/* Call with the lock held. */
static void write_calls(void)
{
    for (unsigned i = 0; i < explain.n_explainers; i++) {
        char *text = NULL;
        hd_explainer_calls(explain.explainers[i], &text);
        if (text && strcmp(text, explain.calls[i] ? explain.calls[i] : "[]") != 0)
            write_of_device(i, "calls", text);
        free(explain.calls[i]);
        explain.calls[i] = text;
    }
}

/* Call with the lock held. */
static void write_kernels(void)
{
    for (unsigned i = 0; i < explain.n_explainers; i++)
        for (size_t k = 0;; k++) {
            char *text;
            hd_result r = hd_explainer_kernel(explain.explainers[i], k, &text);
            if (!r && !text)
                break;
            write_of_device(i, "kernel", text);
            free(text);
            if (r)
                break;
        }
    explain.kernels_old = false;
}

/* Call with the lock held. */
static void write_sums(void)
{
    double begun = seconds_now();
    if (explain.kernels_old)
        write_kernels();
    write_calls();
    double now = seconds_now();
    explain.sums_due =
        now + fmax(LEAST_SECONDS, fmax(SHARE_OF_RUN * (now - explain.started), TIMES_THE_COST * (now - begun)));
}

/* Call with the lock held. */
static void write_streams(void)
{
    char *text = NULL;
    if (explain.n_explainers && hd_explainer_streams(explain.explainers[0], &text) == HD_SUCCESS)
        write_line("{\"streams\": ", text);
    free(text);
}

/* Called by the launch's thread. */
static void begun(void *data, const char *kernel)
{
    (void)data;
    pthread_mutex_lock(&explain.lock);
    explain.running++;
    size_t n = strspn(kernel, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.");
    snprintf(explain.kernel, sizeof explain.kernel, "%.*s", (int)(n < sizeof explain.kernel ? n : 0), kernel);
    pthread_mutex_unlock(&explain.lock);
}

/* Call with the lock held. */
static void write_running(void)
{
    char text[256];
    uint64_t done = 0, blocks = 0;
    for (unsigned i = 0; i < explain.n_explainers && explain.running; i++) {
        hd_progress now;
        hd_machine_get_progress(explain.machines[i], &now);
        done += now.blocks_done;
        blocks += now.blocks;
    }
    uint64_t state = (explain.running << 40) + done;
    if (state == explain.running_written)
        return;
    snprintf(text, sizeof text, "%llu, \"blocks\": [%llu, %llu], \"ended\": %llu, \"kernel\": \"%s\"",
             (unsigned long long)explain.running, (unsigned long long)done, (unsigned long long)blocks,
             (unsigned long long)explain.ended, explain.kernel);
    write_line("{\"running\": ", text);
    explain.running_written = state;
}

static void look(void)
{
    pthread_mutex_lock(&explain.lock);
    if (explain.on)
        write_running();
    if (explain.on && seconds_now() > explain.sums_due)
        write_sums();
    pthread_mutex_unlock(&explain.lock);
}

static void ended(void *data, const char *key, const char *json)
{
    if (!explain.on)
        return;
    pthread_mutex_lock(&explain.lock);
    explain.running--;
    explain.ended++;
    write_of_device((unsigned)(uintptr_t)data, key, json);
    explain.kernels_old = true;
    if (seconds_now() > explain.sums_due)
        write_sums();
    pthread_mutex_unlock(&explain.lock);
}

static void launched(void *data, const char *json)
{
    ended(data, "launch", json);
}

static void again(void *data, uint64_t n)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)n);
    ended(data, "again", number);
}

/* ---- start ---- */

bool explain_start(const char *text)
{
    struct explain_options *o = &explain.options;
    if (!explain_options_read(text, o) || !launch_choice_start(&explain.choice, &o->launches))
        return false;
    explain.process = getpid();
    explain.started = seconds_now();
    if (o->process && o->process != explain.process)
        return true;
    explain.on = process_file_open(&explain.file, o->folder, "what was counted");
    return true;
}

const struct explain_options *explain_options(void)
{
    return explain.on ? &explain.options : NULL;
}

void explain_after_fork(void)
{
    explain.on = false;
    pthread_mutex_init(&explain.lock, NULL);
}

hd_result explain_machine(hd_machine *machine)
{
    if (!explain.on)
        return HD_SUCCESS;
    pthread_mutex_lock(&explain.lock);
    const hd_explainer_options o = {.device = explain.options.device,
                                    .sample_after = explain.options.sample_after,
                                    .begun = begun,
                                    .launched = launched,
                                    .again = again,
                                    .data = (void *)(uintptr_t)explain.n_explainers,
                                    .with = explain.n_explainers ? explain.explainers[0] : NULL};
    hd_result r = hd_explainer_create(machine, &o, &explain.explainers[explain.n_explainers]);
    explain.machines[explain.n_explainers] = machine;
    explain.n_explainers += !r;
    pthread_mutex_unlock(&explain.lock);
    process_file_watch(look);
    return r;
}

void explain_range(hd_range_event event, uint64_t id, const char *name)
{
    pthread_mutex_lock(&explain.lock);
    if (explain.on && explain.n_explainers)
        hd_explainer_range(explain.explainers[0], event, id, name);
    pthread_mutex_unlock(&explain.lock);
}

bool explain_wants(const char *kernel)
{
    if (!explain.on)
        return true;
    pthread_mutex_lock(&explain.lock);
    bool wanted = launch_choice_takes(&explain.choice, kernel);
    explain.uncounted += !wanted;
    pthread_mutex_unlock(&explain.lock);
    return wanted;
}

/* ---- the end ---- */

/* A program may end without waiting for its launches: these are counted, too, unless they do not
 * end. */
__attribute__((destructor)) static void finish(void)
{
    char number[24];
    if (!explain.on || explain.process != getpid())
        return;
    contexts_finish(SECONDS_AT_END);
    process_file_unwatch();
    pthread_mutex_lock(&explain.lock);
    write_running();
    write_sums();
    write_streams();
    snprintf(number, sizeof number, "%llu", (unsigned long long)explain.uncounted);
    write_line("{\"ended\": true, \"uncounted\": ", number);
    explain.on = false;
    pthread_mutex_unlock(&explain.lock);
}
