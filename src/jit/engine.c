/* See engine.h. One thread of the machine compiles, in the order of requests; it starts with the first. */
#include "jit/engine.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "jit/cache.h"
#include "jit/object.h"
#include "jit/plugin.h"

/* Instructions of warps that a worker has run of a launch before its kernel is worth compiling: about 5 ms. */
static const uint64_t worth_compiling = 200000;
/* Larger functions are interpreted: compiling them takes seconds, which a machine that is to go would have to wait for.
 * Who asks for compiled code gets it. */
enum { MAX_INSTRUCTIONS = 4000, MAX_INSTRUCTIONS_ASKED = 40000 };

enum unit_state { UNIT_NEW, UNIT_QUEUED, UNIT_READY, UNIT_FAILED };

/* The code of a kernel for a shape of block. */
struct unit {
    struct compiled compiled; /* first: what launches point to */
    struct unit *next, *next_queued;
    struct kernel *kernel;
    uint32_t block[3];
    struct cache_key key;
    bool asked; /* for compiled code, by a launch that waits for it */
    _Atomic int state;
    struct object object;
    char why[256]; /* UNIT_FAILED */
};

struct jit {
    struct machine *machine;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pthread_t thread;
    bool has_thread, stopping;
    struct jit *next_running; /* of those with a thread */
    struct unit *queue, *busy;
    pthread_mutex_t load_lock;
    bool looked;
    char path[PATH_MAX + 64];
    void *library;
    const struct jit_plugin *plugin;
    struct jit_session *session; /* the compiling thread's */
    char why[256];               /* there is no plug-in */
    hd_engine wish; /* HEDDLE_ENGINE: where neither launch nor machine say; compiled code where that can be */
    bool dump_llvm, dump_asm, dump_time;
};

/* ---- the end of the process: nothing may compile, or load LLVM, while exit() runs LLVM's destructors ---- */

static struct {
    pthread_mutex_t lock;
    struct jit *first;
} running = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Waits for what is being compiled; nothing will be any more. */
static void stop_thread(struct jit *j)
{
    pthread_mutex_lock(&j->lock);
    j->stopping = true;
    j->queue = NULL;
    pthread_cond_broadcast(&j->work);
    bool has_thread = j->has_thread;
    j->has_thread = false;
    pthread_mutex_unlock(&j->lock);
    if (has_thread)
        pthread_join(j->thread, NULL);
}

static void stop_all(void)
{
    struct jit *j;
    do {
        pthread_mutex_lock(&running.lock);
        j = running.first;
        running.first = j ? j->next_running : NULL;
        pthread_mutex_unlock(&running.lock);
        if (j)
            stop_thread(j);
    } while (j);
}

/* ---- the plug-in ---- */

static void open_plugin(struct jit *j, const char *path)
{
    j->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    atexit(stop_all); /* once more: what is registered last goes first, before LLVM's destructors */
    const struct jit_plugin *plugin = j->library ? dlsym(j->library, JIT_PLUGIN_SYMBOL) : NULL;
    if (!j->library)
        snprintf(j->why, sizeof j->why, "%s", dlerror());
    else if (!plugin || strcmp(plugin->version, HEDDLE_VERSION) != 0 || plugin->layout != JIT_LAYOUT)
        snprintf(j->why, sizeof j->why, "%.200s is of another version", path);
    else
        j->plugin = plugin;
}

static bool is_there(struct jit *j, const char *path)
{
    if (access(path, R_OK) != 0)
        return false;
    snprintf(j->path, sizeof j->path, "%s", path);
    return true;
}

/* The file: HEDDLE_JIT; or next to the library or program that this code is in, or in lib/ beside its folder. */
static void find_plugin(struct jit *j)
{
    static const char *const places[] = {"", "lib/", "../lib/", "../"};
    const char *set = getenv("HEDDLE_JIT");
    char path[PATH_MAX + 64], real[PATH_MAX], resolved[PATH_MAX];
    Dl_info self;
    snprintf(j->why, sizeof j->why,
             "libheddle-jit.so is not there: it is built where LLVM 19 and clang 19 are installed");
    if (set && *set) {
        is_there(j, set);
        return;
    }
    ssize_t n = readlink("/proc/self/exe", real, sizeof real - 1);
    real[n > 0 ? n : 0] = 0;
    bool known = dladdr((void *)(uintptr_t)find_plugin, &self) && self.dli_fname && realpath(self.dli_fname, resolved);
    const char *starts[2] = {known ? resolved : real, real};
    for (int from = 0; from < 2; from++) {
        const char *slash = strrchr(starts[from], '/');
        for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
            snprintf(path, sizeof path, "%.*s%slibheddle-jit.so", (int)(slash + 1 - starts[from]), starts[from],
                     places[i]);
            if (is_there(j, path))
                return;
        }
    }
}

