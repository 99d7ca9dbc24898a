/* See rules.h. */
#include "explain/rules.h"

#include <string.h>

static unsigned bits(uint32_t mask)
{
    return (unsigned)__builtin_popcount(mask);
}

static unsigned first_of(uint32_t mask)
{
    return (unsigned)__builtin_ctz(mask);
}

bool rule_step(const struct lanes *a, int64_t *step)
{
    if (!a->address) {
        *step = a->step;
        return true;
    }
    uint32_t rest = a->mask & (a->mask - 1);
    unsigned lane = first_of(a->mask);
    *step = a->bytes;
    if (!rest)
        return true;
    int64_t apart = (int64_t)(a->address[first_of(rest)] - a->address[lane]), lanes = first_of(rest) - lane;
    int64_t s = apart / lanes;
    uint64_t base = a->address[lane] - (uint64_t)lane * (uint64_t)s, wrong = (uint64_t)(apart % lanes);
    if (a->mask == UINT32_MAX)
        for (unsigned l = 0; l < RULE_LANES; l++)
            wrong |= a->address[l] ^ (base + l * (uint64_t)s);
    else
        for (uint32_t m = rest; m; m &= m - 1)
            wrong |= a->address[first_of(m)] ^ (base + first_of(m) * (uint64_t)s);
    *step = s;
    return !wrong;
}

static bool is_contiguous(uint32_t mask)
{
    return ((mask + (mask & -mask)) & mask) == 0;
}

/* ---- global memory ---- */

/* Marks all sectors of [from, to). */
static unsigned lines_of_range(uint64_t from, uint64_t to, struct line *lines)
{
    uint64_t first = from / SECTOR_BYTES, last = (to - 1) / SECTOR_BYTES;
    unsigned n = 0;
    for (uint64_t line = first / LINE_SECTORS; line <= last / LINE_SECTORS; line++) {
        uint32_t sectors = (1u << LINE_SECTORS) - 1;
        if (line == first / LINE_SECTORS)
            sectors &= sectors << first % LINE_SECTORS;
        if (line == last / LINE_SECTORS)
            sectors &= (2u << last % LINE_SECTORS) - 1;
        lines[n++] = (struct line){line, sectors};
    }
    return n;
}

/* A hash table: returns the index of each number of up to 32, counting each once. */
enum { SLOTS = 64 };
struct slots {
    uint8_t of[SLOTS]; /* 1 + index, or 0 */
};

static unsigned slot_of(uint64_t number)
{
    return (unsigned)(number * 0x9E3779B97F4A7C15u >> 58);
}

static unsigned find_line(struct slots *s, struct line *lines, unsigned *n, uint64_t number)
{
    unsigned at = slot_of(number);
    for (; s->of[at]; at = (at + 1) % SLOTS)
        if (lines[s->of[at] - 1].number == number)
            return s->of[at] - 1u;
    lines[*n] = (struct line){number, 0};
    s->of[at] = (uint8_t)(*n + 1);
    return (*n)++;
}

static unsigned lines_of_any(const struct lanes *a, struct line *lines)
{
    struct slots slots = {0};
    unsigned n = 0, at = 0;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint64_t sector = lane_address(a, first_of(m)) / SECTOR_BYTES;
        if (!n || lines[at].number != sector / LINE_SECTORS)
            at = find_line(&slots, lines, &n, sector / LINE_SECTORS);
        lines[at].sectors |= 1u << sector % LINE_SECTORS;
    }
    return n;
}

unsigned rule_lines(const struct lanes *a, struct line lines[RULE_LANES])
{
    unsigned first = first_of(a->mask), last = 31 - (unsigned)__builtin_clz(a->mask);
    uint64_t from = lane_address(a, first);
    /* no sector between the first and the last is left out */
    bool dense = !a->address && a->step >= 0 && a->step <= SECTOR_BYTES;
    if (dense && (a->step == 0 || is_contiguous(a->mask)))
        return lines_of_range(from, lane_address(a, last) + a->bytes, lines);
    return lines_of_any(a, lines);
}

/* Counts sectors that the lanes write in part, when lanes may be anywhere. */
static unsigned partial_of_any(const struct lanes *a)
{
    struct line sectors[RULE_LANES]; /* number: of a sector; sectors: its bytes */
    struct slots slots = {0};
    unsigned n = 0, at = 0, partial = 0;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint64_t address = lane_address(a, first_of(m));
        uint32_t bytes = a->bytes >= SECTOR_BYTES ? UINT32_MAX : (1u << a->bytes) - 1;
        if (!n || sectors[at].number != address / SECTOR_BYTES)
            at = find_line(&slots, sectors, &n, address / SECTOR_BYTES);
        sectors[at].sectors |= bytes << address % SECTOR_BYTES;
    }
    for (unsigned i = 0; i < n; i++)
        partial += sectors[i].sectors != UINT32_MAX;
    return partial;
}

