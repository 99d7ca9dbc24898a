/* The front end of heddle debug in a terminal: it reads commands, asks the debugger in the other
 * process (debug/requests.h), and prints. It decides nothing. Private to cli/. */
#ifndef HEDDLE_CLI_DEBUG_FRONT_H
#define HEDDLE_CLI_DEBUG_FRONT_H

#include <stdio.h>
#include <sys/types.h>

#include "base/text.h"
#include "cli/cli.h"

enum front_state {
    FRONT_IDLE,   /* the program has not been started */
    FRONT_READY,  /* the kernel is known, and has not begun */
    FRONT_STANDS, /* a launch stands still */
    FRONT_RUNS,   /* nothing stands still; only where somebody else waits for it: `await` */
    FRONT_ENDED,  /* a launch has ended, and can go back */
    FRONT_GONE,   /* the program has ended */
};

struct front {
    struct session *s;
    enum front_state state;
    int link; /* -1: none */
    pid_t pid;
    int (*start)(
        struct front *
            f); /* starts the program with its end of a connection; returns the exit status of what has been said, or 0 */
    void (*await)(struct front *f); /* the launch goes on: front_wait, or of who waits for it elsewhere */
    void *data, *data_of_await;
    int output[2];  /* what the program has for standard output and error; -1: ours */
    int private[2]; /* files of ours that it has not; or -1 */
    bool is_program;
    int status; /* the program's exit status */
    json_t *
        points; /* requests for breakpoints, of which those that the program has been asked for have their "id": for the next run */
    json_t *place;    /* what was said of the last stop */
    json_t *displays; /* expressions that each stop shows, or null where one was taken away */
    const char *last; /* command, which an empty line repeats; or NULL */
    struct arena last_arena;
    const char *list_file; /* where `list` goes on */
    int64_t list_from;
    json_t *printed;      /* values, $1 and so on, each with its type */
    json_t *commands;     /* lines that a breakpoint's stop runs, by its number */
    json_t *stopped_at;   /* the points of a stop whose commands have not been run; or NULL */
    long long last_point; /* the number of the last that was set */
    void (*run_line)(struct front *f, const char *line);     /* front_run_line */
    char *(*read_line)(struct front *f, const char *prompt); /* front_read_line */
    FILE *input;                                             /* of commands: a file that is run; NULL: standard input */
    unsigned sources;                                        /* files that are being run */
    bool stops_at_start;                                     /* at the first operation of the program's first kernel */
    const char *input_of_it;                                 /* the file that it has for standard input; or NULL */
    bool quits, on_terminal, colours;
    bool says_nothing;  /* of the program's end */
    struct arena arena; /* of a command */
};

/* What an answer or an event says: NULL, and 0, where it does not. */
static inline const char *text_of(const json_t *j, const char *key)
{
    return json_string_value(json_object_get(j, key));
}
static inline int64_t number_of(const json_t *j, const char *key)
{
    return json_integer_value(json_object_get(j, key));
}

/* Runs the commands of standard input until it, or the user, ends. */
void front_loop(struct front *f);
/* Runs one. */
void front_run_line(struct front *f, const char *line);
/* The next line, from malloc, behind a prompt, or the usual one where it is NULL; NULL at the end
 * of the input. */
char *front_read_line(struct front *f, const char *prompt);

/* ---- debug_script.c ---- */

/* Prints a value, and keeps it. */
void front_keep_value(struct front *f, const char *type, const char *value);
/* An expression with the values that were printed in the place of $, $1 and $$2, and the line of PTX
 * in that of $pc; NULL: what is wrong has been said. */
const char *front_expression(struct front *f, const char *text);
/* The commands of the breakpoints of the last stop, once. */
void front_run_commands(struct front *f);

/* ---- debug_start.c ---- */

/* Begins a front for what the session's command line says, of a program or of a kernel. Returns 0,
 * or the exit status of what was said. */
int front_open(struct front *f, struct session *s, bool is_program);
void front_close(struct front *f);

/* ---- debug.c ---- */

/* heddle run --debug-on-fault. Returns the exit status. */
int debug_on_fault(struct session *s);

/* ---- debug_link.c: asking ---- */

/* Takes the request. Its answer, which is the caller's; NULL where nobody is there. What is wrong
 * has been said where the answer is NULL or has "error". */
json_t *front_ask(struct front *f, json_t *request);
/* The same without a word. */
json_t *front_request(struct front *f, json_t *request);
/* Asks for what was asked for before this run, or before there was anybody to ask. */
void front_ask_points(struct front *f);
/* Keeps what was said of the last stop. */
void front_keep_place(struct front *f, json_t *event);
/* The same where the launch then goes on: waits until something stops, or ends, and shows it. */
void front_go(struct front *f, json_t *request);
/* Waits for the first thing that the program says. */
void front_wait(struct front *f);
/* Ctrl-C is for the kernel from now on; before a prompt it does nothing. */
void front_take_interrupts(void);
/* Ends the program, if it runs. */
void front_end(struct front *f);
__attribute__((format(printf, 2, 3))) void front_error(struct front *f, const char *format, ...);

/* ---- debug_show.c: printing ---- */

void front_show_stop(struct front *f, const json_t *event);
/* The thread and frame that are looked at, with the line. */
void front_show_place(struct front *f, const json_t *place, bool with_thread);
void front_show_displays(struct front *f);
/* The PTX around $pc. */
void front_show_ptx_here(struct front *f);
/* So many lines of PTX from $pc, or from a line, on. */
void front_show_ptx(struct front *f, const char *from, int64_t count);
/* Lines of a file, from `from` on; returns how many, -1 where the file cannot be read. `here` is
 * marked. */
int64_t front_show_lines(struct front *f, const char *file, int64_t from, int64_t to, int64_t here);
/* "saxpy.cu:12", "PTX line 7" */
const char *front_line_text(const json_t *frame, struct arena *arena);
const char *front_thread_text(const json_t *focus, struct arena *arena);
/* "lanes 0-3, 8" */
const char *front_lanes_text(uint32_t lanes, struct arena *arena);

/* ---- debug_commands.c ---- */

struct debug_command {
    const char *name, *alias; /* alias: or "" */
    void (*run)(struct front *f, char *arguments);
    const char *usage, *help;
    bool repeats; /* an empty line behind it does it again */
};
extern const struct debug_command debug_commands[]; /* a NULL name ends them */
/* The command called so, by its name, its alias or the beginning of its name; NULL with what is
 * wrong. */
const struct debug_command *debug_command_find(const char *word, size_t n, struct arena *arena, const char **wrong);

#endif
