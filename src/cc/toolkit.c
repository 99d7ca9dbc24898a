/* heddle cc in nvcc's place: what build systems ask a compiler of CUDA, and the folder that they
 * take for a toolkit.
 *
 * The folder's programs are scripts of two lines, which call this command or heddle-tools
 * (toolkit/tools.c); its headers and libraries are links to Heddle's, but for those that programs
 * are linked with: libcudart_static.a and the stubs are copies, as they say where Heddle's
 * libraries are (cuda/place.h). See job.h.
 */
#include <signal.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shell.h"
#include "cc/job.h"
#include "cuda/place.h"
#include "files/file.h"
#include "files/places.h"

/* The toolkit that our headers are like: CUDART_VERSION. */
#define RELEASE "13.0"

#ifdef __aarch64__
#define TARGET "targets/sbsa-linux"
#else
#define TARGET "targets/x86_64-linux"
#endif

/* ---- answers ---- */

bool cc_answer(struct job *j)
{
    if (j->o.given[CC_VERSION])
        printf("nvcc: Heddle %s, which compiles by clang to PTX\nin the place of:\n"
               "nvcc: NVIDIA (R) Cuda compiler driver\n"
               "Cuda compilation tools, release " RELEASE ", V" RELEASE ".0\n",
               hd_version());
    else if (j->o.given[CC_LIST_ARCHS])
        fputs(cc_list_archs("compute_", j->arena), stdout);
    else if (j->o.given[CC_LIST_CODES])
        fputs(cc_list_archs("sm_", j->arena), stdout);
    else
        return false;
    return true;
}

/* Options by which a compiler prints what it is and compiles nothing. */
static bool is_question(const char *option)
{
    static const char *const questions[] = {"--version",  "--help",           "--target-help", "-dumpversion",
                                            "-dumpspecs", "-dumpfullversion", "-dumpmachine"};
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
        if (strcmp(option, questions[i]) == 0)
            return true;
    return strncmp(option, "-print-", 7) == 0 || strncmp(option, "--print-", 8) == 0;
}

bool cc_asks_host_compiler(struct job *j, cc_words *command)
{
    bool asks = false;
    ADD(command, j->host_cxx ? j->host_cxx : j->clang);
    uint32_t first = command->n;
    job_add_parts(j, command, CC_XCOMPILER, NULL);
    for (uint32_t i = first; i < command->n; i++)
        asks |= is_question(command->at[i]);
    return asks;
}

void cc_show_toolkit(struct job *j)
{
    const char *top = j->o.value[CC_TOOLKIT], *path = getenv("PATH");
    cc_words libraries = {0};
    cc_add_library_paths(j, &libraries);
    fprintf(stderr,
            "#$ _HERE_=%s/bin\n#$ TOP=%s\n#$ NVVMIR_LIBRARY_DIR=%s/nvvm/libdevice\n#$ PATH=%s/bin:%s\n"
            "#$ INCLUDES=\"-I%s/include\"\n#$ LIBRARIES=%s\n",
            top, top, top, top, path ? path : "", top, job_quoted(j, &libraries));
    for (uint32_t i = 0; i < j->o.archs.n; i++)
        fprintf(stderr, "#$ DEVICE_%u= -arch compute_%s\n", i, j->o.archs.at[i]);
}

/* ---- the folder ---- */

struct installation {
    struct job *j;
    const char *folder;
    const char *nvrtc; /* the folder of Heddle's */
    const char *error; /* the first */
};

static void note(struct installation *t, const char *path, const char *why)
{
    if (!t->error)
        t->error = arena_printf(t->j->arena, "%s: %s", path, why);
}

/* A package is installed below DESTDIR, and found without it later. */
static const char *later(const char *path)
{
    const char *destdir = getenv("DESTDIR");
    size_t n = destdir ? strlen(destdir) : 0;
    while (n && destdir[n - 1] == '/')
        n--;
    return n && strncmp(path, destdir, n) == 0 && path[n] == '/' ? path + n : path;
}

static const char *within(struct installation *t, const char *name)
{
    return arena_printf(t->j->arena, "%s/%s", t->folder, name);
}

