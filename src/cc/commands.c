/* See commands.h. */
#include "cc/commands.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a compilation reads: all that a .cu file includes before all else (pch.c), a source, or what
 * that was preprocessed to. */
enum reading { READ_HEADERS, READ_SOURCE, READ_PREPROCESSED };

/* Makefiles name the toolkit's own headers, which nvcc knows anyway; here they come last, for its
 * libraries' sake. */
bool cc_is_toolkit(struct job *j, const char *folder)
{
    return access(arena_printf(j->arena, "%s/crt/host_config.h", folder), R_OK) == 0;
}

static void add_include_paths(struct job *j, cc_words *c)
{
    const cc_words *folders = &j->o.list[CC_INCLUDE_PATH];
    job_add_values(j, c, CC_QUOTE_INCLUDE, "-iquote", false);
    for (uint32_t i = 0; i < folders->n; i++) {
        ADD(c, cc_is_toolkit(j, folders->at[i]) ? "-idirafter" : "-I");
        ADD(c, job_path(j, folders->at[i]));
    }
}

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
    /* #pragma unroll is a wish. */
    ADD(c, o->given[CC_WITHOUT_WARNINGS] ? "-w" : "-Wno-pass-failed");
    ADD(c, "-Wno-unknown-warning-option"); /* another host compiler's */
    if (o->given[CC_TOOLKIT])
        ADD(c, "-D__NVCC__");
    if (o->given[CC_DELAYED_TEMPLATES])
        ADD(c, "-fdelayed-template-parsing");
    if (o->given[CC_TEMPLATE_DEPTH])
        ADD(c, arena_printf(j->arena, "-ftemplate-depth=%s", o->value[CC_TEMPLATE_DEPTH]));
    if (o->given[CC_TEMPLATE_BACKTRACE])
        ADD(c, arena_printf(j->arena, "-ftemplate-backtrace-limit=%s", o->value[CC_TEMPLATE_BACKTRACE]));
    job_add_all(j, c, &o->both);
}

static const char *find_gcc_headers(struct arena *arena)
{
    glob_t found;
    if (glob("/usr/lib/gcc/*-linux-gnu*/*/include", GLOB_ONLYDIR, NULL, &found) != 0)
        return "";
    const char *newest = found.gl_pathv[0];
    for (size_t i = 1; i < found.gl_pathc; i++)
        if (strverscmp(newest, found.gl_pathv[i]) < 0)
            newest = found.gl_pathv[i];
    newest = arena_strdup(arena, newest);
    globfree(&found);
    return newest;
}

/* What makes clang take what nvcc takes: headers of GCC's that clang lacks, such as <omp.h>, and
 * errors of clang's that are warnings of nvcc's, or nothing. */