/* Where the plug-in is, or NULL. */
static const char *plugin_path(struct jit *j)
{
    pthread_mutex_lock(&j->load_lock);
    if (!j->looked)
        find_plugin(j);
    j->looked = true;
    pthread_mutex_unlock(&j->load_lock);
    return j->path[0] ? j->path : NULL;
}

/* Loads it. */
static const struct jit_plugin *plugin_of(struct jit *j)
{
    const char *path = plugin_path(j);
    pthread_mutex_lock(&j->load_lock);
    if (path && !j->library)
        open_plugin(j, path);
    pthread_mutex_unlock(&j->load_lock);
    return j->plugin;
}

/* ---- what can be compiled ---- */

static const char *refusal(const struct code *c, bool asked)
{
    return c->ir->insns.n > (asked ? MAX_INSTRUCTIONS_ASKED : MAX_INSTRUCTIONS) ? "it is too large" : NULL;
}

/* The shapes of all functions; regs stays NULL for those that are not compiled. False where the kernel is not. */
static bool find_shapes(struct unit *u, struct arena *arena, struct ir_shapes *shapes)
{
    const struct kernel *k = u->kernel;
    for (uint32_t i = 0; i < k->functions.n; i++) {
        const struct code *c = k->functions.at[i];
        const char *why = refusal(c, u->asked);
        if (!why && !ir_find_shapes(c->ir, u->block, arena, &shapes[i]))
            why = "it has too many branches";
        if (why && c == k->entry) {
            snprintf(u->why, sizeof u->why, "%s", why);
            return false;
        }
        if (why)
            shapes[i] = (struct ir_shapes){.regs = NULL};
    }
    return true;
}

/* ---- compiling ---- */

static void dump(const char *title, const struct unit *u, const char *text)
{
    struct str name = u->kernel->func->symbol.name;
    if (text)
        fprintf(stderr, "; %s of %.*s, blocks of (%u,%u,%u)\n%s\n", title, STR_ARG(name), u->block[0], u->block[1],
                u->block[2], text);
}

static void dump_times(const struct unit *u, const struct jit_result *r)
{
    struct str name = u->kernel->func->symbol.name;
    fprintf(stderr, "; %.*s: %llu instructions, emitted in %.2f ms, passes %.2f ms, code %.2f ms: %zu bytes\n",
            STR_ARG(name), (unsigned long long)u->kernel->instructions, 1e3 * r->emit_seconds, 1e3 * r->pass_seconds,
            1e3 * r->code_seconds, r->bytes);
}

/* For those who ask: perf looks for names of code that lies in no file in /tmp. */
static void name_for_perf(const struct unit *u, const struct jit_result *r)
{
    char path[64];
    const char *wanted = getenv("HEDDLE_PERF");
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = wanted && *wanted ? fopen(path, "a") : NULL;
    if (!map)
        return;
    object_name(&u->object, r->object, r->bytes, map);
    fclose(map);
}

static bool load(struct unit *u, const struct jit_result *r)
{
    const char *error = NULL;
    u->compiled.n_sites = r->n_sites;
    if (object_load(&u->object, r->object, r->bytes, u->compiled.functions, u->kernel->functions.n, &error)) {
        name_for_perf(u, r);
        return true;
    }
    snprintf(u->why, sizeof u->why, "%s", error);
    return false;
}

static bool compile(struct jit *j, struct unit *u)
{
    const struct jit_plugin *plugin = plugin_of(j);
    struct kernel *k = u->kernel;
    jmp_buf oom;
    struct arena arena = {.on_oom = &oom};
    struct jit_result result = {0};
    bool ok = false;
    if (plugin && !j->session)
        j->session = plugin->open(j->machine->cpu_level);
    if (!j->session) {
        snprintf(u->why, sizeof u->why, "%s", plugin ? "the compiler does not know this CPU" : j->why);
        return false;
    }
    if (setjmp(oom) == 0) {
        struct ir_shapes *shapes = ARENA_ARRAY(&arena, struct ir_shapes, k->functions.n);
        if (find_shapes(u, &arena, shapes)) {
            struct jit_request request = {.name = arena_strndup(&arena, k->func->symbol.name.p, k->func->symbol.name.n),
                                          .functions = k->functions.at,
                                          .shapes = shapes,
                                          .n_functions = k->functions.n,
                                          .param_bytes = k->param_bytes,
                                          .lane_info = lane_info,
                                          .dump_llvm = j->dump_llvm,
                                          .dump_asm = j->dump_asm};
            plugin->compile(j->session, &request, &result);
            if (result.error)
                snprintf(u->why, sizeof u->why, "%s", result.error);
            dump("LLVM", u, result.llvm);
            dump("assembly", u, result.assembly);
            if (j->dump_time)
                dump_times(u, &result);
            ok = result.object && load(u, &result);
            if (ok)
                cache_store(&u->key, &result);
            plugin->release(&result);
        }
    } else {
        snprintf(u->why, sizeof u->why, "no memory");
    }
    arena_free(&arena);
    return ok;
}