static void make_folders(struct installation *t)
{
    static const char *const folders[] = {
        "", "bin", "lib64", "lib64/pkgconfig", "lib64/stubs", "nvvm", "nvvm/libdevice", "targets", TARGET};
    for (const char *slash = t->folder; (slash = strchr(slash + 1, '/'));)
        /* What fails shows below. */
        mkdir(arena_strndup(t->j->arena, t->folder, (size_t)(slash - t->folder)), 0777);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (mkdir(within(t, folders[i]), 0777) != 0 && errno != EEXIST)
            note(t, within(t, folders[i]), strerror(errno));
}

static void write_text(struct installation *t, const char *name, const char *text)
{
    const char *error = file_write_whole(t->j->arena, within(t, name), text, strlen(text));
    if (error && !t->error)
        t->error = error;
}

static void link_to(struct installation *t, const char *target, const char *name)
{
    const char *path = within(t, name);
    unlink(path);
    if (symlink(target, path) != 0)
        note(t, path, strerror(errno));
}

static void write_script(struct installation *t, const char *name, const char *command)
{
    const char *path = arena_printf(t->j->arena, "bin/%s", name);
    write_text(t, path, arena_printf(t->j->arena, "#!/bin/sh\nexec %s \"$@\"\n", command));
    if (chmod(within(t, path), 0755) != 0)
        note(t, within(t, path), strerror(errno));
}

/* What else people call of a toolkit, as far as Heddle has it: options that it does not know it
 * refuses by name. `heddle` stands for %s. */
static const struct {
    const char *name, *text;
} others[] = {
    {"compute-sanitizer",
     "case \"$1\" in --version) exec %s --version;; esac\nexec %s check --format sanitizer \"$@\"\n"},
    {"cuda-gdb", "while :; do\n    case \"$1\" in\n    --args|-args|-q|-quiet|--quiet|-nx|--nx) shift;;\n    "
                 "--version) exec %s --version;;\n"
                 "    *) break;;\n    esac\ndone\nexec %s debug \"$@\"\n"},
    {"ncu", "case \"$1\" in --version) exec %s --version;; esac\nexec %s explain \"$@\"\n"},
    {"nsys",
     "case \"$1\" in\nprofile) shift;;\n--version) exec %s --version;;\n*)\n"
     "    echo 'nsys: only `nsys profile` is supported, by heddle explain --trace' >&2\n    exit "
     "2;;\nesac\nout=report1 traces=\nwhile :; do\n    case \"$1\" in\n"
     "    -o|--output) out=${2?$1 needs a value}; shift 2;;\n    --output=*) out=${1#--output=}; shift;;\n"
     "    -t|--trace) traces=${2?$1 needs a value}; shift 2;;\n    --trace=*) traces=${1#--trace=}; shift;;\n"
     "    *) break;;\n    esac\ndone\n"
     "for trace in $(echo \"$traces\" | tr , ' '); do\n    case $trace in\n    cuda|nvtx) ;; # both are always there\n"
     "    *) echo \"nsys: --trace $trace: only cuda and nvtx are traced\" >&2; exit 2;;\n    esac\ndone\n"
     "exec %s explain --trace \"$out.json\" -o \"$out.html\" \"$@\"\n"},
};

static void write_others(struct installation *t, const char *heddle)
{
    struct arena *arena = t->j->arena;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const char *path = arena_printf(arena, "bin/%s", others[i].name), *text = others[i].text, *all = "#!/bin/sh\n";
        for (const char *at; (at = strstr(text, "%s")); text = at + 2)
            all = arena_printf(arena, "%s%.*s%s", all, (int)(at - text), text, heddle);
        write_text(t, path, arena_printf(arena, "%s%s", all, text));
        if (chmod(within(t, path), 0755) != 0)
            note(t, within(t, path), strerror(errno));
    }
}

