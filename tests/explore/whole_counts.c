/* whole_counts treiber PLAN BLOCKS | deque PUSHES TAKES THIEVES: counts all execution graphs of two
 * algorithms of tests/explore/kernels, to hold `heddle explore` against where graphs.py, which
 * tries everything in every order, does not end. Prints how many there are, and how many branches
 * came to nothing.
 *
 * Nothing is shared with src/explore, nor with graphs.py. A thread is a C function that is run
 * again from its beginning for each graph; a graph is what each read reads from. One read after the
 * other is decided: for each write that is there, and for none of these, so that each graph comes
 * once (a table of all graphs sees to it). Each graph is judged anew by the axioms of PTX ISA 9.0,
 * chapter 8: total orders of the writes of each place, and of fences, are looked for by trying
 * them. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, EVENTS = 40, PLACES = 16, ALL = THREADS * EVENTS };
enum { NOBODY = -2, INITIAL = -1 }; /* else a source is thread * EVENTS + number */
enum order { WEAK, RELAXED, ACQUIRE, RELEASE, ACQ_REL, SC };
__extension__ typedef unsigned __int128 row;

struct event {
    char kind; /* R, W, F; U: a compare-and-swap that has read what it compares with */
    int place, rf;
    bool strong, acquires, releases, is_sc, is_known; /* is_known: has its value */
    long got, value;
};

struct decisions {
    int rf[ALL];
    bool without[ALL][ALL + 1]; /* sources that a read does not read from; [0]: the initial value, else 1 + an event */
};

static int n_threads;
static void (*bodies[THREADS])(int thread);
static bool (*may_write)(int thread, int place); /* ever */
static long args[3];

/* ---- running threads ---- */

static struct event events[ALL];
static int n_of[THREADS], now;
static bool waits[THREADS]; /* for its last read, which is open */
static const struct decisions *decided;
static jmp_buf stop;

static struct event *add(char kind, int place, enum order order)
{
    if (n_of[now] == EVENTS) {
        fprintf(stderr, "a thread has too many events\n");
        exit(1);
    }
    struct event *e = &events[now * EVENTS + n_of[now]++];
    *e = (struct event){.kind = kind, .place = place, .rf = NOBODY, .strong = order != WEAK, .is_sc = order == SC};
    e->acquires = kind != 'W' && (order == ACQUIRE || order == ACQ_REL || order == SC);
    e->releases = kind != 'R' && (order == RELEASE || order == ACQ_REL || order == SC);
    return e;
}

static bool read_decided(struct event *e)
{
    int rf = decided->rf[e - events];
    if (rf == NOBODY || (rf != INITIAL && (rf % EVENTS >= n_of[rf / EVENTS] || !events[rf].is_known)))
        return false;
    e->rf = rf;
    e->got = rf == INITIAL ? 0 : events[rf].value;
    return true;
}

static long load(int place, enum order order, bool is_used)
{
    struct event *e = add('R', place, order);
    if (!read_decided(e) && is_used)
        longjmp(stop, 1);
    return e->got;
}

static void store(int place, enum order order, long value)
{
    struct event *e = add('W', place, order);
    e->value = value;
    e->is_known = true;
}

static void fence(enum order order)
{
    add('F', -1, order)->is_known = false;
}

static long swap(int place, enum order order, long from, long to, bool is_used)
{
    struct event *e = add('R', place, order);
    e->releases = false;
    if (!read_decided(e)) {
        if (is_used)
            longjmp(stop, 1);
        return 0;
    }
    if (e->got == from) {
        e->kind = 'U';
        e->value = to;
        e->is_known = true;
        e->releases = order == RELEASE || order == ACQ_REL;
    }
    return e->got;
}

static void run_one(int thread)
{
    now = thread;
    n_of[thread] = 0;
    waits[thread] = true;
    if (setjmp(stop))
        return;
    bodies[thread](thread);
    waits[thread] = false;
}

/* All threads, as far as they come; what one reads another may not have written yet. */
static void run_all(const struct decisions *d)
{
    int before = -1, known = 0;
    decided = d;
    memset(n_of, 0, sizeof n_of);
    while (known != before) {
        before = known;
        known = 0;
        for (int t = 0; t < n_threads; t++) {
            run_one(t);
            for (int k = 0; k < n_of[t]; k++)
                known += 1 + events[t * EVENTS + k].is_known + (events[t * EVENTS + k].rf != NOBODY);
        }
    }
}

/* ---- the axioms ---- */

struct graph {
    int n, at[ALL]; /* events */
    int rf[ALL];    /* numbers here */
    row po[ALL], observed[ALL];
};

static bool in(row r, int i)
{
    return r >> i & 1;
}

