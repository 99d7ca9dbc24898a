/* heddle cc: CUDA C++ to a program, without a CUDA toolkit. A .cu file is compiled by compile.c;
 * objects are linked with Heddle's libcudart (link.c).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cc/commands.h"
#include "cc/compile.h"
#include "cc/job.h"
#include "cuda/image/fatbin.h"
#include "files/file.h"
#include "files/places.h"

/* ---- files ---- */

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

/* ---- what is asked for ---- */

/* -ptx -o -: when it is complete. */
static bool show_ptx(struct job *j, const char *input)
{
    struct file_bytes file = {0};
    const char *path = job_temporary(j, input, ".shown.ptx");
    if (j->o.archs.n > 1)
        return cc_failure(j, "-ptx -o - writes the PTX of one device, but %u devices are named", j->o.archs.n) == 0;
    if (!cc_compile_device(j, input, j->o.archs.at[0], path) || j->o.given[CC_DRY_RUN])
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
        ok = cc_compile_device(j, input, arch, output);
    }
    return ok;
}

static bool make_fatbin_file(struct job *j, const char *input, const char *output)
{
    size_t bytes;
    void *fatbin = cc_make_fatbin(j, input, &bytes);
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
        return cc_failure(j, "-cubin works for one device, but %u devices are named", j->o.archs.n) == 0;
    if (!cc_read_device(j, input, j->o.archs.at[0], &file) || j->o.given[CC_DRY_RUN])
        return j->o.given[CC_DRY_RUN];
    struct image_text text = {file.bytes, file.n, (unsigned)atoi(j->o.archs.at[0])};
    void *image = image_of_texts(&text, 1, &bytes);
    bool ok = image ? job_write(j, output, image, bytes) : cc_failure(j, "out of memory") == 0;
    free(image);
    free(file.bytes);
    return ok;
}

/* What is no source is refused here: a pipe would be read by one of two compilers, /dev/zero for
 * ever. Its name stands in PTX, in comments of a line. */
static bool is_source(struct job *j, const char *input, const char *output)
{
    struct stat source, null, other;
    if (access(input, R_OK) != 0 || stat(input, &source) != 0)
        return cc_failure(j, "cannot read %s: %s", input, strerror(errno)) == 0;
    bool is_null = S_ISCHR(source.st_mode) && stat("/dev/null", &null) == 0 && source.st_rdev == null.st_rdev;
    if (!S_ISREG(source.st_mode) && !is_null)
        return cc_failure(j, "%s is not a regular file: heddle cc reads a source several times", input) == 0;
    if (strpbrk(input, "\n\r"))
        return cc_failure(j, "the name of a source file cannot contain a line break") == 0;
    if (output && !is_null && stat(output, &other) == 0 && other.st_dev == source.st_dev &&
        other.st_ino == source.st_ino)
        return cc_failure(j, "the output %s would overwrite the source", output) == 0;
    return true;
}

/* What the file that an input becomes ends with: "" where it goes on to be linked, NULL where it
 * becomes text for people or make. */
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
    return cc_stops_at_text(o) ? NULL : "";
}

/* Which file of an input the command leaves behind; NULL: its text goes to stdout. */
static const char *output_of(struct job *j, const char *input, const char *ending)
{
    return j->o.given[CC_OUTPUT] || !ending ? j->o.value[CC_OUTPUT] : job_named_after(j, input, ending);
}

static bool run(struct job *j, cc_words command)
{
    return job_run(j, &command);
}

/* Compiles one input to `output` (NULL: to stdout). */
static bool compile(struct job *j, const char *input, enum cc_language language, const char *output)
{
    if (j->o.given[CC_PTX])
        return make_ptx(j, input);
    if (j->o.given[CC_CUBIN])
        return make_cubin(j, input, output);
    if (j->o.given[CC_FATBIN])
        return make_fatbin_file(j, input, output);
    if (language != LANGUAGE_CU)
        return run(j, cc_plain_command(j, input, language, output));
    if (cc_stops_at_text(&j->o))
        return run(j, cc_host_command(j, input, output));
    return cc_compile_cuda(j, input, output);
}

