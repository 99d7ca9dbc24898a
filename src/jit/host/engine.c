/* See engine.h. For each tier, one thread of the machine has kernels compiled, in the order of requests; it starts with the
 * first. */
#include "jit/host/engine.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "exec/compiled.h"
#include "exec/compiler.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/worker.h"
#include "jit/costs.h"
#include "jit/host/brokered_compiler.h"
#include "jit/host/code_cache.h"
#include "jit/host/compiler_process.h"
#include "jit/host/gdb.h"
#include "jit/host/settings.h"

/* When a kernel is worth compiling, and compiling again with more effort: costs.def. */
static const uint64_t worth_in_one[JIT_TIERS] = {LIMIT_worth_in_one, LIMIT_worth_again};
static const uint64_t worth_in_all[JIT_TIERS] = {LIMIT_worth_in_all, LIMIT_worth_again};

enum unit_state { UNIT_NEW, UNIT_QUEUED, UNIT_READY, UNIT_FAILED };

/* The code of a kernel for a shape of block, by one tier; it stays until the kernel is freed, whatever replaces it: warps may be
 * inside. */
struct unit {
    struct compiled compiled; /* first: what launches point to */
    struct unit *next, *next_queued;
    enum jit_tier tier;
    bool is_last;                /* no better code follows */
    struct unit *_Atomic better; /* the kernel's by the second tier; NULL: not yet wanted */
    struct str name;             /* of the kernel, behind this record */
    uint32_t n_functions;
    uint64_t instructions;
    uint64_t worth; /* the work after which compiling a kernel of large functions is; else 0 */
    uint32_t block[3];
    uint8_t *request; /* as bytes, while it is to be compiled */
    size_t request_bytes;
    struct code_cache_key key;
    _Atomic int state;
    _Atomic pid_t queued_by; /* UNIT_QUEUED: the process; of no use to a child of it */
    _Atomic uint64_t work;   /* instructions of warps, in launches that have ended */
    bool asked;              /* by a launch that waits for it */
    bool abandoned;          /* its kernel has been freed meanwhile */
    bool is_overtime;        /* UNIT_FAILED: compiling it took too long */
    struct loaded_object object;
    struct gdb_entry *gdb;
    char why[256]; /* UNIT_FAILED */
};

/* What a tier has to compile, with what does it: one for each, so that no kernel waits for code while another's is improved. */
struct line {
    struct jit *jit;
    pthread_cond_t work;
    pthread_t thread;
    bool has_thread;
    struct unit *queue, *busy;
    struct jit_process process;       /* the thread's */
    struct brokered_compiler outside; /* in its place where this process is in the sandbox */
};

struct jit {
    struct machine *machine;
    _Atomic pid_t
        owner; /* the process: a child of it has no threads; negative while it puts away what it has inherited */
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool stopping;
    struct line lines[JIT_TIERS];
    bool is_confined;
    struct brokered_compiler disk; /* for is_confined: compiled code that is there */
    FILE *perf_map;                /* the same; else it is opened when it is needed */
    char program[PATH_MAX + 64];
    struct settings settings;
};

/* ---- the compiler's program ---- */

static bool is_there(struct jit *j, const char *path)
{
    if (access(path, X_OK) != 0)
        return false;
    snprintf(j->program, sizeof j->program, "%s", path);
    return true;
}

/* HEDDLE_JIT; or next to the library or program that this code is in, or where it is installed from there. In a program with
 * the rights of another user (AT_SECURE) neither the environment nor the program's folder says what is run: who starts it
 * chooses both. */
static void find_program(struct jit *j)
{
    static const char *const places[] = {"", "../", "../" HEDDLE_LIBEXEC "/", "../../" HEDDLE_LIBEXEC "/",
                                         "../../../" HEDDLE_LIBEXEC "/"};
    const char *set = secure_getenv("HEDDLE_JIT");
    char path[sizeof j->program], real[PATH_MAX], resolved[PATH_MAX];
    Dl_info self;
    if (set && *set) {
        is_there(j, set);
        return;
    }
    ssize_t n = readlink("/proc/self/exe", real, sizeof real - 1);
    real[n > 0 ? n : 0] = 0;
    bool known = dladdr((void *)(uintptr_t)find_program, &self) && self.dli_fname && realpath(self.dli_fname, resolved);
    const char *starts[2] = {known ? resolved : "", real};
    if (getauxval(AT_SECURE) && (!known || strcmp(resolved, real) == 0))
        return;
    for (int from = 0; from < (getauxval(AT_SECURE) ? 1 : 2); from++) {
        const char *slash = strrchr(starts[from], '/');
        for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
            snprintf(path, sizeof path, "%.*s%sheddle-jit", (int)(slash + 1 - starts[from]), starts[from], places[i]);
            if (is_there(j, path))
                return;
        }
    }
}

