/* The front end of heddle debug in a terminal: it reads commands, asks the debugger in the other
 * process (debug/requests.h), and prints. It makes no decisions. Private to cli/. */
#ifndef HEDDLE_CLI_DEBUG_FRONT_H
#define HEDDLE_CLI_DEBUG_FRONT_H

#include <stdio.h>
#include <sys/types.h>

#include "base/text.h"
#include "cli/cli.h"

enum front_state {
    FRONT_IDLE,   /* the program has not been started */
    FRONT_READY,  /* the kernel is known, and has not begun */
    FRONT_STANDS, /* a launch is stopped */
    FRONT_RUNS,   /* nothing is stopped; only while another part of the front end waits (`await`) */
    FRONT_ENDED,  /* a launch has ended, and can go back */
    FRONT_GONE,   /* the program has ended */
};

struct front {
    struct session *s;
    enum front_state state;
    int link; /* -1: none */
    pid_t pid;
    /* Starts the program with its end of a connection; returns 0, or the exit status after an
     * error. */
    int (*start)(struct front *f);
    /* Called when the launch goes on: front_wait() in the terminal. */
    void (*await)(struct front *f);
    void *data, *data_of_await;
    int output[2];  /* the program's standard output and error; -1: the same as ours */
    int private[2]; /* our files that the program does not inherit; or -1 */
    bool is_program;
    int status; /* the program's exit status */
    /* requests for breakpoints, kept for the next run, with their "id", "disabled", "ignore";
     * "is_set": it was sent */
    json_t *points;
    json_t *place;    /* the event of the last stop */
    json_t *displays; /* expressions that each stop shows; null: removed */
    const char *last; /* the last command, which an empty line repeats; or NULL */
    struct arena last_arena;
    const char *list_file; /* where `list` goes on */
    int64_t list_from, list_size;
    json_t *printed;      /* printed values $1 and so on, each with its type */
    json_t *variables;    /* the same of those with names, which `set $n = 3` gives */
    json_t *commands;     /* lines that a breakpoint's stop runs, by its number */
    json_t *stopped_at;   /* points of the last stop whose commands have not run yet; or NULL */
    long long last_point; /* the number of the last breakpoint or watchpoint that was set, */
    long long next_point; /* and the greatest that there has been */
    void (*run_line)(struct front *f, const char *line);     /* front_run_line */
    char *(*read_line)(struct front *f, const char *prompt); /* front_read_line */
    /* A file of commands; NULL: standard input. */
    FILE *input;
    unsigned sources; /* depth of nested `source` commands */
    /* at the first operation of the program's first kernel */
    bool stops_at_start;
    /* the file that is the program's standard input; or NULL */
    const char *input_of_it;
    bool quits, on_terminal, colours;
    bool says_nothing;  /* the program's end is not announced */
    struct arena arena; /* for the current command */
};

/* A line or a count that somebody has typed, cut so that sums with it do not overflow. */
static inline int64_t front_small(int64_t n)
{
    return n < -INT32_MAX ? -INT32_MAX : n > INT32_MAX ? INT32_MAX : n;
}

/* A member of an answer or an event; NULL or 0 if there is none. */
static inline const char *text_of(const json_t *j, const char *key)
{
    return json_string_value(json_object_get(j, key));
}
static inline int64_t number_of(const json_t *j, const char *key)
{
    return json_integer_value(json_object_get(j, key));
}

/* Runs the commands of standard input until its end, or until the user ends the session. */
void front_loop(struct front *f);
/* Runs one. */
void front_run_line(struct front *f, const char *line);
/* Reads the next line after a prompt (NULL: the usual one); the line is from malloc, NULL at the
 * end of the input. */
char *front_read_line(struct front *f, const char *prompt);

/* ---- debug_script.c ---- */

/* Prints a value, and keeps it. */
void front_keep_value(struct front *f, const char *type, const char *value);
/* The printed or named value that the text is, as in "$", "$3" or "$n"; NULL: it is something
 * else. */
const json_t *front_value(struct front *f, const char *text);
/* The expression with $, $1 and $$2 replaced by printed values, and $pc by the line of PTX; NULL
 * after it has printed an error. */
const char *front_expression(struct front *f, const char *text);
/* Runs the commands of the breakpoints of the last stop, once. */
void front_run_commands(struct front *f);