unsigned rule_partial_sectors(const struct lanes *a)
{
    if (a->address || a->step != a->bytes || !is_contiguous(a->mask))
        return partial_of_any(a);
    unsigned last = 31 - (unsigned)__builtin_clz(a->mask);
    uint64_t from = lane_address(a, first_of(a->mask)), to = lane_address(a, last) + a->bytes;
    bool head = from % SECTOR_BYTES, tail = to % SECTOR_BYTES;
    return from / SECTOR_BYTES == (to - 1) / SECTOR_BYTES ? head || tail : head + tail;
}

/* The number of lanes at each of up to 32 addresses. */
struct crowd {
    struct line of[RULE_LANES]; /* number: the address; sectors: lanes */
    unsigned n;
};

static void find_crowds(const struct lanes *a, struct crowd *c)
{
    struct slots slots = {0};
    c->n = 0;
    for (uint32_t m = a->mask; m; m &= m - 1)
        c->of[find_line(&slots, c->of, &c->n, lane_address(a, first_of(m)))].sectors++;
}

unsigned rule_atomic_sectors(const struct lanes *a, struct sector_operations sectors[RULE_LANES])
{
    struct crowd words;
    /* number: of a sector; sectors: the most lanes at one of its words. */
    struct line found[RULE_LANES];
    struct slots slots = {0};
    unsigned n = 0;
    find_crowds(a, &words);
    for (unsigned i = 0; i < words.n; i++) {
        unsigned at = find_line(&slots, found, &n, words.of[i].number / SECTOR_BYTES);
        if (words.of[i].sectors > found[at].sectors)
            found[at].sectors = words.of[i].sectors;
    }
    for (unsigned i = 0; i < n; i++)
        sectors[i] = (struct sector_operations){found[i].number, found[i].sectors};
    return n;
}

unsigned rule_distinct(const struct lanes *a)
{
    struct crowd c;
    if (!a->address)
        return a->step ? bits(a->mask) : 1;
    find_crowds(a, &c);
    return c.n;
}

/* ---- local memory ---- */

struct local_traffic rule_local(const struct lanes *a)
{
    static const uint32_t LANES_OF_SECTOR = SECTOR_BYTES / 4, EIGHT = (1u << 8) - 1;
    struct slots slots = {0};
    /* number: of the first word; sectors: the groups of 8 lanes at it. */
    struct line offsets[RULE_LANES];
    struct local_traffic t = {0};
    unsigned n = 0;
    uint64_t first = lane_address(a, first_of(a->mask));
    unsigned words = (unsigned)((first + a->bytes - 1) / 4 - first / 4 + 1);
    for (unsigned group = 0; group < RULE_LANES / LANES_OF_SECTOR; group++)
        for (uint32_t m = a->mask & EIGHT << group * LANES_OF_SECTOR; m; m &= m - 1) {
            unsigned at = find_line(&slots, offsets, &n, lane_address(a, first_of(m)) / 4);
            offsets[at].sectors |= 1u << group;
            if (!a->address && !a->step)
                break;
        }
    for (unsigned i = 0; i < n; i++)
        t.sectors += words * bits(offsets[i].sectors);
    t.requests = words;
    t.lines = words * n;
    return t;
}

/* ---- shared memory ---- */

enum { BANKS = 32, WORD_BYTES = 4 };

/* The largest number of words that one bank has of the lanes in `mask`: each word once, or, if
 * `every`, once for each lane. */
static unsigned deepest_bank(const struct lanes *a, uint32_t mask, bool every)
{
    enum { MOST = RULE_LANES * 4 };
    /* 1 + index of a bank's words, as a list */
    uint8_t depth[BANKS] = {0}, newest[BANKS] = {0}, before[MOST + 1];
    uint64_t word[MOST + 1];
    unsigned n = 0, most = 0, words = a->bytes > WORD_BYTES ? a->bytes / WORD_BYTES : 1;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t first = lane_address(a, first_of(m)) / WORD_BYTES;
        for (unsigned k = 0; k < words && n < MOST; k++) {
            uint64_t w = first + k;
            unsigned bank = w % BANKS, i = newest[bank];
            while (!every && i && word[i] != w)
                i = before[i];
            if (i && !every)
                continue;
            before[++n] = newest[bank];
            word[n] = w;
            newest[bank] = (uint8_t)n;
            depth[bank]++;
            most = depth[bank] > most ? depth[bank] : most;
        }
    }
    return most;
}

/* Does every lane agree with the lane whose number differs by x? An absent lane agrees with any. */
static bool neighbours_agree(const struct lanes *a, unsigned x)
{
    for (uint32_t m = a->mask; m; m &= m - 1) {
        unsigned l = first_of(m);
        if (a->mask >> (l ^ x) & 1 && lane_address(a, l) != lane_address(a, l ^ x))
            return false;
    }
    return true;
}

