/* See host.h. */
#include "check/host/host.h"

#if defined __x86_64__

#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "check/host/host_insn.h"

enum {
    PAGE = 4096,
    MOST_WATCHES = 16,
    MOST_PAGES = 32,
    MOST_OPERANDS = 4,
    XSTATE_MASKS = 5,
    TRAP_FLAG = 0x100,
    DIRECTION_FLAG = 0x400,
    FAULT_WRITES = 2
};

struct host_watch {
    struct mem *mem;
    host_access_fn *tell;
    void *data;
};

/* Handlers are the process's: they find who watches, and whose the signals were before, here. */
static struct host_watch *_Atomic watches[MOST_WATCHES];
static struct sigaction others[2]; /* of SIGSEGV and SIGTRAP */
static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t masks_at; /* where a saved extended state has the masks of AVX-512; 0: it has none */

/* The instruction that a thread has been let do: pages that are open for it, and what has been told of it. */
static _Thread_local struct {
    struct host_watch *watch;
    uint64_t pages[MOST_PAGES];
    struct host_access operands[MOST_OPERANDS];
    unsigned n, n_operands;
} step __attribute__((tls_model("initial-exec")));

/* ---- signals ---- */

static void pass_on(const struct sigaction *other, int signal, siginfo_t *info, void *context)
{
    if (other->sa_flags & SA_SIGINFO)
        other->sa_sigaction(signal, info, context);
    else if (other->sa_handler != SIG_DFL && other->sa_handler != SIG_IGN)
        other->sa_handler(signal);
    else
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL},
                  NULL); /* the instruction comes again, and ends us */
}

static struct host_watch *watch_of(uint64_t address)
{
    for (int i = 0; i < MOST_WATCHES; i++) {
        struct host_watch *w = atomic_load_explicit(&watches[i], memory_order_acquire);
        if (w && mem_is_host(w->mem, address))
            return w;
    }
    return NULL;
}

static void protect(uint64_t page, int protection)
{
    mprotect((void *)(uintptr_t)page, PAGE, protection);
}

/* As XSAVE has it (SDM, volume 1, 13.4 to 13.6), where the system says so; else NULL. */
static char *extended_state(const ucontext_t *u)
{
    enum { AT_MAGIC = 464, MAGIC = 0x46505853 };
    char *state = (char *)u->uc_mcontext.fpregs;
    uint32_t magic;
    memcpy(&magic, state + AT_MAGIC, 4);
    return magic == MAGIC ? state : NULL;
}

/* The masks of AVX-512. */
static void read_masks(const ucontext_t *u, uint64_t masks[8])
{
    enum { AT_BITS = 512 };
    const char *state = extended_state(u);
    uint64_t present = 0;
    if (state)
        memcpy(&present, state + AT_BITS, 8);
    if (masks_at && present >> XSTATE_MASKS & 1)
        memcpy(masks, state + masks_at, 64);
}

static const int register_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static struct host_registers registers_of(const ucontext_t *u)
{
    struct host_registers r = {.pc = (uint64_t)u->uc_mcontext.gregs[REG_RIP]};
    for (int i = 0; i < 16; i++)
        r.at[i] = (uint64_t)u->uc_mcontext.gregs[register_of[i]];
    read_masks(u, r.masks);
    return r;
}

static void set_registers(ucontext_t *u, const struct host_registers *r)
{
    for (int i = 0; i < 16; i++)
        u->uc_mcontext.gregs[register_of[i]] = (greg_t)r->at[i];
}

/* ---- accesses ---- */

static struct host_access access_of(uint64_t address, uint64_t bytes, bool write, const ucontext_t *u)
{
    const greg_t *g = u->uc_mcontext.gregs;
    bool whole = bytes <= 8 && (bytes & (bytes - 1)) == 0 && address % bytes == 0;
    return (struct host_access){address, bytes, write, whole, (uint64_t)g[REG_RIP], (uint64_t)g[REG_RSP]};
}

/* Where the instruction is not known, the byte that it stumbled over stands for what it accesses. */
static struct host_access operand_at(uint64_t address, const ucontext_t *u)
{
    const struct host_registers r = registers_of(u);
    bool write = u->uc_mcontext.gregs[REG_ERR] & FAULT_WRITES;
    struct host_operand o;
    bool known = host_insn_operand((const uint8_t *)(uintptr_t)r.pc, &r, &o) && address - o.address < o.bytes;
    return known ? access_of(o.address, o.bytes, write, u) : access_of(address, 1, write, u);
}

