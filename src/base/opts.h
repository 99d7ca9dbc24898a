/* Command-line options: a table of entries in, values in the caller's struct out. Nothing here
 * prints.
 *
 * An option is typed --name VALUE, --name=VALUE, or -x where it has a letter. What is not an option
 * is a word; so are negative numbers, and everything after "--". Unknown, repeated and valueless
 * options are errors.
 */
#ifndef HEDDLE_BASE_OPTS_H
#define HEDDLE_BASE_OPTS_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/* How a value is written, and its field in the caller's struct, which is zero where the option is
 * not given.
 */
enum opt_kind {
    OPT_SWITCH,  /* bool: no value */
    OPT_YES_NO,  /* bool: no value, or "yes" or "no" */
    OPT_NUMBER,  /* uint64_t: from 1, "12", "1e9" */
    OPT_COUNT,   /* struct opt_count: from 0 */
    OPT_SIZE,    /* uint64_t: from 1, "512", "64K", "2G" */
    OPT_SECONDS, /* double: from 0.001, "10", "0.5", "5m" */
    OPT_DIMS,    /* uint32_t[3]: "32", "32,32", "8x8x8"; those not said are 1 */
    OPT_TEXT,    /* const char * */
    OPT_LIST,    /* struct opt_list; may be given again */
};

enum { OPT_LIST_MAX = 32 };
struct opt_list {
    const char *at[OPT_LIST_MAX];
    unsigned n;
};

struct opt_count {
    bool given;
    uint64_t value;
};

struct opt {
    const char *name; /* without the dashes */
    char letter;      /* or 0; '-': the name may have one dash, too, as -ex */
    enum opt_kind kind;
    const char *value; /* what the help calls it; "" for a switch */
    const char *help;
    uint32_t commands; /* the commands that take it, a bit each */
    size_t offset;     /* of the field */
};

/* An option of another program's that a user may look for here. */
struct opt_elsewhere {
    const char *name;
    const char *hint; /* what there is instead, behind "there is no option `--name`: " */
    uint32_t commands;
};

struct opts {
    const struct opt *at;
    size_t n;
    const char *(*command_name)(unsigned command); /* for messages */
    /* The commands whose options end at the first word, a bit each. */
    uint32_t first_word_ends;
    /* An option; if it stands before that word, options go on after the word. Or NULL. */
    const char *runs_nothing;
    const struct opt_elsewhere *elsewhere;
    size_t n_elsewhere;
};

/* Reads argv[1..argc-1] as arguments of the command. `words` has room for argc pointers. Returns
 * NULL, or in the arena a sentence that says what is wrong. */
const char *opts_parse(const struct opts *opts, unsigned command, int argc, char **argv, void *values,
                       const char **words, int *n_words, struct arena *arena);

/* The first word of argv[1..argc-1], where options of any of these commands may stand before it,
 * however they are misused; NULL where there is none. */
const char *opts_first_word(const struct opts *opts, uint32_t commands, int argc, char **argv);

/* An option as help, manual pages and completion show it. */
struct opt_line {
    const char *short_name, *long_name; /* as typed: "-h" and "--help"; NULL where it has none */
    const char *value;                  /* what the help calls it; "" for a switch */
    const char *help;
};
typedef VEC(struct opt_line) opt_lines;

/* The options of a command, in the table's order. */
opt_lines opts_lines(const struct opts *opts, unsigned command, struct arena *arena);
/* The same as text for a terminal, in the arena: names on the left, help wrapped on the right. */
const char *opt_lines_help(const opt_lines *lines, struct arena *arena);

/* "512", "64K", "2G", "2GiB": K, M, G, T are powers of 1024. */
bool opts_size(struct str text, uint64_t *size);

/* "512", "1e9", "2.5e6": whole numbers. */
bool opts_number(struct str text, uint64_t *number);

/* "10", "0.5", "90s", "5m", "1h30m", "20ms"; from a millisecond to thirty years. */
bool opts_seconds(struct str text, double *seconds);

/* Up to `max` sizes from 1, separated by commas or x; returns their count, 0 where the text is not
 * that. */
unsigned opts_dims(struct str text, uint64_t *dims, unsigned max);

#endif