/* ---- what can be compiled ---- */

/* The entry of targets.def that is best here, for a level that the interpreter runs at. */
static const char *find_target(const char *level)
{
#ifdef __x86_64__
    if (__builtin_cpu_is("amd") && strcmp(level, "x86-64-v4") == 0)
        return "x86-64-v4+amd";
#endif
    return level;
}

/* Of the level that code is made for. */
static const char *level_of(const struct jit *j)
{
    return j->settings.target ? j->settings.target : find_target(j->machine->cpu_level);
}

/* Does that serve lanes at addresses of their own one by one in any case? */
static bool wants_serial_walks(const struct machine *m)
{
    static const struct target {
        const char *name;
        bool one_by_one;
    } targets[] = {
#define TARGET(name, bitcode, triple, cpu, features, masked_stores, gathers, waits, store_order, whole_elements,       \
               whole_bytes)                                                                                            \
    {name, waits || !(gathers)},
#include "jit/targets.def"
#undef TARGET
    };
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(targets[i].name, level_of(m->compiler_data)) == 0)
            return targets[i].one_by_one;
    return false;
}

/* The request for a kernel as bytes; false with u->why where it cannot be compiled. */
static bool write_request(struct jit *j, struct unit *u, const struct kernel *k)
{
    uint32_t limit = u->asked ? LIMIT_function_asked : LIMIT_function;
    struct jit_request r = {.name = u->name,
                            .level = str_of(level_of(j)),
                            .block = {u->block[0], u->block[1], u->block[2]},
                            .param_bytes = k->param_bytes,
                            .static_shared_bytes = k->static_shared_bytes,
                            .block_rows = k->block_rows,
                            .n_functions = k->functions.n,
                            .functions = calloc(k->functions.n, sizeof *r.functions)};
    uint64_t total =
        0; /* of the functions, the entry first; the others are the interpreter's where they are too many */
    for (uint32_t i = 0; r.functions && i < k->functions.n; i++) {
        uint32_t n = k->functions.at[i]->ir->insns.n + LIMIT_each_function;
        if (k->functions.at[i]->ir->insns.n > limit || total + n > LIMIT_functions * (uint64_t)limit)
            continue;
        r.functions[i] = (struct ir_func *)k->functions.at[i]->ir; /* which is only read */
        total += n;
    }
    free(u->request);
    u->request = NULL;
    if (!r.functions || (r.functions[0] && !(u->request = wire_write(&r, &u->request_bytes))))
        snprintf(u->why, sizeof u->why, "no memory");
    else if (!u->request)
        snprintf(u->why, sizeof u->why, "it is too large");
    free(r.functions);
    return u->request != NULL;
}

/* ---- compiling ---- */

static struct line *line_of(struct jit *j, const struct unit *u)
{
    return &j->lines[u->tier - TIER_FIRST];
}

/* For what is dumped. */
static const char *tier_name(const struct unit *u)
{
    return u->tier == TIER_SECOND ? ", second tier" : "";
}

static void dump(const char *title, const struct unit *u, const char *text)
{
    if (text)
        fprintf(stderr, "; %s of %.*s, blocks of (%u,%u,%u)%s\n%s\n", title, STR_ARG(u->name), u->block[0], u->block[1],
                u->block[2], tier_name(u), text);
}

static void dump_times(const struct unit *u, const struct jit_result *r)
{
    fprintf(
        stderr,
        "; %.*s%s: %llu instructions, shapes in %.2f ms, emitted in %.2f ms, passes %.2f ms, code %.2f ms: %zu bytes\n",
        STR_ARG(u->name), tier_name(u), (unsigned long long)u->instructions, 1e3 * r->shape_seconds,
        1e3 * r->emit_seconds, 1e3 * r->pass_seconds, 1e3 * r->code_seconds, r->bytes);
}

