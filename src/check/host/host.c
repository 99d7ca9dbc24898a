/* See host.h. */
#include "check/host/host.h"

#include <stdlib.h>

enum { MOST_WATCHES = 16 };

struct host_watch {
    struct mem *mem;
    host_access_fn *tell;
    void *data;
};

/* Handlers are the process's: they find who watches here. */
static struct host_watch *_Atomic watches[MOST_WATCHES];
static _Atomic uint64_t steps_taken; /* by threads of which each has one instruction done */

static struct host_watch *watch_of(uint64_t address)
{
    for (int i = 0; i < MOST_WATCHES; i++) {
        struct host_watch *w = atomic_load_explicit(&watches[i], memory_order_acquire);
        if (w && mem_is_host(w->mem, address))
            return w;
    }
    return NULL;
}

#if defined __x86_64__

#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "x86/run.h"

enum {
    CAN_WATCH = 1,
    PAGE = 4096,
    MOST_PAGES = 128,
    MOST_ACCESSES = X86_MOST_RANGES + 1, /* with one that is not known */
    MOST_STEPS = 64,
    TRAP_FLAG = 0x100,
    DIRECTION_FLAG = 0x400,
    FAULT_WRITES = 2
};

static struct sigaction others[2]; /* whose SIGSEGV and SIGTRAP were before */
static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct x86_reader *reader; /* or NULL */

/* Components of a saved extended state (SDM, volume 1, 13.1), and where they begin; 0: the
 * processor has none such. */
enum { XSTATE_SSE = 1, XSTATE_AVX = 2, XSTATE_MASKS = 5, XSTATE_ZMM = 6, XSTATE_ZMM_16 = 7, XSTATE_PARTS = 8 };
static uint32_t part_at[XSTATE_PARTS] = {[XSTATE_SSE] = 160};

/* An instruction's accesses to what is watched, as they have been told. */
struct accesses {
    unsigned n;
    bool all; /* they are known, and watched memory is all that it accesses */
    struct host_access at[MOST_ACCESSES];
};

/* An instruction that a thread has been let do, and the pages that are open for it. */
struct step {
    struct host_watch *watch;
    struct accesses told;
    unsigned n;
    uint64_t pages[MOST_PAGES];
};

/* The thread's, while it steps: one of a few, as thread-local memory of libraries is scarce. */
static struct step steps[MOST_STEPS];
static _Thread_local struct step *step __attribute__((tls_model("initial-exec")));

static struct step *take_step(struct host_watch *w)
{
    uint64_t old = atomic_load(&steps_taken);
    while (!~old || !atomic_compare_exchange_weak(&steps_taken, &old, old | (old + 1)))
        old = atomic_load(&steps_taken);
    struct step *s = &steps[__builtin_ctzll(~old)];
    s->watch = w;
    s->told.n = s->n = 0;
    return s;
}

static void give_step(struct step *s)
{
    atomic_fetch_and(&steps_taken, ~(1ull << (s - steps)));
}

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

/* NULL: it is as it is at first, zeros, or there is none. */
static const uint8_t *state_part(const ucontext_t *u, unsigned part)
{
    enum { AT_BITS = 512 };
    const char *state = extended_state(u);
    uint64_t present = 0;
    if (state)
        memcpy(&present, state + AT_BITS, 8);
    return part_at[part] && present >> part & 1 ? (const uint8_t *)state + part_at[part] : NULL;
}

static const int register_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static struct x86_registers registers_of(const ucontext_t *u)
{
    struct x86_registers r = {.pc = (uint64_t)u->uc_mcontext.gregs[REG_RIP],
                              .vectors = {state_part(u, XSTATE_SSE), state_part(u, XSTATE_AVX),
                                          state_part(u, XSTATE_ZMM), state_part(u, XSTATE_ZMM_16)}};
    const uint8_t *masks = state_part(u, XSTATE_MASKS);
    for (int i = 0; i < 16; i++)
        r.at[i] = (uint64_t)u->uc_mcontext.gregs[register_of[i]];
    if (masks)
        memcpy(r.masks, masks, sizeof r.masks);
    return r;
}

