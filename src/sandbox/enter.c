/* See sandbox.h. The filter is syscalls.def as a program for seccomp (Linux,
 * Documentation/userspace-api/seccomp_filter.rst): one comparison after the other, each with its
 * answer behind it. For calls without arguments that matter the system remembers the answer (since
 * Linux 5.11). */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/filter.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define IS_SANITIZED true
#elif defined __clang__
#define IS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define IS_SANITIZED false
#endif

enum rule_kind { RULE_ALLOW, RULE_ALLOW_IF, RULE_ALLOW_ONLY, RULE_ALLOW_UNLESS, RULE_DENY, RULE_TRAP };

#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define SELF    (-1) /* the process's own id, in the place of a value */

struct rule {
    int number;
    const char *name;
    enum rule_kind kind;
    unsigned profiles, argument; /* DENY: the error */
    uint32_t mask, value;
};

enum { KERNELS = SANDBOX_KERNELS, COMPILER = SANDBOX_COMPILER, BOTH = KERNELS | COMPILER };

static const struct rule rules[] = {
#define ALLOW(name, profiles, why) {__NR_##name, #name, RULE_ALLOW, profiles, 0, 0, 0},
#define ALLOW_IF(name, profiles, argument, mask, value, why)                                                           \
    {__NR_##name, #name, RULE_ALLOW_IF, profiles, argument, mask, (uint32_t)(value)},
#define ALLOW_ONLY(name, profiles, argument, mask, value, why)                                                         \
    {__NR_##name, #name, RULE_ALLOW_ONLY, profiles, argument, mask, (uint32_t)(value)},
#define ALLOW_UNLESS(name, profiles, argument, mask, value, why)                                                       \
    {__NR_##name, #name, RULE_ALLOW_UNLESS, profiles, argument, mask, value},
#define DENY(name, error) {__NR_##name, #name, RULE_DENY, BOTH, error, 0, 0},
#define TRAP(name)        {__NR_##name, #name, RULE_TRAP, BOTH, 0, 0, 0},
#include "sandbox/syscalls.def"
};
enum { N_RULES = sizeof rules / sizeof rules[0] };

const char *sandbox_call_name(int number, unsigned architecture)
{
    for (size_t i = 0; architecture == FILTER_ARCHITECTURE && i < N_RULES; i++)
        if (rules[i].number == number)
            return rules[i].name;
    return NULL;
}

/* The number has been loaded. Behind what loads an argument stands an answer in any case: nobody
 * needs the number again. */
static void add_rule(struct filter *f, const struct rule *r)
{
    uint32_t value = r->value == (uint32_t)SELF ? (uint32_t)getpid() : r->value;
    switch (r->kind) {
    case RULE_ALLOW: filter_answer(f, r->number, SECCOMP_RET_ALLOW); break;
    case RULE_ALLOW_IF: filter_answer_if(f, r->number, r->argument, r->mask, value, SECCOMP_RET_ALLOW, REFUSED); break;
    case RULE_ALLOW_ONLY:
        filter_answer_if(f, r->number, r->argument, r->mask, value, SECCOMP_RET_ALLOW, SECCOMP_RET_TRAP);
        break;
    case RULE_ALLOW_UNLESS:
        filter_answer_if(f, r->number, r->argument, r->mask, value, SECCOMP_RET_TRAP, SECCOMP_RET_ALLOW);
        break;
    case RULE_DENY: filter_answer(f, r->number, SECCOMP_RET_ERRNO | r->argument); break;
    case RULE_TRAP: filter_answer(f, r->number, SECCOMP_RET_TRAP); break;
    }
}

const char *sandbox_obstacle(void)
{
    return IS_SANITIZED ? "Heddle was built with a sanitizer, which needs system calls that the sandbox forbids"
                        : filter_obstacle();
}

const char *sandbox_enter(enum sandbox_profile profile)
{
    const char *error = sandbox_obstacle();
    if (error)
        return error;
    static const struct rlimit none = {0, 0};
    struct filter f;
    filter_start(&f, SECCOMP_RET_TRAP);
    for (size_t i = 0; i < N_RULES; i++)
        if (rules[i].profiles & profile)
            add_rule(&f, &rules[i]);
    error = filter_install(&f, REFUSED);
    if (!error)
        setrlimit(RLIMIT_CORE, &none); /* memory of the process goes to no file */
    return error;
}