/* For appending; not what another user has put there, where everybody may: a link to a file of ours, a pipe. */
static FILE *open_own(const char *path)
{
    struct stat s;
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    bool good = file >= 0 && fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && s.st_nlink == 1;
    FILE *f = good ? fdopen(file, "a") : NULL;
    if (file >= 0 && !f)
        close(file);
    return f;
}

/* For those who ask: perf looks for names of code that lies in no file in /tmp. */
static FILE *open_perf_map(void)
{
    char path[64];
    const char *wanted = secure_getenv("HEDDLE_PERF");
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    return wanted && *wanted ? open_own(path) : NULL;
}

static void name_for_perf(const struct jit *j, const struct unit *u, const struct jit_result *r)
{
    FILE *map = j->is_confined ? j->perf_map : open_perf_map();
    if (!map)
        return;
    loader_name_functions(&u->object, r->object, r->bytes, map);
    if (j->is_confined)
        fflush(map);
    else
        fclose(map);
}

static bool load(const struct jit *j, struct unit *u, const struct jit_result *r)
{
    char error[LOADER_ERROR_BYTES];
    if (r->n_inline_caches > u->compiled.n_inline_caches) {
        snprintf(u->why, sizeof u->why, "the code is another kernel's");
        return false;
    }
    if (loader_load(&u->object, r->object, r->bytes, u->compiled.functions, 2 * u->n_functions, error)) {
        name_for_perf(j, u, r);
        u->gdb = gdb_tell(&u->object, r->object, r->bytes);
        return true;
    }
    snprintf(u->why, sizeof u->why, "%s", error);
    return false;
}

/* The compiler's answer; false with u->why where there is none. */
static bool ask_compiler(struct jit *j, struct unit *u, const struct wire_ask *ask, struct jit_result *result)
{
    struct line *l = line_of(j, u);
    const char *why = j->is_confined ? "the process that asks the compiler for this one has ended" : l->process.why;
    bool ok = j->is_confined ? brokered_compile(&l->outside, ask, u->request, result)
                             : process_ask(&l->process, j->program, ask, u->request, result);
    if (!ok)
        snprintf(u->why, sizeof u->why, "%s", why);
    return ok;
}

/* For those who ask by HEDDLE_LOG=engine. */
static void tell_cache(const struct jit *j, const struct unit *u, const struct jit_result *r)
{
    const struct machine_config *c = &j->machine->config;
    char text[1024];
    if (!r->cache_error || !j->settings.log[LOG_ENGINE] || !c->note)
        return;
    snprintf(text, sizeof text, "kernel `%.*s`: the cache is not used: %s", (int)(u->name.n < 200 ? u->name.n : 200),
             u->name.p, r->cache_error);
    c->note(c->print_data, text);
}

static bool compile(struct jit *j, struct unit *u)
{
    struct wire_ask ask = {.bytes = u->request_bytes,
                           .tier = u->tier,
                           .seconds = u->asked ? LIMIT_seconds_asked : LIMIT_seconds,
                           .ir = j->settings.dump_ir,
                           .llvm = j->settings.dump_llvm,
                           .assembly = j->settings.dump_asm};
    struct jit_result result = {0};
    if (!ask_compiler(j, u, &ask, &result))
        return false;
    u->is_overtime = result.is_overtime;
    if (result.error)
        snprintf(u->why, sizeof u->why, "%s", result.error);
    dump("IR", u, result.ir);
    dump("LLVM", u, result.llvm);
    dump("assembly", u, result.assembly);
    if (j->settings.dump_time)
        dump_times(u, &result);
    if (result.object && j->settings.target)
        snprintf(u->why, sizeof u->why, "HEDDLE_TARGET asks for code of %.64s to look at", j->settings.target);
    bool ok = result.object && !j->settings.target && load(j, u, &result);
    if (ok && !j->is_confined)
        code_cache_store(&u->key, &result);
    tell_cache(j, u, &result);
    jit_release(&result);
    return ok;
}

/* ---- units ---- */

