/* See sandbox.h. */
#include "cli/sandbox.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/explanation.h"
#include "files/outputs.h"
#include "sandbox/broker.h"
#include "sandbox/sandbox.h"

/* ---- what the broker may open ---- */

/* What the command line allows. The broker reads it as long as the process lives. */
struct allowed {
    struct session *s;
    int n_files;
    const char **folders; /* folders of CUDA sources, absolute; NULL ends them */
};

/* Is the path behind the mark in an argument ("@in.npy", "f32[8]=@in.npy+print",
 * "{f32[8]+save:out;u32:1}")? */
static bool names(const char *word, const char *mark, const char *path)
{
    size_t n = strlen(path);
    for (const char *p = word; (p = strstr(p, mark));) {
        p += strlen(mark);
        if (n && strncmp(p, path, n) == 0 && (!p[n] || strchr("+;}", p[n])))
            return true;
    }
    return false;
}

static bool is_named(const struct allowed *a, const char *mark, const char *path)
{
    const struct opt_list *vars = &a->s->o.vars;
    for (int i = a->n_files; i < a->s->n_words; i++)
        if (names(a->s->words[i], mark, path))
            return true;
    for (unsigned i = 0; i < vars->n; i++)
        if (names(vars->at[i], mark, path))
            return true;
    return false;
}

/* Is an absolute path without links below a folder? Nothing counts as below "/". */
static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && path[n] == '/';
}

/* Is the path a CUDA source that reports may show? The PTX names the file, and a stranger's PTX
 * must not show other files. */
static bool is_source(const struct allowed *a, const char *path)
{
    static const char *const endings[] = {".cu", ".cuh", ".h", ".hh", ".hpp", ".inl", ".c", ".cc", ".cpp", ".cxx"};
    char real[PATH_MAX];
    bool is_text = false;
    if (!realpath(path, real))
        return false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        is_text |= strcmp(file_extension(real), endings[i]) == 0;
    for (const char **f = a->folders; is_text && *f; f++)
        if (is_below(real, *f))
            return true;
    return false;
}

static bool may_read(void *data, const char *path)
{
    const struct allowed *a = data;
    return is_named(a, "@", path) || is_source(a, path);
}

static bool may_write(void *data, const char *path)
{
    const struct allowed *a = data;
    return is_named(a, "+save:", path) || explanation_writes(&a->s->o, path);
}

/* The folders of sources: the current one, and those of the PTX files. "/" is left out: services
 * run there, and it holds nothing of the user's. */
static const char **source_folders(struct session *s, int n_files)
{
    const char **folders = ARENA_ARRAY(&s->arena, const char *, (size_t)n_files + 2);
    char real[PATH_MAX];
    size_t n = 0;
    if (realpath(".", real))
        folders[n++] = arena_strdup(&s->arena, real);
    for (int i = 0; i < n_files; i++) {
        const char *slash = strrchr(s->words[i], '/');
        const char *folder = arena_strndup(&s->arena, s->words[i], slash ? (size_t)(slash - s->words[i]) : 0);
        if (slash && realpath(*folder ? folder : "/", real))
            folders[n++] = arena_strdup(&s->arena, real);
    }
    folders[n] = NULL;
    return folders;
}

/* ---- what the filter has stopped ---- */

/* Writes text to stderr; safe in a signal handler. */
static void put(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

static void put_number(unsigned n)
{
    char digits[12] = "", *p = digits + sizeof digits - 1;
    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    put(p);
}

static void explain_trap(int signal, siginfo_t *info, void *context)
{
    const char *name = sandbox_call_name(info->si_syscall, info->si_arch);
    (void)context;
    put("heddle: stopped at the system call `");
    if (name)
        put(name);
    else
        put_number((unsigned)info->si_syscall);
    put("`, which Heddle never makes: a kernel has escaped from its virtual machine, but not from the sandbox.\nThis "
        "is a bug of Heddle: please report it, with the PTX. If a tool or library that you have loaded into heddle "
        "makes that call, use --no-sandbox.\n");
    raise(signal); /* ends the process as without this handler, which SA_RESETHAND has removed */
}

static void explain_traps(void)
{
    struct sigaction a = {.sa_sigaction = explain_trap, .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER};
    sigaction(SIGSYS, &a, NULL);
}

/* ---- entering ---- */

int enter_sandbox(struct session *s, hd_machine *machine, int n_files)
{
    const char *error = NULL;
    if (s->o.no_sandbox)
        return s->o.sandbox ? usage_error(s, "--sandbox and --no-sandbox contradict each other") : 0;
    struct allowed *a = ARENA_NEW(&s->arena, struct allowed);
    *a = (struct allowed){s, n_files, source_folders(s, n_files)};
    error = sandbox_obstacle();
    if (!error) {
        json_object_seed(0); /* seeds jansson's hash now, because it reads a file */
        explain_traps();
        if (!sandbox_serve_files(may_read, a) || !outputs_serve(may_write, a))
            return cli_failure(s, "the sandbox cannot be entered: %s (--no-sandbox runs without it)",
                               broker_shortage(errno));
        hd_result r = hd_sandbox_enter(machine, &error);
        if (r && r != HD_ERROR_NOT_SUPPORTED)
            return cli_failure(s, "the sandbox cannot be entered: %s (--no-sandbox runs without it)",
                               error ? error : hd_result_string(r));
    }
    if (error && s->o.sandbox)
        return cli_failure(s, "--sandbox is not possible here: %s", error);
    if (error && s->o.stats)
        fprintf(stderr, "heddle: without a sandbox: %s\n", error);
    return 0;
}

static const char *temporary_folder(void)
{
    const char *named = getenv("TMPDIR");
    return named && *named ? named : "/tmp";
}

bool confined_may_write(const char *path)
{
    const char *folders[] = {".", temporary_folder()}, *name = strrchr(path, '/');
    char of[PATH_MAX], real[PATH_MAX], allowed[PATH_MAX];
    bool may = false;
    snprintf(of, sizeof of, "%.*s", name ? (int)(name - path) + 1 : 1, name ? path : ".");
    for (unsigned i = 0; i < 2 && !may && realpath(of, real); i++)
        may = realpath(folders[i], allowed) && (strcmp(real, allowed) == 0 || is_below(real, allowed));
    return may;
}

int confined_write_error(struct session *s, const char *path)
{
    return cli_failure(s,
                       "cannot write %s: a program in the sandbox can write only below the folder that it was started "
                       "in and the temporary folder",
                       path);
}

int confine_program(struct session *s, const char *folder)
{
    const char *folders[] = {".", temporary_folder(), folder, NULL};
    const char *error = sandbox_confine_program(folders, &s->arena);
    return error ? cli_failure(s, "--sandbox is not possible here: %s", error) : 0;
}
