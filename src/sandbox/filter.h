/* A filter of system calls for seccomp, put together one rule after the other. */
#ifndef HEDDLE_SANDBOX_FILTER_H
#define HEDDLE_SANDBOX_FILTER_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

/* Whose numbers these are. */
#if defined __x86_64__
#define FILTER_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define FILTER_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define FILTER_ARCHITECTURE 0u
#endif

enum { FILTER_MOST = 2048 }; /* the system takes 4096 */

struct filter {
    struct sock_filter at[FILTER_MOST];
    unsigned n;
};

/* NULL, or why there can be no filter here. */
const char *filter_obstacle(void);

/* What comes by another architecture's numbers (32 bits, x32) gets the answer `foreign`. */
void filter_start(struct filter *f, uint32_t foreign);
/* SECCOMP_RET_...: for a call by its number. */
void filter_answer(struct filter *f, int number, uint32_t answer);
/* Where (argument & mask) == value in its low 32 bits, and else. */
void filter_answer_if(struct filter *f, int number, unsigned argument, uint32_t mask, uint32_t value, uint32_t yes,
                      uint32_t no);
/* The same conditions, all of them, as allow the call; else what follows decides. */
struct filter_condition {
    unsigned argument;
    uint32_t mask, value;
};
void filter_allow_where(struct filter *f, int number, const struct filter_condition *all, unsigned n);
/* For calls from this number on. */
void filter_answer_from(struct filter *f, uint32_t number, uint32_t answer);
/* For all threads, and no new privileges for any; `other` is the answer to all other calls. Returns
 * NULL, or why it cannot be. */
const char *filter_install(struct filter *f, uint32_t other);

#endif