/* After how much work a kernel of large functions is worth compiling; 0: sooner than costs.def says of any kernel. */
static uint64_t worth_of(const struct kernel *k)
{
    uint64_t total = 0, squares = 0;
    bool is_large = false;
    for (uint32_t i = 0; i < k->functions.n; i++) {
        uint64_t n = k->functions.at[i]->ir->insns.n;
        if (n > LIMIT_function)
            continue;
        total += n + LIMIT_each_function;
        squares += n * n;
        is_large = is_large || n > LIMIT_function_soon;
    }
    return is_large || total > LIMIT_functions * LIMIT_function_soon ? LIMIT_worth_large * squares : 0;
}

/* As many as code of the kernel can ask for: an access has one in the function, and one in its serial parts
 * (jit/emit/inline_cache.c). What the compiler or an entry of the cache says is not relied on. */
static uint32_t count_inline_caches(const struct kernel *k)
{
    uint32_t n = 0;
    for (uint32_t f = 0; f < k->functions.n; f++)
        for (uint32_t i = 0; i < k->functions.at[f]->ir->insns.n; i++) {
            enum ir_kind kind = k->functions.at[f]->ir->insns.at[i].kind;
            n += kind == IR_LD || kind == IR_ST || kind == IR_ATOM ? 2 : 0;
        }
    return n;
}

static struct unit *new_unit(struct kernel *k, const uint32_t block[3], enum jit_tier tier)
{
    struct str name = k->func->symbol.name;
    struct unit *u = calloc(1, sizeof *u + name.n);
    if (!u || !(u->compiled.functions = calloc(2 * k->functions.n, sizeof *u->compiled.functions))) {
        free(u);
        return NULL;
    }
    u->name = (struct str){memcpy(u + 1, name.p, name.n), name.n};
    u->n_functions = k->functions.n;
    u->compiled.n_inline_caches = count_inline_caches(k);
    u->compiled.serial = u->compiled.functions + k->functions.n;
    u->instructions = k->instructions;
    u->worth = worth_of(k);
    u->tier = tier;
    memcpy(u->block, block, sizeof u->block);
    u->next = k->compiled;
    k->compiled = u;
    return u;
}

static void free_unit(struct unit *u)
{
    gdb_forget(u->gdb);
    loader_unload(&u->object);
    free(u->compiled.functions);
    free(u->request);
    free(u);
}

/* Does nobody have it in hand? A thread that a fork has left behind does not count. */
static bool is_free(const struct jit *j, const struct unit *u)
{
    int state = atomic_load(&u->state);
    return state == UNIT_NEW || (state == UNIT_QUEUED && atomic_load(&u->queued_by) != j->owner);
}

/* True for the one who is to have it compiled. With the lock held. */
static bool claim(const struct jit *j, struct unit *u, bool asked)
{
    bool again =
        asked && !u->asked && atomic_load(&u->state) == UNIT_FAILED; /* what is too large for `auto` may be asked for */
    if (!is_free(j, u) && !again)
        return false;
    u->asked |= asked;
    atomic_store(&u->queued_by, j->owner);
    atomic_store(&u->state, UNIT_QUEUED);
    return true;
}

/* `asked`: of a new one, whether it is for a launch that waits, or has waited for the tier before. */
static struct unit *find_unit(struct jit *j, struct kernel *k, const uint32_t block[3], enum jit_tier tier, bool asked)
{
    pthread_mutex_lock(&j->lock);
    struct unit *u = k->compiled;
    while (u && (u->tier != tier || memcmp(u->block, block, sizeof u->block) != 0))
        u = u->next;
    if (!u && (u = new_unit(k, block, tier))) {
        u->is_last = j->settings.tier || tier == TIER_SECOND;
        u->asked = asked;
    }
    pthread_mutex_unlock(&j->lock);
    return u;
}

static bool recall_tier(struct jit *j, struct unit *u, enum jit_tier tier)
{
    struct jit_result result = {0};
    if (!j->is_confined)
        u->key = code_cache_key(u->request, u->request_bytes, tier, j->program, false);
    if (j->settings.target || settings_dump(&j->settings))
        return false;
    bool found = j->is_confined ? brokered_recall(&j->disk, tier, u->request, u->request_bytes, &result)
                                : code_cache_load(&u->key, &result);
    tell_cache(j, u, &result);
    bool ok = found && load(j, u, &result);
    jit_release(&result);
    return ok;
}