/* ---- debug_arguments.c ---- */

/* Takes the words of the text for the program's arguments, from the next run on. False after an
 * error message. */
bool front_take_arguments(struct front *f, const char *text);

/* ---- debug_kept.c ---- */

/* Gives a value a name. */
void front_name_value(struct front *f, const char *name, const char *type, const char *value);
/* A breakpoint or watchpoint has this number. */
void front_note_point(struct front *f, long long id);
/* The breakpoint's request; NULL: there is none with this number. */
json_t *front_point(const struct front *f, long long id);
/* Forgets one, or all (0). */
void front_forget_point(struct front *f, long long id);
/* Of the breakpoints that a launch has stopped at, forgets those that stop once. */
void front_forget_reached(struct front *f, const json_t *ids);

/* ---- debug_start.c ---- */

/* Opens a front end for the program or the kernel of the session's command line. Returns 0, or the
 * exit status after an error. */
int front_open(struct front *f, struct session *s, bool is_program);
void front_close(struct front *f);

/* ---- debug.c ---- */

/* heddle run --debug-on-fault. Returns the exit status. */
int debug_on_fault(struct session *s);

/* ---- debug_link.c: asking ---- */

/* Sends the request and frees it. Returns the answer, which the caller frees; NULL if there is no
 * debugger. If the answer is NULL or has "error", an error was printed. */
json_t *front_ask(struct front *f, json_t *request);
/* The same, but prints no errors. */
json_t *front_request(struct front *f, json_t *request);
/* Sends the breakpoints that were requested before this run, or before there was a debugger.
 * `says`: tell the user of a breakpoint that is not where it was requested. */
void front_ask_points(struct front *f, bool says);
/* Keeps the event of the last stop. */
void front_keep_place(struct front *f, json_t *event);
/* Notes that a breakpoint (0: all) has code in a kernel, or is not to stop anywhere. */
void front_note_placed(struct front *f, int64_t id);
/* Sends a request that lets the launch go on, waits until something stops or ends, and shows it. */
void front_go(struct front *f, json_t *request);
/* Waits for the first thing that the program says. */
void front_wait(struct front *f);
/* From now on Ctrl-C stops the kernel; at a prompt it does nothing. */
void front_take_interrupts(void);
/* Ends the program, if it runs. */
void front_end(struct front *f);
__attribute__((format(printf, 2, 3))) void front_error(struct front *f, const char *format, ...);

/* ---- debug_show.c: printing ---- */

void front_show_stop(struct front *f, const json_t *event);
/* Prints the selected thread and frame, with the line. */
void front_show_place(struct front *f, const json_t *place, bool with_thread);
void front_show_displays(struct front *f);
/* Shows one of them. False: it has no value here. That is an error if it is new; later it is
 * left out where its names mean nothing. */
bool front_show_display(struct front *f, size_t number, const char *text, bool is_new);
/* The PTX around $pc. */
void front_show_ptx_here(struct front *f);
/* Prints `count` lines of PTX from $pc, or from a line, on. */
void front_show_ptx(struct front *f, const char *from, int64_t count);
/* Prints lines of a file from `from` on, and marks `here`; returns their number, -1 if the file
 * cannot be read. */
int64_t front_show_lines(struct front *f, const char *file, int64_t from, int64_t to, int64_t here);
/* "saxpy.cu:12", "PTX line 7" */
const char *front_line_text(const json_t *frame, struct arena *arena);
const char *front_thread_text(const json_t *focus, struct arena *arena);
/* "sum.cu:12 if n == 3" */
const char *front_point_text(const json_t *point, struct arena *arena);
/* "lanes 0-3, 8" */
const char *front_lanes_text(uint32_t lanes, struct arena *arena);

/* ---- debug_commands.c ---- */

struct debug_command {
    const char *name, *alias; /* alias: or "" */
    void (*run)(struct front *f, char *arguments);
    const char *usage, *help;
    bool repeats; /* an empty line after it repeats it */
};
extern const struct debug_command debug_commands[]; /* a NULL name ends them */
/* Finds a command by its name, its alias or the beginning of its name; NULL, and *wrong says
 * why. */
const struct debug_command *debug_command_find(const char *word, size_t n, struct arena *arena, const char **wrong);

#endif
