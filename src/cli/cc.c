/* heddle cc: CUDA C++ to a program, without a CUDA toolkit.
 *
 * A .cu file is compiled twice by clang at the same time, for the device to PTX and for the host. The host's compiler needs
 * the fat binary at its very end; it reads it from its stdin, where we write it as soon as the PTX is there. Objects are
 * linked with Heddle's libcudart. With -rdc=true, nm tells what the objects call to be registered (cc_registry.c).
 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cc.h"
#include "cli/places.h"

/* One run of the command. */
struct job {
    struct session *s;
    struct arena *arena;
    struct cc_options o;
    const char *clang, *headers, *libraries;
    const char *folder;    /* of what is made on the way */
    const char *rewritten; /* what is read instead of the source, or NULL */
    cc_words temporary;    /* to be removed at the end */
    struct cc_diagnostics diagnostics;
};

enum language { LANGUAGE_CU, LANGUAGE_C, LANGUAGE_CPP, LANGUAGE_LINK };

#define ADD(words, word) (*VEC_PUSH(j->arena, words) = (word))

static void add_all(struct job *j, cc_words *to, const cc_words *words)
{
    for (uint32_t i = 0; i < words->n; i++)
        ADD(to, words->at[i]);
}

/* Each value of an option, as `flag` VALUE or, where `joined`, as one word. */
static void add_values(struct job *j, cc_words *to, enum cc_id id, const char *flag, bool joined)
{
    for (uint32_t i = 0; i < j->o.list[id].n; i++) {
        const char *value = j->o.list[id].at[i];
        if (joined) {
            ADD(to, arena_printf(j->arena, "%s%s", flag, value));
        } else {
            ADD(to, flag);
            ADD(to, value);
        }
    }
}

/* The parts of values like "-fPIC,-g", each for itself. */
static void add_parts(struct job *j, cc_words *to, enum cc_id id, const char *flag)
{
    for (uint32_t i = 0; i < j->o.list[id].n; i++)
        for (const char *p = j->o.list[id].at[i]; *p;) {
            size_t n = strcspn(p, ",");
            if (flag)
                ADD(to, flag);
            ADD(to, arena_strndup(j->arena, p, n));
            p += n + (p[n] == ',');
        }
}

/* ---- running programs ---- */

static void show(const cc_words *command, const char *prefix)
{
    fprintf(stderr, "#$ %s", prefix);
    for (uint32_t i = 0; i < command->n; i++) {
        bool plain = true;
        for (const char *p = command->at[i]; *p; p++)
            plain = plain && (isalnum((unsigned char)*p) || strchr("-_=+./,:@%", *p));
        fprintf(stderr, plain && *command->at[i] ? "%s%s" : "%s'%s'", i ? " " : "", command->at[i]);
    }
    fputc('\n', stderr);
}

static char *const *arguments(struct job *j, cc_words *command)
{
    ADD(command, NULL);
    command->n--;
    return (char *const *)command->at;
}

/* True where the program runs; prints why not. */
static bool start(struct job *j, struct process *p, cc_words *command, unsigned flags)
{
    if (j->o.given[CC_VERBOSE])
        show(command, "");
    int error = process_start(p, arguments(j, command), flags);
    if (error == ENOENT)
        cli_failure(j->s, "cc: there is no `%s` here: on Debian, `apt-get install clang-19` brings it", command->at[0]);
    else if (error && error != EINTR)
        cli_failure(j->s, "cc: cannot run `%s`: %s", command->at[0], strerror(error));
    return error == 0;
}

/* Waits for a compiler and prints what it says; with -v, word for word. Returns its exit status. */
static int finish(struct job *j, struct process *p)
{
    const char *err;
    int status = process_finish(p, j->arena, NULL, &err);
    if (j->o.given[CC_VERBOSE])
        fputs(err, stderr);
    else
        cc_print_diagnostics(&j->diagnostics, err, j->arena);
    return status;
}

/* Runs a program to its end. False where it fails; with --dry-run it is shown only. */
static bool run(struct job *j, cc_words *command)
{
    struct process p;
    if (j->o.given[CC_DRY_RUN]) {
        show(command, "");
        return true;
    }
    return start(j, &p, command, 0) && finish(j, &p) == 0;
}

