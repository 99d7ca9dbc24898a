/* See nvrtc.h. The source and the headers become files of a folder of their own, which `heddle cc`
 * compiles; the folder goes when the PTX has been read. Files begin with a #line that says what the
 * program calls them, so that messages and lines in the PTX do, too.
 *
 * A name expression becomes a variable that has its address: where the address is one of a
 * template's, that also makes the kernel. The variable's initialiser in the PTX is the lowered
 * name; then the variable goes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "cuda/image/fatbin.h"
#include "toolkit/nvrtc.h"

extern char **environ;

static const char name_prefix[] = "__heddle_name_";

/* A header may be named ../../name.h: it lies so deep. */
static const char header_root[] = "headers/1/2/3/4/5/6";
enum { HEADER_DEPTH = 6 };

static const char *say(nvrtcProgram p, const char *text)
{
    p->log = arena_printf(&p->arena, "%s%s\n", p->log ? p->log : "", text);
    return NULL;
}

/* ---- files ---- */

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *f)
{
    (void)s;
    (void)kind;
    (void)f;
    return remove(path);
}

/* A folder, and those that it is in. */
static bool make_folders(char *path)
{
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = 0;
        bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
        *p = '/';
        if (!ok)
            return false;
    }
    return true;
}

/* As the preprocessor wants a string. */
static void put_quoted(FILE *f, const char *text)
{
    for (fputc('"', f); *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', f);
        fputc(*text == '\n' ? ' ' : *text, f);
    }
    fputs("\"\n", f);
}

/* Does it stay in the folder? */
static bool is_within(const char *name)
{
    int depth = HEADER_DEPTH;
    for (const char *at = name; depth >= 0 && *at; at += strcspn(at, "/"), at += *at == '/') {
        if (strncmp(at, "../", 3) == 0)
            depth--;
    }
    return *name && *name != '/' && depth >= 0;
}

static bool write_header(nvrtcProgram p, const char *folder, const struct nvrtc_header *h)
{
    if (!is_within(h->name))
        return say(p, arena_printf(&p->arena, "nvrtc: error: header `%s`: the name must be a relative path", h->name));
    char *path = arena_printf(&p->arena, "%s/%s/%s", folder, header_root, h->name);
    FILE *f = make_folders(path) ? fopen(path, "w") : NULL;
    if (f) {
        fputs("#line 1 ", f);
        put_quoted(f, h->name);
        fputs(h->text, f);
    }
    if (!f || fclose(f))
        return say(p, arena_printf(&p->arena, "nvrtc: error: header `%s` cannot be written to %s", h->name, path));
    return true;
}

static void put_names(nvrtcProgram p, FILE *f)
{
    for (uint32_t i = 0; i < p->names.n; i++) {
        fputs("\n#line 1 \"<name expression>\"\n", f);
        fprintf(f, "extern \"C\" __device__ __attribute__((used)) const void *%s%u = (const void *)(%s);\n",
                name_prefix, i, p->names.at[i].expression);
    }
}

/* ---- names of the C library ---- */

/* NVRTC has no header of the C library, so that a program may have names of its own: types, which
 * our headers know by other names then, and macros. */
static const char *const c_types[] = {
    "int8_t",        "int16_t",        "int32_t",        "int64_t",        "uint8_t",       "uint16_t",
    "uint32_t",      "uint64_t",       "int_least8_t",   "int_least16_t",  "int_least32_t", "int_least64_t",
    "uint_least8_t", "uint_least16_t", "uint_least32_t", "uint_least64_t", "int_fast8_t",   "int_fast16_t",
    "int_fast32_t",  "int_fast64_t",   "uint_fast8_t",   "uint_fast16_t",  "uint_fast32_t", "uint_fast64_t",
    "intptr_t",      "uintptr_t",      "intmax_t",       "uintmax_t"};