struct wavefronts rule_wavefronts(const struct lanes *a, enum shared_kind kind)
{
    /* lanes that are served together */
    unsigned lanes = a->bytes > WORD_BYTES ? RULE_LANES * WORD_BYTES / a->bytes : RULE_LANES;
    bool joined = lanes < RULE_LANES && kind == SHARED_LD && (neighbours_agree(a, 1) || neighbours_agree(a, 2));
    bool straight = !a->address && (a->step == 0 || (a->step == a->bytes && !joined)) && kind <= SHARED_ST;
    struct wavefronts w = {0};
    lanes <<= joined;
    for (unsigned first = 0; first < RULE_LANES; first += lanes) {
        uint32_t part = a->mask & (uint32_t)(((1ull << lanes) - 1) << first);
        if (!part)
            continue;
        w.ideal++;
        w.all += straight ? 1 : deepest_bank(a, part, kind == SHARED_ATOM);
    }
    return w;
}

/* ---- cp.async ---- */

/* The places that make a copy's lanes one request if they are equal. */
struct place {
    uint64_t a, b, c;
};

static unsigned count_distinct(const struct place places[RULE_LANES], uint32_t lanes)
{
    unsigned n = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        unsigned lane = first_of(m), other = lane;
        bool known = false;
        while (!known && other-- > 0) /* starts with the nearest lane, the likeliest match */
            known = lanes >> other & 1 && places[other].a == places[lane].a && places[other].b == places[lane].b &&
                    places[other].c == places[lane].c;
        n += !known;
    }
    return n;
}

/* How many sectors of a line of shared memory came before it from the same sector of global memory:
 * l2 has both. */
static unsigned rank_of(const struct place l2[RULE_LANES], uint64_t ranks[RULE_LANES], uint32_t lanes, unsigned lane)
{
    unsigned rank = 0;
    for (uint32_t m = lanes & ((1u << lane) - 1); m; m &= m - 1) {
        unsigned other = first_of(m);
        if (l2[other].a != l2[lane].a || l2[other].b / LINE_SECTORS != l2[lane].b / LINE_SECTORS)
            continue;
        if (l2[other].b == l2[lane].b)
            return (unsigned)ranks[other];
        rank = ranks[other] + 1 > rank ? (unsigned)ranks[other] + 1 : rank;
    }
    return rank;
}

static struct copy_traffic bypassing_copy(const struct lanes *from, const struct lanes *to)
{
    struct place tags[RULE_LANES], sectors[RULE_LANES], l2[RULE_LANES], waves[RULE_LANES];
    uint64_t ranks[RULE_LANES];
    for (uint32_t m = from->mask; m; m &= m - 1) {
        unsigned lane = first_of(m);
        uint64_t there = lane_address(from, lane), here = lane_address(to, lane);
        uint64_t line = there / LINE_BYTES, shared = here / LINE_BYTES;
        tags[lane] = (struct place){line, shared, 0};
        sectors[lane] = (struct place){line, here / SECTOR_BYTES, 0};
        l2[lane] = (struct place){there / SECTOR_BYTES, here / SECTOR_BYTES, 0};
        ranks[lane] = rank_of(l2, ranks, from->mask, lane);
        waves[lane] = (struct place){line, shared, ranks[lane]};
    }
    struct copy_traffic t = {.tags = count_distinct(tags, from->mask),
                             .sectors = count_distinct(sectors, from->mask),
                             .l2_sectors = count_distinct(l2, from->mask),
                             .wavefronts = count_distinct(waves, from->mask)};
    t.ideal_wavefronts = t.wavefronts;
    return t;
}

/* The lanes of each line of global memory write shared memory separately. */
static unsigned wavefronts_by_line(const struct lanes *from, const struct lanes *to, const struct line *lines,
                                   unsigned n)
{
    unsigned all = 0;
    for (unsigned i = 0; i < n; i++) {
        struct lanes part = *to;
        part.mask = 0;
        for (uint32_t m = from->mask; m; m &= m - 1)
            if (lane_address(from, first_of(m)) / LINE_BYTES == lines[i].number)
                part.mask |= m & -m;
        all += part.mask ? rule_wavefronts(&part, SHARED_ST).all : 0;
    }
    return all;
}

struct copy_traffic rule_copy(const struct lanes *from, const struct lanes *to, bool bypasses)
{
    struct line lines[RULE_LANES];
    if (bypasses)
        return bypassing_copy(from, to);
    struct copy_traffic t = {.tags = rule_lines(from, lines)};
    for (unsigned i = 0; i < t.tags; i++)
        t.sectors += bits(lines[i].sectors);
    t.l2_sectors = t.sectors;
    t.ideal_wavefronts = rule_wavefronts(to, SHARED_ST).ideal;
    t.wavefronts = wavefronts_by_line(from, to, lines, t.tags);
    t.wavefronts = t.wavefronts > t.ideal_wavefronts ? t.wavefronts : t.ideal_wavefronts;
    return t;
}
