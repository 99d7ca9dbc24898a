/* The tables of commands and options; reads command lines, prints help. */
#include "cli/cli.h"
#include "cli/command_bits.h"
#include "cc/cc.h"
#include "help_text.h"

static const struct opt flags[] = {
#define FLAG(kind, field, name, letter, value, commands, help)                                                         \
    {name, letter, OPT_##kind, value, help, commands, offsetof(struct options, field)},
#include "cli/flags.def"
#undef FLAG
};

/* The text of help/NAME.txt in two parts: usage and description, and what follows the list of
   options. */
#define HELP(name) help_##name##_usage, help_##name##_details

const struct command commands[] = {
    [AT_RUN] = {"run", "run a CUDA program, or a Python program that uses a GPU", cmd_run, HELP(run)},
    [AT_CC] = {"cc", "compile CUDA C++, with no CUDA toolkit", cmd_cc, HELP(cc), .reads_arguments = true},
    [AT_LAUNCH] = {"launch", "run one kernel of a PTX file, and show its results", cmd_launch, HELP(launch)},
    [AT_CHECK] = {"check", "run a CUDA program or a kernel, and report its mistakes", cmd_check, HELP(check)},
    [AT_EXPLAIN_PTX] = {"explain", "run a CUDA program or a kernel, and report GPU counters, times and advice",
                        cmd_explain, HELP(explain)},
    [AT_EXPLORE] = {"explore", "find every outcome of a kernel that the memory model allows", cmd_explore,
                    HELP(explore)},
    [AT_DEBUG] = {"debug", "stop inside kernels, look at threads, and step backwards", cmd_debug, HELP(debug)},
    [AT_LITMUS] = {"litmus", "explore litmus tests", cmd_litmus, HELP(litmus)},
    [AT_PTX] = {"ptx", "check PTX files, or show the instruction set", cmd_ptx, HELP(ptx)},
    [AT_INFO] = {"info", "show the virtual GPU", cmd_info, HELP(info)},
    [AT_CACHE] = {"cache", "show or remove the compiled code and headers on disk", cmd_cache, HELP(cache)},
    [AT_PACK] = {"pack", "make a pack (PTX for a library that has only machine code), or show one", cmd_pack,
                 HELP(pack)},
    [AT_COMPLETION] = {"completion", "print a script that completes commands and options in a shell", cmd_completion,
                       HELP(completion)},
    [AT_MANUAL] = {"manual", "print a manual page", cmd_manual, HELP(manual)},
    [AT_PROGRAM] = {"check", NULL, cmd_check_program, HELP(check_program)},
    [AT_EXPLAIN] = {"explain", NULL, cmd_explain_program, HELP(explain_program)},
    [AT_EXPLORE_PROGRAM] = {"explore", NULL, cmd_explore_program, HELP(explore_program)},
    [AT_DEBUG_PROGRAM] = {"debug", NULL, cmd_debug_program, HELP(debug_program)},
    [N_COMMANDS] = {0},
};

static const char *command_name(unsigned command)
{
    return commands[command].name;
}

static const struct opt_elsewhere elsewhere[] = {
#define ELSEWHERE(name, hint) {name, hint, PROGRAM},
#include "cli/check_elsewhere.def"
#undef ELSEWHERE
#define ELSEWHERE(name, hint) {name, hint, EXPLAIN | EXPLAIN_PTX},
#include "cli/explain_elsewhere.def"
#undef ELSEWHERE
#define ELSEWHERE(name, hint) {name, hint, DEBUG_PROGRAM | DEBUG},
#include "cli/debug_option_elsewhere.def"
#undef ELSEWHERE
    {"grid", "the program itself sets this for each launch", EXPLORE_PROGRAM},
    {"block", "the program itself sets this for each launch", EXPLORE_PROGRAM},
    {"cluster", "the program itself sets this for each launch", EXPLORE_PROGRAM},
    {"shared", "the program itself sets this for each launch", EXPLORE_PROGRAM},
    {"kernel", "the kernel of a PTX file is named behind it, as in `heddle explore lock.ptx push --grid 3 ...`",
     EXPLORE},
    {"launch", "a PTX file has no launches: `heddle explore PROGRAM --launch N` explores one of a program's", EXPLORE},
};

static const struct opts opts = {.at = flags,
                                 .n = sizeof flags / sizeof flags[0],
                                 .command_name = command_name,
                                 .first_word_ends = RUN | PROGRAM | EXPLAIN | EXPLORE_PROGRAM | DEBUG_PROGRAM,
                                 .runs_nothing = "compare",
                                 .elsewhere = elsewhere,
                                 .n_elsewhere = sizeof elsewhere / sizeof elsewhere[0]};

const struct command *command_find(const char *name, const char **near)
{
    unsigned least = 3;
    *near = NULL;
    for (const struct command *c = commands; c->name; c++) {
        unsigned d = str_distance(str_of(name), str_of(c->name), 2);
        if (d == 0)
            return c;
        if (d < least) {
            least = d;
            *near = c->name;
        }
    }
    return NULL;
}

static unsigned bit_of(const struct command *c)
{
    return 1u << (c - commands);
}

static const struct command *command_by_bit(unsigned bit)
{
    return &commands[__builtin_ctz(bit)];
}

/* The index of a command's variant for programs; 0 if it has none. */
static unsigned program_variant(const struct command *c)
{
    return bit_of(c) == CHECK         ? PROGRAM
           : bit_of(c) == EXPLAIN_PTX ? EXPLAIN
           : bit_of(c) == EXPLORE     ? EXPLORE_PROGRAM
           : bit_of(c) == DEBUG       ? DEBUG_PROGRAM
                                      : 0;
}

const struct command *command_variant(const struct command *c, int argc, char **argv)
{
    unsigned program = program_variant(c);
    if (!program)
        return c;
    const char *word = opts_first_word(&opts, bit_of(c) | program, argc, argv);
    return word && file_is_ptx(word) ? c : command_by_bit(program);
}

/* Refuses two output files with one name; "-" is standard output.
 * Returns what is wrong, or NULL. */
static const char *two_at_standard_output(const struct options *o, struct arena *arena)
{
    const char *first = NULL;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        bool is_written = strncmp(flags[i].value, "FILE", 4) == 0 && strcmp(flags[i].name, "suppressions") != 0 &&
                          strcmp(flags[i].name, "baseline") != 0;
        const char *value = is_written ? *(const char *const *)((const char *)o + flags[i].offset) : NULL;
        if (!value || strcmp(value, "-") != 0)
            continue;
        if (first)
            return arena_printf(arena, "--%s and --%s would both write to standard output: name a file for one", first,
                                flags[i].name);
        first = flags[i].name;
    }
    return NULL;
}