/* ---- commands ---- */

/* A path as compilers take it for one, and not for a file of arguments or an option. */
static const char *as_path(struct job *j, const char *path)
{
    return *path == '@' || *path == '-' ? arena_printf(j->arena, "./%s", path) : path;
}

/* Makefiles name the toolkit's own headers, which nvcc knows anyway; here they come last, for its libraries' sake. */
static bool is_toolkit(const char *folder, struct arena *arena)
{
    return access(arena_printf(arena, "%s/crt/host_config.h", folder), R_OK) == 0;
}

static void add_include_paths(struct job *j, cc_words *c)
{
    const cc_words *folders = &j->o.list[CC_INCLUDE_PATH];
    for (uint32_t i = 0; i < folders->n; i++) {
        ADD(c, is_toolkit(folders->at[i], j->arena) ? "-idirafter" : "-I");
        ADD(c, as_path(j, folders->at[i]));
    }
}

/* What clang is told for every file, whatever it is compiled to. */
static void add_source_options(struct job *j, cc_words *c)
{
    const struct cc_options *o = &j->o;
    add_values(j, c, CC_DEFINE, "-D", true);
    add_values(j, c, CC_UNDEFINE, "-U", true);
    add_include_paths(j, c);
    add_values(j, c, CC_SYSTEM_INCLUDE, "-isystem", false);
    ADD(c, "-isystem");
    ADD(c, j->headers);
    if (o->given[CC_DEFAULT_STREAM] && strcmp(o->value[CC_DEFAULT_STREAM], "per-thread") == 0)
        ADD(c, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM");
    ADD(c, o->given[CC_WITHOUT_WARNINGS] ? "-w" : "-Wno-pass-failed"); /* #pragma unroll is a wish */
    ADD(c, "-Wno-error=register");                                     /* C++17 has it no more; nvcc warns */
    add_all(j, c, &o->both);
}

/* The host's side only. */
static void add_host_options(struct job *j, cc_words *c)
{
    const struct cc_options *o = &j->o;
    if (o->given[CC_OPTIMIZE])
        ADD(c, arena_printf(j->arena, "-O%s", o->value[CC_OPTIMIZE]));
    if (o->given[CC_DEBUG])
        ADD(c, "-g");
    add_all(j, c, &o->host);
    add_parts(j, c, CC_XCOMPILER, NULL);
}

/* The macros by which nvcc tells what it was asked for. */
static void add_macros(struct job *j, cc_words *c)
{
    const struct cc_options *o = &j->o;
    const char *archs = "";
    for (uint32_t i = 0; i < o->archs.n; i++)
        archs = arena_printf(j->arena, "%s%s%d0", archs, i ? "," : "", atoi(o->archs.at[i]));
    ADD(c, arena_printf(j->arena, "-D__CUDA_ARCH_LIST__=%s", archs));
    if (o->rdc)
        ADD(c, "-D__CUDACC_RDC__");
    if (o->given[CC_DEVICE_DEBUG])
        ADD(c, "-D__CUDACC_DEBUG__");
    if (o->given[CC_EXTENDED_LAMBDA])
        ADD(c, "-D__CUDACC_EXTENDED_LAMBDA__");
    if (o->given[CC_RELAXED_CONSTEXPR])
        ADD(c, "-D__CUDACC_RELAXED_CONSTEXPR__");
}

/* The start of both compilations of a .cu file. */
static cc_words cuda_command(struct job *j, const char *side)
{
    const struct cc_options *o = &j->o;
    cc_words c = {0};
    ADD(&c, j->clang);
    ADD(&c, side);
    /* no toolkit, not even where there is one */
    ADD(&c, "-nocudainc");
    ADD(&c, "-nocudalib");
    ADD(&c, arena_printf(j->arena, "--cuda-path=%s", j->headers));
    /* the newest that clang 19 knows: which functions launch and register */
    ADD(&c, "-Xclang");
    ADD(&c, "-target-sdk-version=12.5");
    /* nvcc takes a device function(...) that is only declared, or whose arguments nothing looks at: libcu++ has many */
    ADD(&c, "-Xclang");
    ADD(&c, "-fcuda-allow-variadic-functions");
    ADD(&c, "-x");
    ADD(&c, "cuda");
    if (o->given[CC_STD])
        ADD(&c, arena_printf(j->arena, "-std=%s", o->value[CC_STD]));
    add_source_options(j, &c);
    add_macros(j, &c);
    ADD(&c, "-include");
    ADD(&c, "cuda_runtime.h");
    add_values(j, &c, CC_PRE_INCLUDE, "-include", false);
    /* The math functions need products and sums as they are written; elsewhere clang fuses, as nvcc does. */
    ADD(&c, cc_is_true(o, CC_FMAD, true) ? "-ffp-contract=fast-honor-pragmas" : "-ffp-contract=off");
    if (o->rdc)
        ADD(&c, "-fgpu-rdc");
    /* The macros are for our headers, where clang's own code generation does not decide. */
    if (o->given[CC_FAST_MATH] || cc_is_true(o, CC_FTZ, false)) {
        ADD(&c, "-fgpu-flush-denormals-to-zero");
        ADD(&c, "-D__CUDA_FTZ=1");
    }
    if (!cc_is_true(o, CC_PREC_SQRT, !o->given[CC_FAST_MATH]))
        ADD(&c, "-D__CUDA_PREC_SQRT=0");
    if (o->given[CC_FAST_MATH])
        ADD(&c, "-fgpu-approx-transcendentals");
    return c;
}

/* FNV-1a: the same in every process, which str_hash is not. */
static uint32_t unit_number(const char *path)
{
    uint32_t h = 0x811c9dc5;
    for (; *path; path++)
        h = (h ^ (unsigned char)*path) * 0x01000193;
    return h;
}

/* Names of static device variables, and of kernels in anonymous namespaces, must be the same on both sides. clang's driver does not
 * pass it on to a compilation for the host alone. */
static void add_unit(struct job *j, cc_words *c, const char *input)
{
    char *path = realpath(input, NULL);
    if (j->o.rdc) {
        const char *unit = arena_printf(j->arena, "-cuid=%08x", unit_number(path ? path : input));
        ADD(c, unit);
        ADD(c, "-Xclang");
        ADD(c, unit);
    }
    free(path);
    if (j->rewritten) {
        ADD(c, "-Xclang");
        ADD(c, "-remap-file");
        ADD(c, "-Xclang");
        ADD(c, arena_printf(j->arena, "%s;%s", input, j->rewritten));
    }
    ADD(c, input);
}

static cc_words device_command(struct job *j, const char *input, const char *arch, const char *output)
{
    const struct cc_options *o = &j->o;
    cc_words c = cuda_command(j, "--cuda-device-only");
    ADD(&c, "-S");
    ADD(&c, arena_printf(j->arena, "--cuda-gpu-arch=sm_%s", arch));
    ADD(&c, "--cuda-feature=+ptx85");
    ADD(&c, o->given[CC_DEVICE_DEBUG] ? "-O0" : "-O3");
    ADD(&c, "-gline-directives-only");
    if (!cc_is_true(o, CC_PREC_DIV, !o->given[CC_FAST_MATH])) {
        ADD(&c, "-mllvm");
        ADD(&c, "-nvptx-prec-divf32=0");
    }
    add_unit(j, &c, input);
    ADD(&c, "-o");
    ADD(&c, output);
    return c;
}

static cc_words host_command(struct job *j, const char *input, const char *output)
{
    cc_words c = cuda_command(j, "--cuda-host-only");
    ADD(&c, j->o.given[CC_PREPROCESS] ? "-E" : "-c");
    if (!j->o.given[CC_PREPROCESS]) {
        ADD(&c, "-Xclang");
        ADD(&c, "-fcuda-include-gpubinary");
        ADD(&c, "-Xclang");
        ADD(&c, "/dev/stdin");
    }
    add_host_options(j, &c);
    add_unit(j, &c, input);
    if (output) {
        ADD(&c, "-o");
        ADD(&c, output);
    }
    return c;
}

/* ---- files ---- */

static enum language language_of(struct job *j, const char *input)
{
    const char *given = j->o.value[CC_LANGUAGE], *ending = file_extension(input);
    if (given)
        return strcmp(given, "cu") == 0 ? LANGUAGE_CU : strcmp(given, "c") == 0 ? LANGUAGE_C : LANGUAGE_CPP;
    if (strcmp(ending, ".cu") == 0)
        return LANGUAGE_CU;
    if (strcmp(ending, ".c") == 0)
        return LANGUAGE_C;
    if (strcmp(ending, ".cc") == 0 || strcmp(ending, ".cpp") == 0 || strcmp(ending, ".cxx") == 0)
        return LANGUAGE_CPP;
    return LANGUAGE_LINK;
}

/* "dir/kernel.cu" with another ending, in the current folder, as compilers name their output. */
static const char *named_after(struct job *j, const char *input, const char *ending)
{
    const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input;
    return arena_printf(j->arena, "%.*s%s", (int)(strlen(base) - strlen(file_extension(base))), base, ending);
}

/* A file that is made on the way; removed at the end, but for --keep. */
static const char *on_the_way(struct job *j, const char *input, const char *ending)
{
    const char *path = arena_printf(j->arena, "%s/%s", j->folder, named_after(j, input, ending));
    if (!j->o.given[CC_KEEP])
        ADD(&j->temporary, path);
    return path;
}

static bool make_folder(struct job *j)
{
    if (j->o.given[CC_KEEP] || j->o.given[CC_DRY_RUN]) {
        j->folder = j->o.given[CC_KEEP_DIR] ? j->o.value[CC_KEEP_DIR] : ".";
        return true;
    }
    const char *given = getenv("TMPDIR"), *tmp = given && *given ? as_path(j, given) : "/tmp";
    j->folder = mkdtemp(arena_printf(j->arena, "%s/heddle-cc-XXXXXX", tmp));
    if (!j->folder)
        cli_failure(j->s, "cc: cannot make a folder in %s: %s", tmp, strerror(errno));
    return j->folder != NULL;
}

static void clean_up(struct job *j)
{
    for (uint32_t i = 0; i < j->temporary.n; i++)
        unlink(j->temporary.at[i]);
    if (j->folder && !j->o.given[CC_KEEP] && !j->o.given[CC_DRY_RUN])
        rmdir(j->folder);
}

static bool write_file(struct job *j, const char *path, const void *bytes, size_t n)
{
    const char *error = file_write_whole(j->arena, path, bytes, n);
    if (error)
        cli_failure(j->s, "cc: %s", error);
    return !error;
}

/* ---- one .cu file ---- */

/* Kernels with __cluster_dims__ get their directives, which takes another look at a file that has some. */
static bool add_clusters(struct job *j, const char *input, const char *arch, struct str *ptx)
{
    struct file_bytes ir = {0};
    const char *path = on_the_way(j, input, arena_printf(j->arena, ".sm_%s.ll", arch));
    cc_words c = device_command(j, input, arch, path);
    ADD(&c, "-emit-llvm");
    ADD(&c, "-Xclang");
    ADD(&c, "-disable-llvm-passes");
    if (!run(j, &c))
        return false;
    const char *error = file_read(j->arena, path, 0, &ir);
    if (error)
        return cli_failure(j->s, "cc: %s", error) == 0;
    *ptx = cc_add_clusters(*ptx, (struct str){ir.bytes, ir.n}, j->arena);
    free(ir.bytes);
    return true;
}

/* Has the compilers read the source as clang wants it, if it is written as nvcc takes it. */
static bool rewrite_source(struct job *j, const char *input)
{
    struct file_bytes file = {0};
    const char *error = file_read(j->arena, input, 0, &file);
    if (error)
        return cli_failure(j->s, "cc: %s", error) == 0;
    const char *text = cc_join_chevrons((struct str){file.bytes, file.n}, j->arena);
    j->rewritten = text && !j->o.given[CC_DRY_RUN] ? on_the_way(j, input, ".joined.cu") : NULL;
    bool ok = !j->rewritten || write_file(j, j->rewritten, text, file.n);
    free(file.bytes);
    return ok;
}

/* What clang 19 leaves out of the PTX that it writes. */
static bool mend_ptx(struct job *j, const char *input, const char *arch, const char *path)
{
    struct file_bytes file = {0};
    const char *error = file_read(j->arena, path, 0, &file);
    if (error)
        return cli_failure(j->s, "cc: %s", error) == 0;
    struct str ptx = {file.bytes, file.n};
    bool ok = !cc_has_clusters(ptx) || add_clusters(j, input, arch, &ptx);
    if (ok && j->o.rdc)
        ptx = cc_name_statics(ptx, j->arena);
    if (ok && ptx.p != file.bytes)
        ok = write_file(j, path, ptx.p, ptx.n);
    free(file.bytes);
    return ok;
}

/* Compiles the device code for one architecture. */
static bool compile_device(struct job *j, const char *input, const char *arch, const char *output)
{
    cc_words c = device_command(j, input, arch, output);
    return run(j, &c) && (j->o.given[CC_DRY_RUN] || mend_ptx(j, input, arch, output));
}

/* What clang does not know, and nvcc's ptxas would say: too much shared memory, and what Heddle refuses. */
static bool check_ptx(struct job *j, const char *path, const struct file_bytes *file)
{
    const char *slash = strrchr(path, '/');
    hd_source source = {slash ? slash + 1 : path, file->bytes, file->n};
    hd_ptx *ptx = NULL;
    hd_report *report;
    hd_result r = hd_ptx_read(&source, &ptx, &report);
    if (r)
        report_failure(j->s, r, report);
    else if (!j->o.given[CC_WITHOUT_WARNINGS])
        report_print(j->s, report);
    else
        hd_report_free(report);
    hd_ptx_free(ptx);
    return r == HD_SUCCESS;
}

/* The fat binary of a file for all architectures, from malloc. NULL: errors, printed. */
static void *make_fatbin(struct job *j, const char *input, size_t *bytes)
{
    struct cc_ptx *ptx = ARENA_ARRAY(j->arena, struct cc_ptx, j->o.archs.n);
    bool ok = true;
    uint32_t done = 0;
    for (; done < j->o.archs.n && ok; done++) {
        const char *arch = j->o.archs.at[done];
        const char *path =
            on_the_way(j, input, j->o.archs.n == 1 ? ".ptx" : arena_printf(j->arena, ".sm_%s.ptx", arch));
        struct file_bytes file = {0};
        ok = compile_device(j, input, arch, path);
        const char *error = ok && !j->o.given[CC_DRY_RUN] ? file_read(j->arena, path, 0, &file) : NULL;
        if (error)
            ok = cli_failure(j->s, "cc: %s", error) == 0;
        ok = ok && (j->o.given[CC_DRY_RUN] || check_ptx(j, path, &file));
        ptx[done] = (struct cc_ptx){arch, file.bytes, file.n};
    }
    void *fatbin = NULL;
    if (ok && !j->o.given[CC_DRY_RUN]) {
        fatbin = cc_fatbin(ptx, done, bytes);
        if (!fatbin)
            cli_failure(j->s, "cc: out of memory");
    }
    for (uint32_t i = 0; i < done; i++)
        free((char *)ptx[i].text);
    return fatbin;
}

static bool feed(int to, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t wrote = write(to, bytes, n);
        if (wrote < 0 && errno != EINTR)
            return false;
        bytes += wrote > 0 ? wrote : 0;
        n -= wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

static bool compile_cuda(struct job *j, const char *input, const char *output)
{
    struct process host;
    size_t bytes = 0;
    cc_words c = host_command(j, input, output);
    if (j->o.given[CC_DRY_RUN]) {
        make_fatbin(j, input, &bytes);
        show(&c, "(fat binary of the PTX) | ");
        return true;
    }
    if (!start(j, &host, &c, PROCESS_INPUT))
        return false;
    void *fatbin = make_fatbin(j, input, &bytes);
    bool ok = fatbin != NULL;
    if (ok && j->o.given[CC_KEEP])
        ok = write_file(j, on_the_way(j, input, ".fatbin"), fatbin, bytes);
    if (ok)
        feed(host.in, fatbin, bytes); /* a compiler that has ended says why */
    int status = finish(j, &host);
    free(fatbin);
    if (!ok && status == 0 && !file_is_special(output))
        unlink(output); /* it has no device code */
    return ok && status == 0;
}

/* The host's compiler alone: C, C++, or our own C. */
static bool compile_host(struct job *j, const char *input, enum language language, const char *output)
{
    cc_words c = {0};
    ADD(&c, j->clang);
    ADD(&c, j->o.given[CC_PREPROCESS] ? "-E" : "-c");
    ADD(&c, "-x");
    ADD(&c, language == LANGUAGE_C ? "c" : "c++");
    if (language == LANGUAGE_CPP && j->o.given[CC_STD])
        ADD(&c, arena_printf(j->arena, "-std=%s", j->o.value[CC_STD]));
    add_source_options(j, &c);
    add_values(j, &c, CC_PRE_INCLUDE, "-include", false);
    add_host_options(j, &c);
    ADD(&c, input);
    if (output) {
        ADD(&c, "-o");
        ADD(&c, output);
    }
    return run(j, &c);
}

/* ---- linking ---- */

/* What the objects and libraries call and -rdc=true's tool has to define: nm's "U" lines. False: nm fails. */
static bool find_registry_calls(struct job *j, const cc_words *objects, cc_words *calls)
{
    static const char prefix[] = "__cudaRegisterLinkedBinary_";
    static const char identifier[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    cc_words c = {0};
    struct process nm;
    const char *out, *err;
    ADD(&c, "nm");
    ADD(&c, "-u");
    ADD(&c, "--");
    add_all(j, &c, objects);
    if (process_start(&nm, arguments(j, &c), PROCESS_OUTPUT) != 0)
        return false;
    process_finish(&nm, j->arena, &out, &err); /* what is wrong with an object the linker says */
    for (const char *at = strstr(out, prefix); at; at = strstr(at + 1, prefix)) {
        size_t n = strspn(at, identifier);
        bool known = at[n] != '\n'; /* a symbol that C cannot define: nothing of it gets into a source */
        for (uint32_t i = 0; i < calls->n; i++)
            known = known || (strlen(calls->at[i]) == n && memcmp(calls->at[i], at, n) == 0);
        if (!known)
            ADD(calls, arena_strndup(j->arena, at, n));
    }
    return true;
}

/* Compiles what registers the objects of -rdc=true, and adds it to them; adds nothing where there are none. */
static bool add_registry(struct job *j, cc_words *objects)
{
    cc_words calls = {0};
    if (j->o.given[CC_DRY_RUN])
        return true;
    if (!find_registry_calls(j, objects, &calls))
        return cli_failure(j->s, "cc: cannot run `nm`: on Debian, `apt-get install binutils` brings it") == 0;
    if (calls.n == 0)
        return true;
    const char *source = on_the_way(j, "heddle-registry.c", ".c"), *object = on_the_way(j, source, ".o");
    const char *text = cc_registry(&calls, j->arena);
    if (!write_file(j, source, text, strlen(text)))
        return false;
    cc_words c = {0};
    ADD(&c, j->clang);
    ADD(&c, "-c");
    ADD(&c, "-fPIC");
    ADD(&c, source);
    ADD(&c, "-o");
    ADD(&c, object);
    ADD(objects, object);
    return run(j, &c);
}

/* Libraries of the toolkit that are part of ours, or are ours under another name. */
static void add_library(struct job *j, cc_words *c, const char *name)
{
    static const char *const within[] = {"cudart", "cudart_static", "cudadevrt"};
    for (size_t i = 0; i < sizeof within / sizeof within[0]; i++)
        if (strcmp(name, within[i]) == 0)
            return;
    ADD(c, strcmp(name, "cuda") == 0 ? "-l:libcuda.so.1" : arena_printf(j->arena, "-l%s", name));
}

static bool link_program(struct job *j, cc_words *objects)
{
    const struct cc_options *o = &j->o;
    cc_words c = {0};
    if (!add_registry(j, objects))
        return false;
    ADD(&c, j->clang);
    ADD(&c, "--driver-mode=g++");
    if (o->given[CC_SHARED])
        ADD(&c, "-shared");
    add_all(j, &c, objects);
    add_host_options(j, &c);
    add_parts(j, &c, CC_XLINKER, "-Xlinker");
    add_values(j, &c, CC_LIBRARY_PATH, "-L", true);
    ADD(&c, arena_printf(j->arena, "-L%s", j->libraries));
    for (uint32_t i = 0; i < o->list[CC_LIBRARY].n; i++)
        add_library(j, &c, o->list[CC_LIBRARY].at[i]);
    if (!o->value[CC_CUDART] || strcmp(o->value[CC_CUDART], "none") != 0)
        ADD(&c, "-l:libcudart.so.13");
    ADD(&c, arena_printf(j->arena, "-Wl,-rpath,%s", j->libraries));
    ADD(&c, "-o");
    ADD(&c, o->given[CC_OUTPUT] ? o->value[CC_OUTPUT] : "a.out");
    return run(j, &c);
}

/* ---- what is asked for ---- */

/* -ptx: as many files as architectures. */
static bool make_ptx(struct job *j, const char *input)
{
    bool ok = true;
    for (uint32_t i = 0; i < j->o.archs.n && ok; i++) {
        const char *arch = j->o.archs.at[i];
        const char *output = j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : named_after(j, input, ".ptx");
        if (j->o.archs.n > 1)
            output = arena_printf(j->arena, "%.*s.sm_%s.ptx", (int)(strlen(output) - strlen(file_extension(output))),
                                  output, arch);
        ok = compile_device(j, input, arch, output);
    }
    return ok;
}

static bool make_fatbin_file(struct job *j, const char *input)
{
    size_t bytes;
    void *fatbin = make_fatbin(j, input, &bytes);
    bool ok = j->o.given[CC_DRY_RUN] ||
              (fatbin && write_file(j, j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : named_after(j, input, ".fatbin"),
                                    fatbin, bytes));
    free(fatbin);
    return ok;
}

/* What is no source is refused here: a pipe would be read by one of two compilers, /dev/zero for ever. Its name stands in PTX,
 * in comments of a line. */
static bool is_source(struct job *j, const char *input, const char *output)
{
    struct stat source, null, other;
    if (access(input, R_OK) != 0 || stat(input, &source) != 0)
        return cli_failure(j->s, "cc: cannot read %s: %s", input, strerror(errno)) == 0;
    bool is_null = S_ISCHR(source.st_mode) && stat("/dev/null", &null) == 0 && source.st_rdev == null.st_rdev;
    if (!S_ISREG(source.st_mode) && !is_null)
        return cli_failure(j->s, "cc: %s is no file of source code: it is read several times", input) == 0;
    if (strpbrk(input, "\n\r"))
        return cli_failure(j->s, "cc: the name of a source file cannot have lines") == 0;
    if (output && !is_null && stat(output, &other) == 0 && other.st_dev == source.st_dev &&
        other.st_ino == source.st_ino)
        return cli_failure(j->s, "cc: the output %s would take the place of the source", output) == 0;
    return true;
}

/* Compiles one input to an object (`output` NULL: to stdout, for -E). */
static bool compile(struct job *j, const char *input, enum language language, const char *output)
{
    if (language != LANGUAGE_CU)
        return compile_host(j, input, language, output);
    if (j->o.given[CC_PTX])
        return make_ptx(j, input);
    if (j->o.given[CC_FATBIN])
        return make_fatbin_file(j, input);
    if (j->o.given[CC_PREPROCESS]) {
        cc_words c = host_command(j, input, j->o.value[CC_OUTPUT]);
        return run(j, &c);
    }
    return compile_cuda(j, input, output);
}

static bool build(struct job *j)
{
    const struct cc_options *o = &j->o;
    bool objects_only = o->given[CC_COMPILE] || o->given[CC_DEVICE_C];
    bool device_only = o->given[CC_PTX] || o->given[CC_FATBIN], ok = true;
    cc_words objects = {0};
    for (uint32_t i = 0; i < o->inputs.n; i++) {
        const char *input = as_path(j, o->inputs.at[i]), *output = NULL;
        enum language language = language_of(j, input);
        if (device_only && language != LANGUAGE_CU)
            return cli_failure(j->s, "cc: %s has no device code: it is not named .cu (-x cu says that it is CUDA)",
                               input) == 0;
        if (language == LANGUAGE_LINK) {
            if (objects_only || o->given[CC_PREPROCESS])
                return cli_failure(j->s, "cc: %s is no source file: .cu, .c, .cc, .cpp or .cxx (or say -x cu)",
                                   input) == 0;
            output = input;
        } else {
            if (objects_only)
                output = o->given[CC_OUTPUT] ? o->value[CC_OUTPUT] : named_after(j, input, ".o");
            else if (!device_only && !o->given[CC_PREPROCESS])
                output = on_the_way(j, input, arena_printf(j->arena, "-%u.o", i));
            const char *goal = o->given[CC_OUTPUT]   ? o->value[CC_OUTPUT]
                               : o->given[CC_PTX]    ? named_after(j, input, ".ptx")
                               : o->given[CC_FATBIN] ? named_after(j, input, ".fatbin")
                                                     : output;
            if (!is_source(j, input, goal) || (language == LANGUAGE_CU && !rewrite_source(j, input)))
                return false;
            ok = compile(j, input, language, output) && ok;
        }
        ADD(&objects, output);
    }
    return ok && (objects_only || device_only || o->given[CC_PREPROCESS] || link_program(j, &objects));
}

/* --with nvcc: its arguments are ours, without this option; it links our runtime, unless it is told another. */
static int with_nvcc(struct job *j, int argc, char **argv)
{
    cc_words c = {0};
    ADD(&c, "nvcc");
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--with") == 0)
            i++;
        else if (strncmp(argv[i], "--with=", 7) != 0)
            ADD(&c, argv[i]);
    }
    if (!j->o.given[CC_CUDART]) {
        ADD(&c, "-cudart");
        ADD(&c, "shared");
        ADD(&c, "-Xlinker");
        ADD(&c, arena_printf(j->arena, "-rpath,%s", j->libraries));
    }
    if (j->o.given[CC_DRY_RUN] || j->o.given[CC_VERBOSE])
        show(&c, "");
    if (j->o.given[CC_DRY_RUN])
        return 0;
    signal(SIGXFSZ, SIG_DFL); /* main() ignores it */
    execvp("nvcc", arguments(j, &c));
    return cli_failure(j->s, "cc: cannot run `nvcc`: %s; without `--with nvcc`, no CUDA toolkit is needed",
                       strerror(errno));
}

int cmd_cc(struct session *s)
{
    struct job j = {.s = s, .arena = &s->arena};
    const char *error = cc_read_options(s->n_words, (char **)s->words, &j.o, j.arena);
    if (error)
        return usage_error(s, "cc: %s", error);
    if (j.o.given[CC_HELP])
        return fputs(cc_help(j.arena), stdout) < 0;
    j.clang = j.o.given[CC_COMPILER] ? j.o.value[CC_COMPILER] : "clang-19";
    j.headers = place_of_headers(j.arena);
    j.libraries = place_of_libraries(j.arena);
    if (!j.headers || !j.libraries)
        return cli_failure(s, "cc: Heddle's %s are neither beside this program nor where they were installed",
                           j.headers ? "libraries" : "CUDA headers");
    if (j.o.given[CC_WITH] && strcmp(j.o.value[CC_WITH], "nvcc") == 0)
        return with_nvcc(&j, s->n_words, (char **)s->words);
    j.diagnostics = (struct cc_diagnostics){.headers = j.headers, .color = isatty(2)};
    if (j.o.given[CC_OUTPUT])
        j.o.value[CC_OUTPUT] = as_path(&j, j.o.value[CC_OUTPUT]);
    signal(SIGPIPE, SIG_IGN); /* the host's compiler may end before it reads the fat binary */
    process_catch_signals();
    bool ok = make_folder(&j) && build(&j);
    clean_up(&j);
    process_end_by_signal();
    return ok ? 0 : 1;
}