static const char *const c_macros[] = {
    "INFINITY",   "NAN",        "HUGE_VAL",  "HUGE_VALF", "HUGE_VALL", "M_E",       "M_LOG2E",
    "M_LOG10E",   "M_LN2",      "M_LN10",    "M_PI",      "M_PI_2",    "M_PI_4",    "M_1_PI",
    "M_2_PI",     "M_2_SQRTPI", "M_SQRT2",   "M_SQRT1_2", "INT8_MIN",  "INT16_MIN", "INT32_MIN",
    "INT64_MIN",  "INT8_MAX",   "INT16_MAX", "INT32_MAX", "INT64_MAX", "UINT8_MAX", "UINT16_MAX",
    "UINT32_MAX", "UINT64_MAX", "SIZE_MAX",  "CHAR_BIT",  "SCHAR_MIN", "SCHAR_MAX", "UCHAR_MAX",
    "CHAR_MIN",   "CHAR_MAX",   "SHRT_MIN",  "SHRT_MAX",  "USHRT_MAX", "INT_MIN",   "INT_MAX",
    "UINT_MAX",   "LONG_MIN",   "LONG_MAX",  "ULONG_MAX", "LLONG_MIN", "LLONG_MAX", "ULLONG_MAX"};
enum { C_TYPES = sizeof c_types / sizeof c_types[0], C_MACROS = sizeof c_macros / sizeof c_macros[0] };

/* Does a text include a header that is none of the program's own, nor one of CUDA's? It may want
 * those names. */
static bool includes_others(nvrtcProgram p, const char *text)
{
    for (const char *at = text; (at = strstr(at, "#include"));) {
        at += strlen("#include");
        at += strspn(at, " \t");
        struct str name = {at + 1, strcspn(at, "\n") ? strcspn(at + 1, ">\"\n") : 0};
        bool known = str_starts(name, "cuda_") || str_starts(name, "curand_") || str_is(name, "mma.h") ||
                     str_is(name, "cooperative_groups.h");
        for (uint32_t i = 0; i < p->headers.n && !known; i++)
            known = str_is(name, p->headers.at[i].name);
        if (!known)
            return true;
    }
    return false;
}

static bool has_own_names(nvrtcProgram p)
{
    for (uint32_t i = 0; i < p->headers.n; i++)
        if (includes_others(p, p->headers.at[i].text))
            return false;
    return !includes_others(p, p->source);
}

/* And none of the C++ library's, so that a program may write what it needs of std itself. Ours
 * has been read by then, and stays what it is under another name. */
static bool has_own_std(nvrtcProgram p)
{
    bool has = strstr(p->source, "namespace std") != NULL;
    for (uint32_t i = 0; i < p->headers.n && !has; i++)
        has = strstr(p->headers.at[i].text, "namespace std") != NULL;
    return has && has_own_names(p);
}

static bool write_source(nvrtcProgram p, const struct nvrtc_options *o, const char *path)
{
    FILE *f = fopen(path, "w");
    if (f) {
        /* Which NVRTC has by itself; the C library's functions are the host's, whoever includes
         * them. */
        fputs("#include <assert.h>\n", f);
        for (size_t i = 0; has_own_names(p) && i < C_TYPES + C_MACROS; i++)
            fprintf(f, "#undef %s\n", i < C_TYPES ? c_types[i] : c_macros[i - C_TYPES]);
        if (has_own_std(p))
            fputs("#define std heddle_own_std\n", f);
        if (o->default_device)
            fputs("#pragma clang force_cuda_host_device begin\n", f);
        fputs("#line 1 ", f);
        put_quoted(f, p->name);
        fputs(p->source, f);
        if (o->default_device)
            fputs("\n#pragma clang force_cuda_host_device end\n", f);
        put_names(p, f);
    }
    return (f && fclose(f) == 0) || say(p, arena_printf(&p->arena, "nvrtc: error: %s cannot be written", path));
}

/* ---- heddle cc ---- */

static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* The command: in a folder above this library's, where it was built, or in the bin of one, where it
 * was installed. */
static const char *find_heddle(nvrtcProgram p)
{
    Dl_info info;
    char path[PATH_MAX];
    if (!dladdr(&name_prefix, &info) || !realpath(info.dli_fname, path))
        return NULL;
    for (char *slash = strrchr(path, '/'); slash && slash != path; slash = strrchr(path, '/')) {
        *slash = 0;
        const char *built = arena_printf(&p->arena, "%s/heddle", path),
                   *installed = arena_printf(&p->arena, "%s/bin/heddle", path);
        if (is_program(built) || is_program(installed))
            return is_program(built) ? built : installed;
    }
    return NULL;
}

