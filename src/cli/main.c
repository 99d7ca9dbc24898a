/* heddle COMMAND ...: finds the command, reads its options, runs it. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file_name.h"

static void print_help(void)
{
    printf("heddle %s: runs CUDA kernels with no GPU\n\nusage: heddle COMMAND [ARGUMENTS]\n\nCommands:\n",
           hd_version());
    for (const struct command *c = commands; c->name; c++)
        if (c->summary)
            printf("  %-11s %s\n", c->name, c->summary);
    puts("\n`heddle COMMAND --help` explains one, with examples.");
}

static const char *elsewhere(const char *command)
{
    static const struct {
        const char *name, *instead;
    } others[] = {
#define ELSEWHERE(name, instead) {name, instead},
#include "cli/command_elsewhere.def"
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(command, others[i].name) == 0)
            return others[i].instead;
    return NULL;
}

/* The first word is a program or a file where a command is expected: returns the command to use. */
static const char *command_for(const char *word, struct arena *arena)
{
    const char *end = file_extension(word);
    if (access(word, F_OK))
        return NULL;
    if (strcmp(end, ".cu") == 0)
        return arena_printf(arena, "heddle cc %s -o PROGRAM", word);
    if (strcmp(end, ".ptx") == 0)
        return arena_printf(arena, "heddle launch %s --grid X --block X ARG...", word);
    if (strcmp(end, ".py") == 0)
        return arena_printf(arena, "heddle run python3 %s", word);
    return access(word, X_OK) ? NULL : arena_printf(arena, "heddle run %s", word);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

static int run_command(struct session *s, const struct command *c, int argc, char **argv)
{
    s->command = c = command_variant(c, argc, argv);
    if (c->reads_arguments) {
        s->words = (const char **)argv + 1;
        s->n_words = argc - 1;
        return c->run(s);
    }
    const char *error = command_options(c, argc, argv, s);
    if (s->o.help)
        return fputs(command_help(c, &s->arena), stdout) < 0;
    if (error)
        return usage_error(s, "%s", error);
    int status = c->run(s);
    progress_end(&s->progress);
    return status;
}

/* See struct session. */
static const char *read_again(struct session *s, int argc, char **argv)
{
    const char *near;
    s->command = command_variant(command_find(argv[0], &near), argc, argv);
    return command_options(s->command, argc, argv, s);
}

static int run(struct session *s, int argc, char **argv)
{
    const char *near;
    if (argc < 2 || (is_help(argv[1]) && argc == 2)) {
        print_help();
        return argc < 2 ? 2 : 0;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "version") == 0) {
        printf("heddle %s\n", hd_version());
        return 0;
    }
    bool help = is_help(argv[1]);
    const struct command *c = command_find(argv[1 + help], &near);
    if (c && help)
        return run_command(s, c, 2, (char *[]){argv[2], "--help", NULL});
    if (c)
        return run_command(s, c, argc - 1, argv + 1);
    const char *instead = elsewhere(argv[1 + help]), *file = command_for(argv[1 + help], &s->arena);
    if (instead)
        return usage_error(s, "there is no command `%s`: %s", argv[1 + help], instead);
    if (file)
        return usage_error(s, "`%s` is a file, not a command: `%s`", argv[1 + help], file);
    if (argv[1 + help][0] == '-')
        return usage_error(s, "there is no command `%s`; options follow a command, as in `heddle run -v ./app`",
                           argv[1 + help]);
    if (near)
        return usage_error(s, "there is no command `%s`; did you mean `%s`?", argv[1 + help], near);
    return usage_error(s, "there is no command `%s`; `heddle --help` lists them", argv[1 + help]);
}

/* Is the output a pipe whose reader has closed it? That is no error, also if SIGPIPE is ignored. */
static bool nobody_reads(int fd)
{
    struct pollfd p = {.fd = fd};
    return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP);
}

/* A file that is opened takes the lowest free number. Where standard input, output or errors are
 * closed, what is printed would go into that file. Reads and writes fail as before. */
static void occupy_closed_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            break;
}

int main(int argc, char **argv)
{
    static struct session session;
    jmp_buf oom;
    int status;
    occupy_closed_standard_files();
    progress_init(&session.progress);
    session.read = read_again;
    signal(SIGXFSZ, SIG_IGN); /* a file that reaches its size limit is reported like other errors */
    json_watch_memory();
    source_root(); /* before a sandbox hides the file system */
    if (setjmp(oom) == 0) {
        session.arena.on_oom = &oom;
        status = run(&session, argc, argv);
    } else {
        status = cli_failure(&session, "out of memory");
    }
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (!written && nobody_reads(STDOUT_FILENO)) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    if (!written) {
        fprintf(stderr, "heddle: cannot write the output: %s\n", strerror(errno));
        status = failure_status(&session);
    }
    session.arena.on_oom = NULL;
    arena_free(&session.arena);
    return status;
}