static void set_registers(ucontext_t *u, const struct x86_registers *r)
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

static bool is_told(const struct accesses *told, uint64_t address)
{
    for (unsigned i = 0; i < told->n; i++)
        if (address - told->at[i].address < told->at[i].bytes)
            return true;
    return false;
}

/* A thread that an access to closed memory has stopped, before the instruction. */
struct stop {
    struct host_watch *watch;
    uint64_t fault; /* the first byte that it could not access */
    ucontext_t *context;
    struct x86_registers registers;
    struct x86_insn insn;
    bool is_known; /* the instruction */
};

static void read_stop(struct stop *t, struct host_watch *w, uint64_t fault, ucontext_t *u)
{
    t->watch = w;
    t->fault = fault;
    t->context = u;
    t->registers = registers_of(u);
    t->is_known = reader && reader->read(&t->insn, (const uint8_t *)(uintptr_t)t->registers.pc);
}

/* Where the instruction is not known to access what it has stumbled
 * over, that byte stands for it. */
static void find_accesses(const struct stop *t, struct accesses *found)
{
    const struct mem *m = t->watch->mem;
    struct x86_range ranges[X86_MOST_RANGES];
    unsigned n = t->is_known ? reader->ranges(&t->insn, &t->registers, ranges) : 0;
    found->n = 0;
    found->all = true;
    for (unsigned i = 0; i < n; i++) {
        uint64_t address = ranges[i].address, last = address + ranges[i].bytes - 1;
        bool first_is = mem_is_host(m, address), last_is = mem_is_host(m, last);
        found->all &= first_is && last_is;
        if (first_is || last_is)
            found->at[found->n++] = access_of(address, ranges[i].bytes, ranges[i].writes, t->context);
    }
    if (is_told(found, t->fault))
        return;
    found->all = false;
    found->at[found->n++] = access_of(t->fault, 1, t->context->uc_mcontext.gregs[REG_ERR] & FAULT_WRITES, t->context);
}

static void tell_all(const struct host_watch *w, const struct accesses *a, bool done)
{
    for (unsigned i = 0; i < a->n; i++)
        w->tell(w->data, &a->at[i], done);
}

static void open_page(struct step *s, uint64_t page)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->pages[i] == page)
            return;
    protect(page, PROT_READ | PROT_WRITE);
    if (s->n < MOST_PAGES)
        s->pages[s->n++] = page;
}

/* All that the instruction accesses, or, where that is not known, what it has come to now. */
static void tell_more(struct step *s, const struct stop *t)
{
    struct accesses found;
    find_accesses(t, &found);
    for (unsigned i = 0; i < found.n && s->told.n < MOST_ACCESSES; i++)
        if (!is_told(&s->told, found.at[i].address)) {
            s->watch->tell(s->watch->data, &found.at[i], false);
            s->told.at[s->told.n++] = found.at[i];
        }
}

/* Pages are open until the instruction is done: all that it is known to access, so that it does not
 * come here for each of them. `a`: what it accesses, if that has been told. */
