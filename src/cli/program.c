/* See program.h.
 *
 * A program finds our libraries by its environment, which children inherit: LD_LIBRARY_PATH names
 * the folder of libcuda.so.1 and libcudart.so.N, and LD_PRELOAD the library that replaces a runtime
 * linked into the program (cuda/process/preload.c).
 */
#include "cli/program.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/elf.h"
#include "files/places.h"
#include "cuda/image/fatbin.h"
#include "cuda/image/pack.h"
#include "exec/device.h"

enum { MAX_DEVICES = 16 /* of libcuda.so.1 */ };

/* What goes into the program's environment. */
struct start {
    struct session *s;
    const char *program;   /* its path */
    const char *libraries; /* the folder of our libraries */
    const char *preload;   /* a list of files for LD_PRELOAD */
};

static int cannot(struct session *s, int status, const char *text)
{
    usage_error(s, "%s", text);
    return status;
}

static bool is_there(const char *path)
{
    return access(path, R_OK) == 0;
}

/* ---- what a program's file says ---- */

/* Does RPATH, which precedes LD_LIBRARY_PATH, lead to this library? (RUNPATH comes behind it.) */
static bool rpath_hides(const struct elf *e, const char *program, const char *library, struct arena *arena)
{
    const char *rpath = elf_dynamic_string(e, DT_RPATH, 0), *slash = strrchr(program, '/');
    if (!rpath || elf_dynamic_string(e, DT_RUNPATH, 0))
        return false;
    for (const char *p = rpath; *p;) {
        size_t n = strcspn(p, ":"), origin = strncmp(p, "$ORIGIN", 7) == 0     ? 7
                                             : strncmp(p, "${ORIGIN}", 9) == 0 ? 9
                                                                               : 0;
        const char *folder = arena_printf(arena, "%.*s%.*s", origin && slash ? (int)(slash - program) : 0, program,
                                          (int)(n - origin), p + origin);
        if (is_there(arena_printf(arena, "%s/%s", folder, library)))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

/* Preloads those of our libraries that the program's RPATH would pass over: the dynamic linker
 * loads a library of one name once. */
static void preload_hidden(struct start *start, const struct elf *e)
{
    struct arena *arena = &start->s->arena;
    const char *library;
    for (unsigned i = 0; (library = elf_dynamic_string(e, DT_NEEDED, i)); i++) {
        const char *ours = arena_printf(arena, "%s/%s", start->libraries, library);
        if (strncmp(library, "libcuda", 7) == 0 && is_there(ours) && rpath_hides(e, start->program, library, arena))
            start->preload = arena_printf(arena, "%s:%s", start->preload, ours);
    }
}

/* The architecture of the device that the program will see; UINT_MAX if the program's images choose
   it. */
static unsigned claimed_arch(const char *device)
{
    const char *name = device ? device : getenv("HEDDLE_DEVICE");
    if (name && strcmp(name, "auto") == 0)
        return UINT_MAX;
    const struct device_model *model = device_model(name);
    return model ? model->arch : device_model(NULL)->arch;
}

/* The error for a program that has machine code and no PTX: which code it has, and the remedy. */
static const char *no_ptx(const struct elf *e, const char *device, struct arena *arena)
{
    struct image_section sections[MAX_IMAGE_SECTIONS];
    size_t n = image_sections(e, sections);
    char why[512];
    return image_sections_lack_ptx(sections, n, claimed_arch(device), why, sizeof why) ? arena_printf(arena, "%s", why)
                                                                                       : NULL;
}

/* Why an executable cannot run; NULL if it can. */
static const char *obstacle(const struct elf *e, const char *program, const char *device, struct arena *arena)
{
    if (!elf_section(e, ".nvFatBinSegment"))
        return NULL;
    if (!elf_section(e, ".interp"))
        return arena_printf(arena,
                            "%s is linked statically with its C library, so that Heddle cannot replace its CUDA "
                            "runtime; link it without -static",
                            program);
    if (elf_is_stripped_of(e, "__cudaRegisterFatBinary"))
        return arena_printf(arena,
                            "%s has the CUDA runtime inside and has been stripped: the runtime's functions cannot be "
                            "found; link it with `nvcc -cudart shared`, or do not strip it, or build it with `heddle "
                            "cc`",
                            program);
    const char *why = getenv("HEDDLE_KERNELS") ? NULL : no_ptx(e, device, arena);
    return why ? arena_printf(arena, "%s: %s", program, why) : NULL;
}

/* ---- starting ---- */

/* Sets NAME to `value`, followed by a colon and its old value if there is one. */
static bool prepend(const char *name, const char *value, struct arena *arena)
{
    const char *before = getenv(name);
    return setenv(name, before && *before ? arena_printf(arena, "%s:%s", value, before) : value, 1) == 0;
}

static bool set(const char *name, const char *value)
{
    return !value || setenv(name, value, 1) == 0;
}

static const char *number_text(uint64_t n, struct arena *arena)
{
    return n ? arena_printf(arena, "%llu", (unsigned long long)n) : NULL;
}

/* Compilers that assemble machine code get our assemblers, which make images of PTX: Triton by its
 * own variables, others by PATH. A user's own setting is kept. */
static bool set_tools(struct arena *arena, const char *libraries)
{
    const char *tools = place_of_tools(arena), *ptxas = tools ? arena_printf(arena, "%s/ptxas", tools) : NULL;
    return !tools ||
           (prepend("PATH", tools, arena) && setenv("TRITON_PTXAS_PATH", ptxas, 0) == 0 &&
            setenv("TRITON_PTXAS_BLACKWELL_PATH", ptxas, 0) == 0 && setenv("TRITON_LIBCUDA_PATH", libraries, 0) == 0);
}

/* The system's NVRTCs, which the dynamic linker knows and which are NVIDIA's. */
struct system_nvrtc {
    unsigned n;
    const char *folders; /* their folders, separated by colons */
};

static struct system_nvrtc find_system_nvrtc(struct arena *arena)
{
    static const char *const names[] = {"/libnvrtc.so.12", "/libnvrtc.so.13"};
    struct system_nvrtc found = {.folders = ""};
    size_t bytes = 0;
    char *cache = image_file("/etc/ld.so.cache", &bytes);
    for (size_t i = 0; cache && i < sizeof names / sizeof names[0]; i++) {
        const char *end = memmem(cache, bytes, names[i], strlen(names[i]) + 1), *start = end;
        while (start && start > cache && start[-1])
            start--;
        if (!end)
            continue;
        found.n++;
        found.folders = arena_printf(arena, "%s:%.*s", found.folders, (int)(end - start), start);
    }
    free(cache);
    return found;
}

/* Does the started Python have NVIDIA's NVRTC from PyPI, which precedes everything the dynamic
 * linker knows? */
static bool python_has_nvrtc(const char *program, struct arena *arena)
{
    static const char packages[] = "lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*";
    const char *slash = strrchr(program, '/');
    glob_t found;
    bool has = slash && glob(arena_printf(arena, "%.*s/../%s", (int)(slash - program), program, packages), GLOB_NOSORT,
                             NULL, &found) == 0;
    if (has)
        globfree(&found);
    return has;
}

/* Our folder comes last, behind the user's folders and the folders of the system's NVRTC of another
 * version, so that it hides none of them. */
static bool set_libraries(struct arena *arena, const char *libraries, struct system_nvrtc systems)
{
    const char *nvrtc = place_of_nvrtc(arena), *users = getenv("LD_LIBRARY_PATH");
    const char *all = users && *users ? arena_printf(arena, "%s:%s", libraries, users) : libraries;
    if (nvrtc && systems.n < 2)
        all = arena_printf(arena, "%s%s:%s", all, systems.folders, nvrtc);
    return set("LD_LIBRARY_PATH", all);
}

/* CuPy passes a toolkit's headers to NVRTC. If the program uses our NVRTC, and there are no such
 * headers, it gets ours. */
static bool set_headers(const struct start *start, bool has_nvrtc)
{
    struct arena *arena = &start->s->arena;
    bool has_toolkit =
        getenv("CUDA_PATH") || getenv("CUDA_HOME") || is_there("/usr/local/cuda") || file_find_program("nvcc", arena);
    return has_toolkit || has_nvrtc || python_has_nvrtc(start->program, arena) ||
           set("CUDA_PATH", place_of_cuda(arena));
}

static bool set_environment(const struct start *start)
{
    const struct options *o = &start->s->o;
    struct arena *arena = &start->s->arena;
    struct system_nvrtc nvrtc = find_system_nvrtc(arena);
    return set_tools(arena, start->libraries) && set_libraries(arena, start->libraries, nvrtc) &&
           set_headers(start, nvrtc.n) && prepend("LD_PRELOAD", start->preload, arena) &&
           set("HEDDLE_DEVICE", o->device) && set("HEDDLE_CPU", o->cpu) && set("HEDDLE_LOG", o->log) &&
           set("HEDDLE_DEVICES", number_text(o->devices, arena)) &&
           set("HEDDLE_MEMORY", number_text(o->memory, arena)) && set("HEDDLE_STACK", number_text(o->stack, arena)) &&
           set("HEDDLE_STEP_LIMIT", number_text(o->step_limit, arena)) &&
           set("HEDDLE_PAGEABLE", o->pageable ? "1" : NULL) &&
           set("HEDDLE_EXACT_BOUNDS", o->exact_bounds ? "1" : NULL) && set("HEDDLE_SUMMARY", o->verbose ? "1" : NULL);
}

/* Returns what is wrong with --device, or NULL. Only the library knows the devices. */
static const char *wrong_device(const char *device, struct arena *arena)
{
    hd_machine_options options = {.device = device, .workers = 1};
    hd_machine *machine;
    const char *error = NULL;
    if (!device || strcmp(device, "auto") == 0)
        return NULL;
    hd_result r = hd_machine_create(&options, &machine, &error);
    if (!r)
        hd_machine_destroy(machine);
    return r == HD_ERROR_INVALID_VALUE && error
               ? arena_printf(arena, "--device %s: %s; `auto` chooses by the program's PTX", device, error)
               : NULL;
}

/* Is the text one topic of --log? */
static bool is_topic(const char *p, size_t n)
{
#define LOG_TOPIC(name, word)                                                                                          \
    if (n == strlen(word) && memcmp(p, word, n) == 0)                                                                  \
        return true;
#include "base/log_topics.def"
#undef LOG_TOPIC
    return false;
}

static const char *wrong_options(const struct options *o, struct arena *arena)
{
#define LOG_TOPIC(name, word) ", " word
    static const char topics[] =
#include "base/log_topics.def"
        ;
#undef LOG_TOPIC
    const char *wrong = wrong_cpu_level(o->cpu, arena);
    if (wrong || (wrong = wrong_device(o->device, arena)))
        return wrong;
    if (o->stack > UINT32_MAX / 2)
        return "`--stack`: at most 1G is possible";
    if (o->devices > MAX_DEVICES)
        return arena_printf(arena, "--devices %llu: at most %d are possible", (unsigned long long)o->devices,
                            MAX_DEVICES);
    for (const char *p = o->log; p && *p;) {
        size_t n = strcspn(p, ",");
        if (!is_topic(p, n))
            return arena_printf(arena, "--log %s: the topics are %s", o->log, topics + strlen(", "));
        p += n + (p[n] == ',');
    }
    return NULL;
}

/* Sets the variables that the pack gives to programs (cuda/image/pack_belongs.h),
 * except those that are set. */
static void set_variables(const struct pack *p, struct arena *arena)
{
    const char *line;
    for (unsigned i = 0; (line = pack_fact(p, "environment", i)); i++) {
        const char *equals = strchr(line, '=');
        if (equals && equals > line)
            setenv(arena_strndup(arena, line, (size_t)(equals - line)), equals + 1, 0);
    }
}

/* Returns what is wrong with --kernels: it names a file that is no pack. Otherwise makes the packs'
 * paths absolute for the program, which may change its folder. */
static const char *give_kernels(const struct options *o, struct arena *arena)
{
    const char *list = "";
    char why[512];
    struct stat st;
    for (unsigned i = 0; i < o->kernels.n; i++) {
        const char *given = o->kernels.at[i];
        char *path = realpath(given, NULL);
        if (!path)
            return arena_printf(arena, "--kernels %s: %s", given, strerror(errno));
        list = arena_printf(arena, "%s%s%s", list, *list ? ":" : "", path);
        struct pack *p = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? NULL : pack_open(path, why, sizeof why);
        free(path);
        if (!p && !S_ISDIR(st.st_mode))
            return arena_printf(arena, "--kernels: %s", why);
        if (p)
            set_variables(p, arena);
        pack_close(p);
    }
    if ((o->kernels_unmatched || o->kernels_partial) && !o->kernels.n && !getenv("HEDDLE_KERNELS"))
        return arena_printf(arena, "--kernels-%s needs a pack: --kernels FILE names one",
                            o->kernels_unmatched ? "unmatched" : "partial");
    return (*list && !prepend("HEDDLE_KERNELS", list, arena)) ||
                   !set("HEDDLE_KERNELS_PARTIAL", o->kernels_partial ? "1" : NULL) ||
                   !set("HEDDLE_KERNELS_UNMATCHED", o->kernels_unmatched ? "1" : NULL)
               ? "out of memory"
               : NULL;
}

/* The command that runs files of each suffix. */
static const struct {
    const char *end, *program;
} interpreters[] = {{".py", "python3"}, {".sh", "sh"},    {".bash", "bash"},
                    {".pl", "perl"},    {".jl", "julia"}, {".ipynb", "jupyter execute"}};

/* If the file shows that the word is no program, returns what to do instead; else NULL. */
static const char *taken_for_a_program(const char *word, const char *command, struct arena *arena)
{
    const char *dot = strrchr(word, '.');
    if (access(word, F_OK) != 0 || access(word, X_OK) == 0)
        return !strchr(word, '/') && access(word, X_OK) == 0
                   ? arena_printf(arena, "there is no program `%s` on PATH; write `./%s` for the one in this folder",
                                  word, word)
                   : NULL;
    if (dot && strcmp(dot, ".ptx") == 0)
        return arena_printf(arena, "`%s` is PTX: `heddle launch` runs a kernel of it", word);
    if (dot && strcmp(dot, ".cu") == 0)
        return arena_printf(
            arena, "`%s` is a source: `heddle cc %s -o PROGRAM` makes a program of it, for `heddle %s ./PROGRAM`", word,
            word, command);
    for (size_t i = 0; dot && i < sizeof interpreters / sizeof interpreters[0]; i++)
        if (strcmp(dot, interpreters[i].end) == 0)
            return arena_printf(arena, "`%s` is a script: `heddle %s %s %s`", word, command, interpreters[i].program,
                                word);
    if (file_is_ptx(word))
        return arena_printf(arena, "`%s` is PTX: `heddle launch` runs a kernel of it", word);
    return arena_printf(arena, "`%s` is not executable: `chmod +x %s` if it is a program", word, word);
}

const char *program_prepare(struct session *s, const char *preload, int *status)
{
    struct start start = {.s = s, .libraries = place_of_libraries(&s->arena)};
    struct elf e;
    const char *wrong = wrong_options(&s->o, &s->arena);
    wrong = wrong ? wrong : give_kernels(&s->o, &s->arena);
    *status = wrong ? usage_error(s, "%s", wrong) : 0;
    if (!wrong && !start.libraries)
        *status = cli_failure(s, "Heddle's libcuda.so.1 is neither beside this program nor where it was installed");
    if (*status)
        return NULL;
    start.program = file_find_program(s->words[0], &s->arena);
    if (!start.program || access(start.program, X_OK) != 0)
        wrong = taken_for_a_program(s->words[0], s->command->name, &s->arena);
    if (wrong || !start.program) {
        wrong = wrong ? wrong : arena_printf(&s->arena, "there is no program `%s`", s->words[0]);
        *status = cannot(s, start.program ? PROGRAM_CANNOT_RUN : PROGRAM_NOT_FOUND, wrong);
        return NULL;
    }
    struct stat st;
    if (stat(start.program, &st) == 0 && S_ISDIR(st.st_mode)) {
        *status =
            cannot(s, PROGRAM_CANNOT_RUN, arena_printf(&s->arena, "`%s` is a folder, not a program", s->words[0]));
        return NULL;
    }
    start.preload = arena_printf(&s->arena, "%s/libheddle-preload.so", start.libraries);
    if (preload)
        start.preload = arena_printf(&s->arena, "%s:%s/%s", start.preload, start.libraries, preload);
    if (elf_open(&e, start.program)) {
        wrong = obstacle(&e, start.program, s->o.device, &s->arena);
        preload_hidden(&start, &e);
        elf_close(&e);
    }
    if (wrong)
        *status = cannot(s, PROGRAM_CANNOT_RUN, wrong);
    else if (!set_environment(&start))
        *status = cli_failure(s, "out of memory");
    if (*status)
        return NULL;
    if (s->o.verbose)
        fprintf(stderr, "heddle: running %s with the libraries of %s\n", start.program, start.libraries);
    s->words[s->n_words] = NULL;
    return start.program;
}
