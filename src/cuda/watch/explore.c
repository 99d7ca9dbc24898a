/* See explore.h. */
#include "cuda/watch/explore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/explore.h"
#include "base/demangle.h"
#include "base/monotonic.h"
#include "cuda/process/file.h"
#include "cuda/state/contexts.h"
#include "cuda/state/limits.h"
#include "cuda/state/state.h"
#include "explore/exploration.h"
#include "explore/rerun.h"
#include "ranks/relay.h"

static const double SECONDS_AT_END = 5;

static struct {
    bool on;
    pid_t process;
    struct explore_asked asked;
    atomic_bool interrupted;
    pthread_mutex_t lock; /* protects what follows */
    struct process_file file;
    struct launch_choice choice;
    json_t *launches; /* the number of launches by kernel */
} explore_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the file ---- */

/* Takes ownership of the value. */
static void write_line(const char *head, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY) : NULL;
    pthread_mutex_lock(&explore_state.lock);
    if (explore_state.on)
        process_file_append(&explore_state.file, head, text, "}\n");
    pthread_mutex_unlock(&explore_state.lock);
    free(text);
    json_decref(value);
}

/* ---- the launch ---- */

/* The launch for the stream's callback. */
struct launched {
    hd_kernel *kernel;
    char *mangled;
    const char *name; /* the kernel's name in the source */
    uint64_t number;  /* among the launches of this kernel, from 1 */
    hd_launch_config config;
    struct arena arena;
    _Alignas(16) uint8_t packed[];
};

static json_t *dims_json(const uint32_t d[3])
{
    return json_pack("[I, I, I]", (json_int_t)d[0], (json_int_t)d[1], (json_int_t)d[2]);
}

/* Identifies the launch: {"kernel", "launch", "grid", "block", "cluster", "shared"}. */
static json_t *launch_json(const struct launched *l)
{
    const hd_launch_config *c = &l->config;
    return json_pack("{s:s, s:I, s:o, s:o, s:o, s:I}", "kernel", l->name, "launch",
                     (json_int_t)explore_state.asked.launches.skip + 1, "grid", dims_json(c->grid), "block",
                     dims_json(c->block), "cluster", dims_json(c->cluster), "shared", (json_int_t)c->shared_bytes);
}

static const char *find_place(void *data, const struct place_name *name, struct observed *at, bool *is_signed)
{
    struct launched *l = data;
    return api_launch_place(l->kernel, l->packed, name, at, is_signed, &l->arena);
}

static json_t *failed(const char *error)
{
    return json_pack("{s:i, s:s}", "status", 2, "error", error);
}

/* ---- beyond what was found ---- */

struct again {
    struct launched *l;
    const struct explore_options *options;
};

static void explore_again(void *data, const struct changes *c, const struct wanted *w, struct explore_result *r)
{
    struct again *a = data;
    struct explore_options o = *a->options;
    hd_report *report;
    o.changes = c;
    o.wanted = w;
    o.n_threads = 1;
    if (api_explore(a->l->kernel, &a->l->config, &o, r, &report))
        r->refusal = (struct refusal){.text = "the launch could not be prepared again"};
    hd_report_free(report);
}

static const char *name_of(void *data, const struct location *at)
{
    struct again *a = data;
    return api_location_name(a->l->kernel, a->l->packed, at, &a->l->arena);
}

/* The picture goes into the file; the command writes it where the user wants it. */
static const char *add_further(const struct exploration *e, const struct further *f, struct text *text, json_t *json,
                               json_t *to)
{
    const struct explore_asked *a = &explore_state.asked;
    struct text picture = {.arena = e->arena};
    const char *shows, *wrong;
    if (a->repair)
        further_repair(e, f, text, json);
    if (!a->picture)
        return NULL;
    if ((wrong = further_draw(e, f, (enum picture_format)a->picture, &picture, &shows)))
        return arena_printf(e->arena, "--graph: %s", wrong);
    json_object_set_new(to, "picture", json_string(picture.p));
    json_object_set_new(to, "shows", json_string(shows));
    return NULL;
}

