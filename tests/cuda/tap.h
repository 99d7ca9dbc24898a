/* TAP for programs that use the driver API as its users do. */
#ifndef TESTS_CUDA_TAP_H
#define TESTS_CUDA_TAP_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tests, failures, bad;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);                                                   \
            bad++;                                                                                                     \
        }                                                                                                              \
    } while (0)

static inline const char *name_of(CUresult r)
{
    const char *name = NULL;
    return cuGetErrorName(r, &name) == CUDA_SUCCESS ? name : "?";
}

#define GIVES(result, call)                                                                                            \
    do {                                                                                                               \
        CUresult got = (call);                                                                                         \
        if (got != (result)) {                                                                                         \
            printf("# %s:%d: %s is %s, not %s\n", __FILE__, __LINE__, #call, name_of(got), #result);                   \
            bad++;                                                                                                     \
        }                                                                                                              \
    } while (0)
#define OK(call) GIVES(CUDA_SUCCESS, call)

/* The function's name, as a sentence, is the test's. */
static inline void report(const char *name)
{
    char text[128];
    snprintf(text, sizeof text, "%s", name);
    for (char *p = text; *p; p++)
        *p = *p == '_' ? ' ' : *p;
    printf("%sok %d - %s\n", bad ? "not " : "", ++tests, text);
    failures += bad != 0;
    bad = 0;
}
#define RUN(test)                                                                                                      \
    do {                                                                                                               \
        test();                                                                                                        \
        report(#test);                                                                                                 \
    } while (0)

static inline int summary(void)
{
    printf("1..%d\n", tests);
    return failures != 0;
}

#endif