/* Compiles a source, and once more where it turns out to need texture or surface references. */
static bool compile_source(struct job *j, const char *input, enum cc_language language, const char *output)
{
    bool is_cuda = language == LANGUAGE_CU;
    j->lacks_references = j->has_references = false;
    if (is_cuda && !cc_rewrite_source(j, input))
        return false;
    bool ok = compile(j, input, language, output);
    if (!is_cuda || !j->lacks_references)
        return ok;
    j->lacks_references = false;
    j->has_references = true;
    return cc_rewrite_source(j, input) && compile(j, input, language, output);
}

/* Does the command take files of this language? */
static bool is_input(struct job *j, const char *input, enum cc_language language, bool links)
{
    const struct cc_options *o = &j->o;
    bool device_only = o->given[CC_PTX] || o->given[CC_CUBIN] || o->given[CC_FATBIN];
    if (device_only && language != LANGUAGE_CU && (language != LANGUAGE_PTX || o->given[CC_PTX]))
        return cc_failure(j, "%s has no device code, because its name does not end in .cu; -x cu compiles it as CUDA",
                          input) == 0;
    if (language == LANGUAGE_PTX && !device_only)
        return cc_failure(j, "%s: only -cubin and -fatbin accept PTX; a program loads PTX by cuModuleLoad()", input) ==
               0;
    if (language == LANGUAGE_LINK && !links)
        return cc_failure(j,
                          "%s is not a source file: its name ends in none of .cu, .c, .cc, .cpp and .cxx (-x cu "
                          "compiles it as CUDA)",
                          input) == 0;
    return true;
}

static bool build(struct job *j)
{
    cc_words objects = {0};
    const char *ending = goal_ending(&j->o);
    bool links = ending && !*ending, ok = true;
    for (uint32_t i = 0; i < j->o.inputs.n; i++) {
        const char *input = job_path(j, j->o.inputs.at[i]);
        enum cc_language language = j->o.given[CC_DEVICE_LINK] ? LANGUAGE_LINK : cc_language_of(j, input);
        if (!is_input(j, input, language, links))
            return false;
        if (language == LANGUAGE_LINK) {
            ADD(&objects, input);
            continue;
        }
        const char *output =
            links ? job_temporary(j, input, arena_printf(j->arena, "-%u.o", i)) : output_of(j, input, ending);
        if (!is_source(j, input, links && j->o.given[CC_OUTPUT] ? j->o.value[CC_OUTPUT] : output))
            return false;
        ok = compile_source(j, input, language, output) && ok;
        ADD(&objects, output);
    }
    return ok && (!links || cc_link(j, &objects));
}

/* -run of a program that is there already. */
static bool is_linked(struct job *j)
{
    return j->o.given[CC_RUN] && j->o.inputs.n == 1 && cc_language_of(j, j->o.inputs.at[0]) == LANGUAGE_LINK &&
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

/* -ccbin: a clang compiles all. A wrapper of MPI adds its own options to those of the compiler that
 * its variable names. Another compiler cannot read CUDA: it gets what is the host's alone. */
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
        fprintf(stderr,
                "heddle: cc: warning: no code is made for %s, which clang 19 does not know; that device runs PTX made "
                "for an earlier one (-Wno-deprecated-gpu-targets hides this warning)\n",
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
    } else if (cc_stops_at_text(&j->o)) {
        j->o.given[CC_OUTPUT] = false;
        j->o.value[CC_OUTPUT] = NULL;
    } else if (!is_device_only) {
        return cc_failure(j, "-o -: objects, programs and libraries cannot go to standard output: name a file (`./-` "
                             "for a file of that name)") == 0;
    }
    return true;
}

int cc_main(int argc, char **argv, const char *usage, const char *details, struct arena *arena)
{
    struct job j = {.arena = arena};
    const char *error = cc_read_options(argc, argv, &j.o, j.arena);
    if (error) {
        cc_failure(&j, "%s", error);
        return 2;
    }
    if (j.o.given[CC_HELP])
        return fputs(cc_help(usage, details, j.arena), stdout) < 0;
    if (cc_answer(&j))
        return 0;
    choose_compilers(&j);
    cc_words question = {0};
    if (cc_asks_host_compiler(&j, &question))
        return job_run(&j, &question) ? 0 : 1;
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
