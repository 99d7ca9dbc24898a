/* heddle explain PROGRAM: runs a CUDA program, and predicts what a GPU would do with the launches
 * of its processes (cuda/watch/explain.h).
 *
 * This process stays the program's parent, and reads the processes' files when the program has
 * ended, whatever ended it.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/check_settings.h"
#include "cli/explanation.h"
#include "files/places.h"
#include "base/monotonic.h"
#include "cli/process_files.h"
#include "cli/status.h"
#include "cli/program.h"
#include "cli/sandbox.h"
#include "cli/supervise.h"
#include "cuda/process/explain_options.h"
#include "exec/device.h"

struct explain {
    struct session *s;
    struct explain_options options;
    bool application_only;
    const char *program;
    struct process_run run;
    struct status progress;
    struct explanation explanation;
};

/* ---- before the program ---- */

/* Chooses the device that figures are for. The program sees the same device if a machine can claim
   to be it. */
static int choose_device(struct explain *e)
{
    struct session *s = e->s;
    e->options.device = explanation_device(&s->o);
    e->options.sample_after = explanation_sample_after(&s->o);
    if (!device_model_of_report(e->options.device))
        return explanation_no_device(s);
    if (s->o.report_device && device_model(e->options.device))
        s->o.device = e->options.device;
    return 0;
}

static int get_ready(struct explain *e)
{
    struct session *s = e->s;
    if (!s->n_words)
        return usage_error(s, "heddle explain needs a program or a PTX file; `heddle explain --help` explains");
    const char *wrong = launch_filter_settings(&s->o, &e->options.launches, &s->arena);
    wrong = wrong ? wrong : target_processes_setting(&s->o, &e->application_only, &s->arena);
    wrong = wrong ? wrong : explanation_files_wrong(s);
    return wrong ? usage_error(s, "%s", wrong) : choose_device(e);
}

static int find(struct explain *e)
{
    int status;
    e->program = program_prepare(e->s, NULL, &status);
    return e->program ? 0 : status;
}

/* ---- the run ---- */

/* Runs in the child before it becomes the program. */
static void enter(void *data)
{
    struct explain *e = data;
    e->options.folder = e->run.folder;
    e->options.process = e->application_only ? (int)getpid() : 0;
    char *text = explain_options_text(&e->options);
    if (!text || setenv("HEDDLE_EXPLAIN", text, 1)) {
        cli_failure(e->s,
                    "the options cannot be passed to the program: a text is not valid UTF-8, or memory has run out");
        _exit(PROGRAM_CANNOT_RUN);
    }
    free(text);
    /* NVTX's ranges: cuda/driver/nvtx.c. */
    const char *libraries = place_of_libraries(&e->s->arena);
    if (libraries)
        setenv("NVTX_INJECTION64_PATH", arena_printf(&e->s->arena, "%s/libcuda.so.1", libraries), 0);
    if (explanation_writes(&e->s->o, "-")) /* the report is the only output to stdout */
        dup2(STDERR_FILENO, STDOUT_FILENO);
    if (e->s->o.confined && confine_program(e->s, e->run.folder))
        _exit(PROGRAM_CANNOT_RUN);
}

static void collect(void *data, const char *path)
{
    struct explanation *e = &((struct explain *)data)->explanation;
    FILE *f = fopen(path, "re");
    if (f) {
        explanation_read(e, f);
        fclose(f);
    } else {
        e->lost = true;
    }
}

static void show_progress(void *data)
{
    struct explain *e = data;
    struct arena scratch = {.on_oom = e->s->arena.on_oom};
    double begun = seconds_now();
    if (!status_is_due(&e->progress))
        return;
    struct status_now now = explanation_look(e->run.folder, &scratch);
    status_show(&e->progress, &now, seconds_now() - begun, &scratch);
    arena_free(&scratch);
}

static int run(struct explain *e)
{
    e->run = (struct process_run){
        .file = e->program, .what = "explain", .in_child = enter, .each = collect, .tick = show_progress, .data = e};
    e->progress = (struct status){.command = "explain"};
    int status = process_files_run(e->s, &e->run);
    status_end(&e->progress);
    e->explanation.lost |= e->run.lost;
    return status;
}

/* ---- afterwards ---- */

/* Why there are no figures: what happened to the program, in words. */
static const char *nothing_text(const struct explain *e)
{
    const struct ending *ending = &e->run.ending;
    const char *program = e->s->words[0];
    struct arena *arena = &e->s->arena;
    bool is_cut = ending_signal(ending) || ending->over_time;
    const char *why = process_nothing_text(program, e->explanation.lost, is_cut, arena);
    return why ? why : arena_printf(arena, "`%s` ran without using CUDA: there was nothing to explain", program);
}

static int show(struct explain *e)
{
    struct session *s = e->s;
    const char *program = s->words[0];
    fflush(stdout);
    if (!json_array_size(e->explanation.processes))
        fprintf(stderr, "explain: %s\n", nothing_text(e));
    else
        explanation_print(&e->explanation, &s->o, stderr, &s->arena);
    fputs(process_ending_text(program, ending_signal(&e->run.ending), "", e->run.survivor, &s->arena), stderr);
    if (e->explanation.lost)
        fputs("heddle: some counts could not be saved: this report is incomplete\n", stderr);
    return explanation_write_files(s, &e->explanation, program);
}

/* The program's own exit status, unless that is 0 and something failed here. */
static int exit_status(const struct explain *e, int status)
{
    if (e->run.ending.over_time)
        return TIME_IS_OVER;
    if (WIFSIGNALED(e->run.ending.status) || WEXITSTATUS(e->run.ending.status))
        return end_as(e->run.ending.status);
    return status ? status : e->explanation.lost;
}

int cmd_explain_program(struct session *s)
{
    static int (*const steps[])(struct explain *) = {get_ready, find, run, show};
    struct explain e = {.s = s};
    int status = 0;
    size_t i = 0;
    if (s->o.compare)
        return explain_compare(s);
    explanation_init(&e.explanation, &s->arena);
    for (; !status && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](&e);
    explanation_free(&e.explanation);
    return i == sizeof steps / sizeof steps[0] ? exit_status(&e, status) : status;
}