/* ---- units ---- */

static struct unit *new_unit(struct kernel *k, const uint32_t block[3])
{
    struct unit *u = calloc(1, sizeof *u);
    if (!u || !(u->compiled.functions = calloc(k->functions.n, sizeof *u->compiled.functions))) {
        free(u);
        return NULL;
    }
    u->kernel = k;
    memcpy(u->block, block, sizeof u->block);
    u->next = k->compiled;
    k->compiled = u;
    return u;
}

static struct unit *find_unit(struct jit *j, struct kernel *k, const uint32_t block[3])
{
    pthread_mutex_lock(&j->lock);
    struct unit *u = k->compiled;
    while (u && memcmp(u->block, block, sizeof u->block) != 0)
        u = u->next;
    u = u ? u : new_unit(k, block);
    pthread_mutex_unlock(&j->lock);
    return u;
}

/* From the disk, by whoever asks first; what is dumped has to be compiled. */
static bool recall(struct jit *j, struct unit *u)
{
    struct jit_result result = {0};
    const char *plugin = plugin_path(j);
    if (!plugin)
        return false;
    u->key = cache_key(u->kernel, u->block, j->machine->cpu_level, plugin);
    if (j->dump_llvm || j->dump_asm || j->dump_time || !cache_load(&u->key, &result))
        return false;
    bool ok = load(u, &result);
    free(result.object);
    return ok;
}

static void run_queue(struct jit *j)
{
    while (j->queue) {
        struct unit *u = j->busy = j->queue;
        j->queue = u->next_queued;
        pthread_mutex_unlock(&j->lock);
        bool ok = compile(j, u);
        atomic_store(&u->state, ok ? UNIT_READY : UNIT_FAILED);
        pthread_mutex_lock(&j->lock);
        j->busy = NULL;
        pthread_cond_broadcast(&j->done);
    }
}

