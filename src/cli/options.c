/* The commands and their options: tables, reading, help. */
#include "cli/cli.h"
#include "cc/cc.h"

/* The places of the table of commands, in the order that `heddle --help` shows them; variants for programs stand behind. */
enum place {
    AT_RUN,
    AT_CC,
    AT_LAUNCH,
    AT_CHECK,
    AT_EXPLAIN_PTX,
    AT_EXPLORE,
    AT_DEBUG,
    AT_LITMUS,
    AT_PTX,
    AT_INFO,
    AT_CACHE,
    AT_COMPLETION,
    AT_MANUAL,
    AT_PROGRAM,
    AT_EXPLAIN,
    AT_EXPLORE_PROGRAM,
    AT_DEBUG_PROGRAM,
    N_COMMANDS
};

/* The commands of an option, a bit each: for flags.def. */
enum {
    RUN = 1 << AT_RUN,
    CC = 1 << AT_CC,
    LAUNCH = 1 << AT_LAUNCH,
    CHECK = 1 << AT_CHECK,
    EXPLAIN_PTX = 1 << AT_EXPLAIN_PTX,
    EXPLORE = 1 << AT_EXPLORE,
    DEBUG = 1 << AT_DEBUG,
    LITMUS = 1 << AT_LITMUS,
    PTX = 1 << AT_PTX,
    INFO = 1 << AT_INFO,
    CACHE = 1 << AT_CACHE,
    COMPLETION = 1 << AT_COMPLETION,
    MANUAL = 1 << AT_MANUAL,
    PROGRAM = 1 << AT_PROGRAM,
    EXPLAIN = 1 << AT_EXPLAIN,
    EXPLORE_PROGRAM = 1 << AT_EXPLORE_PROGRAM,
    DEBUG_PROGRAM = 1 << AT_DEBUG_PROGRAM,
};

