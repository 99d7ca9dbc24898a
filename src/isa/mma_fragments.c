/* Moves the elements of fragments: between registers and dense matrices, from memory to registers;
 * see mma.h. */
#include "isa/mma_parts.h"
#include "isa/mma_quads.h"

#if defined __AVX2__
enum { EIGHTS = W / 8 }; /* groups of eight lanes in a vector */
typedef u32 v8 __attribute__((vector_size(32)));

/* Group t of those that are in `parts`. */
INLINE v8 get_eight(const vu parts[PARTS], unsigned t)
{
    v8 v;
    memcpy(&v, (const char *)&parts[t / EIGHTS] + t % EIGHTS * sizeof v, sizeof v);
    return v;
}

INLINE void set_eight(vu parts[PARTS], unsigned t, v8 v)
{
    memcpy((char *)&parts[t / EIGHTS] + t % EIGHTS * sizeof v, &v, sizeof v);
}

INLINE void take_rows(const struct mma_map *map, const u32 *const *rows, const unsigned per, const unsigned bits,
                      u32 *to)
{
    const u32 ones = bits == 32 ? UINT32_MAX : (1u << bits % 32) - 1;
    for (unsigned r = 0; r * per < map->n; r++) {
        vu lanes[PARTS];
        mma_part_lanes(rows[r], lanes);
        for (unsigned i = 0; i < per; i++)
            for (unsigned t = 0; t < 4; t++) {
                v8 v = get_eight(lanes, t) >> i * bits & ones;
                STORE(to + map->number[r * per + i] + map->lane[t], v);
            }
    }
}

static void take_by_eights(const struct mma_map *map, const u32 *const *rows, u32 *to)
{
    switch (map->per) {
    case 1: take_rows(map, rows, 1, 32, to); break;
    case 2: take_rows(map, rows, 2, 16, to); break;
    case 4: take_rows(map, rows, 4, 8, to); break;
    default: take_rows(map, rows, 8, 4, to); break;
    }
}

/* Of 32 or 16 bits: results, and matrices that are transposed. */
INLINE void put_rows(const struct mma_map *map, const u32 *from, const unsigned per, u32 *const *rows)
{
    for (unsigned r = 0; r * per < map->n; r++) {
        vu lanes[PARTS];
        for (unsigned t = 0; t < 4; t++) {
            v8 low, high = {0};
            LOAD(low, from + map->number[r * per] + map->lane[t]);
            if (per > 1)
                LOAD(high, from + map->number[r * per + 1] + map->lane[t]);
            set_eight(lanes, t, low | high << 16);
        }
        mma_join_lanes(lanes, rows[r]);
    }
}

static void put_by_eights(const struct mma_map *map, const u32 *from, u32 *const *rows)
{
    if (map->per == 1)
        put_rows(map, from, 1, rows);
    else
        put_rows(map, from, 2, rows);
}
#endif

/* Stored as it will be loaded: by whole vectors. */
void MMA_OF_LEVEL(mma_load_quads)(const u8 *const lane[8], const u64 *piece, unsigned n, u32 *const *rows)
{
    typedef u32 v4 __attribute__((vector_size(16)));
    for (unsigned i = 0; i < n; i++)
        for (unsigned r = 0; r < 8; r += 2) {
            v4 low, high;
            LOAD(low, lane[r] + piece[i]);
            LOAD(high, lane[r + 1] + piece[i]);
            typeof(__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7)) both =
                __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
            STORE(rows[i] + 4 * r, both);
        }
}

#if defined __AVX512BW__
/* Eight halves from each of four places, side by side. */
INLINE __m512i load_eights(const u8 *const lane[4], u64 piece)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(lane[0] + piece)));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(lane[1] + piece)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(lane[2] + piece)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(lane[3] + piece)), 3);
}

INLINE void load_row_of_halves(const u8 *const lane[4], const u64 piece[2], u32 *row)
{
#define LANE(r, t) 8 * t + r, 32 + 8 * t + r
#define QUAD(r)    LANE(r, 0), LANE(r, 1), LANE(r, 2), LANE(r, 3)
    static const u16 index[2][32]
        __attribute__((aligned(64))) = {{QUAD(0), QUAD(1), QUAD(2), QUAD(3)}, {QUAD(4), QUAD(5), QUAD(6), QUAD(7)}};
#undef QUAD
#undef LANE
    __m512i low = load_eights(lane, piece[0]), high = load_eights(lane, piece[1]);
    for (unsigned i = 0; i < 2; i++)
        _mm512_storeu_si512(row + i * W, _mm512_permutex2var_epi16(low, _mm512_load_si512(index[i]), high));
}
#elif defined __AVX2__
INLINE void load_row_of_halves(const u8 *const lane[4], const u64 piece[2], u32 *row)
{
    vu lanes[PARTS];
    for (unsigned t = 0; t < 4; t++) {
        __m256i l = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(lane[t] + piece[0])));
        __m256i h = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(lane[t] + piece[1])));
        set_eight(lanes, t, (v8)_mm256_or_si256(l, _mm256_slli_epi32(h, 16)));
    }
    mma_join_lanes(lanes, row);
}
#else
INLINE void load_row_of_halves(const u8 *const lane[4], const u64 piece[2], u32 *row)
{
    for (unsigned l = 0; l < 32; l++) {
        u16 half[2];
        memcpy(&half[0], lane[l % 4] + piece[0] + l / 4 * 2, 2);
        memcpy(&half[1], lane[l % 4] + piece[1] + l / 4 * 2, 2);
        row[l] = half[0] | (u32)half[1] << 16;
    }
}
#endif

void MMA_OF_LEVEL(mma_load_halves)(const u8 *const lane[4], const u64 *piece, unsigned n, u32 *const *rows)
{
    for (unsigned i = 0; i < n; i++)
        load_row_of_halves(lane, piece + 2 * i, rows[i]);
}

void MMA_OF_LEVEL(mma_take)(const struct mma_map *map, const u32 *const *rows, u32 *to)
{
    u32 ones = map->bits == 32 ? UINT32_MAX : (1u << map->bits) - 1;
#if defined __AVX2__
    if (map->by_eights) {
        take_by_eights(map, rows, to);
        return;
    }
#endif
    for (unsigned e = 0; e < map->n; e++)
        for (unsigned l = 0; l < 32; l++)
            to[map->number[e] + map->lane[l]] = rows[e / map->per][l] >> e % map->per * map->bits & ones;
}

void MMA_OF_LEVEL(mma_put)(const struct mma_map *map, const u32 *from, u32 *const *rows)
{
#if defined __AVX2__
    if (map->by_eights && map->per <= 2) {
        put_by_eights(map, from, rows);
        return;
    }
#endif
    for (unsigned e = 0; e < map->n; e++)
        for (unsigned l = 0; l < 32; l++) {
            u32 v = from[map->number[e] + map->lane[l]] << e % map->per * map->bits;
            rows[e / map->per][l] = e % map->per ? rows[e / map->per][l] | v : v;
        }
}