/* From the disk, by whoever asks first, the best there is; what is dumped has to be compiled. */
static bool recall(struct jit *j, struct unit *u)
{
    if (u->is_last || !recall_tier(j, u, TIER_SECOND))
        return recall_tier(j, u, u->tier);
    u->is_last = true;
    return true;
}

/* For those who ask by HEDDLE_LOG=engine. */
static void tell(const struct jit *j, const struct unit *u)
{
    const struct machine_config *c = &j->machine->config;
    char text[512];
    snprintf(text, sizeof text, "kernel `%.*s` %s: %s", (int)(u->name.n < 200 ? u->name.n : 200), u->name.p,
             u->tier == TIER_SECOND && !j->settings.tier ? "keeps its first code" : "stays in the interpreter", u->why);
    if (j->settings.log[LOG_ENGINE] && c->note)
        c->note(c->print_data, text);
}

/* With the lock held. */
static void finish(struct jit *j, struct unit *u, bool ok)
{
    free(u->request);
    u->request = NULL;
    atomic_store(&u->state, ok ? UNIT_READY : UNIT_FAILED);
    pthread_cond_broadcast(&j->done);
}

static void run_queue(struct jit *j, struct line *l)
{
    while (l->queue) {
        struct unit *u = l->busy = l->queue;
        l->queue = u->next_queued;
        pthread_mutex_unlock(&j->lock);
        bool ok = compile(j, u);
        if (!ok && !l->process.ended)
            tell(j, u);
        pthread_mutex_lock(&j->lock);
        l->busy = NULL;
        if (u->abandoned)
            free_unit(u);
        else
            finish(j, u, ok);
    }
}