static bool has_been_told(uint64_t address)
{
    for (unsigned i = 0; i < step.n_operands; i++)
        if (address - step.operands[i].address < step.operands[i].bytes)
            return true;
    return false;
}

/* The page is open until the instruction is done. An instruction may come here for several pages. */
static void let_step(struct host_watch *w, uint64_t address, ucontext_t *u)
{
    if (!has_been_told(address) && step.n_operands < MOST_OPERANDS) {
        struct host_access *a = &step.operands[step.n_operands++];
        *a = operand_at(address, u);
        w->tell(w->data, a, false);
    }
    protect(address & -(uint64_t)PAGE, PROT_READ | PROT_WRITE);
    if (step.n < MOST_PAGES)
        step.pages[step.n++] = address & -(uint64_t)PAGE;
    step.watch = w;
    u->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void end_step(ucontext_t *u)
{
    struct host_watch *w = step.watch;
    for (unsigned i = 0; i < step.n_operands; i++)
        w->tell(w->data, &step.operands[i], true);
    for (unsigned i = 0; i < step.n && w->mem->host_closed; i++)
        protect(step.pages[i], PROT_NONE);
    step.n = step.n_operands = 0;
    u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* ---- without a step ---- */

/* Where the machine finds them; where only a part of them is watched, NULL. */
static uint8_t *view_of(const struct host_watch *w, uint64_t start, uint64_t bytes, bool *watched)
{
    bool first = mem_is_host(w->mem, start), last = mem_is_host(w->mem, start + bytes - 1);
    *watched = first;
    return first != last ? NULL : (uint8_t *)(uintptr_t)(start + (first ? w->mem->host_shift : 0));
}

/* Copies and sets of many elements, which would stop at each, are done here. */
static bool do_string(struct host_watch *w, ucontext_t *u)
{
    greg_t *g = u->uc_mcontext.gregs;
    struct host_string s;
    if (!host_insn_string((const uint8_t *)(uintptr_t)g[REG_RIP], &s) || !g[REG_RCX] || g[REG_EFL] & DIRECTION_FLAG)
        return false;
    uint64_t bytes = (uint64_t)g[REG_RCX] * s.element_bytes, to = (uint64_t)g[REG_RDI], from = (uint64_t)g[REG_RSI];
    bool writes, reads = false, apart = to + bytes <= from || from + bytes <= to;
    uint8_t *to_view = view_of(w, to, bytes, &writes), *from_view = s.copies ? view_of(w, from, bytes, &reads) : NULL;
    if (!to_view || (s.copies && (!from_view || !apart)))
        return false;
    struct host_access read = access_of(from, bytes, false, u), write = access_of(to, bytes, true, u);
    if (reads)
        w->tell(w->data, &read, false);
    if (writes)
        w->tell(w->data, &write, false);
    if (s.copies)
        memcpy(to_view, from_view, bytes);
    for (uint64_t at = 0; !s.copies && at < bytes; at += s.element_bytes)
        memcpy(to_view + at, &g[REG_RAX], s.element_bytes);
    if (reads)
        w->tell(w->data, &read, true);
    if (writes)
        w->tell(w->data, &write, true);
    g[REG_RDI] += (greg_t)bytes;
    g[REG_RSI] += s.copies ? (greg_t)bytes : 0;
    g[REG_RCX] = 0;
    g[REG_RIP] += s.length;
    return true;
}

/* An instruction of the common form is done here, on the machine's mapping: a step costs several times as much, and opens the page
 * to other threads. */
static bool do_moved(struct host_watch *w, uint64_t fault, ucontext_t *u)
{
    struct host_registers r = registers_of(u);
    const uint8_t *code = (const uint8_t *)(uintptr_t)r.pc;
    struct host_operand o;
    struct host_moved m;
    bool watched;
    if (!extended_state(u) || !host_insn_operand(code, &r, &o) || fault - o.address >= o.bytes ||
        !host_insn_moved(code, &r, &m) || !view_of(w, o.address, o.bytes, &watched))
        return false;
    uint64_t flags = (uint64_t)u->uc_mcontext.gregs[REG_EFL];
    struct host_access a = access_of(o.address, o.bytes, u->uc_mcontext.gregs[REG_ERR] & FAULT_WRITES, u);
    w->tell(w->data, &a, false);
    if (!host_insn_run(&m, m.address + w->mem->host_shift, &r, &flags, extended_state(u))) {
        step.operands[step.n_operands++] = a; /* has been told */
        return false;
    }
    w->tell(w->data, &a, true);
    set_registers(u, &r);
    u->uc_mcontext.gregs[REG_EFL] = (greg_t)flags;
    u->uc_mcontext.gregs[REG_RIP] += m.original_length;
    return true;
}

static void on_segv(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    struct host_watch *w = info->si_code == SEGV_ACCERR ? watch_of(address) : NULL;
    if (!w)
        pass_on(&others[0], signal, info, context);
    else if (!w->mem->host_closed) /* another thread has closed the page after its step, just when all was opened */
        protect(address & -(uint64_t)PAGE, PROT_READ | PROT_WRITE);
    else if (step.n || (!do_string(w, context) && !do_moved(w, address, context)))
        let_step(w, address, context);
    errno = saved;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    if (step.n)
        end_step(context);
    else
        pass_on(&others[1], signal, info, context);
    errno = saved;
}

/* ---- system calls ---- */

void *host_view(const void *p)
{
    struct host_watch *w = watch_of((uint64_t)(uintptr_t)p);
    return (char *)p + (w && w->mem->host_closed ? w->mem->host_shift : 0);
}

void host_tell(const void *p, uint64_t bytes, bool write)
{
    struct host_watch *w = watch_of((uint64_t)(uintptr_t)p);
    const struct host_access a = {.address = (uint64_t)(uintptr_t)p, .bytes = bytes, .write = write};
    if (!w)
        return;
    w->tell(w->data, &a, false);
    w->tell(w->data, &a, true);
}

/* ---- life ---- */

static void install(int signal, void (*handler)(int, siginfo_t *, void *), struct sigaction *other)
{
    struct sigaction now, ours = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    if (sigaction(signal, NULL, &now) != 0 || ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler))
        return;
    *other = now;
    sigaction(signal, &ours, NULL);
}

/* A child has no kernels that run. */
static void open_in_child(void)
{
    for (int i = 0; i < MOST_WATCHES; i++)
        if (watches[i])
            mem_open_host_in_child(watches[i]->mem);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, open_in_child);
}

