/* See filter.h. */
#include "sandbox/filter.h"

#include <assert.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define X32_BIT 0x40000000u /* of numbers that x86-64 has for programs with pointers of 32 bits */

const char *filter_obstacle(void)
{
    uint32_t needed = SECCOMP_RET_TRAP;
    if (!FILTER_ARCHITECTURE)
        return "there are no filters of system calls for this kind of CPU";
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &needed) == 0)
        return NULL;
    return "the system has no seccomp filters (Linux 4.14 and later have them), or does not allow them";
}

static void add(struct filter *f, struct sock_filter instruction)
{
    assert(f->n < FILTER_MOST);
    f->at[f->n++] = instruction;
}

static void load(struct filter *f, size_t offset)
{
    add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void answer(struct filter *f, uint32_t answer)
{
    add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

/* Goes on behind the next `n` instructions where what is loaded is not equal. */
static void unless_equal(struct filter *f, uint32_t value, uint8_t n)
{
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, n));
}

void filter_start(struct filter *f, uint32_t foreign)
{
    f->n = 0;
    load(f, offsetof(struct seccomp_data, arch));
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCHITECTURE, 1, 0));
    answer(f, foreign);
    load(f, offsetof(struct seccomp_data, nr));
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1));
    answer(f, foreign);
}

void filter_answer(struct filter *f, int number, uint32_t how)
{
    unless_equal(f, (uint32_t)number, 1);
    answer(f, how);
}

void filter_answer_if(struct filter *f, int number, unsigned argument, uint32_t mask, uint32_t value, uint32_t yes,
                      uint32_t no)
{
    unless_equal(f, (uint32_t)number, 5);
    /* little-endian: the low half comes first. */
    load(f, offsetof(struct seccomp_data, args) + 8 * argument);
    add(f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    unless_equal(f, value, 1);
    answer(f, yes);
    answer(f, no);
}

void filter_allow_where(struct filter *f, int number, const struct filter_condition *all, unsigned n)
{
    uint8_t left = (uint8_t)(3 * n); /* instructions of the conditions that are still to come */
    unless_equal(f, (uint32_t)number, (uint8_t)(left + 2));
    for (unsigned i = 0; i < n; i++) {
        load(f, offsetof(struct seccomp_data, args) + 8 * all[i].argument);
        add(f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, all[i].mask));
        left = (uint8_t)(left - 3);
        unless_equal(f, all[i].value, (uint8_t)(left + 1));
    }
    answer(f, SECCOMP_RET_ALLOW);
    load(f, offsetof(struct seccomp_data, nr));
}

void filter_answer_from(struct filter *f, uint32_t number, uint32_t how)
{
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, number, 0, 1));
    answer(f, how);
}

const char *filter_install(struct filter *f, uint32_t other)
{
    struct sock_fprog program = {(unsigned short)(f->n + 1), f->at};
    const char *obstacle = filter_obstacle();
    if (obstacle)
        return obstacle;
    answer(f, other);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return "the system has no PR_SET_NO_NEW_PRIVS";
    /* Systems before Linux 5.16 would turn off speculative stores for who is filtered, which makes
     * kernels slow. What that is against, reading memory of one's own process, is no more than who
     * breaks out can do anyway. */
    unsigned long flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    return r == 0 ? NULL : r > 0 ? "a thread has a filter of its own" : "the system refuses the filter";
}