static void *compiler_main(void *data)
{
    struct line *l = data;
    struct jit *j = l->jit;
    pthread_mutex_lock(&j->lock);
    while (!j->stopping) {
        run_queue(j, l);
        if (!j->stopping)
            pthread_cond_wait(&l->work, &j->lock);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* Signals of the program are not for this thread. */
static bool start_thread(struct line *l)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&l->thread, NULL, compiler_main, l) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

/* With the lock held. */
static bool enqueue(struct jit *j, struct unit *u)
{
    struct line *l = line_of(j, u);
    struct unit **link = &l->queue;
    l->has_thread = l->has_thread || (!j->stopping && start_thread(l));
    if (!l->has_thread) {
        snprintf(u->why, sizeof u->why, "no thread can be started");
        return false;
    }
    while (*link)
        link = &(*link)->next_queued;
    u->next_queued = NULL;
    *link = u;
    pthread_cond_signal(&l->work);
    return true;
}

/* ---- launches ---- */

/* Shapes count on indices of threads that fit into 31 bits (ir/range.c). */
static bool is_in_range(const struct launch *l)
{
    for (int i = 0; i < 3; i++)
        if ((uint64_t)l->grid[i] * l->block[i] > INT32_MAX)
            return false;
    return true;
}

static const char *unfit(const struct launch *l)
{
    return l->schedule       ? "a schedule other than fair runs in the interpreter"
           : l->hooks        ? "what watches a launch (a checker, a trace) runs in the interpreter"
           : !is_in_range(l) ? "the grid has more than 2147483647 threads along an axis"
                             : NULL;
}

/* What takes too long for one shape of blocks does so for others: in the background that is found out once. */
static bool is_hopeless(struct jit *j, struct unit *u, const struct kernel *k)
{
    pthread_mutex_lock(&j->lock);
    const struct unit *o = k->compiled;
    while (o && !(o->tier == u->tier && atomic_load(&o->state) == UNIT_FAILED && o->is_overtime))
        o = o->next;
    if (o)
        memcpy(u->why, o->why, sizeof u->why);
    pthread_mutex_unlock(&j->lock);
    return o != NULL;
}

/* Of a unit that has just become queued: from the disk at once; else the compiling thread gets it. */
static void order(struct jit *j, struct unit *u, const struct kernel *k)
{
    bool can_be = (u->asked || !is_hopeless(j, u, k)) && write_request(j, u, k);
    if (can_be && !j->program[0]) {
        const char *set = secure_getenv("HEDDLE_JIT");
        snprintf(u->why, sizeof u->why, "%.150s is not there: it is built where LLVM 19 and clang 19 are installed",
                 set && *set ? set : "heddle-jit");
        can_be = false;
    }
    bool ok = can_be && recall(j, u);
    if (!can_be)
        tell(j, u);
    pthread_mutex_lock(&j->lock);
    if (ok || !can_be || !enqueue(j, u))
        finish(j, u, ok);
    pthread_mutex_unlock(&j->lock);
}

/* Waits for the code, as long as the launch may; looks now and then whether somebody has cancelled it. */
static void compile_now(struct jit *j, struct unit *u, const struct launch *l)
{
    static const double look_seconds = 0.1;
    pthread_mutex_lock(&j->lock);
    bool mine = claim(j, u, true);
    pthread_mutex_unlock(&j->lock);
    if (mine)
        order(j, u, l->kernel);
    pthread_mutex_lock(&j->lock);
    for (double now; atomic_load(&u->state) == UNIT_QUEUED && !launch_has_failed(l);) {
        now = seconds_now();
        if (l->deadline > 0 && l->deadline <= now)
            break;
        bool is_last = l->deadline > 0 && l->deadline < now + look_seconds;
        struct timespec until = seconds_to_timespec(is_last ? l->deadline : now + look_seconds);
        pthread_cond_timedwait(&j->done, &j->lock, &until);
    }
    pthread_mutex_unlock(&j->lock);
}

/* In the child of a fork there is no thread of ours; what it had to do is anybody's: claim(). Of the child's threads the first
 * one to come here puts that away, and others wait. */
static void after_fork(struct jit *j)
{
    pid_t self = getpid(), owner = atomic_load(&j->owner);
    if (owner == self)
        return;
    if (owner == -self || !atomic_compare_exchange_strong(&j->owner, &owner, -self)) {
        while (atomic_load(&j->owner) != self)
            sched_yield();
        return;
    }
    pthread_mutex_init(&j->lock, NULL);
    cond_init_monotonic(&j->done);
    for (struct line *l = j->lines; l < j->lines + JIT_TIERS; l++) {
        pthread_cond_init(&l->work, NULL);
        process_leave_to_parent(&l->process);
        l->has_thread = false;
        l->busy = l->queue = NULL;
    }
    atomic_store(&j->owner, self);
}

static bool is_ready(const struct unit *u)
{
    return u && atomic_load_explicit(&u->state, memory_order_acquire) == UNIT_READY;
}

/* Gives the launch the best code there is; workers change over where a turn of a warp, or a block, begins. Another worker may be
 * ahead. */
static void take(struct launch *l, struct unit *u)
{
    struct unit *better = atomic_load(&u->better);
    const struct compiled *none = NULL;
    if (is_ready(better))
        atomic_store_explicit(&l->compiled, &better->compiled, memory_order_release);
    else if (is_ready(u))
        atomic_compare_exchange_strong(&l->compiled, &none, &u->compiled);
}

static bool begin(struct machine *m, struct launch *l, struct diags *diags)
{
    struct jit *j = m->compiler_data;
    after_fork(j);
    const char *why = unfit(l);
    hd_engine engine = l->engine ? l->engine : j->settings.wish;
    l->consider_at = UINT64_MAX;
    if (engine == HD_ENGINE_INTERP || (why && l->engine != HD_ENGINE_JIT))
        return true;
    struct unit *u =
        why ? NULL : find_unit(j, l->kernel, l->block, j->settings.tier ? j->settings.tier : TIER_FIRST, false);
    if (u && engine == HD_ENGINE_JIT)
        compile_now(j, u, l);
    l->compiler_data = u;
    if (u) {
        l->consider_at = 0;
        take(l, u);
    }
    bool late = u && atomic_load(&u->state) == UNIT_QUEUED; /* the launch has been ended while it waited: limit.c */
    if (l->engine != HD_ENGINE_JIT || atomic_load(&l->compiled) || late)
        return true;
    diag_error(diags, (struct place){0}, "engine", "leave the engine at auto, or take interp",
               "kernel `%.*s` cannot be compiled: %s", STR_ARG(l->kernel->func->symbol.name),
               why ? why
               : u ? u->why
                   : "no memory");
    return false;
}

static void want(struct launch *l, struct unit *u)
{
    struct jit *j = l->machine->compiler_data;
    if (!is_free(j, u))
        return;
    pthread_mutex_lock(&j->lock);
    bool mine = claim(j, u, false);
    pthread_mutex_unlock(&j->lock);
    if (mine)
        order(j, u, l->kernel);
}

/* Has what is worth it after so much work compiled; returns the work after which to look again. */
static uint64_t advance(struct launch *l, struct unit *u, uint64_t work, const uint64_t worth[JIT_TIERS])
{
    bool ready = is_ready(u);
    uint64_t enough = worth[ready] > u->worth ? worth[ready] : u->worth;
    if (ready && u->is_last)
        return UINT64_MAX;
    if (work < enough)
        return enough;
    struct unit *next = u;
    if (ready && !(next = atomic_load(&u->better))) {
        next = find_unit(l->machine->compiler_data, l->kernel, l->block, TIER_SECOND, u->asked);
        atomic_store(&u->better, next);
    }
    if (!next)
        return UINT64_MAX;
    want(l, next);
    return atomic_load(&next->state) == UNIT_FAILED || (ready && is_ready(next)) ? UINT64_MAX : 0;
}

static void consider(struct launch *l, const struct worker *k)
{
    struct unit *u = l->compiler_data;
    uint64_t again = advance(l, u, k->warp_instructions, worth_in_one);
    take(l, u);
    atomic_store_explicit(&l->consider_at, again, memory_order_relaxed);
}

static void end(struct launch *l)
{
    struct unit *u = l->compiler_data;
    if (u)
        advance(l, u, atomic_fetch_add(&u->work, l->warp_instructions) + l->warp_instructions, worth_in_all);
}

static void forget(struct machine *m, struct kernel *k)
{
    struct jit *j = m->compiler_data;
    after_fork(j);
    pthread_mutex_lock(&j->lock);
    for (struct unit *u = k->compiled, *next; u; u = next) {
        next = u->next;
        struct line *line = line_of(j, u);
        struct unit **link = &line->queue;
        while (*link && *link != u)
            link = &(*link)->next_queued;
        if (*link)
            *link = u->next_queued;
        if (u == line->busy)
            u->abandoned = true;
        else
            free_unit(u);
    }
    k->compiled = NULL;
    pthread_mutex_unlock(&j->lock);
}

static bool confine(struct machine *m)
{
    struct jit *j = m->compiler_data;
    bool keeps = !j->settings.target;
    j->is_confined = true;
    j->perf_map = open_perf_map();
    bool ok = brokered_open(&j->disk, j->program, NULL, false);
    for (struct line *l = j->lines; l < j->lines + JIT_TIERS; l++)
        ok = ok && brokered_open(&l->outside, j->program, &l->process, keeps);
    return ok;
}

static void close_jit(struct machine *m)
{
    struct jit *j = m->compiler_data;
    after_fork(j);
    pthread_mutex_lock(&j->lock);
    j->stopping = true;
    pthread_mutex_unlock(&j->lock);
    for (struct line *l = j->lines; l < j->lines + JIT_TIERS; l++) {
        pthread_cond_broadcast(&l->work);
        process_end(&l->process);
        brokered_end(&l->outside);
    }
    for (struct line *l = j->lines; l < j->lines + JIT_TIERS; l++) {
        if (l->has_thread)
            pthread_join(l->thread, NULL);
        process_close(&l->process);
        brokered_close(&l->outside);
        pthread_cond_destroy(&l->work);
    }
    brokered_close(&j->disk);
    if (j->perf_map)
        fclose(j->perf_map);
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->done);
    free(j);
}

static const struct compiler compiler = {begin, consider, end, forget, wants_serial_walks, confine, close_jit};

void jit_attach(struct machine *m)
{
    struct jit *j = calloc(1, sizeof *j);
    if (!j)
        return; /* kernels are interpreted */
    j->machine = m;
    j->owner = getpid();
    settings_read(&j->settings, &m->config);
    find_program(j);
    for (struct line *l = j->lines; l < j->lines + JIT_TIERS; l++) {
        l->jit = j;
        pthread_cond_init(&l->work, NULL);
        process_init(&l->process, settings_dump(&j->settings));
        brokered_init(&l->outside);
    }
    brokered_init(&j->disk);
    pthread_mutex_init(&j->lock, NULL);
    cond_init_monotonic(&j->done);
    m->compiler_data = j;
    m->compiler = &compiler;
}