/* The program may have put its own in their place since. */
static void install_handlers(void)
{
    uint32_t bytes, ignored, more;
    pthread_mutex_lock(&handlers_lock);
    if (!masks_at)
        __get_cpuid_count(0xd, XSTATE_MASKS, &bytes, &masks_at, &ignored, &more);
    host_insn_can_run();
    install(SIGSEGV, on_segv, &others[0]);
    install(SIGTRAP, on_trap, &others[1]);
    pthread_mutex_unlock(&handlers_lock);
}

struct host_watch *host_watch_new(struct mem *m, host_access_fn *tell, void *data)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct host_watch *w = malloc(sizeof *w), *none = NULL;
    pthread_once(&once, watch_forks);
    if (w)
        *w = (struct host_watch){m, tell, data};
    if (w && mem_watch_host(m))
        for (int i = 0; i < MOST_WATCHES; i++, none = NULL)
            if (atomic_compare_exchange_strong(&watches[i], &none, w))
                return w;
    free(w);
    return NULL;
}

void host_watch_free(struct host_watch *w)
{
    if (!w)
        return;
    mem_close_host(w->mem, false);
    for (int i = 0; i < MOST_WATCHES; i++)
        if (watches[i] == w)
            watches[i] = NULL;
    free(w);
}

void host_watch_set(struct host_watch *w, bool on)
{
    if (on && !w->mem->host_closed)
        install_handlers();
    mem_close_host(w->mem, on);
}

#else

struct host_watch *host_watch_new(struct mem *m, host_access_fn *tell, void *data)
{
    (void)m;
    (void)tell;
    (void)data;
    return NULL;
}

void host_watch_free(struct host_watch *w)
{
    (void)w;
}

void host_watch_set(struct host_watch *w, bool on)
{
    (void)w;
    (void)on;
}

void *host_view(const void *p)
{
    return (void *)(uintptr_t)p;
}

void host_tell(const void *p, uint64_t bytes, bool write)
{
    (void)p;
    (void)bytes;
    (void)write;
}

#endif
