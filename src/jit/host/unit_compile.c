/* See unit_compile.h. */
#include "jit/host/unit_compile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "exec/machine.h"
#include "jit/costs.h"

/* ---- the request ---- */

/* The entry of targets.def that is best on this CPU, for a level that the interpreter uses. */
static const char *find_target(const char *level)
{
#ifdef __x86_64__
    enum { ZEN5 = 0x1a }; /* the first family whose cores are of Zen 5 or later */
    unsigned a, b, c, d;
    bool is_amd = __builtin_cpu_is("amd") && __get_cpuid(1, &a, &b, &c, &d);
    bool is_zen5 = is_amd && (a >> 8 & 15) + (a >> 20 & 255) >= ZEN5;
    if (is_amd && strcmp(level, "x86-64-v4") == 0)
        return is_zen5 ? "x86-64-v4+zen5" : "x86-64-v4+amd";
    if (is_zen5 && strcmp(level, "x86-64-v3") == 0)
        return "x86-64-v3+zen5";
#endif
    return level;
}

/* The level for which code is made. */
static const char *level_of(const struct jit *j)
{
    const char *asked = j->settings.target;
    return asked && strcmp(asked, "native") != 0 ? asked : find_target(j->machine->cpu_level);
}

bool unit_wants_serial_walks(const struct machine *m)
{
    static const struct target {
        const char *name;
        bool one_by_one;
    } targets[] = {
#define TARGET(name, bitcode, triple, cpu, features, mask_registers, masked_stores, gathers, waits, store_order,       \
               whole_elements, whole_bytes, prefetches_near)                                                           \
    {name, waits || !(gathers)},
#include "jit/targets.def"
#undef TARGET
    };
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(targets[i].name, level_of(m->compiler_data)) == 0)
            return targets[i].one_by_one;
    return false;
}

bool unit_write_request(struct jit *j, struct unit *u, const struct kernel *k)
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
    /* Functions, the entry first; if there are too many, the interpreter runs the others. */
    uint64_t total = 0;
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

/* ---- what is said of it ---- */

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

/* Opens a file for appending. Refuses what another user may have placed in a shared folder: a link
 * to a file of ours, a pipe. */
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

FILE *unit_open_perf_map(void)
{
    char path[64];
    const char *wanted = secure_getenv("HEDDLE_PERF");
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    return wanted && *wanted ? open_own(path) : NULL;
}

static void name_for_perf(const struct jit *j, const struct unit *u, const struct jit_result *r)
{
    FILE *map = j->is_confined ? j->perf_map : unit_open_perf_map();
    if (!map)
        return;
    loader_name_functions(&u->object, r->object, r->bytes, map);
    if (j->is_confined)
        fflush(map);
    else
        fclose(map);
}

/* Prints for HEDDLE_LOG=engine. */
static void tell(const struct jit *j, const struct unit *u, const char *what, const char *why)
{
    const struct machine_config *c = &j->machine->config;
    char text[1024];
    if (!j->settings.log[LOG_ENGINE] || !c->note)
        return;
    snprintf(text, sizeof text, "kernel `%.*s`%s: %s", (int)(u->name.n < 200 ? u->name.n : 200), u->name.p, what, why);
    c->note(c->print_data, text);
}

void unit_tell_why(const struct jit *j, const struct unit *u)
{
    bool has_code = u->tier == TIER_SECOND && !j->settings.tier;
    tell(j, u, has_code ? " keeps its first code" : " stays in the interpreter", u->why);
}

static void tell_cache(const struct jit *j, const struct unit *u, const struct jit_result *r)
{
    if (r->cache_error)
        tell(j, u, ": the cache is not used", r->cache_error);
}

/* ---- the code ---- */

static bool load(const struct jit *j, struct unit *u, const struct jit_result *r)
{
    char error[LOADER_ERROR_BYTES];
    if (r->n_inline_caches > u->compiled.n_inline_caches) {
        snprintf(u->why, sizeof u->why, "the code belongs to another kernel");
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

bool unit_recall(struct jit *j, struct unit *u)
{
    if (u->is_last || !recall_tier(j, u, TIER_SECOND))
        return recall_tier(j, u, u->tier);
    u->is_last = true;
    return true;
}

/* The compiler's answer; false with u->why if there is none. */
static bool ask_compiler(struct jit *j, struct unit *u, const struct wire_ask *ask, struct jit_result *result)
{
    struct compile_queue *l = queue_of(j, u);
    const char *why = j->is_confined ? "the process that passes requests to the compiler has ended" : l->process.why;
    bool ok = j->is_confined ? brokered_compile(&l->outside, ask, u->request, result)
                             : process_ask(&l->process, j->program, ask, u->request, result);
    if (!ok)
        snprintf(u->why, sizeof u->why, "%s", why);
    return ok;
}

bool unit_compile(struct jit *j, struct unit *u)
{
    struct wire_ask ask = {.bytes = u->request_bytes,
                           .tier = u->tier,
                           .seconds = u->asked ? LIMIT_seconds_asked : LIMIT_seconds,
                           .object = !j->settings.target || j->settings.dump_time,
                           .ir = j->settings.dump_ir,
                           .llvm = j->settings.dump_llvm,
                           .assembly = j->settings.dump_asm};
    struct jit_result result = {0};
    if (!ask_compiler(j, u, &ask, &result))
        return false;
    u->is_overtime = result.is_overtime;
    if (result.error)
        snprintf(u->why, sizeof u->why, "%s", result.error);
    else if (j->settings.target)
        snprintf(u->why, sizeof u->why, "HEDDLE_TARGET only shows code for %.64s", level_of(j));
    dump("IR", u, result.ir);
    dump("LLVM", u, result.llvm);
    dump("assembly", u, result.assembly);
    if (j->settings.dump_time)
        dump_times(u, &result);
    bool ok = result.object && !j->settings.target && load(j, u, &result);
    if (ok && !j->is_confined)
        code_cache_store(&u->key, &result);
    tell_cache(j, u, &result);
    jit_release(&result);
    return ok;
}