/* The compiler needs nothing of what `heddle run` has put into this process, nor flags that are
 * nvcc's. */
static char **environment(nvrtcProgram p)
{
    VEC(char *) kept = {0};
    for (char **v = environ; *v; v++)
        if (strncmp(*v, "LD_PRELOAD=", 11) != 0 && strncmp(*v, "NVCC_", 5) != 0)
            *VEC_PUSH(&p->arena, &kept) = *v;
    *VEC_PUSH(&p->arena, &kept) = NULL;
    return kept.at;
}

static void add(nvrtcProgram p, nvrtc_words *to, const char *word)
{
    *VEC_PUSH(&p->arena, to) = word;
}

static nvrtc_words command(nvrtcProgram p, const struct nvrtc_options *o, const char *heddle, const char *folder)
{
    nvrtc_words c = {0};
    const char *slash = strrchr(p->name, '/');
    for (const char *const *w = (const char *const[]){heddle, "cc", "-ptx", "-D__CUDACC_RTC__=1", NULL}; *w; w++)
        add(p, &c, *w);
    for (size_t i = 0; has_own_names(p) && i < C_TYPES; i++)
        add(p, &c, arena_printf(&p->arena, "-D%s=__heddle_%s", c_types[i], c_types[i]));
    add(p, &c, "-I");
    add(p, &c, arena_printf(&p->arena, "%s/%s", folder, header_root));
    for (uint32_t i = 0; i < o->cc.n; i++)
        add(p, &c, o->cc.at[i]);
    if (!o->no_source_include) {
        add(p, &c, "-iquote");
        add(p, &c, slash ? arena_strndup(&p->arena, p->name, (size_t)(slash - p->name + 1)) : ".");
    }
    add(p, &c, arena_printf(&p->arena, "%s/program.cu", folder));
    add(p, &c, "-o");
    add(p, &c, arena_printf(&p->arena, "%s/program.ptx", folder));
    add(p, &c, NULL);
    return c;
}

/* What it ended with, or -1 where it was cancelled. */
static int wait_for(nvrtcProgram p, pid_t pid)
{
    static const struct timespec moment = {0, 10000000};
    int status = 0;
    pid_t ended = 0;
    bool cancelled = false;
    while (ended == 0 || (ended < 0 && errno == EINTR)) {
        ended = waitpid(pid, &status, p->callback && !cancelled ? WNOHANG : 0);
        if (ended != 0)
            continue;
        cancelled = p->callback(p->payload, NULL) != 0;
        if (cancelled)
            kill(pid, SIGTERM); /* it ends the compilers that it has started */
        else
            nanosleep(&moment, NULL);
    }
    return cancelled ? -1 : ended < 0 ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static nvrtcResult run_compiler(nvrtcProgram p, const struct nvrtc_options *o, const char *folder)
{
    const char *heddle = find_heddle(p), *said = arena_printf(&p->arena, "%s/log", folder);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    pid_t pid;
    if (!heddle) {
        say(p, "nvrtc: error: the command heddle, which does the compilation, is not installed beside this library");
        return NVRTC_ERROR_INTERNAL_ERROR;
    }
    if (posix_spawn_file_actions_init(&files))
        return NVRTC_ERROR_OUT_OF_MEMORY;
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, said, O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    nvrtc_words c = command(p, o, heddle, folder);
    /* whatever this thread blocks or ignores, a cancel ends the compiler */
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGTERM);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawn(&pid, heddle, &files, &attributes, (char *const *)c.at, environment(p));
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error) {
        say(p, arena_printf(&p->arena, "nvrtc: error: %s cannot be run: %s", heddle, strerror(error)));
        return NVRTC_ERROR_INTERNAL_ERROR;
    }
    int status = wait_for(p, pid);
    size_t n;
    char *text = image_file(said, &n);
    if (text && n)
        p->log = arena_strdup(&p->arena, text);
    free(text);
    enum { SOURCE_HAS_ERRORS = 1, WRONG_USAGE };
    return status < 0                    ? NVRTC_ERROR_CANCELLED
           : status == 0                 ? NVRTC_SUCCESS
           : status == SOURCE_HAS_ERRORS ? NVRTC_ERROR_COMPILATION
           : status == WRONG_USAGE       ? NVRTC_ERROR_INVALID_OPTION
                                         : NVRTC_ERROR_INTERNAL_ERROR;
}