static json_t *told(struct launched *l, struct exploration *e, const struct explore_options *o)
{
    const struct explore_asked *a = &explore_state.asked;
    struct text text = {.arena = e->arena};
    struct again again = {l, o};
    struct schedule_launch of = {l->mangled, l->number};
    struct schedule_files files = {.kernel = l->kernel,
                                   .config = &l->config,
                                   .observed = o->observed,
                                   .n_observed = o->n_observed,
                                   .interleavings = e->result->interleavings,
                                   .folder = a->schedules,
                                   .called = a->schedules_called,
                                   .launch = &of,
                                   .arena = e->arena};
    struct further f = {explore_again, name_of, &again};
    const char *wrong = exploration_refusal(e);
    e->numbered = a->repair || a->picture || a->outcome;
    e->schedule = a->schedules ? api_write_schedule : NULL;
    e->data = &files;
    if (!wrong && a->outcome && (wrong = further_choose(e, a->outcome)))
        wrong = arena_printf(e->arena, "--outcome %llu: %s", (unsigned long long)a->outcome, wrong);
    if (wrong)
        return failed(wrong);
    exploration_outcomes_text(e, &text);
    exploration_findings_text(e, &text);
    json_t *json = launch_json(l), *to = json_object();
    json_object_update_new(json, exploration_json(e));
    wrong = add_further(e, &f, &text, json, to);
    json_object_set_new(to, "status", json_integer(wrong ? 2 : exploration_status(e)));
    json_object_set_new(to, "text", json_string(text.p));
    json_object_set_new(to, "json", json);
    if (wrong)
        json_object_set_new(to, "error", json_string(wrong));
    return to;
}

/* Joins the processes that explore the same launch, each in its own run of the program; n is 0 if
   there are none. */
static const char *join_ranks(struct ranks *r, struct arena *arena)
{
    const struct explore_asked *a = &explore_state.asked;
    *r = (struct ranks){.n = a->ranks, .number = a->rank, .on_this_host = a->ranks_here};
    return !r->n || relay_join(r, a->folder)
               ? NULL
               : arena_printf(arena, "other ranks cannot be reached from the program: %s", strerror(errno));
}

/* Runs a search; returns its results for the file. */
static json_t *explore_now(struct launched *l)
{
    const struct explore_asked *a = &explore_state.asked;
    struct questions q = {.arena = &l->arena, .find = find_place, .data = l};
    struct ranks ranks;
    const char *wrong = questions_ask(&q, &a->observe, &a->require, &a->forbid);
    wrong = wrong ? wrong : join_ranks(&ranks, &l->arena);
    if (wrong)
        return failed(wrong);
    struct explore_options o = {.unroll = a->unroll,
                                .symmetric = a->symmetric,
                                .step_limit = a->step_limit,
                                .n_threads = (uint32_t)a->workers,
                                .ranks = ranks.n ? &ranks : NULL,
                                .interrupted = &explore_state.interrupted,
                                .observed = q.observed.at,
                                .n_observed = q.observed.n,
                                .claims = q.claims.at,
                                .n_claims = q.claims.n,
                                .interleave = a->schedules != NULL};
    struct explore_result result = {0};
    hd_report *report;
    double start = seconds_now();
    hd_result r = api_explore(l->kernel, &l->config, &o, &result, &report);
    struct exploration e = {.arena = &l->arena,
                            .result = &result,
                            .names = q.names.at,
                            .signed_bits = q.signed_bits.at,
                            .claims = q.claims.at,
                            .n_claims = q.claims.n,
                            .examples = a->examples,
                            .stats = a->stats,
                            .seconds = seconds_now() - start};
    o.interleave = false; /* the additional explorations do not need interleavings */
    o.ranks = NULL;
    json_t *json = r                ? failed(report ? hd_report_text(report) : hd_result_string(r))
                   : result.is_part ? json_pack("{s:i}", "status", 0)
                                    : told(l, &e, &o);
    hd_report_free(report);
    explore_free(&result);
    return json;
}

/* ---- while it is explored ---- */

static void interrupt(int signal)
{
    (void)signal;
    atomic_store(&explore_state.interrupted, true);
}

/* The first Ctrl-C or SIGTERM ends the search and not the program; the second one has its usual
   effect. */