static row one(int i)
{
    return (row)1 << i;
}

static void close_rows(row *rows, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            if (in(rows[i], k))
                rows[i] |= rows[k];
}

static const struct event *of(const struct graph *g, int i)
{
    return &events[g->at[i]];
}

static int thread_of(const struct graph *g, int i)
{
    return g->at[i] / EVENTS;
}

/* 8.9.2 Observation order: what precedes a read. */
static row observe(struct graph *g, int r)
{
    int w = g->rf[r];
    if (w < 0 || (thread_of(g, w) != thread_of(g, r) && !(of(g, w)->strong && of(g, r)->strong)))
        return 0;
    return one(w) | (of(g, w)->kind == 'U' ? observe(g, w) : 0);
}

static void make_graph(struct graph *g)
{
    int number[ALL];
    g->n = 0;
    for (int t = 0; t < n_threads; t++)
        for (int k = 0; k < n_of[t]; k++) {
            number[t * EVENTS + k] = g->n;
            g->at[g->n++] = t * EVENTS + k;
        }
    for (int i = 0; i < g->n; i++) {
        g->po[i] = 0;
        for (int k = i + 1; k < g->n && thread_of(g, k) == thread_of(g, i); k++)
            g->po[i] |= one(k);
        g->rf[i] = of(g, i)->rf < 0 ? of(g, i)->rf : number[of(g, i)->rf];
    }
    for (int i = 0; i < g->n; i++)
        g->observed[i] = g->rf[i] == NOBODY ? 0 : observe(g, i);
}

/* 8.8, 8.9.4: program order, and patterns that synchronize. */
static void synchronize(const struct graph *g, row *base)
{
    memcpy(base, g->po, g->n * sizeof *base);
    for (int r = 0; r < g->n; r++)
        for (int w = 0; w < g->n; w++) {
            if (!in(g->observed[r], w) || thread_of(g, w) == thread_of(g, r))
                continue;
            for (int x = 0; x < g->n; x++) {
                const struct event *e = of(g, x);
                if (!e->releases || !e->strong ||
                    !(x == w ||
                      (in(g->po[x], w) && of(g, w)->strong && (e->kind == 'F' || e->place == of(g, w)->place))))
                    continue;
                for (int y = 0; y < g->n; y++) {
                    const struct event *f = of(g, y);
                    if (f->acquires && f->strong &&
                        (y == r ||
                         (in(g->po[r], y) && of(g, r)->strong && (f->kind == 'F' || f->place == of(g, r)->place))))
                        base[x] |= one(y);
                }
            }
        }
    close_rows(base, g->n);
}

static bool are_strong(const struct graph *g, int a, int b)
{
    return thread_of(g, a) == thread_of(g, b) || (of(g, a)->strong && of(g, b)->strong);
}

/* The axioms of one place, where its writes come in this order. */
static bool is_coherent(const struct graph *g, const int *order, int n, int place, const row *cause)
{
    int ranks[ALL + 1], *rank = ranks + 1;
    row rows[ALL];
    memset(ranks, 0xff, sizeof ranks);
    for (int i = 0; i < n; i++)
        rank[order[i]] = i + 1;
    rank[INITIAL] = 0;
    for (int i = 0; i < g->n; i++) {
        rows[i] = 0;
        if (of(g, i)->place != place)
            continue;
        bool reads = g->rf[i] != NOBODY;
        for (int k = 0; k < n && reads; k++) /* 8.10.6 Causality */
            if (order[k] != i && in(cause[order[k]], i) && rank[g->rf[i]] < k + 1)
                return false;
        for (int k = 0; k < g->n; k++) { /* 8.10.5 Sequential Consistency per Location */
            if (k == i || of(g, k)->place != place)
                continue;
            bool strong = are_strong(g, i, k);
            if (in(g->po[i], k) || (strong && ((rank[i] > 0 && rank[k] > rank[i]) || g->rf[k] == i ||
                                               (reads && rank[k] > rank[g->rf[i]]))))
                rows[i] |= one(k);
        }
    }
    close_rows(rows, g->n);
    for (int i = 0; i < g->n; i++)
        if (in(rows[i], i))
            return false;
    return true;
}

static bool extend(const struct graph *g, int *order, int n, row left, int place, const row *cause)
{
    if (!left)
        return is_coherent(g, order, n, place, cause);
    for (int w = 0; w < g->n; w++) {
        bool comes = in(left, w);
        for (int v = 0; v < g->n && comes; v++)
            comes = !(v != w && in(left, v) && in(cause[v], w));
        if (!comes || (of(g, w)->kind == 'U' && g->rf[w] != (n ? order[n - 1] : INITIAL))) /* 8.10.3 Atomicity */
            continue;
        order[n] = w;
        if (extend(g, order, n + 1, left & ~one(w), place, cause))
            return true;
    }
    return false;
}

