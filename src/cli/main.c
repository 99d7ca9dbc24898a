/* heddle COMMAND ...: finds the command, reads its options, runs it. */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void print_help(void)
{
    printf("heddle %s: runs CUDA kernels with no GPU\n\nusage: heddle COMMAND [ARGUMENTS]\n\nCommands:\n",
           hd_version());
    for (const struct command *c = commands; c->name; c++)
        if (c->summary)
            printf("  %-11s %s\n", c->name, c->summary);
    puts("\n`heddle COMMAND --help` explains one, with examples.");
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
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("heddle %s\n", hd_version());
        return 0;
    }
    bool help = is_help(argv[1]);
    const struct command *c = command_find(argv[1 + help], &near);
    if (c && help)
        return run_command(s, c, 2, (char *[]){argv[2], "--help", NULL});
    if (c)
        return run_command(s, c, argc - 1, argv + 1);
    if (near)
        return usage_error(s, "there is no command `%s`; did you mean `%s`?", argv[1 + help], near);
    return usage_error(s, "there is no command `%s`; `heddle --help` lists them", argv[1 + help]);
}

/* A reader that ends early is no error: as where SIGPIPE has not been ignored, by a command or by who has started it. */
static bool nobody_reads(int fd)
{
    struct pollfd p = {.fd = fd};
    return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP);
}

int main(int argc, char **argv)
{
    static struct session session;
    jmp_buf oom;
    int status;
    progress_init(&session.progress);
    session.read = read_again;
    signal(SIGXFSZ, SIG_IGN); /* a file that may grow no more is an error like others */
    json_watch_memory();
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
        status = 1;
    }
    session.arena.on_oom = NULL;
    arena_free(&session.arena);
    return status;
}
