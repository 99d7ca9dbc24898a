/* The environment variables that Heddle reads: rows of environment.def. */
#ifndef HEDDLE_CLI_ENVIRONMENT_H
#define HEDDLE_CLI_ENVIRONMENT_H

enum environment_kind {
    ENVIRONMENT_PROGRAM,  /* for programs that run under Heddle */
    ENVIRONMENT_CC,       /* for heddle cc */
    ENVIRONMENT_KEPT,     /* for files that are kept, and for messages */
    ENVIRONMENT_LOOK,     /* for looking at compiled code */
    ENVIRONMENT_INTERNAL, /* passed from a command to the processes that it starts */
};

struct environment {
    enum environment_kind kind;
    const char *name, *value, *help;
};

/* A NULL name ends them. */
extern const struct environment environment[];

#endif
