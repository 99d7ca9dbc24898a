/* Random copies by tensor maps: a form follows from its number alone. What an H200 gave for each
 * stands in h200.tsv, and was recorded once: never change what form_of gives for a number. */
#ifndef TENSOR_MAP_FORMS_H
#define TENSOR_MAP_FORMS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SHARED = 32768, GUARD = 4096, GLOBAL = 65536 };
enum { LOAD, STORE, REDUCE, IM2COL, MODES };

struct form {
    int mode, type, rank, interleave, swizzle, fill, promotion, op, at, base;
    uint64_t dims[5], strides[4];
    uint32_t box[5], steps[5], channels, pixels;
    int lower[3], upper[3], coords[5], offsets[3];
};

static uint64_t state;
static inline uint32_t next(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 20);
}
static inline int below(int n)
{
    return (int)(next() % (uint32_t)n);
}
static inline int often(int usual, int of, int other)
{
    return below(of) ? usual : other;
}

static const int SIZE[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
static const char *const OPS[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

static inline struct form form_of(int number)
{
    state = 0x9E3779B97F4A7C15ull * (uint64_t)(number + 1);
    for (int i = 0; i < 8; i++)
        next();
    struct form f = {.mode = below(10)};
    f.mode = f.mode < 5 ? LOAD : f.mode < 7 ? STORE : f.mode < 8 ? REDUCE : IM2COL;
    f.type = below(13);
    f.rank = f.mode == IM2COL ? 3 + below(3) : 1 + below(5);
    f.interleave = f.rank >= 3 ? often(0, 4, 1 + below(2)) : often(0, 40, 1);
    f.swizzle = below(3) ? below(4) : 0;
    if (f.interleave == 2)
        f.swizzle = often(1, 6, f.swizzle);
    f.fill = below(3) == 0;
    if (f.type < 6)
        f.fill = often(0, 12, f.fill);
    f.promotion = below(4);
    f.op = below(8);
    int size = SIZE[f.type], inner = f.swizzle ? 16 << f.swizzle : 16 * (1 + below(8));
    if (f.interleave)
        inner = 16 * f.interleave;
    f.base = often(0, 5, f.interleave == 2 ? 32 : 16 * below(4));
    uint64_t bytes = 0;
    /* box */
    int room = 16384;
    for (int d = 0; d < f.rank; d++) {
        int most = d == 0 ? inner / size : room > 8 ? 8 : room;
        f.box[d] = d == 0 ? (f.interleave ? most
                             : f.swizzle  ? (below(3) ? most : most / (1 << below(2)))
                                          : most)
                          : 1 + below(most < 1 ? 1 : most);
        if (f.box[d] < 1)
            f.box[d] = 1;
        if (d == 0 && below(30) == 0)
            f.box[d] += 1;
        room /= d == 0 ? (int)f.box[0] * size : (int)f.box[d];
        if (room < 1)
            room = 1;
    }
    /* tensor */
    uint64_t left = 40000;
    for (int d = 0; d < f.rank; d++) {
        uint64_t many = d == 0 ? f.box[0] / 2 + (uint64_t)below((int)f.box[0] * 2 + 8) : 1 + (uint64_t)below(9);
        if (d == 0 && below(4))
            many = (many * size + 15) / 16 * 16 / size;
        if (many < 1)
            many = 1;
        f.dims[d] = many;
        if (d == 0)
            bytes = (many * size + 15) / 16 * 16;
        uint64_t unit = f.interleave == 2 ? 32 : 16;
        if (d == 0 && f.interleave)
            bytes = unit * (many * size / unit + 1);
        if (d + 1 < f.rank) {
            uint64_t stride = (bytes + unit - 1) / unit * unit + unit * (uint64_t)(below(3) == 0 ? below(3) : 0);
            if (below(60) == 0)
                stride += 8;
            f.strides[d] = stride;
            bytes = stride;
        }
        while (bytes * (d ? f.dims[d] : 1) > left && f.dims[d] > 1 && d)
            f.dims[d]--;
        if (d)
            bytes *= f.dims[d];
    }
    for (int d = 0; d < f.rank; d++) {
        f.steps[d] = (uint32_t)often(1, d ? 8 : 40, 1 + below(8));
        if (d == 0 && f.interleave == 0)
            f.steps[d] = (uint32_t)often(1, 20, 2);
        f.coords[d] =
            below(3) ? below((int)f.dims[d] + 1) : below((int)f.dims[d] + 2 * (int)f.box[d] + 2) - (int)f.box[d] - 1;
        if (d == 0 && below(32))
            f.coords[d] =
                f.coords[d] / (16 / size) * (16 / size); /* else: an illegal instruction, without interleaving */
        if (f.coords[d] < 0 && (f.mode == STORE || f.mode == REDUCE) && below(32))
            f.coords[d] = 0; /* else: an illegal instruction */
        if (f.interleave && d == 0 && below(8))
            f.coords[d] = below((int)f.dims[0]), f.coords[d] -= f.coords[d] % (inner / size);
    }
    if (f.mode == IM2COL) {
        f.channels = (uint32_t)(inner / size);
        f.pixels = (uint32_t)(1 + below(40));
        while (f.channels * f.pixels * (uint32_t)size > 16384)
            f.pixels /= 2;
        for (int i = 0; i < f.rank - 2; i++) {
            f.lower[i] = below(4) - 2, f.upper[i] = below(4) - 2;
            f.offsets[i] = below(3);
        }
    }
    static const char *const FIT[] = {"",
                                      "",
                                      "add min max inc dec and or xor",
                                      "add min max and or xor",
                                      "add min max and or xor",
                                      "min max and or xor",
                                      "add min max",
                                      "add",
                                      "add",
                                      "add min max",
                                      "",
                                      "",
                                      ""};
    if (f.mode == REDUCE && below(24))
        while (!strstr(FIT[f.type], OPS[f.op]))
            f.op = below(8), f.type = below(4) ? f.type : 2 + below(8);
    if (f.mode == IM2COL && below(24))
        for (int d = 1; d < f.rank - 1; d++) {
            int many = (int)f.dims[d] + f.upper[d - 1] - f.lower[d - 1];
            if (many < 1)
                f.upper[d - 1] = f.lower[d - 1], many = (int)f.dims[d];
            f.coords[d] = f.lower[d - 1] + below(many);
        }
    f.at = below(2) ? 0 : 128 * below(9);
    return f;
}

/* What the copy's mbarrier waits for. */
static inline uint32_t bytes_of(const struct form *f)
{
    uint32_t bytes = f->interleave ? 16 * (uint32_t)f->interleave : (uint32_t)SIZE[f->type];
    if (f->mode == IM2COL)
        return bytes * f->pixels * (f->interleave ? 1 : f->channels);
    for (int d = 0; d < f->rank; d++) { /* without interleaving, dimension 0 has no step; with it, one slice is taken */
        bool is_whole = d == 0 && !f->interleave, is_slice = f->interleave && d == f->rank - 2;
        bytes *= is_slice ? 1 : is_whole ? f->box[d] : (f->box[d] + f->steps[d] - 1) / f->steps[d];
    }
    return bytes;
}

/* What stands in global memory before a copy, from the tensor's address less GUARD on. */
static inline void fill_global(const struct form *f, unsigned char *bytes)
{
    state = 12345;
    for (uint32_t i = 0; i < GLOBAL + 2 * GUARD; i += 4) {
        uint32_t w = i / 4;
        if (f->type == 7 || f->type >= 10)
            w = next();
        else if (f->type == 6 || f->type == 9)
            w = (0x3c00u + (w & 0x3ff)) * 0x10001u;
        else if (f->type == 8)
            w = i & 4 ? 0x40000000 + w : w;
        memcpy(bytes + i, &w, 4);
    }
}

/* And in shared memory: words of a store, of which no two neighbours are the same, or 0xA5. */
static inline uint32_t shared_word(const struct form *f, uint32_t i)
{
    return f->mode == STORE || f->mode == REDUCE ? (i * 0x01010101 + 0x3c003c00) & 0x43ff43ff : 0xA5A5A5A5;
}

/* FNV-1a. */
static inline uint64_t hash_of(const unsigned char *bytes, uint32_t n)
{
    uint64_t h = 0xcbf29ce484222325;
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * 0x100000001b3;
    return h;
}

#endif
