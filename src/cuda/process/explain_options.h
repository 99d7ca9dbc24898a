/* What `heddle explain` asks of the processes that it starts: the environment variable
 * HEDDLE_EXPLAIN, a JSON object. Users type the command's options instead. */
#ifndef HEDDLE_CUDA_PROCESS_EXPLAIN_OPTIONS_H
#define HEDDLE_CUDA_PROCESS_EXPLAIN_OPTIONS_H

#include "cuda/process/launch_filter.h"

struct explain_options {
    const char *folder;            /* for the processes' files: explain.h */
    int process;                   /* the only one whose launches are counted; 0: all */
    const char *device;            /* hd_explainer_options.device, or NULL */
    uint64_t sample_after;         /* hd_explainer_options.sample_after */
    struct launch_filter launches; /* those that are counted */
};

/* The variable's value, from malloc; NULL if memory is exhausted or a text is not UTF-8. */
char *explain_options_text(const struct explain_options *o);
/* Reads such a value; false if it is invalid. The strings live until the process ends. */
bool explain_options_read(const char *text, struct explain_options *o);

#endif