static bool names_kernel(const char *word)
{
    return strcmp(word, "--kernel") == 0 || strncmp(word, "--kernel=", strlen("--kernel=")) == 0;
}

/* heddle explore PROGRAM ARGUMENT... --kernel NAME [OPTIONS]: moves the words from --kernel on in
 * front of the program. A program that has an option --kernel itself keeps it if Heddle's --kernel
 * stands before the program. */
static char **options_first(int argc, char **argv, struct arena *arena)
{
    const char *program = opts_first_word(&opts, EXPLORE_PROGRAM, argc, argv);
    int first = 1, kernel;
    while (first < argc && argv[first] != program)
        if (names_kernel(argv[first++]))
            return argv;
    for (kernel = first; kernel < argc && !names_kernel(argv[kernel]); kernel++)
        ;
    if (kernel >= argc)
        return argv;
    char **moved = ARENA_ARRAY(arena, char *, (size_t)argc + 1);
    size_t n_behind = (size_t)(argc - kernel), n_program = (size_t)(kernel - first);
    memcpy(moved, argv, (size_t)first * sizeof *argv);
    memcpy(moved + first, argv + kernel, n_behind * sizeof *argv);
    memcpy(moved + first + n_behind, argv + first, n_program * sizeof *argv);
    return moved;
}

const char *command_options(const struct command *c, int argc, char **argv, struct session *s)
{
    if (bit_of(c) == EXPLORE_PROGRAM)
        argv = options_first(argc, argv, &s->arena);
    s->argc = argc;
    s->argv = argv;
    /* Room for a NULL at the end. */
    s->words = ARENA_ARRAY(&s->arena, const char *, (size_t)argc + 1);
    const char *wrong =
        opts_parse(&opts, (unsigned)(c - commands), argc, argv, &s->o, s->words, &s->n_words, &s->arena);
    return wrong ? wrong : two_at_standard_output(&s->o, &s->arena);
}

opt_lines command_option_lines(const struct command *c, struct arena *arena)
{
    return c->run == cmd_cc ? cc_option_lines(arena) : opts_lines(&opts, (unsigned)(c - commands), arena);
}

const struct command *command_for_programs(const struct command *c)
{
    unsigned program = program_variant(c);
    return program ? command_by_bit(program) : NULL;
}

const char *command_help(const struct command *c, struct arena *arena)
{
    opt_lines lines = command_option_lines(c, arena);
    const char *text = arena_printf(arena, "usage: %s\nOptions:\n%s%s%s", c->usage, opt_lines_help(&lines, arena),
                                    *c->details ? "\n" : "", c->details);
    for (const struct command *of = commands; of->name; of++)
        if (program_variant(of) == bit_of(c))
            return arena_printf(arena, "%s\n\n%s", text, command_help(of, arena));
    return text;
}