static void write_programs(struct installation *t)
{
    static const char *const fronts[] = {"fatbinary", "cuobjdump", "nvlink", "cudafe++", "bin2c"};
    struct arena *arena = t->j->arena;
    const char *tools = place_of_tools(arena), *program = place_of_program(arena);
    if (!tools || !program) {
        note(t, "ptxas", "it is neither beside this program nor where it was installed");
        return;
    }
    write_script(t, "nvcc",
                 arena_printf(arena, "%s cc --toolkit %s", shell_word(arena, later(program)),
                              shell_word(arena, later(t->folder))));
    write_others(t, shell_word(arena, later(program)));
    write_script(t, "ptxas", shell_word(arena, later(arena_printf(arena, "%s/ptxas", tools))));
    for (size_t i = 0; i < sizeof fronts / sizeof fronts[0]; i++)
        write_script(t, fronts[i],
                     arena_printf(arena, "%s %s",
                                  shell_word(arena, later(arena_printf(arena, "%s/heddle-tools", tools))), fronts[i]));
}

/* Every library of ours, as each finds others beside itself; and the headers. */
static void link_parts(struct installation *t)
{
    static const char *const parts[] = {"include", "lib", "lib64"};
    static const char *const compilers[] = {"libnvrtc.so.12", "libnvrtc.so.13"};
    struct arena *arena = t->j->arena;
    const char *from = later(t->j->libraries), *nvrtc = later(t->nvrtc);
    DIR *folder = opendir(t->j->libraries);
    if (!folder) {
        note(t, t->j->libraries, strerror(errno));
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strstr(entry->d_name, ".so.") || strcmp(file_extension(entry->d_name), ".so") == 0)
            link_to(t, arena_printf(arena, "%s/%s", from, entry->d_name),
                    arena_printf(arena, "lib64/%s", entry->d_name));
    closedir(folder);
    unlink(within(t, "lib64/libcudart.so")); /* the stubs take their places */
    unlink(within(t, "lib64/libcuda.so"));
    unlink(within(t, "lib64/libnvrtc.so"));
    link_to(t, arena_printf(arena, "%s/libcudadevrt.a", from), "lib64/libcudadevrt.a");
    for (size_t i = 0; i < sizeof compilers / sizeof compilers[0]; i++)
        link_to(t, arena_printf(arena, "%s/%s", nvrtc, compilers[i]), arena_printf(arena, "lib64/%s", compilers[i]));
    link_to(t, "lib64", "lib");
    link_to(t, later(t->j->headers), "include");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        link_to(t, arena_printf(arena, "../../%s", parts[i]), arena_printf(arena, TARGET "/%s", parts[i]));
}

/* A copy of a file that programs are linked with, where `text` stands
 * `skip` bytes behind the mark. */
static void write_placed(struct installation *t, const char *name, size_t skip, const char *text, const char *to)
{
    struct arena *arena = t->j->arena;
    const char *source = arena_printf(arena, "%s/%s", t->j->libraries, name);
    struct file_bytes file = {0};
    const char *error = file_read(arena, source, 0, &file);
    char *mark = error ? NULL : memmem(file.bytes, file.n, PLACE_MARK, sizeof PLACE_MARK - 1);
    bool is_whole = mark && (size_t)(mark - file.bytes) + PLACE_BYTES <= file.n;
    if (!is_whole || skip + strlen(text) >= PLACE_BYTES) {
        note(t, source,
             error      ? error
             : is_whole ? "the path of Heddle's libraries is too long"
                        : "it does not belong to Heddle");
    } else {
        strcpy(mark + skip, text);
        error = file_write_whole(arena, within(t, to), file.bytes, file.n);
        if (error && !t->error)
            t->error = error;
    }
    free(file.bytes);
}

static void write_libraries(struct installation *t)
{
    struct arena *arena = t->j->arena;
    const char *place = later(t->j->libraries);
    write_placed(t, "libcudart_static.a", sizeof PLACE_MARK - 1, place, "lib64/libcudart_static.a");
    write_placed(t, "stubs/libcudart-stub.so", 0, arena_printf(arena, "%s/libcudart.so.13", place),
                 "lib64/libcudart.so");
    write_placed(t, "stubs/libcuda-stub.so", 0, arena_printf(arena, "%s/libcuda.so.1", place),
                 "lib64/stubs/libcuda.so");
    write_placed(t, "stubs/libnvrtc-stub.so", 0, arena_printf(arena, "%s/libnvrtc.so.13", later(t->nvrtc)),
                 "lib64/libnvrtc.so");
}

static bool has_library(struct installation *t, const char *name)
{
    return access(arena_printf(t->j->arena, "%s/%s", t->j->libraries, name), F_OK) == 0;
}

