/* What is declared in the text of a source, read by its words and brackets; templates and macros
 * are not expanded. Private to cc/. */
#ifndef HEDDLE_CC_DECLARATIONS_H
#define HEDDLE_CC_DECLARATIONS_H

#include "base/arena.h"
#include "base/str.h"
#include "base/text.h"

bool cc_is_of_word(char c);
struct str cc_word_at(struct str text, size_t at);
/* Where the word begins that ends before `end`. */
size_t cc_word_start(struct str text, size_t end);
size_t cc_skip_blanks(struct str text, size_t at);
/* Behind the last character before `at` that is no blank. */
size_t cc_before_blanks(struct str text, size_t at);
/* Where the brackets that end before `at` begin. */
size_t cc_open_bracket(struct str text, size_t at, char open, char close);
/* Behind the `>` of the arguments of a template that begin at `at`, or 0. */
size_t cc_behind_arguments(struct str text, size_t at);

/* A declaration with one of CUDA's words. */
struct device_function {
    struct str name;
    size_t start;     /* of the declaration */
    size_t word;      /* of CUDA's; parameters of a template stand before */
    size_t body, end; /* from { to behind }; 0: none */
    bool host;        /* __host__, too */
    bool is_variable; /* whose initial value may name kernels */
};

/* The next declaration from `at` on: where the word stands, or text.n. */
size_t cc_next_of_device(struct str text, size_t at, struct device_function *d);
/* Is a variable of that name declared between the two places? */
bool cc_declares(struct str text, size_t from, size_t end, struct str name);
/* Is the word that ends before `end` one that stands before a value? */
bool cc_is_before_value(struct str text, size_t end);

/* ---- deduced.c ---- */

/* The declaration of a kernel, a launch of which leaves arguments out, or has those of the template
 * deduced: heddle_launch_NAME takes the same, and makes a call of it. */
#define CC_DEDUCING "heddle_launch_"
struct deducing {
    struct str declaration;
    size_t at, end;      /* what it stands instead of: up to the end of the parameters */
    unsigned parameters; /* of the template; more than a launch can give: it has a pack */
    bool has_defaults;   /* of the kernel's parameters */
    bool is_specialized; /* there is nothing to deduce: `template <>`, `template __global__ ...` */
};
/* False where that cannot be. `defined`: the function is, too. */
bool cc_deducing(struct str text, const struct device_function *f, bool defined, struct deducing *made,
                 struct arena *arena);
/* In a list of parameters or arguments with its brackets, (...) or <...>: where the one that
 * begins at `at` ends, which is at its comma or at the bracket; with `has_default` at the `=` of
 * a default argument, if there is one. */
size_t cc_behind_parameter(struct str list, size_t at, bool has_default);
/* Adds a part of a source as one line, without comments. */
void cc_put_line(struct text *out, struct str part);

#endif