static void add_what_nvcc_takes(struct job *j, cc_words *c)
{
    static const char *const warnings[] = {
        "-Wno-error=register",                              /* C++17 has it no more */
        "-Wno-error=c++11-narrowing",                       /* dim3 grid = {n / 256, 1, 1}, of an int n */
        "-Wno-error=reserved-user-defined-literal",         /* "%"PRIu64 */
        "-Wno-missing-template-arg-list-after-template-kw", /* a.template f(x) */
        "-Wno-invalid-constexpr",                           /* GCC has constexpr math functions */
    };
    for (size_t i = 0; i < sizeof warnings / sizeof warnings[0]; i++)
        ADD(c, warnings[i]);
    ADD(c, "-idirafter");
    ADD(c, arena_printf(j->arena, "%s/heddle/after", j->headers));
    if (!j->gcc_headers)
        j->gcc_headers = find_gcc_headers(j->arena);
    if (!*j->gcc_headers)
        return;
    ADD(c, "-idirafter");
    ADD(c, j->gcc_headers);
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

bool cc_has_openmp(struct job *j)
{
    cc_words c = {0};
    cc_add_host_options(j, &c);
    for (uint32_t i = 0; i < c.n; i++)
        if (strcmp(c.at[i], "-fopenmp") == 0)
            return true;
    return false;
}

/* The macros by which nvcc tells what it was asked for. */
static void add_macros(struct job *j, cc_words *c)
{
    const struct cc_options *o = &j->o;
    /* A build's own list stands: it is in the names of Thrust's and CUB's kernels. */
    if (!cc_defines(o, "__CUDA_ARCH_LIST__"))
        ADD(c, arena_printf(j->arena, "-D__CUDA_ARCH_LIST__=%s", cc_arch_list(o, j->arena)));
    if (j->has_references)
        ADD(c, "-D__HEDDLE_REFERENCES__");
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
    /* nvcc takes a device function(...) that is only declared, or whose arguments nothing looks at:
     * libcu++ has many */
    ADD(&c, "-Xclang");
    ADD(&c, "-fcuda-allow-variadic-functions");
    ADD(&c, "-fno-crash-diagnostics"); /* files for clang's makers */
    ADD(&c, "-x");
    ADD(&c, "cuda");
    if (o->given[CC_STD]) /* Heddle's headers are C++11 */
        ADD(&c, arena_printf(j->arena, "-std=%s", strstr(o->value[CC_STD], "+03") ? "c++11" : o->value[CC_STD]));
    add_source_options(j, &c, reading);
    add_what_nvcc_takes(j, &c);
    add_macros(j, &c);
    if (reading == READ_SOURCE) {
        ADD(&c, strcmp(file_extension(header), ".pch") == 0 ? "-include-pch" : "-include");
        ADD(&c, header);
        job_add_values(j, &c, CC_PRE_INCLUDE, "-include", false);
    }
    /* The math functions need products and sums as they are written; elsewhere clang fuses, as nvcc
     * does. */
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

static void add_remap(struct job *j, cc_words *c, const char *path, const char *instead)
{
    ADD(c, "-Xclang");
    ADD(c, "-remap-file");
    ADD(c, "-Xclang");
    ADD(c, arena_printf(j->arena, "%s;%s", path, instead));
}

const char *cc_unit(struct job *j, const char *input)
{
    char *path = realpath(input, NULL);
    const char *output = j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : "";
    uint32_t number = unit_number(arena_printf(j->arena, "%s %s", path ? path : input, output));
    free(path);
    return arena_printf(j->arena, "%08x", number);
}

/* Names of static device variables, and of kernels in anonymous namespaces, must be the same on
 * both sides. clang's driver does not pass it on to a compilation for the host alone.
 * `preprocessed`: what is read in the place of the input and its headers, or NULL. */
static void add_unit(struct job *j, cc_words *c, const char *input, const char *preprocessed)
{
    if (j->o.rdc) {
        const char *unit = arena_printf(j->arena, "-cuid=%s", cc_unit(j, input));
        ADD(c, unit);
        ADD(c, "-Xclang");
        ADD(c, unit);
    }
    for (uint32_t i = 0; i < j->sources.n && !preprocessed; i++)
        if (j->sources.at[i].instead)
            add_remap(j, c, j->sources.at[i].path, j->sources.at[i].instead);
    if (preprocessed)
        add_remap(j, c, input, preprocessed);
    ADD(c, input);
}

/* Options of a preprocessor, each with its value behind it or as the next word. */
static const struct preprocessor_option {
    const char *name;
    bool headers; /* also for what all sources include */
} preprocessor_options[] = {{"-D", true},       {"-U", true},          {"-I", false},       {"-isystem", false},
                            {"-iquote", false}, {"-idirafter", false}, {"-include", false}, {"-imacros", false}};

static const struct preprocessor_option *preprocessor_option(const char *word)
{
    for (size_t i = 0; i < sizeof preprocessor_options / sizeof preprocessor_options[0]; i++)
        if (str_starts(str_of(word), preprocessor_options[i].name))
            return &preprocessor_options[i];
    return NULL;
}

/* The host compiler's options for its preprocessor are the device side's, too: nvcc has both sides
 * preprocessed by the host's compiler. */
static void add_host_preprocessor_options(struct job *j, cc_words *c, enum reading reading)
{
    cc_words all = {0};
    if (reading == READ_PREPROCESSED)
        return;
    if (cc_has_openmp(j))
        /* Clang 19's own, which its CUDA driver gives to the host alone. */
        ADD(c, "-D_OPENMP=202011");
    cc_add_host_options(j, &all);
    for (uint32_t i = 0; i < all.n; i++) {
        const char *word = all.at[i], *value = NULL;
        const struct preprocessor_option *p = preprocessor_option(word);
        if (p && strcmp(word, p->name) == 0 && i + 1 < all.n)
            value = all.at[++i];
        if (!p || (!p->headers && reading != READ_SOURCE))
            continue;
        ADD(c, word);
        if (value)
            ADD(c, value);
    }
}

static cc_words device_options(struct job *j, const char *arch, enum reading reading, const char *header)
{
    const struct cc_options *o = &j->o;
    cc_words c = cuda_command(j, "--cuda-device-only", reading, header);
    add_host_preprocessor_options(j, &c, reading);
    /* nvcc lets a variable that only some lanes have written be passed on, as programs do that
     * shuffle what lane 0 has; clang would take each lane for one that has written it */
    ADD(&c, "-Xclang");
    ADD(&c, "-no-enable-noundef-analysis");
    ADD(&c, arena_printf(j->arena, "--cuda-gpu-arch=sm_%s", arch));
    ADD(&c, "--cuda-feature=+ptx85");
    bool debug = o->given[CC_DEVICE_DEBUG], optimise = !debug || o->given[CC_DEVICE_OPTIMIZE];
    ADD(&c, optimise ? "-O3" : "-O0");
    ADD(&c, debug ? "-g" : "-gline-directives-only"); /* -g: variables, too, for debuggers */
    if (debug && optimise)
        /* Without it clang leaves -g out, as ptxas would not take it. */
        ADD(&c, "--cuda-noopt-device-debug");
    if (debug) { /* types whose constructors are all inlined, too */
        ADD(&c, "-Xclang");
        ADD(&c, "-fno-use-ctor-homing");
    }
    /* nvcc's inliner takes functions of a cost of 20,000; LLVM's takes 11 times its threshold for
     * this target. What is left as a call has its caller's parameters copied to local memory. */
    ADD(&c, "-mllvm");
    ADD(&c, "-inline-threshold=1800");
    /* LLVM 19 takes a vector of 16 bytes for aligned: superword vectorization is to make none */
    ADD(&c, "-mllvm");
    ADD(&c, "-slp-max-vf=8");
    /* conversions between __int128 and floating point: else calls of a
     * library that no device has */
    ADD(&c, "-mllvm");
    ADD(&c, "-expand-fp-convert-bits=64");
    /* of what is read only, LLVM 19 makes tables of distances else, which its PTX writer takes for
     * circular (RelLookupTableConverter) */
    ADD(&c, "-mcmodel=large");
    if (!cc_is_true(o, CC_PREC_DIV, !o->given[CC_FAST_MATH])) {
        ADD(&c, "-mllvm");
        ADD(&c, "-nvptx-prec-divf32=0");
    }
    return c;
}

cc_words cc_device_command(struct job *j, const char *input, const char *arch, const char *output)
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
    add_unit(j, &c, input, j->laid_out_device);
    ADD(&c, "-o");
    ADD(&c, output);
    return c;
}

bool cc_stops_at_text(const struct cc_options *o)
{
    return o->given[CC_PREPROCESS] || o->given[CC_DEPENDENCIES] || o->given[CC_DEPENDENCIES_OWN];
}

/* What the host's compilation makes: -c, -E, -M. */
static void add_goal(struct job *j, cc_words *c, const char *input, const char *output)
{
    if (j->o.given[CC_PREPROCESS])
        ADD(c, "-E");
    else if (!cc_stops_at_text(&j->o))
        ADD(c, "-c");
    cc_add_rule(j, c, input, output);
}

static cc_words host_options(struct job *j, enum reading reading, const char *header)
{
    cc_words c = cuda_command(j, "--cuda-host-only", reading, header);
    /* nvcc's host compilation leaves the bodies of kernels out: what they call may be `__device__`
     * where __CUDA_ARCH__ is defined. */
    ADD(&c, "-Xclang");
    ADD(&c, "-fgpu-defer-diag");
    ADD(&c, "-Qunused-arguments");
    cc_add_host_options(j, &c);
    return c;
}

cc_words cc_host_command(struct job *j, const char *input, const char *output)
{
    cc_words c;
    if (j->laid_out_host) {
        c = host_options(j, READ_PREPROCESSED, NULL);
    } else {
        cc_words headers = host_options(j, READ_HEADERS, NULL);
        const char *pch = cc_can_mend_rule(j, input, output) ? cc_precompiled_header(j, &headers) : NULL;
        c = host_options(j, READ_SOURCE, pch ? pch : CC_HEADER);
    }
    if (!cc_stops_at_text(&j->o)) {
        ADD(&c, "-Xclang");
        ADD(&c, "-fcuda-include-gpubinary");
        ADD(&c, "-Xclang");
        ADD(&c, "/dev/stdin");
    }
    if (j->laid_out_host)
        ADD(&c, "-c"); /* the rule for make is of what was preprocessed */
    else
        add_goal(j, &c, input, j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : output);
    add_unit(j, &c, input, j->laid_out_host);
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

cc_words cc_preprocess_command(struct job *j, const char *input, const char *arch, const char *output, const char *to)
{
    cc_words c = side_options(j, arch, READ_SOURCE);
    ADD(&c, "-E");
    if (!arch)
        cc_add_rule(j, &c, input, output);
    add_unit(j, &c, input, NULL);
    ADD(&c, "-o");
    ADD(&c, to);
    return c;
}

cc_words cc_dump_command(struct job *j, const char *input, const char *arch, const char *instead)
{
    static const char *const dump[] = {"-fsyntax-only",    "-w",      "-Xclang",  "-ast-dump", "-Xclang",
                                       "-ast-dump-filter", "-Xclang", CC_CAPTURES};
    cc_words c = side_options(j, arch, READ_PREPROCESSED);
    for (size_t i = 0; i < sizeof dump / sizeof dump[0]; i++)
        ADD(&c, dump[i]);
    add_unit(j, &c, input, instead);
    return c;
}

cc_words cc_plain_command(struct job *j, const char *input, enum cc_language language, const char *output)
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
    if (!j->host_cxx)
        add_what_nvcc_takes(j, &c);
    job_add_values(j, &c, CC_PRE_INCLUDE, "-include", false);
    cc_add_host_options(j, &c);
    add_goal(j, &c, input, output);
    ADD(&c, input);
    if (output) {
        ADD(&c, "-o");
        ADD(&c, output);
    }
    return c;
}