static const int signals[] = {SIGINT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void take_signals(struct sigaction before[SIGNALS])
{
    const struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

static void give_signals_back(const struct sigaction before[SIGNALS])
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
}

/* --timeout: ends the search when the kernels' time is over. */
static void look(void)
{
    const struct limits *l = limits_given();
    if (l->deadline > 0 && seconds_now() > l->deadline)
        atomic_store(&explore_state.interrupted, true);
}

/* A host function in the stream, before its launch. */
static void explore_in_stream(void *data, hd_result status)
{
    struct launched *l = data;
    struct sigaction before[SIGNALS];
    jmp_buf oom;
    json_t *volatile found = NULL;
    take_signals(before);
    process_file_watch(look);
    l->arena.on_oom = &oom;
    if (setjmp(oom) == 0) {
        l->name = demangle(str_of(l->mangled), &l->arena);
        write_line("{\"exploring\": ", launch_json(l));
        found = status ? failed("an earlier call of the program failed and ended its context") : explore_now(l);
    }
    l->arena.on_oom = NULL;
    process_file_unwatch();
    give_signals_back(before);
    write_line("{\"explored\": ", found ? found : failed("out of memory"));
    if (explore_state.asked.rank) /* only the first rank's program goes on */
        _exit(0);
    arena_free(&l->arena);
    free(l->mangled);
    free(l);
}

/* ---- which launch ---- */

/* Asked once for each launch. *number: among its kernel's launches. */
static bool is_the_one(const char *kernel, uint64_t *number)
{
    pthread_mutex_lock(&explore_state.lock);
    json_t *n = json_object_get(explore_state.launches, kernel);
    bool wanted = launch_choice_takes(&explore_state.choice, kernel);
    *number = (uint64_t)json_integer_value(n) + 1;
    json_object_set_new(explore_state.launches, kernel, json_integer((json_int_t)*number));
    pthread_mutex_unlock(&explore_state.lock);
    if (!n)
        write_line("{\"kernel\": ", json_string(kernel));
    return wanted && process_takes(explore_state.asked.folder);
}

static void pack(uint8_t *packed, const hd_launch_config *c, hd_kernel *kernel)
{
    hd_param_info p;
    if (c->packed_args)
        memcpy(packed, c->packed_args, c->packed_bytes);
    for (size_t i = 0; c->args && hd_kernel_get_param(kernel, i, &p); i++)
        memcpy(packed + p.offset, c->args[i], p.bytes);
}

static hd_result put(hd_stream *stream, hd_kernel *kernel, const char *name, uint64_t number,
                     const hd_launch_config *config)
{
    hd_kernel_info info;
    hd_kernel_get_info(kernel, &info);
    struct launched *l = calloc(1, sizeof *l + info.param_bytes);
    if (!l || !(l->mangled = strdup(name))) {
        free(l);
        return HD_ERROR_OUT_OF_MEMORY;
    }
    l->kernel = kernel;
    l->number = number;
    l->config = *config;
    pack(l->packed, config, kernel);
    l->config.args = NULL;
    l->config.rules = NULL;
    l->config.packed_args = info.param_bytes ? l->packed : NULL;
    l->config.packed_bytes = info.param_bytes;
    return hd_stream_call(stream, explore_in_stream, l, HD_CALL_ALWAYS | HD_CALL_UPKEEP);
}

hd_result explore_launch(hd_stream *stream, hd_kernel *kernel, const char *name, const hd_launch_config *config)
{
    /* the launch itself reports what is wrong with it */
    if (!explore_state.on || hd_launch_check(kernel, config, NULL))
        return HD_SUCCESS;
    uint64_t number;
    return is_the_one(name, &number) ? put(stream, kernel, name, number, config) : HD_SUCCESS;
}

/* ---- start and end ---- */

bool explore_start(const char *text)
{
    struct explore_asked *a = &explore_state.asked;
    if (!explore_asked_read(text, a) || !launch_choice_start(&explore_state.choice, &a->launches))
        return false;
    explore_state.process = getpid();
    explore_state.launches = json_object();
    explore_state.on = process_file_open(&explore_state.file, a->folder, "what was explored");
    return true;
}

void explore_after_fork(void)
{
    explore_state.on = false;
    pthread_mutex_init(&explore_state.lock, NULL);
}

/* A program may end without waiting for its launches. */
__attribute__((destructor)) static void finish(void)
{
    if (!explore_state.on || explore_state.process != getpid())
        return;
    contexts_finish(SECONDS_AT_END);
    char *launches = json_dumps(explore_state.launches, JSON_COMPACT), *text = NULL;
    pthread_mutex_lock(&explore_state.lock);
    if (launches &&
        asprintf(&text, "%s, \"matching\": %llu", launches, (unsigned long long)explore_state.choice.matching) < 0)
        text = NULL;
    process_file_append(&explore_state.file, "{\"ended\": true, \"launches\": ", text, "}\n");
    explore_state.on = false;
    pthread_mutex_unlock(&explore_state.lock);
    free(text);
    free(launches);
}