static void *compiler_main(void *data)
{
    struct jit *j = data;
    pthread_mutex_lock(&j->lock);
    while (!j->stopping) {
        run_queue(j);
        if (!j->stopping)
            pthread_cond_wait(&j->work, &j->lock);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* With the lock held. */
static void enqueue(struct jit *j, struct unit *u)
{
    struct unit **link = &j->queue;
    while (*link)
        link = &(*link)->next_queued;
    u->next_queued = NULL;
    *link = u;
    atomic_store(&u->state, UNIT_QUEUED);
    if (!j->has_thread && !j->stopping) {
        j->has_thread = pthread_create(&j->thread, NULL, compiler_main, j) == 0;
        pthread_mutex_lock(&running.lock);
        j->next_running = running.first;
        running.first = j;
        pthread_mutex_unlock(&running.lock);
        atexit(stop_all);
    }
    pthread_cond_signal(&j->work);
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

/* From the disk at once; else the compiling thread gets it. The plug-in is opened here, by a thread that the program waits for:
 * exit() during LLVM's constructors would run destructors of what they use. */
static void order(struct jit *j, struct unit *u)
{
    bool ok = recall(j, u);
    if (!ok)
        plugin_of(j);
    pthread_mutex_lock(&j->lock);
    if (ok)
        atomic_store(&u->state, UNIT_READY);
    else
        enqueue(j, u);
    pthread_cond_broadcast(&j->done);
    pthread_mutex_unlock(&j->lock);
}

/* Waits for the code. */
static void compile_now(struct jit *j, struct unit *u)
{
    int fresh = UNIT_NEW;
    pthread_mutex_lock(&j->lock);
    u->asked = true;
    pthread_mutex_unlock(&j->lock);
    if (atomic_compare_exchange_strong(&u->state, &fresh, UNIT_QUEUED))
        order(j, u);
    pthread_mutex_lock(&j->lock);
    while (atomic_load(&u->state) == UNIT_QUEUED)
        pthread_cond_wait(&j->done, &j->lock);
    pthread_mutex_unlock(&j->lock);
}

static bool begin(struct machine *m, struct launch *l, struct diags *diags)
{
    struct jit *j = m->compiler_data;
    const char *why = unfit(l);
    hd_engine engine = l->engine ? l->engine : j->wish;
    if (engine == HD_ENGINE_INTERP || (why && l->engine != HD_ENGINE_JIT))
        return true;
    struct unit *u = why ? NULL : find_unit(j, l->kernel, l->block);
    if (u && engine == HD_ENGINE_JIT)
        compile_now(j, u);
    l->compiler_data = u;
    if (u && atomic_load(&u->state) == UNIT_READY)
        atomic_store_explicit(&l->compiled, &u->compiled, memory_order_release);
    if (l->engine != HD_ENGINE_JIT || atomic_load(&l->compiled))
        return true;
    diag_error(diags, (struct place){0}, "engine", "leave the engine at auto, or take interp",
               "kernel `%.*s` cannot be compiled: %s", STR_ARG(l->kernel->func->symbol.name),
               why ? why
               : u ? u->why
                   : "no memory");
    return false;
}

static void consider(struct launch *l, const struct worker *k)
{
    struct unit *u = l->compiler_data;
    if (!u)
        return;
    int state = atomic_load_explicit(&u->state, memory_order_acquire);
    if (state == UNIT_READY) {
        atomic_store_explicit(&l->compiled, &u->compiled, memory_order_release);
    } else if (state == UNIT_NEW && k->warp_instructions > worth_compiling) {
        int fresh = UNIT_NEW;
        if (atomic_compare_exchange_strong(&u->state, &fresh, UNIT_QUEUED))
            order(l->machine->compiler_data, u);
    }
}

static void forget(struct machine *m, struct kernel *k)
{
    struct jit *j = m->compiler_data;
    pthread_mutex_lock(&j->lock);
    for (struct unit **link = &j->queue; *link;)
        if ((*link)->kernel == k)
            *link = (*link)->next_queued;
        else
            link = &(*link)->next_queued;
    while (j->busy && j->busy->kernel == k)
        pthread_cond_wait(&j->done, &j->lock);
    for (struct unit *u = k->compiled; u;) {
        struct unit *next = u->next;
        object_unload(&u->object);
        free(u->compiled.functions);
        free(u);
        u = next;
    }
    k->compiled = NULL;
    pthread_mutex_unlock(&j->lock);
}

static void close_jit(struct machine *m)
{
    struct jit *j = m->compiler_data;
    stop_thread(j);
    pthread_mutex_lock(&running.lock);
    for (struct jit **link = &running.first; *link; link = &(*link)->next_running)
        if (*link == j) {
            *link = j->next_running;
            break;
        }
    pthread_mutex_unlock(&running.lock);
    if (j->session)
        j->plugin->close(j->session);
    pthread_mutex_destroy(&j->lock);
    pthread_mutex_destroy(&j->load_lock);
    pthread_cond_destroy(&j->work);
    pthread_cond_destroy(&j->done);
    free(j); /* the library stays: LLVM is not made to be unloaded */
}

static const struct compiler compiler = {begin, consider, forget, close_jit};

static bool word_in(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, word, n) == 0 && (p[n] == 0 || p[n] == ','))
            return true;
    return false;
}

void jit_attach(struct machine *m)
{
    struct jit *j = calloc(1, sizeof *j);
    const char *dump = getenv("HEDDLE_DUMP");
    if (!j)
        return; /* kernels are interpreted */
    j->machine = m;
    j->dump_llvm = word_in(dump, "llvm");
    j->dump_asm = word_in(dump, "asm");
    j->dump_time = word_in(dump, "time");
    const char *engine = getenv("HEDDLE_ENGINE");
    if (!m->config.engine && engine)
        j->wish = word_in(engine, "jit")      ? HD_ENGINE_JIT
                  : word_in(engine, "interp") ? HD_ENGINE_INTERP
                                              : HD_ENGINE_AUTO;
    pthread_mutex_init(&j->lock, NULL);
    pthread_mutex_init(&j->load_lock, NULL);
    pthread_cond_init(&j->work, NULL);
    pthread_cond_init(&j->done, NULL);
    m->compiler_data = j;
    m->compiler = &compiler;
}