static bool holds(const struct graph *g, const row *base)
{
    row cause[ALL]; /* 8.9.5 */
    memcpy(cause, base, g->n * sizeof *cause);
    for (int r = 0; r < g->n; r++)
        for (int w = 0; w < g->n; w++)
            if (in(g->observed[r], w))
                cause[w] |= base[r];
    for (int r = 0; r < g->n; r++)
        if (g->rf[r] >= 0 && in(cause[r], g->rf[r])) /* Causality: a read reads nothing that it precedes */
            return false;
    for (int p = 0; p < PLACES; p++) {
        row writes = 0;
        int order[ALL];
        for (int i = 0; i < g->n; i++)
            writes |= of(g, i)->place == p && of(g, i)->is_known ? one(i) : 0;
        if (!extend(g, order, 0, writes, p, cause))
            return false;
    }
    return true;
}

/* Is there an order of the fences of .sc (8.9.3) with which all axioms hold? */
static bool has_fence_order(const struct graph *g, const row *base)
{
    for (int i = 0; i < g->n; i++)
        if (in(base[i], i))
            return false;
    if (!holds(g, base))
        return false;
    for (int a = 0; a < g->n; a++)
        for (int b = a + 1; b < g->n; b++) {
            if (of(g, a)->kind != 'F' || of(g, b)->kind != 'F' || !of(g, a)->is_sc || !of(g, b)->is_sc ||
                in(base[a], b) || in(base[b], a))
                continue;
            for (int way = 0; way < 2; way++) {
                int x = way ? b : a, y = way ? a : b;
                row more[ALL], after = base[y] | one(y);
                for (int i = 0; i < g->n; i++)
                    more[i] = base[i] | (i == x || in(base[i], x) ? after : 0);
                if (has_fence_order(g, more))
                    return true;
            }
            return false;
        }
    return true;
}

/* Where a read does not come to read what was decided, that hangs on itself (8.10.4 No Thin Air),
 * or follows it in its thread. */
static bool is_consistent(const struct decisions *d)
{
    struct graph g;
    row base[ALL];
    run_all(d);
    for (int r = 0; r < ALL; r++)
        if (d->rf[r] != NOBODY && (r % EVENTS >= n_of[r / EVENTS] || events[r].rf == NOBODY))
            return false;
    make_graph(&g);
    synchronize(&g, base);
    return has_fence_order(&g, base);
}

/* ---- all graphs ---- */

static unsigned long graphs, dead;
static uint64_t *table;
enum { TABLE = 1 << 22 };

/* Each graph comes once: by what all reads read from. */
static void note(const struct decisions *d)
{
    uint64_t h = 1;
    for (int i = 0; i < ALL; i++)
        h = (h ^ (uint64_t)(d->rf[i] + 3)) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    uint64_t at = h % TABLE;
    while (table[at] && table[at] != h)
        at = (at + 1) % TABLE;
    if (table[at] == h) {
        fprintf(stderr, "a graph has come twice\n");
        exit(1);
    }
    table[at] = h;
    graphs++;
}

static bool is_open(int event)
{
    return event % EVENTS < n_of[event / EVENTS] && events[event].kind == 'R' && events[event].rf == NOBODY;
}

static bool is_choice(const struct decisions *d, int read, int write)
{
    if (d->without[read][write + 1])
        return false;
    return write == INITIAL || (write % EVENTS < n_of[write / EVENTS] && events[write].is_known &&
                                events[write].place == events[read].place);
}

/* Can all open reads still get a value: of a write that is there, or that a thread may come to?
 * What is taken for possible is more than what is. */
static bool all_may_read(const struct decisions *d)
{
    bool may[ALL] = {0}, goes_on[THREADS] = {0}, grew = true;
    while (grew) {
        grew = false;
        for (int t = 0; t < n_threads; t++)
            goes_on[t] = waits[t] && may[t * EVENTS + n_of[t] - 1];
        for (int r = 0; r < ALL; r++) {
            if (!is_open(r) || may[r])
                continue;
            for (int w = INITIAL; w < ALL && !may[r]; w++) /* there; or a compare-and-swap that may write */
                may[r] = is_choice(d, r, w) ||
                         (w >= 0 && w != r && is_open(w) && may[w] && events[w].place == events[r].place);
            for (int t = 0; t < n_threads && !may[r]; t++)
                may[r] = t != r / EVENTS && goes_on[t] && may_write(t, events[r].place);
            grew |= may[r];
        }
    }
    for (int r = 0; r < ALL; r++)
        if (is_open(r) && !may[r])
            return false;
    return true;
}