/* Of CUDA's libraries, which are packages of their own, those that are there: a static one is the
 * shared one by another name. */
static void write_drop_ins(struct installation *t)
{
    struct arena *arena = t->j->arena;
    const char *place = later(t->j->libraries);
    for (const struct cc_drop_in *d = cc_drop_ins; d->name; d++) {
        const char *stub = arena_printf(arena, "stubs/lib%s-stub.so", d->name);
        /* No part of the toolkit's releases. */
        const char *release = strcmp(d->name, "nccl") ? "-" RELEASE : "";
        if (!has_library(t, d->soname) || !has_library(t, stub))
            continue;
        write_placed(t, stub, 0, arena_printf(arena, "%s/%s", place, d->soname),
                     arena_printf(arena, "lib64/lib%s.so", d->name));
        write_text(t, arena_printf(arena, "lib64/lib%s_static.a", d->name),
                   arena_printf(arena, "INPUT(lib%s.so)\n", d->name));
        write_text(t, arena_printf(arena, "lib64/pkgconfig/%s%s.pc", d->name, release),
                   arena_printf(arena,
                                "prefix=${pcfiledir}/../..\nName: %s\nDescription: Heddle's replacement of CUDA's %s\n"
                                "Version: " RELEASE "\nLibs: -L${prefix}/lib64 -l%s\nCflags: -I${prefix}/include\n",
                                d->name, d->name, d->name));
    }
    write_text(t, "lib64/libculibos.a", "!<arch>\n");
}

static void write_notes(struct installation *t)
{
    write_text(t, "version.json",
               arena_printf(t->j->arena,
                            "{\n  \"cuda\" : {\"name\" : \"CUDA SDK, replaced by Heddle\", \"version\" : \"" RELEASE
                            ".0\"},\n  \"heddle\" : {\"name\" : \"Heddle\", \"version\" : \"%s\"}\n}\n",
                            hd_version()));
    write_text(t, "version.txt", "CUDA Version " RELEASE ".0\n");
    write_text(t, "nvvm/libdevice/README",
               "Heddle's math functions for devices are in ../../include/heddle; there is no libdevice.10.bc.\n");
}

/* A folder that is there is ours, or empty. */
static bool may_fill(struct installation *t)
{
    DIR *folder = opendir(t->folder);
    struct file_bytes version = {0};
    int n = 0;
    if (!folder)
        return true;
    while (readdir(folder))
        n++;
    closedir(folder);
    bool ours =
        n <= 2 || (!file_read(t->j->arena, within(t, "version.json"), 0, &version) && strstr(version.bytes, "Heddle"));
    free(version.bytes);
    return ours;
}

int cc_install_tools(struct job *j, const char *folder)
{
    char *place = *folder == '/' ? NULL : getcwd(NULL, 0);
    struct installation t = {.j = j, .folder = place ? arena_printf(j->arena, "%s/%s", place, folder) : folder};
    free(place);
    t.nvrtc = place_of_nvrtc(j->arena);
    if (!t.nvrtc)
        return cc_failure(j, "libnvrtc.so.13 is neither beside this program nor where it was installed");
    if (!may_fill(&t))
        return cc_failure(j, "%s exists, and was not made by --install-tools: name another folder", folder);
    make_folders(&t);
    write_programs(&t);
    link_parts(&t);
    write_libraries(&t);
    write_drop_ins(&t);
    write_notes(&t);
    if (t.error)
        return cc_failure(j, "%s", t.error);
    printf("%s/bin/nvcc is Heddle's: CUDACXX=%s/bin/nvcc cmake ..., make NVCC=%s/bin/nvcc, PATH=%s/bin:$PATH\n",
           t.folder, t.folder, t.folder, t.folder);
    return 0;
}

int cc_with_nvcc(struct job *j, int argc, char **argv)
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
        job_show(j, &c, "");
    if (j->o.given[CC_DRY_RUN])
        return 0;
    signal(SIGXFSZ, SIG_DFL); /* main() ignores it */
    execvp("nvcc", job_arguments(j, &c));
    return cc_failure(j, "cannot run `nvcc`: %s; without `--with nvcc`, no CUDA toolkit is needed", strerror(errno));
}
