/* heddle cc: CUDA C++ to a program, without a CUDA toolkit.
 *
 * A .cu file is compiled twice by clang at the same time, for the device to PTX and for the host. The host's compiler needs
 * the fat binary at its very end; it reads it from its stdin, where we write it as soon as the PTX is there. Objects are
 * linked with Heddle's libcudart (link.c).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cc/job.h"
#include "cuda/image/fatbin.h"
#include "files/file.h"
#include "files/places.h"

enum language { LANGUAGE_CU, LANGUAGE_C, LANGUAGE_CPP, LANGUAGE_PTX, LANGUAGE_LINK };

/* ---- commands ---- */

/* Makefiles name the toolkit's own headers, which nvcc knows anyway; here they come last, for its libraries' sake. */
static bool is_toolkit(const char *folder, struct arena *arena)
{
    return access(arena_printf(arena, "%s/crt/host_config.h", folder), R_OK) == 0;
}

static void add_include_paths(struct job *j, cc_words *c)
{
    const cc_words *folders = &j->o.list[CC_INCLUDE_PATH];
    job_add_values(j, c, CC_QUOTE_INCLUDE, "-iquote", false);
    for (uint32_t i = 0; i < folders->n; i++) {
        ADD(c, is_toolkit(folders->at[i], j->arena) ? "-idirafter" : "-I");
        ADD(c, job_path(j, folders->at[i]));
    }
}

/* What a compilation reads: all that a .cu file includes before all else (pch.c), a source, or what that was preprocessed to. */
enum reading { READ_HEADERS, READ_SOURCE, READ_PREPROCESSED };