static void let_step(const struct stop *t, const struct accesses *a)
{
    struct step *s = step = step ? step : take_step(t->watch);
    if (a)
        s->told = *a;
    else if (!is_told(&s->told, t->fault))
        tell_more(s, t);
    open_page(s, t->fault & -(uint64_t)PAGE);
    for (unsigned i = 0; i < s->told.n; i++) {
        uint64_t first = s->told.at[i].address, last = first + s->told.at[i].bytes - 1;
        for (uint64_t page = first & -(uint64_t)PAGE; page <= last; page += PAGE)
            if (mem_is_host(t->watch->mem, page))
                open_page(s, page);
    }
    t->context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void end_step(ucontext_t *u)
{
    struct step *s = step;
    tell_all(s->watch, &s->told, true);
    for (unsigned i = 0; i < s->n && s->watch->mem->host_closed; i++)
        protect(s->pages[i], PROT_NONE);
    step = NULL;
    give_step(s);
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
static bool do_string(const struct stop *t)
{
    struct host_watch *w = t->watch;
    const ucontext_t *u = t->context;
    greg_t *g = t->context->uc_mcontext.gregs;
    struct x86_string s;
    if (!t->is_known || !reader->string(&t->insn, &s) || !g[REG_RCX] || g[REG_EFL] & DIRECTION_FLAG)
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

/* An exception that the thread wants to hear of is to come from its own code. */
static bool may_trap(const ucontext_t *u)
{
    enum { MASKS = 0x1f80 };
    return (u->uc_mcontext.fpregs->mxcsr & MASKS) != MASKS;
}

/* An instruction with one operand in memory is done here, on the machine's mapping: a step costs
 * several times as much, and opens the page to other threads. Else `a` is what it accesses, if that
 * has been told. */
static bool do_moved(struct stop *t, struct accesses *a)
{
    struct host_watch *w = t->watch;
    ucontext_t *u = t->context;
    struct x86_moved m;
    a->n = 0;
    if (!t->is_known || !extended_state(u) || may_trap(u) || !reader->moved(&t->insn, &t->registers, &m))
        return false;
    find_accesses(t, a);
    if (!a->all) {
        a->n = 0;
        return false;
    }
    uint64_t flags = (uint64_t)u->uc_mcontext.gregs[REG_EFL];
    tell_all(w, a, false);
    if (!x86_run_moved(&m, m.address + w->mem->host_shift, &t->registers, &flags, extended_state(u)))
        return false;
    tell_all(w, a, true);
    set_registers(u, &t->registers);
    u->uc_mcontext.gregs[REG_EFL] = (greg_t)flags;
    u->uc_mcontext.gregs[REG_RIP] += m.original_length;
    return true;
}

/* One thing after the other, the quickest first. */
static void do_access(struct host_watch *w, uint64_t address, ucontext_t *u)
{
    struct accesses told;
    struct stop t;
    read_stop(&t, w, address, u);
    if (step)
        let_step(&t, NULL);
    else if (!do_string(&t) && !do_moved(&t, &told))
        let_step(&t, told.n ? &told : NULL);
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
    else
        do_access(w, address, context);
    errno = saved;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    if (step)
        end_step(context);
    else
        pass_on(&others[1], signal, info, context);
    errno = saved;
}

/* ---- handlers ---- */

static void install(int signal, void (*handler)(int, siginfo_t *, void *), struct sigaction *other)
{
    struct sigaction now, ours = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    if (sigaction(signal, NULL, &now) != 0 || ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler))
        return;
    *other = now;
    sigaction(signal, &ours, NULL);
}

/* The program may have put its own in their place since. */
static void install_handlers(void)
{
    uint32_t bytes, ignored, more;
    pthread_mutex_lock(&handlers_lock);
    for (unsigned part = XSTATE_AVX; !reader && part < XSTATE_PARTS; part++)
        __get_cpuid_count(0xd, part, &bytes, &part_at[part], &ignored, &more);
    reader = x86_reader();
    x86_can_run();
    install(SIGSEGV, on_segv, &others[0]);
    install(SIGTRAP, on_trap, &others[1]);
    pthread_mutex_unlock(&handlers_lock);
}

#else

enum { CAN_WATCH = 0 };

static void install_handlers(void) {}

#endif

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

/* A child has no kernels that run. */
static void open_in_child(void)
{
    atomic_store(&steps_taken, 0);
    for (int i = 0; i < MOST_WATCHES; i++)
        if (watches[i])
            mem_open_host_in_child(watches[i]->mem);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, open_in_child);
}

struct host_watch *host_watch_new(struct mem *m, host_access_fn *tell, void *data)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct host_watch *w = malloc(sizeof *w), *none = NULL;
    pthread_once(&once, watch_forks);
    if (w)
        *w = (struct host_watch){m, tell, data};
    if (w && CAN_WATCH && mem_watch_host(m))
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
