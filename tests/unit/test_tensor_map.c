/* exec/tensor_map: what tensor maps are refused, and what copies by them move where, as an H200 did
 * it (tests/tensor_maps). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/tensor_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tensor_maps/forms.h"

static uint8_t shared[SHARED], global[GLOBAL + 2 * GUARD];

static struct tensor_map map_of(const struct form *f)
{
    struct tensor_map m = {.address = GUARD + (uint64_t)f->base, .type = (uint8_t)f->type, .rank = (uint8_t)f->rank};
    m.interleave = (uint8_t)f->interleave;
    m.swizzle = (uint8_t)f->swizzle;
    m.fill_nan = (uint8_t)f->fill;
    m.im2col = f->mode == IM2COL;
    for (int d = 0; d < f->rank; d++) {
        m.last[d] = (uint32_t)f->dims[d] - 1;
        m.steps[d] = (uint8_t)f->steps[d];
        m.box[d] = (uint16_t)f->box[d];
        if (d + 1 < f->rank)
            m.strides[d] = f->strides[d];
    }
    for (int d = 0; d < 3; d++) {
        m.lower[d] = (int16_t)f->lower[d];
        m.upper[d] = (int16_t)f->upper[d];
    }
    m.channels = (uint16_t)f->channels;
    m.pixels = (uint16_t)f->pixels;
    return m;
}

static struct tensor_at at_of(const struct form *f)
{
    struct tensor_at at = {{0}, {0}};
    for (int d = 0; d < 5; d++)
        at.coords[d] = f->coords[d];
    for (int d = 0; d < 3; d++)
        at.offsets[d] = (uint16_t)f->offsets[d];
    return at;
}

static void move(const struct form *f, const struct tensor_map *m, const struct tensor_line *line)
{
    uint8_t bytes[4096];
    assert_true(line->bytes <= sizeof bytes);
    uint32_t address = (uint32_t)f->at + (uint32_t)line->shared;
    if (f->mode == STORE) {
        for (uint32_t i = line->from; line->to && i < tensor_stored_to(line); i++)
            global[line->global + i] = shared[tensor_swizzle(m, address + i)];
        return;
    }
    tensor_fill(m, bytes, line->bytes);
    if (line->to > line->from)
        memcpy(bytes + line->from, global + line->global + line->from, line->to - line->from);
    tensor_convert(m, bytes + line->from, line->to - line->from);
    for (uint32_t i = 0; i < line->bytes; i++)
        shared[tensor_swizzle(m, address + i)] = bytes[i];
}

static uint64_t hash_of_copy(const struct form *f, const struct tensor_map *m, const struct tensor_at *at)
{
    fill_global(f, global);
    for (uint32_t i = 0; i < SHARED / 4; i++)
        memcpy(shared + 4 * i, &(uint32_t){shared_word(f, i)}, 4);
    struct tensor_lines lines = tensor_lines_of(m, at);
    struct tensor_line line;
    while (tensor_next_line(&lines, &line))
        move(f, m, &line);
    return f->mode == STORE ? hash_of(global, sizeof global) : hash_of(shared, sizeof shared);
}

static void copies_are_those_of_an_h200(void **unused)
{
    (void)unused;
    char path[4096], text[200];
    const char *source = getenv("HEDDLE_SOURCE");
    snprintf(path, sizeof path, "%s/tests/tensor_maps/h200.tsv", source ? source : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file)); /* the columns' names */
    int number, encode, launch, done, seen = 0;
    uint64_t hash;
    while (fscanf(file, "%d %d %d %d %" SCNx64, &number, &encode, &launch, &done, &hash) == 5) {
        struct form f = form_of(number);
        struct tensor_map m = map_of(&f), read;
        struct tensor_at at = at_of(&f);
        uint8_t bytes[TENSOR_MAP_BYTES];
        if ((encode == 0) != !tensor_map_refusal(&m))
            fail_msg("form %d: encoding gives %d on an H200", number, encode);
        if (encode || f.mode == REDUCE)
            continue;
        tensor_map_write(bytes, &m);
        assert_null(tensor_map_read(&read, bytes));
        if (launch == 700) /* no shared memory is as large: it is not asked about here */
            continue;
        if ((launch == 0) != !tensor_copy_refusal(&read, &at, f.mode == STORE))
            fail_msg("form %d: the launch gives %d on an H200", number, launch);
        if (launch)
            continue;
        assert_int_equal(done, 1);
        assert_int_equal(tensor_copy_bytes(&read), bytes_of(&f));
        if (hash_of_copy(&f, &read, &at) != hash)
            fail_msg("form %d: other bytes than on an H200", number);
        seen++;
    }
    fclose(file);
    assert_int_equal(seen, 1573);
}

static void wrong_strides_and_places_are_refused_with_a_reason(void **unused)
{
    (void)unused;
    struct tensor_map good = {.address = 4096, .type = TENSOR_F32, .rank = 3, .strides = {64, 640}, .last = {15, 9, 3}};
    for (int d = 0; d < 3; d++)
        good.box[d] = 4, good.steps[d] = 1;
    struct tensor_map stride = good, place = good, box = good, slices = good;
    stride.strides[1] = 648;
    place.address += 8;
    box.box[0] = 3;
    slices.interleave = 2;
    slices.strides[0] = 80;
    assert_null(tensor_map_refusal(&good));
    assert_string_equal(tensor_map_refusal(&stride),
                        "a stride (globalStrides) is not a multiple of 16 bytes below 2^40");
    assert_string_equal(tensor_map_refusal(&place), "the tensor's address is not a multiple of 16");
    assert_string_equal(tensor_map_refusal(&box), "the box's innermost dimension is not a multiple of 16 bytes");
    assert_string_equal(tensor_map_refusal(&slices),
                        "a stride (globalStrides) is not a multiple of 32 bytes below 2^40");
}

static void bytes_that_are_no_map_are_refused(void **unused)
{
    (void)unused;

    for (int n = 1; n < 50; n++) {
        struct form f = form_of(n);
        struct tensor_map m = map_of(&f), read;
        uint8_t bytes[TENSOR_MAP_BYTES];
        if (tensor_map_refusal(&m))
            continue;
        tensor_map_write(bytes, &m);
        assert_null(tensor_map_read(&read, bytes));
        bytes[0] ^= 1;
        assert_non_null(tensor_map_read(&read, bytes));
        bytes[0] ^= 1;
        bytes[offsetof(struct tensor_map_bytes, rank)] = 6;
        assert_non_null(tensor_map_read(&read, bytes));
        bytes[offsetof(struct tensor_map_bytes, rank)] = m.rank - 1;
        bytes[offsetof(struct tensor_map_bytes, im2col)] = 2;
        assert_non_null(tensor_map_read(&read, bytes));
    }
}

/* It clears a bit that NVIDIA's drivers up to 13.1 set for some tensors below 128 KiB
 * (cute/atom/copy_traits_sm90_tma.hpp). */
static void what_cutlass_does_to_a_map_changes_nothing(void **unused)
{
    (void)unused;
    struct form f = form_of(1);
    struct tensor_map m = map_of(&f), read;
    uint64_t words[TENSOR_MAP_BYTES / 8];
    m.address |= 1u << 21;
    tensor_map_write(words, &m);
    words[1] &= ~(1ull << 21);
    assert_null(tensor_map_read(&read, words));
    assert_int_equal(read.address, m.address);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_those_of_an_h200),
        cmocka_unit_test(wrong_strides_and_places_are_refused_with_a_reason),
        cmocka_unit_test(bytes_that_are_no_map_are_refused),
        cmocka_unit_test(what_cutlass_does_to_a_map_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