static void explore(const struct decisions *d)
{
    struct event here[ALL];
    int n_here[THREADS];
    bool open = false;
    run_all(d);
    if (!all_may_read(d)) {
        dead++;
        return;
    }
    memcpy(here, events, sizeof here);
    memcpy(n_here, n_of, sizeof n_here);
    for (int t = 0; t < n_threads; t++)
        for (int k = 0; k < n_here[t]; k++) {
            int r = t * EVENTS + k;
            struct decisions more = *d, later = *d;
            bool any = false, choices[ALL + 1];
            if (here[r].kind != 'R' || here[r].rf != NOBODY)
                continue;
            open = true;
            run_all(d);
            for (int w = INITIAL; w < ALL; w++)
                choices[w + 1] = is_choice(d, r, w);
            for (int w = INITIAL; w < ALL; w++) {
                if (!choices[w + 1])
                    continue;
                later.without[r][w + 1] = true;
                more.rf[r] = w;
                if (is_consistent(&more)) {
                    any = true;
                    explore(&more);
                }
            }
            if (!any)
                continue; /* it waits for what others do */
            explore(&later);
            return;
        }
    if (open)
        dead++;
    else
        note(d);
}

/* ---- the algorithms ---- */

static void treiber(int block)
{
    enum { HEAD, VALUE, NEXT = VALUE + 4 };
    long todo = args[0] >> 2 * block;
    if (todo & 1) {
        int me = block + 1;
        long h = load(HEAD, RELAXED, true), got;
        store(VALUE + me, WEAK, 10 + me);
        for (;; h = got) {
            store(NEXT + me, RELAXED, h);
            got = swap(HEAD, RELEASE, h, me, true);
            if (got == h)
                break;
        }
    }
    if (todo & 2) {
        long h = load(HEAD, ACQUIRE, true), got;
        for (; h; h = got) {
            long next = load(NEXT + (int)h, RELAXED, true);
            got = swap(HEAD, ACQUIRE, h, next, true);
            if (got == h) {
                load(VALUE + (int)h, WEAK, false);
                break;
            }
        }
    }
}

static bool treiber_writes(int block, int place)
{
    return place == 0 || ((place == 1 + block + 1 || place == 5 + block + 1) && args[0] >> 2 * block & 1);
}

enum { TOP, BOTTOM, ITEM };

static bool deque_writes(int thread, int place)
{
    return place == TOP || !thread;
}

static void owner(int block)
{
    (void)block;
    for (long i = 0; i < args[0]; i++) {
        long b = load(BOTTOM, RELAXED, true);
        store(ITEM + (int)(b % 8), RELAXED, 11 + i);
        fence(ACQ_REL);
        store(BOTTOM, RELAXED, b + 1);
    }
    for (long i = 0; i < args[1]; i++) {
        long b = load(BOTTOM, RELAXED, true) - 1;
        store(BOTTOM, RELAXED, b);
        fence(SC);
        long t = load(TOP, RELAXED, true);
        if (b - t >= 0)
            load(ITEM + (int)(b % 8), RELAXED, false);
        if (b == t)
            swap(TOP, RELAXED, t, t + 1, false);
        if (b <= t)
            store(BOTTOM, RELAXED, b + 1);
    }
}

static void thief(int block)
{
    (void)block;
    long t = load(TOP, ACQUIRE, true);
    fence(SC);
    long b = load(BOTTOM, ACQUIRE, true);
    if (b - t > 0) {
        load(ITEM + (int)(t % 8), RELAXED, false);
        swap(TOP, RELAXED, t, t + 1, false);
    }
}

int main(int argc, char **argv)
{
    bool is_treiber = argc == 4 && strcmp(argv[1], "treiber") == 0;
    if (!is_treiber && !(argc == 5 && strcmp(argv[1], "deque") == 0)) {
        fprintf(stderr, "usage: whole_counts treiber PLAN BLOCKS | deque PUSHES TAKES THIEVES\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        args[i - 2] = strtol(argv[i], NULL, 10);
    n_threads = is_treiber ? (int)args[1] : 1 + (int)args[2];
    may_write = is_treiber ? treiber_writes : deque_writes;
    for (int t = 0; t < n_threads; t++)
        bodies[t] = is_treiber ? treiber : t ? thief : owner;
    struct decisions none = {0};
    for (int i = 0; i < ALL; i++)
        none.rf[i] = NOBODY;
    table = calloc(TABLE, sizeof *table);
    explore(&none);
    printf("graphs %lu dead %lu\n", graphs, dead);
}