/* ---- what comes out ---- */

/* The name in `... .u64 __heddle_name_3 = generic(NAME);`; empty where that has no address. */
static struct str name_in(struct str line)
{
    const char *equals = memmem(line.p, line.n, " = ", 3);
    if (!equals)
        return (struct str){"", 0};
    struct str value = {equals + 3, line.n - (size_t)(equals + 3 - line.p)};
    if (str_starts(value, "generic("))
        value = (struct str){value.p + 8, value.n - 8};
    value.n = (size_t)(strcspn(value.p, ");\n"));
    return value;
}

/* Takes the variables of the name expressions out of the PTX, which is changed in place. */
static nvrtcResult lower_names(nvrtcProgram p, char *ptx, size_t *bytes)
{
    char *to = ptx;
    for (char *from = ptx, *end = ptx + *bytes; from < end;) {
        char *newline = memchr(from, '\n', (size_t)(end - from));
        struct str line = {from, newline ? (size_t)(newline + 1 - from) : (size_t)(end - from)};
        const char *variable = memmem(line.p, line.n, name_prefix, sizeof name_prefix - 1);
        from += line.n;
        if (!variable) {
            memmove(to, line.p, line.n);
            to += line.n;
            continue;
        }
        unsigned long i = strtoul(variable + sizeof name_prefix - 1, NULL, 10);
        struct str name = name_in(line);
        if (i < p->names.n && name.n && (name.p[0] < '0' || name.p[0] > '9'))
            p->names.at[i].lowered = arena_strndup(&p->arena, name.p, name.n);
    }
    *to = 0;
    *bytes = (size_t)(to - ptx);
    for (uint32_t i = 0; i < p->names.n; i++)
        if (!p->names.at[i].lowered) {
            say(p, arena_printf(&p->arena, "nvrtc: error: name expression `%s` names neither a kernel nor a variable",
                                p->names.at[i].expression));
            return NVRTC_ERROR_COMPILATION;
        }
    return NVRTC_SUCCESS;
}

static nvrtcResult take_ptx(nvrtcProgram p, const char *path)
{
    size_t bytes;
    char *text = image_file(path, &bytes);
    if (!text)
        return NVRTC_ERROR_INTERNAL_ERROR;
    char *ptx = arena_strndup(&p->arena, text, bytes);
    free(text);
    nvrtcResult result = lower_names(p, ptx, &bytes);
    p->ptx = ptx;
    p->ptx_bytes = bytes;
    return result;
}

static nvrtcResult compile_in(nvrtcProgram p, const struct nvrtc_options *o, const char *folder)
{
    char *headers = arena_printf(&p->arena, "%s/%s/", folder, header_root);
    bool ok = make_folders(headers) && write_source(p, o, arena_printf(&p->arena, "%s/program.cu", folder));
    for (uint32_t i = 0; i < p->headers.n && ok; i++)
        ok = write_header(p, folder, &p->headers.at[i]);
    nvrtcResult result = ok ? run_compiler(p, o, folder) : NVRTC_ERROR_INTERNAL_ERROR;
    return result ? result : take_ptx(p, arena_printf(&p->arena, "%s/program.ptx", folder));
}

nvrtcResult nvrtc_compile(nvrtcProgram p, const struct nvrtc_options *o)
{
    const char *given = getenv("TMPDIR"), *tmp = given && *given ? given : "/tmp";
    char *folder = mkdtemp(arena_printf(&p->arena, "%s/heddle-nvrtc-XXXXXX", tmp));
    if (!folder) {
        say(p, arena_printf(&p->arena, "nvrtc: error: no folder can be made in %s", tmp));
        return NVRTC_ERROR_INTERNAL_ERROR;
    }
    jmp_buf oom, *caller = p->arena.on_oom;
    p->arena.on_oom = &oom;
    volatile nvrtcResult result = NVRTC_ERROR_OUT_OF_MEMORY;
    if (setjmp(oom) == 0)
        result = compile_in(p, o, folder);
    p->arena.on_oom = caller;
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return result;
}