/* What clang is told for every file, whatever it is compiled to. */
static void add_source_options(struct job *j, cc_words *c, enum reading reading)
{
    const struct cc_options *o = &j->o;
    if (reading != READ_PREPROCESSED) { /* a name that a source has undefined may stand in it */
        job_add_values(j, c, CC_DEFINE, "-D", true);
        job_add_values(j, c, CC_UNDEFINE, "-U", true);
    }
    if (reading == READ_SOURCE) {
        add_include_paths(j, c);
        job_add_values(j, c, CC_SYSTEM_INCLUDE, "-isystem", false);
    }
    ADD(c, "-isystem");
    ADD(c, arena_printf(j->arena, "%s/heddle/std", j->headers));
    ADD(c, "-isystem");
    ADD(c, j->headers);
    if (o->given[CC_DEFAULT_STREAM] && cc_has_own_streams(o))
        ADD(c, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM");
    ADD(c, o->given[CC_WITHOUT_WARNINGS] ? "-w" : "-Wno-pass-failed"); /* #pragma unroll is a wish */
    ADD(c, "-Wno-error=register");                                     /* C++17 has it no more; nvcc warns */
    ADD(c, "-Wno-invalid-constexpr");                                  /* GCC has constexpr math functions */
    ADD(c, "-Wno-unknown-warning-option");                             /* another host compiler's */
    if (o->given[CC_TOOLKIT])
        ADD(c, "-D__NVCC__");
    if (o->given[CC_TEMPLATE_DEPTH])
        ADD(c, arena_printf(j->arena, "-ftemplate-depth=%s", o->value[CC_TEMPLATE_DEPTH]));
    if (o->given[CC_TEMPLATE_BACKTRACE])
        ADD(c, arena_printf(j->arena, "-ftemplate-backtrace-limit=%s", o->value[CC_TEMPLATE_BACKTRACE]));
    job_add_all(j, c, &o->both);
}

void cc_add_host_options(struct job *j, cc_words *c)
{
    const struct cc_options *o = &j->o;
    if (o->given[CC_OPTIMIZE])
        ADD(c, arena_printf(j->arena, "-O%s", o->value[CC_OPTIMIZE]));
    if (o->given[CC_DEBUG])
        ADD(c, "-g");
    if (o->given[CC_PROFILE])
        ADD(c, "-pg");
    if (o->given[CC_NO_EXCEPTIONS])
        ADD(c, "-fno-exceptions");
    job_add_all(j, c, &o->host);
    job_add_parts(j, c, CC_XCOMPILER, NULL);
}

/* The rule for make, by the host's compilation. `output`: what the command makes. */
static void add_dependencies(struct job *j, cc_words *c, const char *input, const char *output)
{
    const struct cc_options *o = &j->o;
    bool alone = o->given[CC_DEPENDENCIES] || o->given[CC_DEPENDENCIES_OWN];
    if (!alone && !o->given[CC_DEPENDENCIES_TOO] && !o->given[CC_DEPENDENCIES_OWN_TOO])
        return;
    const char *beside = o->given[CC_OUTPUT] ? output : job_named_after(j, input, "");
    ADD(c, o->given[CC_DEPENDENCIES]       ? "-M"
           : o->given[CC_DEPENDENCIES_OWN] ? "-MM"
           : o->given[CC_DEPENDENCIES_TOO] ? "-MD"
                                           : "-MMD");
    if (o->given[CC_DEPENDENCY_FILE] || !alone) {
        ADD(c, "-MF");
        ADD(c, o->given[CC_DEPENDENCY_FILE]
                   ? o->value[CC_DEPENDENCY_FILE]
                   : arena_printf(j->arena, "%.*s.d", (int)(strlen(beside) - strlen(file_extension(beside))), beside));
    }
    job_add_values(j, c, CC_DEPENDENCY_TARGET, "-MT", false);
    if (!o->list[CC_DEPENDENCY_TARGET].n && !alone) {
        ADD(c, "-MT");
        ADD(c, o->given[CC_OUTPUT] ? output : job_named_after(j, input, ".o"));
    }
    if (o->given[CC_DEPENDENCY_PHONY])
        ADD(c, "-MP");
}

/* The macros by which nvcc tells what it was asked for. */
static void add_macros(struct job *j, cc_words *c)
{
    const struct cc_options *o = &j->o;
    ADD(c, arena_printf(j->arena, "-D__CUDA_ARCH_LIST__=%s", cc_arch_list(o, j->arena)));
    if (o->rdc)
        ADD(c, "-D__CUDACC_RDC__");
    if (o->given[CC_DEVICE_DEBUG])
        ADD(c, "-D__CUDACC_DEBUG__");
    if (o->given[CC_EXTENDED_LAMBDA])
        ADD(c, "-D__CUDACC_EXTENDED_LAMBDA__");
    if (o->given[CC_RELAXED_CONSTEXPR])
        ADD(c, "-D__CUDACC_RELAXED_CONSTEXPR__");
}

/* The start of both compilations of a .cu file; `header`: what a source includes first. */
static cc_words cuda_command(struct job *j, const char *side, enum reading reading, const char *header)
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
    ADD(&c, "-fno-crash-diagnostics"); /* files for clang's makers */
    ADD(&c, "-x");
    ADD(&c, "cuda");
    if (o->given[CC_STD])
        ADD(&c, arena_printf(j->arena, "-std=%s", o->value[CC_STD]));
    add_source_options(j, &c, reading);
    add_macros(j, &c);
    if (reading == READ_SOURCE) {
        ADD(&c, strcmp(file_extension(header), ".pch") == 0 ? "-include-pch" : "-include");
        ADD(&c, header);
        job_add_values(j, &c, CC_PRE_INCLUDE, "-include", false);
    }
    /* The math functions need products and sums as they are written; elsewhere clang fuses, as nvcc does. */
    ADD(&c, cc_is_true(o, CC_FMAD, true) ? "-ffp-contract=fast-honor-pragmas" : "-ffp-contract=off");
    if (o->rdc)
        ADD(&c, "-fgpu-rdc");
    if (cc_has_own_streams(o)) { /* how a kernel is launched */
        ADD(&c, "-Xclang");
        ADD(&c, "-fgpu-default-stream=per-thread");
    }
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
 * pass it on to a compilation for the host alone. `instead`: what is read in the place of the input, or NULL. */
static void add_unit(struct job *j, cc_words *c, const char *input, const char *instead)
{
    char *path = realpath(input, NULL);
    if (j->o.rdc) {
        const char *unit = arena_printf(j->arena, "-cuid=%08x",
                                        unit_number(arena_printf(j->arena, "%s %s", path ? path : input,
                                                                 j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : "")));
        ADD(c, unit);
        ADD(c, "-Xclang");
        ADD(c, unit);
    }
    free(path);
    if (instead) {
        ADD(c, "-Xclang");
        ADD(c, "-remap-file");
        ADD(c, "-Xclang");
        ADD(c, arena_printf(j->arena, "%s;%s", input, instead));
    }
    ADD(c, input);
}

static cc_words device_options(struct job *j, const char *arch, enum reading reading, const char *header)
{
    const struct cc_options *o = &j->o;
    cc_words c = cuda_command(j, "--cuda-device-only", reading, header);
    ADD(&c, arena_printf(j->arena, "--cuda-gpu-arch=sm_%s", arch));
    ADD(&c, "--cuda-feature=+ptx85");
    ADD(&c, o->given[CC_DEVICE_DEBUG] ? "-O0" : "-O3");
    ADD(&c, "-gline-directives-only");
    /* LLVM 19 takes a vector of 16 bytes for aligned: superword vectorization is to make none */
    ADD(&c, "-mllvm");
    ADD(&c, "-slp-max-vf=8");
    /* of what is read only, LLVM 19 makes tables of distances else, which its PTX writer takes for circular (RelLookupTableConverter) */
    ADD(&c, "-mcmodel=large");
    if (!cc_is_true(o, CC_PREC_DIV, !o->given[CC_FAST_MATH])) {
        ADD(&c, "-mllvm");
        ADD(&c, "-nvptx-prec-divf32=0");
    }
    return c;
}

/* With the source as it is or, where it has such, with closures laid out as nvcc does. */
static cc_words device_command(struct job *j, const char *input, const char *arch, const char *output)
{
    cc_words c;
    if (j->laid_out_device) {
        c = device_options(j, arch, READ_PREPROCESSED, NULL);
    } else {
        cc_words headers = device_options(j, arch, READ_HEADERS, NULL);
        const char *pch = cc_precompiled_header(j, &headers);
        c = device_options(j, arch, READ_SOURCE, pch ? pch : CC_HEADER);
    }
    ADD(&c, "-S");
    add_unit(j, &c, input, j->laid_out_device ? j->laid_out_device : j->rewritten);
    ADD(&c, "-o");
    ADD(&c, output);
    return c;
}

/* Is there an object at the end, and not text? */
static bool stops_at_text(const struct cc_options *o)
{
    return o->given[CC_PREPROCESS] || o->given[CC_DEPENDENCIES] || o->given[CC_DEPENDENCIES_OWN];
}

/* What the host's compilation makes: -c, -E, -M. */
static void add_goal(struct job *j, cc_words *c, const char *input, const char *output)
{
    if (j->o.given[CC_PREPROCESS])
        ADD(c, "-E");
    else if (!stops_at_text(&j->o))
        ADD(c, "-c");
    add_dependencies(j, c, input, output);
}

static cc_words host_options(struct job *j, enum reading reading, const char *header)
{
    cc_words c = cuda_command(j, "--cuda-host-only", reading, header);
    /* nvcc's host compilation leaves the bodies of kernels out: what they call may be `__device__` where __CUDA_ARCH__ is defined. */
    ADD(&c, "-Xclang");
    ADD(&c, "-fgpu-defer-diag");
    ADD(&c, "-Qunused-arguments");
    cc_add_host_options(j, &c);
    return c;
}

static cc_words host_command(struct job *j, const char *input, const char *output)
{
    cc_words c;
    if (j->laid_out_host) {
        c = host_options(j, READ_PREPROCESSED, NULL);
    } else {
        cc_words headers = host_options(j, READ_HEADERS, NULL);
        const char *pch = cc_precompiled_header(j, &headers);
        c = host_options(j, READ_SOURCE, pch ? pch : CC_HEADER);
    }
    if (!stops_at_text(&j->o)) {
        ADD(&c, "-Xclang");
        ADD(&c, "-fcuda-include-gpubinary");
        ADD(&c, "-Xclang");
        ADD(&c, "/dev/stdin");
    }
    if (j->laid_out_host)
        ADD(&c, "-c"); /* the rule for make is of what was preprocessed */
    else
        add_goal(j, &c, input, j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : output);
    add_unit(j, &c, input, j->laid_out_host ? j->laid_out_host : j->rewritten);
    if (output) {
        ADD(&c, "-o");
        ADD(&c, output);
    }
    return c;
}

static cc_words side_options(struct job *j, const char *arch, enum reading reading)
{
    const char *header = reading == READ_SOURCE ? CC_HEADER : NULL;
    return arch ? device_options(j, arch, reading, header) : host_options(j, reading, header);
}

static bool has_same_lambdas(const struct cc_captures *a, const struct cc_captures *b)
{
    uint32_t i = 0;
    while (i < a->lambdas.n && i < b->lambdas.n && str_eq(a->lambdas.at[i], b->lambdas.at[i]))
        i++;
    return i == a->lambdas.n && i == b->lambdas.n;
}

/* Finds in j->captures what nvcc captures by `=` where that may be a constant, by clang's dump of the text. That takes as long as the
 * headers do: one side is asked, where the other has the same lambdas. Of a text that is wrong nothing may be dumped: its compilation
 * says why. */
static void find_captures(struct job *j, const char *input, const char *arch, struct str text)
{
    static const char *const dump[] = {"-fsyntax-only",    "-w",      "-Xclang",  "-ast-dump", "-Xclang",
                                       "-ast-dump-filter", "-Xclang", CC_CAPTURES};
    struct cc_captures captures;
    struct str marked = cc_mark_closures(text, &captures, j->arena);
    if (has_same_lambdas(&captures, &j->captures))
        return;
    struct process p;
    const char *path = job_temporary(j, input, ".marked.ii"), *out = "", *err;
    cc_words c = side_options(j, arch, READ_PREPROCESSED);
    for (size_t i = 0; i < sizeof dump / sizeof dump[0]; i++)
        ADD(&c, dump[i]);
    add_unit(j, &c, input, path);
    j->captures = captures;
    if (marked.p && job_write(j, path, marked.p, marked.n) && job_start(j, &p, &c, PROCESS_OUTPUT)) {
        process_finish(&p, j->arena, &out, &err);
        cc_read_captures(marked, str_of(out), &j->captures, j->arena);
    }
}

/* Preprocesses a source for a device, or for the host where `arch` is NULL, and lays out its closures (closures.c). *path is the text
 * that the compilation reads then, or NULL where the source has no such closures. `output`: what is to be made, for a rule for make. */
static bool lay_out(struct job *j, const char *input, const char *arch, const char *output, const char **path)
{
    struct file_bytes file = {0};
    const char *ending = arch ? arena_printf(j->arena, ".sm_%s.ii", arch) : ".host.ii";
    const char *to = job_temporary(j, input, ending);
    cc_words c = side_options(j, arch, READ_SOURCE);
    ADD(&c, "-E");
    if (!arch)
        add_dependencies(j, &c, input, output);
    add_unit(j, &c, input, j->rewritten);
    ADD(&c, "-o");
    ADD(&c, to);
    if (!job_run(j, &c))
        return false;
    const char *error = file_read(j->arena, to, 0, &file);
    if (error)
        return cc_failure(j, "%s", error) == 0;
    struct str text = {file.bytes, file.n};
    find_captures(j, input, arch, text);
    text = cc_lay_out_closures(text, &j->captures, j->arena);
    free(file.bytes);
    *path = text.p ? to : NULL;
    return !text.p || job_write(j, to, text.p, text.n);
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
    if (strcmp(ending, ".ptx") == 0)
        return LANGUAGE_PTX;
    if (strcmp(ending, ".cc") == 0 || strcmp(ending, ".cpp") == 0 || strcmp(ending, ".cxx") == 0 ||
        strcmp(ending, ".C") == 0)
        return LANGUAGE_CPP;
    return LANGUAGE_LINK;
}

static bool make_folder(struct job *j)
{
    if (j->o.given[CC_KEEP] || j->o.given[CC_DRY_RUN]) {
        j->folder = j->o.given[CC_KEEP_DIR] ? j->o.value[CC_KEEP_DIR] : ".";
        return true;
    }
    const char *given = getenv("TMPDIR"), *tmp = given && *given ? job_path(j, given) : "/tmp";
    j->folder = mkdtemp(arena_printf(j->arena, "%s/heddle-cc-XXXXXX", tmp));
    if (!j->folder)
        cc_failure(j, "cannot make a folder in %s: %s", tmp, strerror(errno));
    return j->folder != NULL;
}

static void clean_up(struct job *j)
{
    for (uint32_t i = 0; i < j->temporary.n; i++)
        unlink(j->temporary.at[i]);
    if (j->folder && !j->o.given[CC_KEEP] && !j->o.given[CC_DRY_RUN])
        rmdir(j->folder);
}

/* ---- one .cu file ---- */

/* Kernels with __cluster_dims__ get their directives, which takes another look at a file that has some. */
static bool add_clusters(struct job *j, const char *input, const char *arch, struct str *ptx)
{
    struct file_bytes ir = {0};
    const char *path = job_temporary(j, input, arena_printf(j->arena, ".sm_%s.ll", arch));
    cc_words c = device_command(j, input, arch, path);
    ADD(&c, "-emit-llvm");
    ADD(&c, "-Xclang");
    ADD(&c, "-disable-llvm-passes");
    if (!job_run(j, &c))
        return false;
    const char *error = file_read(j->arena, path, 0, &ir);
    if (error)
        return cc_failure(j, "%s", error) == 0;
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
        return cc_failure(j, "%s", error) == 0;
    error = cc_check_operands((struct str){file.bytes, file.n}, input, j->arena);
    if (error) {
        fprintf(stderr, "%s\n", error);
        free(file.bytes);
        return false;
    }
    struct str text = cc_rewrite((struct str){file.bytes, file.n}, j->arena);
    if (text.p && strchr(input, ';')) { /* which parts the names of clang's -remap-file */
        free(file.bytes);
        return cc_failure(j,
                          "%s: clang takes what nvcc writes otherwise (`< <<`, `__shared__ alignas`, `%%clock` in "
                          "assembly) only where the path has no `;`: rename it",
                          input) == 0;
    }
    j->rewritten = text.p && !j->o.given[CC_DRY_RUN] ? job_temporary(j, input, ".joined.cu") : NULL;
    bool ok = !j->rewritten || job_write(j, j->rewritten, text.p, text.n);
    /* nvcc takes such lambdas by an option only: a header may have them, and a macro may hide what they are */
    j->laid_out_host = j->laid_out_device = NULL;
    j->captures = (struct cc_captures){0};
    j->may_have_closures =
        !j->o.given[CC_DRY_RUN] && !stops_at_text(&j->o) &&
        (j->o.given[CC_EXTENDED_LAMBDA] || cc_has_closures((struct str){file.bytes, file.n}, j->arena));
    free(file.bytes);
    return ok;
}

/* What clang 19 leaves out of the PTX that it writes. */
static bool mend_ptx(struct job *j, const char *input, const char *arch, const char *path)
{
    struct file_bytes file = {0};
    const char *error = file_read(j->arena, path, 0, &file);
    if (error)
        return cc_failure(j, "%s", error) == 0;
    struct str ptx = {file.bytes, file.n};
    bool ok = !cc_has_clusters(ptx) || add_clusters(j, input, arch, &ptx);
    if (ok && j->o.rdc)
        ptx = cc_name_statics(ptx, j->arena);
    if (ok && j->o.given[CC_REGISTERS])
        ptx = cc_limit_registers(ptx, (unsigned)atoi(j->o.value[CC_REGISTERS]), j->arena);
    if (ok && ptx.p != file.bytes)
        ok = job_write(j, path, ptx.p, ptx.n);
    free(file.bytes);
    return ok;
}

/* Compiles the device code for one architecture. */
static bool compile_device(struct job *j, const char *input, const char *arch, const char *output)
{
    if (j->may_have_closures && !lay_out(j, input, arch, NULL, &j->laid_out_device))
        return false;
    cc_words c = device_command(j, input, arch, output);
    return job_run(j, &c) && (j->o.given[CC_DRY_RUN] || mend_ptx(j, input, arch, output));
}

/* What clang does not know, and nvcc's ptxas would say: too much shared memory, and what Heddle refuses. */
static bool check_ptx(struct job *j, const char *path, const struct file_bytes *file)
{
    const char *slash = strrchr(path, '/');
    hd_source source = {slash ? slash + 1 : path, file->bytes, file->n};
    hd_ptx *ptx = NULL;
    hd_report *report;
    hd_result r = hd_ptx_read(&source, &ptx, &report);
    if (r && !hd_report_count(report))
        cc_failure(j, "%s", hd_result_string(r));
    else if (r || !j->o.given[CC_WITHOUT_WARNINGS])
        fputs(hd_report_text(report), stderr);
    hd_report_free(report);
    if (!r && cc_wants_usage(j))
        cc_print_usage(ptx, &source);
    hd_ptx_free(ptx);
    return r == HD_SUCCESS;
}

/* The PTX of a file for one architecture: compiled, or the file itself. */
static bool read_device(struct job *j, const char *input, const char *arch, struct file_bytes *file)
{
    const char *path = input;
    if (language_of(j, input) == LANGUAGE_CU) {
        path = job_temporary(j, input, j->o.archs.n == 1 ? ".ptx" : arena_printf(j->arena, ".sm_%s.ptx", arch));
        if (!compile_device(j, input, arch, path))
            return false;
    }
    if (j->o.given[CC_DRY_RUN])
        return true;
    const char *error = file_read(j->arena, path, 0, file);
    if (error)
        return cc_failure(j, "%s", error) == 0;
    return check_ptx(j, path, file);
}

/* The fat binary of a file for all architectures, from malloc. NULL: errors, printed. */
static void *make_fatbin(struct job *j, const char *input, size_t *bytes)
{
    struct cc_ptx *ptx = ARENA_ARRAY(j->arena, struct cc_ptx, j->o.archs.n);
    bool ok = true;
    uint32_t done = 0;
    for (; done < j->o.archs.n && ok; done++) {
        const char *arch = j->o.archs.at[done];
        struct file_bytes file = {0};
        ok = read_device(j, input, arch, &file);
        ptx[done] = (struct cc_ptx){arch, file.bytes, file.n};
    }
    void *fatbin = NULL;
    if (ok && !j->o.given[CC_DRY_RUN]) {
        fatbin = cc_fatbin(ptx, done, bytes);
        if (!fatbin)
            cc_failure(j, "out of memory");
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
    if (j->may_have_closures && !lay_out(j, input, NULL, output, &j->laid_out_host))
        return false;
    j->may_have_closures = j->laid_out_host != NULL; /* both sides have the same */
    cc_words c = host_command(j, input, output);
    if (j->o.given[CC_DRY_RUN]) {
        make_fatbin(j, input, &bytes);
        job_show(j, &c, "(fat binary of the PTX) | ");
        return true;
    }
    if (!job_start(j, &host, &c, PROCESS_INPUT))
        return false;
    void *fatbin = make_fatbin(j, input, &bytes);
    bool ok = fatbin != NULL;
    if (ok && j->o.given[CC_KEEP])
        ok = job_write(j, job_temporary(j, input, ".fatbin"), fatbin, bytes);
    if (ok)
        feed(host.in, fatbin, bytes); /* a compiler that has ended says why */
    int status = job_finish(j, &host);
    free(fatbin);
    if (!ok && status == 0 && !file_is_special(output))
        unlink(output); /* it has no device code */
    return ok && status == 0;
}

/* The host's compiler alone: C, C++, or our own C. */
static bool compile_host(struct job *j, const char *input, enum language language, const char *output)
{
    cc_words c = {0};
    ADD(&c, j->host_cxx ? j->host_cxx : j->clang);
    if (!j->host_cxx)
        ADD(&c, "-Qunused-arguments");
    ADD(&c, "-x");
    ADD(&c, language == LANGUAGE_C ? "c" : "c++");
    if (language == LANGUAGE_CPP && j->o.given[CC_STD])
        ADD(&c, arena_printf(j->arena, "-std=%s", j->o.value[CC_STD]));
    add_source_options(j, &c, READ_SOURCE);
    job_add_values(j, &c, CC_PRE_INCLUDE, "-include", false);
    cc_add_host_options(j, &c);
    add_goal(j, &c, input, output);
    ADD(&c, input);
    if (output) {
        ADD(&c, "-o");
        ADD(&c, output);
    }
    return job_run(j, &c);
}

/* ---- what is asked for ---- */

/* -ptx -o -: when it is complete. */
static bool show_ptx(struct job *j, const char *input)
{
    struct file_bytes file = {0};
    const char *path = job_temporary(j, input, ".shown.ptx");
    if (j->o.archs.n > 1)
        return cc_failure(j, "-ptx -o - is for one device, and there are %u", j->o.archs.n) == 0;
    if (!compile_device(j, input, j->o.archs.at[0], path) || j->o.given[CC_DRY_RUN])
        return j->o.given[CC_DRY_RUN];
    const char *error = file_read(j->arena, path, 0, &file);
    bool ok = error ? cc_failure(j, "%s", error) == 0 : job_write(j, "-", file.bytes, file.n);
    free(file.bytes);
    return ok;
}

/* -ptx: as many files as architectures. */
static bool make_ptx(struct job *j, const char *input)
{
    bool ok = true;
    if (j->o.given[CC_OUTPUT] && strcmp(j->o.value[CC_OUTPUT], "-") == 0)
        return show_ptx(j, input);
    for (uint32_t i = 0; i < j->o.archs.n && ok; i++) {
        const char *arch = j->o.archs.at[i];
        const char *output = j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : job_named_after(j, input, ".ptx");
        if (j->o.archs.n > 1)
            output = arena_printf(j->arena, "%.*s.sm_%s.ptx", (int)(strlen(output) - strlen(file_extension(output))),
                                  output, arch);
        ok = compile_device(j, input, arch, output);
    }
    return ok;
}

static bool make_fatbin_file(struct job *j, const char *input, const char *output)
{
    size_t bytes;
    void *fatbin = make_fatbin(j, input, &bytes);
    bool ok = j->o.given[CC_DRY_RUN] || (fatbin && job_write(j, output, fatbin, bytes));
    free(fatbin);
    return ok;
}

/* -cubin: what ptxas would make of the PTX, which our ptxas writes alike (toolkit/ptxas.c). */
static bool make_cubin(struct job *j, const char *input, const char *output)
{
    struct file_bytes file = {0};
    size_t bytes = 0;
    if (j->o.archs.n > 1)
        return cc_failure(j, "-cubin is for one device, and there are %u", j->o.archs.n) == 0;
    if (!read_device(j, input, j->o.archs.at[0], &file) || j->o.given[CC_DRY_RUN])
        return j->o.given[CC_DRY_RUN];
    struct image_text text = {file.bytes, file.n, (unsigned)atoi(j->o.archs.at[0])};
    void *image = image_of_texts(&text, 1, &bytes);
    bool ok = image ? job_write(j, output, image, bytes) : cc_failure(j, "out of memory") == 0;
    free(image);
    free(file.bytes);
    return ok;
}

/* What is no source is refused here: a pipe would be read by one of two compilers, /dev/zero for ever. Its name stands in PTX,
 * in comments of a line. */
static bool is_source(struct job *j, const char *input, const char *output)
{
    struct stat source, null, other;
    if (access(input, R_OK) != 0 || stat(input, &source) != 0)
        return cc_failure(j, "cannot read %s: %s", input, strerror(errno)) == 0;
    bool is_null = S_ISCHR(source.st_mode) && stat("/dev/null", &null) == 0 && source.st_rdev == null.st_rdev;
    if (!S_ISREG(source.st_mode) && !is_null)
        return cc_failure(j, "%s is no file of source code: it is read several times", input) == 0;
    if (strpbrk(input, "\n\r"))
        return cc_failure(j, "the name of a source file cannot have lines") == 0;
    if (output && !is_null && stat(output, &other) == 0 && other.st_dev == source.st_dev &&
        other.st_ino == source.st_ino)
        return cc_failure(j, "the output %s would take the place of the source", output) == 0;
    return true;
}

/* What the file that an input becomes ends with: "" where it goes on to be linked, NULL where it becomes text for people or make. */
static const char *goal_ending(const struct cc_options *o)
{
    static const struct {
        enum cc_id id;
        const char *ending;
    } endings[] = {{CC_PTX, ".ptx"},   {CC_CUBIN, ".cubin"}, {CC_FATBIN, ".fatbin"},
                   {CC_COMPILE, ".o"}, {CC_DEVICE_C, ".o"},  {CC_DEVICE_W, ".o"}};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (o->given[endings[i].id])
            return endings[i].ending;
    return stops_at_text(o) ? NULL : "";
}

/* Which file of an input the command leaves behind; NULL: its text goes to stdout. */
static const char *output_of(struct job *j, const char *input, const char *ending)
{
    return j->o.given[CC_OUTPUT] || !ending ? j->o.value[CC_OUTPUT] : job_named_after(j, input, ending);
}

/* Compiles one input to `output` (NULL: to stdout). */
static bool compile(struct job *j, const char *input, enum language language, const char *output)
{
    if (j->o.given[CC_PTX])
        return make_ptx(j, input);
    if (j->o.given[CC_CUBIN])
        return make_cubin(j, input, output);
    if (j->o.given[CC_FATBIN])
        return make_fatbin_file(j, input, output);
    if (language != LANGUAGE_CU)
        return compile_host(j, input, language, output);
    if (stops_at_text(&j->o)) {
        cc_words c = host_command(j, input, output);
        return job_run(j, &c);
    }
    return compile_cuda(j, input, output);
}

/* Does the command take files of this language? */
static bool is_input(struct job *j, const char *input, enum language language, bool links)
{
    const struct cc_options *o = &j->o;
    bool device_only = o->given[CC_PTX] || o->given[CC_CUBIN] || o->given[CC_FATBIN];
    if (device_only && language != LANGUAGE_CU && (language != LANGUAGE_PTX || o->given[CC_PTX]))
        return cc_failure(j, "%s has no device code: it is not named .cu (-x cu says that it is CUDA)", input) == 0;
    if (language == LANGUAGE_PTX && !device_only)
        return cc_failure(j, "%s: -cubin and -fatbin take PTX; a program loads it by cuModuleLoad()", input) == 0;
    if (language == LANGUAGE_LINK && !links)
        return cc_failure(j, "%s is no source file: .cu, .c, .cc, .cpp or .cxx (or say -x cu)", input) == 0;
    return true;
}

static bool build(struct job *j)
{
    cc_words objects = {0};
    const char *ending = goal_ending(&j->o);
    bool links = ending && !*ending, ok = true;
    for (uint32_t i = 0; i < j->o.inputs.n; i++) {
        const char *input = job_path(j, j->o.inputs.at[i]);
        enum language language = j->o.given[CC_DEVICE_LINK] ? LANGUAGE_LINK : language_of(j, input);
        if (!is_input(j, input, language, links))
            return false;
        if (language == LANGUAGE_LINK) {
            ADD(&objects, input);
            continue;
        }
        const char *output =
            links ? job_temporary(j, input, arena_printf(j->arena, "-%u.o", i)) : output_of(j, input, ending);
        if (!is_source(j, input, links && j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : output) ||
            (language == LANGUAGE_CU && !rewrite_source(j, input)))
            return false;
        ok = compile(j, input, language, output) && ok;
        ADD(&objects, output);
    }
    return ok && (!links || cc_link(j, &objects));
}

/* -run of a program that is there already. */
static bool is_linked(struct job *j)
{
    return j->o.given[CC_RUN] && j->o.inputs.n == 1 && language_of(j, j->o.inputs.at[0]) == LANGUAGE_LINK &&
           access(j->o.inputs.at[0], X_OK) == 0;
}

/* -run: the program takes the place of this one. */
static int run_program(struct job *j)
{
    const char *path = is_linked(j) ? j->o.inputs.at[0] : j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : "a.out";
    char *program = arena_printf(j->arena, strchr(path, '/') ? "%s" : "./%s", path);
    cc_words c = {0};
    ADD(&c, program);
    job_add_parts(j, &c, CC_RUN_ARGS, NULL);
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    execv(program, job_arguments(j, &c));
    return cc_failure(j, "cannot run %s: %s", program, strerror(errno));
}

/* -ccbin: a clang compiles all. A wrapper of MPI adds its own options to those of the compiler that its variable names. Another
 * compiler cannot read CUDA: it gets what is the host's alone. */
static void choose_compilers(struct job *j)
{
    const char *given = j->o.given[CC_COMPILER] ? j->o.value[CC_COMPILER] : getenv("NVCC_CCBIN");
    j->clang = "clang-19";
    if (!given || !*given)
        return;
    struct stat st;
    if (stat(given, &st) == 0 && S_ISDIR(st.st_mode))
        given = arena_printf(j->arena, "%s/g++", given);
    const char *slash = strrchr(given, '/'), *base = slash ? slash + 1 : given;
    if (strncmp(base, "clang", 5) == 0) {
        j->clang = given;
    } else if (strncmp(base, "mpi", 3) == 0) {
        setenv("OMPI_CXX", "clang++-19", 1); /* for it links, too */
        setenv("MPICH_CXX", "clang++-19", 1);
        j->clang = given;
    } else {
        j->host_cxx = given;
    }
}

/* What the command line says of devices that clang cannot compile for. */
static void warn_of_archs(struct job *j)
{
    if (j->o.given[CC_QUIET_ARCHS] || j->o.given[CC_WITHOUT_WARNINGS])
        return;
    for (uint32_t i = 0; i < j->o.unknown_archs.n; i++)
        fprintf(
            stderr,
            "heddle: cc: warning: %s is left out: clang 19 does not know it, and PTX for an earlier device runs there "
            "(-Wno-deprecated-gpu-targets says nothing)\n",
            j->o.unknown_archs.at[i]);
}

/* -o -: what a compiler or a linker writes at any place of its file needs one. */
static bool choose_output(struct job *j)
{
    const char *output = j->o.value[CC_OUTPUT];
    bool is_device_only = j->o.given[CC_PTX] || j->o.given[CC_CUBIN] || j->o.given[CC_FATBIN];
    if (!output)
        return true;
    if (strcmp(output, "-") != 0) {
        j->o.value[CC_OUTPUT] = job_path(j, output);
    } else if (stops_at_text(&j->o)) {
        j->o.given[CC_OUTPUT] = false;
        j->o.value[CC_OUTPUT] = NULL;
    } else if (!is_device_only) {
        return cc_failure(j, "-o -: objects, programs and libraries are not written to standard output: name a file "
                             "(`./-` for one of that name)") == 0;
    }
    return true;
}

int cc_main(int argc, char **argv, struct arena *arena)
{
    struct job j = {.arena = arena};
    const char *error = cc_read_options(argc, argv, &j.o, j.arena);
    if (error) {
        cc_failure(&j, "%s", error);
        return 2;
    }
    if (j.o.given[CC_HELP])
        return fputs(cc_help(j.arena), stdout) < 0;
    if (cc_answer(&j))
        return 0;
    choose_compilers(&j);
    j.headers = place_of_headers(j.arena);
    j.libraries = place_of_libraries(j.arena);
    if (!j.headers || !j.libraries)
        return cc_failure(&j, "Heddle's %s are neither beside this program nor where they were installed",
                          j.headers ? "libraries" : "CUDA headers");
    if (j.o.given[CC_INSTALL_TOOLS])
        return cc_install_tools(&j, j.o.value[CC_INSTALL_TOOLS]);
    if (j.o.given[CC_WITH] && strcmp(j.o.value[CC_WITH], "nvcc") == 0)
        return cc_with_nvcc(&j, argc, argv);
    if (j.o.given[CC_TOOLKIT] && (j.o.given[CC_VERBOSE] || j.o.given[CC_DRY_RUN]))
        cc_show_toolkit(&j);
    warn_of_archs(&j);
    j.diagnostics = (struct cc_diagnostics){.headers = j.headers, .color = isatty(2)};
    if (!choose_output(&j))
        return 1;
    signal(SIGPIPE, SIG_IGN); /* the host's compiler may end before it reads the fat binary */
    process_catch_signals();
    bool ok = is_linked(&j) || (make_folder(&j) && build(&j));
    clean_up(&j);
    process_end_by_signal();
    return !ok ? 1 : j.o.given[CC_RUN] && !j.o.given[CC_DRY_RUN] ? run_program(&j) : 0;
}