static const struct opt flags[] = {
#define FLAG(kind, field, name, letter, value, commands, help)                                                         \
    {name, letter, OPT_##kind, value, help, commands, offsetof(struct options, field)},
#include "cli/flags.def"
#undef FLAG
};

const struct command commands[] = {
    [AT_RUN] =
        {"run", "run a CUDA program", cmd_run,
         "heddle run [OPTIONS] PROGRAM [ARGUMENT]...\n"
         "\n"
         "Runs a program that was built for a GPU, unchanged: by nvcc with the static runtime (its default) or the\n"
         "shared one, a program of the driver API, or a script that loads these. Its children run the same way.\n",
         "Options stand before PROGRAM; what follows is the program's. It has stdin, stdout, the signals and the exit\n"
         "status to itself.\n"
         "\n"
         "Where the CUDA runtime or the driver are shared libraries, this does as well:\n"
         "  LD_LIBRARY_PATH=LIBRARIES ./program     (`heddle run -v` shows the folder)\n"
         "With --sandbox the program, and all that it starts, reads what the user can read, but creates, changes and\n"
         "removes files only below the current folder and the temporary one (TMPDIR, or /tmp), has no sockets, and\n"
         "gets no new privileges (sudo). Modes and times of the user's other files it can change.\n"
         "\n"
         "The options are the environment's HEDDLE_DEVICE, HEDDLE_DEVICES, HEDDLE_CPU, HEDDLE_PAGEABLE, HEDDLE_LOG,\n"
         "HEDDLE_EXACT_BOUNDS, HEDDLE_MEMORY, HEDDLE_STACK, HEDDLE_STEP_LIMIT and HEDDLE_TIMEOUT, which ends kernels\n"
         "alone.\n"
         "\n"
         "Examples:\n"
         "  heddle run ./vectorAdd\n"
         "  heddle run --devices 2 --log error ./simpleMultiGPU\n"
         "  heddle run python3 train.py\n"
         "\n"
         "The exit status is the program's; 124 where the time of --timeout was over before it ended, 126 where it "
         "cannot\n"
         "be run under Heddle, 127 where there is none.\n"},
    [AT_LAUNCH] =
        {"launch", "run a kernel of PTX files and show its results", cmd_launch,
         "heddle launch FILE.ptx... [KERNEL] --grid X,Y,Z --block X,Y,Z [OPTIONS] ARG...\n"
         "\n"
         "Runs a kernel on this computer's CPU. Several files are linked; KERNEL may be left out where there is\n"
         "one, and C++ kernels have the names that the source gives them (`scale`, `matmul<16>`).\n",
         "An ARG for each parameter (quote those that the shell would touch):\n"
         "  512  -3  0x10  2.5       a number, of the parameter's type; untyped parameters (.b32) take integers\n"
         "  f32:2.5  u64:7           a number of this type\n"
         "  TYPE[SHAPE]              a buffer of zeros; the parameter gets its address\n"
         "  TYPE[SHAPE]=CONTENT      a buffer that starts with CONTENT\n"
         "  TYPE[]=CONTENT           the same where CONTENT is a file or a list: it gives the shape\n"
         "  @FILE.npy                a buffer with the type, shape and content of a NumPy file\n"
         "  same:N[+BYTES]           the buffer of argument N again, BYTES further on\n"
         "  hex:00ff...  @FILE       the bytes of a structure passed by value\n"
         "  f32:1,2,3                a structure's members, each aligned as in C\n"
         "  {f32[64]=ones;u32:7}     a structure with a pointer to a buffer and a number\n"
         "TYPE is u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 f16 bf16 f32 or f64.\n"
         "SHAPE is like 1024, 64K or 32,32.\n"
         "\n"
         "CONTENT:\n"
         "  zeros  ones  fill:VALUE  VALUE,VALUE,...\n"
         "  undef                    zeros that --check takes for never written\n"
         "  range[:START[:STEP]]     START, START + STEP, ... (default 0 and 1); integers wrap around\n"
         "  rand[:SEED]              floats in [0, 1), integers of all bits (default SEED: the argument's "
         "number)\n"
         "  randint:LO:HI[:SEED]     integers from LO to HI, both included\n"
         "  @FILE.npy  @FILE         a NumPy file; raw bytes (of a device, as many as the buffer takes)\n"
         "\n"
         "Behind a buffer, any of these; without one, a line shows it where the kernel changed it:\n"
         "  +print                   show every element\n"
         "  +sum                     show CRC-32, least, greatest and mean\n"
         "  +save:FILE               write FILE.npy, or raw bytes under any other name\n"
         "  +hide                    show nothing\n"
         "\n"
         "Examples:\n"
         "  heddle launch saxpy.ptx --grid 4 --block 256 1000 2.0 'f32[1000]=range' 'f32[1000]=ones'\n"
         "  heddle launch matmul.ptx 'matmul<16>' --grid 8,8 --block 16,16 @a.npy @b.npy "
         "'f32[128,128]+save:c.npy' 128\n"
         "  heddle launch scan.ptx --grid 1 --block 256 --check 's32[256]=undef' 's32[256]'\n"
         "\n"
         "The kernel runs in a sandbox: a mistake of Heddle's that lets it out of its virtual machine leads to no "
         "file\n"
         "but those that the arguments name, to no network and no other process. Errors show lines of CUDA of files\n"
         "below the current folder or the PTX file's. --no-sandbox leaves that out.\n"
         "\n"
         "The exit status is 0 after a success, 1 where the PTX or the kernel has errors, 2 for wrong usage.\n"},
    [AT_CHECK] =
        {"check", "run a CUDA program, or a kernel of PTX files, and look for mistakes", cmd_check,
         "heddle check FILE.ptx... [KERNEL] --grid X,Y,Z --block X,Y,Z [OPTIONS] ARG...\n"
         "\n"
         "Runs a kernel as `heddle launch` does, and looks for accesses out of bounds and misaligned, reads of memory\n"
         "that nobody has written (global, shared, local), misused barriers and warp masks, deadlocks, and leaks of\n"
         "the device heap. Each finding stands there once, with a count, the CUDA line (of nvcc -lineinfo) and the "
         "PTX.\n",
         "Arguments are those of `heddle launch`. A buffer with the content `undef` counts as never written.\n"
         "\n"
         "Examples:\n"
         "  heddle check scan.ptx --grid 1 --block 256 's32[256]=undef' 's32[256]'\n"
         "  heddle check scan.ptx --grid 1 --block 256 --format sarif 's32[256]' 's32[256]' >scan.sarif\n"
         "  heddle check queue.ptx --grid 4 --block 64 --policy random 'u32[64]'\n"
         "\n"
         "The exit status is 0 where nothing was found (leaks are warnings), 1 after errors, 2 for wrong usage.\n"},
    [AT_EXPLAIN_PTX] =
        {"explain", "run a CUDA program, or a kernel of PTX files, and say what a GPU would make of it", cmd_explain,
         "heddle explain FILE.ptx... [KERNEL] --grid X,Y,Z --block X,Y,Z [OPTIONS] ARG...\n"
         "\n"
         "Runs a kernel as `heddle launch` does, and counts what a GPU would count of it: instructions, requests and\n"
         "sectors of global memory, wavefronts and bank conflicts of shared memory, divergence, barriers, by line; "
         "and\n"
         "estimates how long it would take there, and why.\n",
         "Arguments are those of `heddle launch`.\n"
         "\n"
         "Examples:\n"
         "  heddle explain saxpy.ptx --grid 4 --block 256 1000 2.0 'f32[1000]=range' 'f32[1000]=ones'\n"
         "  heddle explain matmul.ptx 'matmul<16>' --grid 8,8 --block 16,16 --json matmul.json @a.npy @b.npy "
         "'f32[128,128]' 128\n"
         "\n"
         "docs/EXPLAIN.md says what each figure means. The exit status is 0 after a success, 1 where the PTX or the\n"
         "kernel has errors, 2 for wrong usage.\n"},
    [AT_PTX] = {"ptx", "check PTX files, or show the instruction set", cmd_ptx,
                "heddle ptx FILE.ptx... [OPTIONS]\n"
                "heddle ptx --isa [OPCODE | %REGISTER]... [OPTIONS]\n"
                "\n"
                "Reads and verifies PTX, and prints errors with their places, or a line for each file.\n",
                "Examples:\n"
                "  heddle ptx kernels/*.ptx\n"
                "  heddle ptx --print kernel.ptx >tidy.ptx\n"
                "  heddle ptx --isa atom red\n"
                "  heddle ptx --isa %tid\n"
                "\n"
                "The exit status is 0 where all files are PTX, 1 where one has errors, 2 for wrong usage.\n"},
    [AT_INFO] = {"info", "show the virtual GPU", cmd_info,
                 "heddle info [OPTIONS]\n"
                 "\n"
                 "Shows the machine as CUDA's deviceQuery would: what launches are checked against, and what this "
                 "computer\n"
                 "gives it.\n",
                 "With --json, all of CUDA's device attributes are there, by name.\n"},
    [AT_CACHE] =
        {"cache", "show or remove compiled code and headers that are kept", cmd_cache,
         "heddle cache [--clear]\n"
         "\n"
         "Kernels that have been compiled are kept on disk, so that the next process finds them: in the folder\n"
         "HEDDLE_CACHE, or heddle in XDG_CACHE_HOME or ~/.cache. HEDDLE_CACHE=off keeps nothing. What was used "
         "longest\n"
         "ago goes first. This command shows what is there.\n"
         "\n"
         "heddle cc keeps what clang makes of CUDA's headers, for each set of options that is used twice, in the "
         "folder\n"
         "`headers` there, or HEDDLE_HEADERS; HEDDLE_HEADERS=off keeps none.\n",
         NULL},
    [AT_EXPLORE] =
        {"explore", "find every outcome of a kernel that the memory model allows", cmd_explore,
         "heddle explore FILE.ptx... [KERNEL] --grid X,Y,Z --block X,Y,Z [OPTIONS] ARG...\n"
         "\n"
         "Explores all executions of a kernel that PTX's memory consistency model allows, not those of one run, and "
         "shows\n"
         "the final values of what is observed, data races, traps and failed assertions, deadlocks, and loops that may "
         "spin\n"
         "for ever, in any of them.\n",
         "Arguments are those of `heddle launch`; behind a buffer, +outcomes observes it.\n"
         "\n"
         "Examples:\n"
         "  heddle explore lock.ptx --grid 3 --block 1 'u32[2]+outcomes'\n"
         "  heddle explore queue.ptx --grid 2 --block 32 --observe 2[0] --json queue.json 'u32[64]' 'u32[4]'\n"
         "\n"
         "docs/EXPLORE.md says what is explored, and how. The exit status is 0 where nothing was found, 1 after "
         "findings,\n"
         "2 for wrong usage and for kernels with something that is not explored, 3 where nothing was found and not "
         "all\n"
         "executions were explored.\n"},
    [AT_LITMUS] =
        {"litmus", "explore litmus tests", cmd_litmus,
         "heddle litmus FILE.litmus... [OPTIONS]\n"
         "heddle litmus FILE.json... [OPTIONS]\n"
         "\n"
         "Explores litmus tests as `heddle explore` does, many in one process: in herd's format for PTX, or NAME.json, "
         "which\n"
         "says how the kernel of NAME.ptx is launched and where the values of an outcome stand.\n",
         "Of a test in herd's format is shown what herd shows: its states, and whether the condition holds.\n"
         "\n"
         "docs/EXPLORE.md has the formats. The exit status is 0 where all tests were explored, 1 where one was not.\n"},
    [AT_CC] = {"cc", "compile CUDA C++, with no CUDA toolkit", cmd_cc, cc_usage, cc_details, .reads_arguments = true},
    [AT_COMPLETION] =
        {"completion", "print what lets a shell complete heddle's commands and options", cmd_completion,
         "heddle completion bash|zsh|fish\n"
         "\n"
         "Prints a script from which the shell learns the commands of heddle and their options.\n",
         "Examples:\n"
         "  source <(heddle completion bash)                                            in ~/.bashrc\n"
         "  heddle completion zsh >~/.zfunc/_heddle                                     a folder of $fpath\n"
         "  heddle completion fish >~/.config/fish/completions/heddle.fish\n"
         "\n"
         "Where Heddle was installed by `make install` or a package for Debian, the shells have it already.\n"},
    [AT_MANUAL] = {"manual", "print a manual page", cmd_manual,
                   "heddle manual [COMMAND]\n"
                   "\n"
                   "Prints the manual page of a command, or of heddle itself, as man reads it.\n",
                   "Examples:\n"
                   "  heddle manual check | man -l -\n"
                   "  heddle manual >heddle.1\n"
                   "\n"
                   "Where Heddle was installed, `man heddle-check` shows the same.\n"},
    [AT_PROGRAM] =
        {"check", NULL, cmd_check_program,
         "heddle check [OPTIONS] PROGRAM [ARGUMENT]...\n"
         "\n"
         "Runs a CUDA program, unchanged, as `heddle run` does, and watches all that it launches, in all streams, of "
         "its\n"
         "children, too: for accesses out of bounds and misaligned, reads of memory that nobody has written, data "
         "races,\n"
         "misused barriers and warp masks, deadlocks, and mistakes of the host. Each finding stands there once, with "
         "a\n"
         "count, the CUDA line (of nvcc -lineinfo) and the PTX. Options are named as compute-sanitizer's.\n",
         "Options stand before PROGRAM; what follows is the program's. What it prints and its exit status stay its "
         "own,\n"
         "unless errors were found: they are shown on stderr at the end. What it has found is shown as well where it\n"
         "crashes, is killed or is ended by --timeout.\n"
         "\n"
         "A rule of a suppressions file is a line `CODE PLACE FUNCTION`: the finding's code, FILE or FILE:LINE of one "
         "of\n"
         "its places (the end of a path does), and the kernel or a function of the host; * and ? stand for anything "
         "and\n"
         "any character, # starts a comment:\n"
         "  uninitialised-read  src/saxpy.cu  saxpy\n"
         "In the source a comment at the line, or above it, does the same: // heddle: allow(data-race) REASON\n"
         "\n"
         "Examples:\n"
         "  heddle check ./vectorAdd\n"
         "  heddle check --tool memcheck,initcheck --kernel-name kns=reduce python3 train.py\n"
         "  heddle check --runs 5 --format sarif --log-file races.sarif ./app\n"
         "\n"
         "The exit status is the program's, but --error-exitcode (1) where it is 0 and errors were found; 124 where "
         "the\n"
         "time of --timeout was over, 126 where it cannot be run under Heddle, 127 where there is none, 2 for wrong "
         "usage.\n"},
    [AT_EXPLAIN] =
        {"explain", NULL, cmd_explain_program,
         "heddle explain [OPTIONS] PROGRAM [ARGUMENT]...\n"
         "\n"
         "Runs a CUDA program, unchanged, as `heddle run` does, and counts what a GPU would count of all that it "
         "launches,\n"
         "its children, too: instructions, requests and sectors of global memory, wavefronts and bank conflicts of "
         "shared\n"
         "memory, divergence, barriers, by line (of nvcc -lineinfo); and estimates how long each launch would take "
         "there,\n"
         "and why. Figures are named as Nsight Compute's.\n",
         "Options stand before PROGRAM; what follows is the program's. What it prints and its exit status stay its "
         "own. A\n"
         "summary is shown on stderr at the end, also where it crashes, is killed or is ended by --timeout.\n"
         "\n"
         "Examples:\n"
         "  heddle explain ./vectorAdd\n"
         "  heddle explain --kernel-regex regex=matmul --launch-count 1 --json matmul.json ./app\n"
         "  heddle explain --csv all.csv python3 train.py\n"
         "  heddle explain --trace timelines.json ./app\n"
         "  heddle explain --compare before.json after.json -o change.html\n"
         "\n"
         "docs/EXPLAIN.md says what each figure means. The exit status is the program's; 124 where the time of "
         "--timeout\n"
         "was over, 126 where it cannot be run under Heddle, 127 where there is none, 2 for wrong usage.\n"},
    [AT_EXPLORE_PROGRAM] =
        {"explore", NULL, cmd_explore_program,
         "heddle explore [OPTIONS] PROGRAM [ARGUMENT]...\n"
         "heddle explore PROGRAM [ARGUMENT]... --kernel NAME [OPTIONS]\n"
         "\n"
         "Runs a CUDA program, unchanged, as `heddle run` does, and explores one launch of its: with the grid, the "
         "arguments\n"
         "and the memory that the launch begins with. Then the launch and the program go on.\n",
         "Options stand before PROGRAM, or behind its arguments, from --kernel on. What the program prints stays its "
         "own; "
         "what\n"
         "was found is shown on stderr at the end. --observe 2[0] is the first element of what the kernel's second "
         "argument\n"
         "points to, a u32; --observe 2[0]:u64 says another type. Ctrl-C ends the search, and the program goes on.\n"
         "\n"
         "Examples:\n"
         "  heddle explore --kernel push --observe 1[0] ./stack\n"
         "  heddle explore --kernel 'queue<int>' --launch 3 --require '2[0]:u64 < 8' --json queue.json ./queue 4\n"
         "  heddle explore python3 locks.py --kernel increment --observe 1[0]\n"
         "\n"
         "The exit status is the program's; where that is 0, 1 after findings, 2 where the launch was not found or "
         "has\n"
         "something that is not explored, 3 where nothing was found and not all executions were explored. 124 where "
         "the "
         "time\n"
         "of --timeout was over, 126 where it cannot be run under Heddle, 127 where there is none.\n"},
    [AT_DEBUG] =
        {"debug", "stop inside of kernels, look at threads, and go back", cmd_debug,
         "heddle debug FILE.ptx... [KERNEL] --grid X,Y,Z --block X,Y,Z [OPTIONS] ARG...\n"
         "\n"
         "Runs a kernel as `heddle launch` does, and stops in it: at breakpoints, writes, faults; shows registers, "
         "variables\n"
         "and memory of any thread; steps by lines or instructions; and goes back to any time of the launch.\n",
         "Arguments are those of `heddle launch`. Commands are read from standard input, and are named as cuda-gdb's: "
         "break,\n"
         "run, next, step, print, watch, info, cuda thread; and reverse-continue, reverse-step, last-write. `help` "
         "lists "
         "them.\n"
         "\n"
         "Examples:\n"
         "  heddle debug scan.ptx --grid 1 --block 256 's32[256]=range' 's32[256]'\n"
         "  heddle debug --policy random:7 queue.ptx --grid 4 --block 64 'u32[64]' <commands.txt\n"
         "\n"
         "docs/DEBUG.md shows sessions. The exit status is 0, 1 where the PTX has errors, 2 for wrong usage.\n"},
    [AT_DEBUG_PROGRAM] = {"debug", NULL, cmd_debug_program,
                          "heddle debug [OPTIONS] PROGRAM [ARGUMENT]...\n"
                          "\n"
                          "Runs a CUDA program, unchanged, as `heddle run` does, and stops in its kernels. A kernel in "
                          "which nothing is to\n"
                          "stop runs compiled, as ever.\n",
                          "Options stand before PROGRAM; what follows is the program's, which has standard input where "
                          "that is a terminal.\n"
                          "Lines are known of what was compiled with -G or -lineinfo.\n"
                          "\n"
                          "Examples:\n"
                          "  heddle debug ./saxpy\n"
                          "  heddle debug python3 train.py\n"
                          "\n"
                          "The exit status is 0, 126 where the program cannot be run under Heddle, 127 where there is "
                          "none, 2 for wrong\n"
                          "usage.\n"},
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
    {"grid", "the launch of a program has its own", EXPLORE_PROGRAM},
    {"block", "the launch of a program has its own", EXPLORE_PROGRAM},
    {"cluster", "the launch of a program has its own", EXPLORE_PROGRAM},
    {"shared", "the launch of a program has its own", EXPLORE_PROGRAM},
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

/* The one for programs of a command that takes PTX files, too; 0 where there is none. */
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

/* Options whose FILE is written have one file each; "-" is standard output. Returns what is wrong, or NULL. */
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

/* heddle explore PROGRAM ARGUMENT... --kernel NAME [OPTIONS]: what stands from --kernel on is put before the program. A program that has
 * such an option itself has it where Heddle's stands before it. */
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
    s->words = ARENA_ARRAY(&s->arena, const char *, (size_t)argc + 1); /* room for a NULL at the end */
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
                                    c->details ? "\n" : "", c->details ? c->details : "");
    for (const struct command *of = commands; of->name; of++)
        if (program_variant(of) == bit_of(c))
            return arena_printf(arena, "%s\n\n%s", text, command_help(of, arena));
    return text;
}
