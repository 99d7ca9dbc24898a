/* Fat binaries (cuda/image/fatbin.h): every kind of container, and every way in which one can be
 * broken; objects and libraries (cuda/image/object.h) that are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <lz4.h>
#include <zstd.h>

#include "base/elf.h"
#include "cuda/image/object.h"

enum { PTX = 1, ELF = 2, RAW = 0, LZ4 = 0x2000, ZSTD = 0x8000 };

struct buffer {
    uint8_t bytes[1 << 14];
    size_t n;
};

static void put(struct buffer *b, uint64_t value, size_t bytes)
{
    memcpy(b->bytes + b->n, &value, bytes);
    b->n += bytes;
}

static void begin(struct buffer *b)
{
    *b = (struct buffer){.n = 0};
    put(b, 0xba55ed50, 4);
    put(b, 1, 2);
    put(b, 16, 2);
    put(b, 0, 8);
}

static void end(struct buffer *b)
{
    uint64_t bytes = b->n - 16;
    memcpy(b->bytes + 8, &bytes, 8);
}

/* An entry as nvcc writes it: PTX with a header of 80 bytes, padded to 8. */
static void entry(struct buffer *b, unsigned kind, unsigned arch, uint64_t flags, const char *text)
{
    char packed[4096];
    size_t n = strlen(text) + 1, size = n;
    const char *payload = text;
    if (flags & ZSTD)
        size = ZSTD_compress(packed, sizeof packed, text, n, 3);
    else if (flags & LZ4)
        size = (size_t)LZ4_compress_default(text, packed, (int)n, sizeof packed);
    if (flags)
        payload = packed;
    size_t padded = (size + 7) / 8 * 8, header = kind == PTX ? 80 : 64, start = b->n;
    put(b, kind, 2);
    put(b, 0x101, 2);
    put(b, header, 4);
    put(b, padded, 8);
    put(b, flags ? size : 0, 4);
    put(b, kind == PTX ? 64 : 0, 4);
    put(b, 0x90000, 4);
    put(b, arch, 4);
    put(b, 0, 8);
    put(b, flags | 0x11, 8);
    put(b, 0, 8);
    put(b, flags ? n : 0, 8);
    b->n = start + header;
    memcpy(b->bytes + b->n, payload, size);
    b->n += padded;
}

static const char *const text_75 = ".version 7.0\n.target sm_75\n.address_size 64\n// seventy-five, seventy-five\n";
static const char *const text_90 = ".version 8.0\n.target sm_90\n.address_size 64\n// ninety, ninety, ninety, ninety\n";

static void expect(const void *data, size_t bytes, unsigned arch, const char *text)
{
    struct image image;
    assert_int_equal(image_read(data, bytes, arch, &image), IMAGE_OK);
    assert_int_equal(image.texts.n, 1);
    assert_string_equal(image.texts.at[0].text, text);
    image_free(&image);
}

static void expect_failure(const void *data, size_t bytes, unsigned arch, enum image_result r, const char *words)
{
    struct image image;
    assert_int_equal(image_read(data, bytes, arch, &image), r);
    assert_int_equal(image.texts.n, 0);
    if (!strstr(image.why, words))
        fail_msg("\"%s\" lacks \"%s\"", image.why, words);
}

static void the_best_ptx_for_the_device_is_taken(void **state)
{
    struct buffer b;
    (void)state;
    begin(&b);
    entry(&b, ELF, 90, RAW, "machine code");
    entry(&b, PTX, 75, RAW, text_75);
    entry(&b, PTX, 90, ZSTD, text_90);
    entry(&b, PTX, 120, LZ4, "too new");
    end(&b);
    expect(b.bytes, b.n, 90, text_90);
    expect(b.bytes, b.n, 100, text_90);
    expect(b.bytes, b.n, 89, text_75);
    expect(b.bytes, SIZE_MAX, 90, text_90);
}

static void all_compressions_are_read(void **state)
{
    const unsigned kinds[] = {RAW, LZ4, ZSTD};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct buffer b;
        begin(&b);
        entry(&b, PTX, 75, kinds[i], text_75);
        end(&b);
        expect(b.bytes, b.n, 90, text_75);
    }
}

static void wrappers_lead_to_containers(void **state)
{
    struct buffer a, b;
    (void)state;
    begin(&a);
    entry(&a, PTX, 75, ZSTD, text_75);
    end(&a);
    begin(&b);
    entry(&b, PTX, 75, ZSTD, text_90);
    end(&b);
    struct {
        uint32_t magic, version;
        const void *data, *extra;
    } w = {0x466243b1, 1, a.bytes, NULL};
    expect(&w, SIZE_MAX, 90, text_75);
    const void *objects[] = {a.bytes, b.bytes, NULL};
    w.version = 2;
    w.extra = objects;
    struct image image;
    assert_int_equal(image_read(&w, SIZE_MAX, 90, &image), IMAGE_OK);
    assert_int_equal(image.texts.n, 2); /* to be linked */
    assert_string_equal(image.texts.at[0].text, text_75);
    assert_string_equal(image.texts.at[1].text, text_90);
    size_t bytes;
    void *linked = image_of_texts(image.texts.at, image.texts.n, &bytes);
    image_free(&image);
    assert_int_equal(image_read(linked, bytes, 90, &image), IMAGE_OK);
    assert_int_equal(image.texts.n, 2);
    assert_string_equal(image.texts.at[1].text, text_90);
    image_free(&image);
    assert_int_equal(image_read(linked, SIZE_MAX, 90, &image), IMAGE_OK); /* it says how long it is */
    assert_int_equal(image.texts.n, 2);
    assert_int_equal(image.texts.at[0].arch, 75);
    image_free(&image);
    uint8_t *odd = malloc(bytes + 1);
    memcpy(odd + 1, linked, bytes);
    assert_int_equal(image_read(odd + 1, SIZE_MAX, 90, &image), IMAGE_OK);
    image_free(&image);
    free(odd);
    for (size_t n = 0; n < bytes; n++) {
        uint8_t *cut = malloc(n + 1);
        memcpy(cut, linked, n);
        assert_int_not_equal(image_read(cut, n, 90, &image), IMAGE_OK);
        free(cut);
    }
    free(linked);
    w.version = 3;
    expect_failure(&w, SIZE_MAX, 90, IMAGE_INVALID, "version");
    w.version = 1;
    expect_failure(&w, sizeof w, 90, IMAGE_INVALID, "neither"); /* a file has no pointers */
}

static void several_containers_may_follow_each_other(void **state)
{
    struct buffer a, b;
    uint8_t both[2 * sizeof a.bytes];
    (void)state;
    begin(&a); /* as the linker's stub is: empty of PTX */
    entry(&a, ELF, 75, RAW, "machine code");
    end(&a);
    begin(&b);
    entry(&b, PTX, 75, ZSTD, text_75);
    end(&b);
    memset(both, 0, sizeof both);
    memcpy(both, a.bytes, a.n);
    memcpy(both + a.n, b.bytes, b.n);
    expect(both, a.n + b.n + 24, 90, text_75);
}

static void what_is_missing_is_said(void **state)
{
    struct buffer b;
    (void)state;
    begin(&b);
    entry(&b, ELF, 80, RAW, "machine code");
    entry(&b, ELF, 86, RAW, "machine code");
    end(&b);
    expect_failure(b.bytes, b.n, 90, IMAGE_NO_BINARY, "machine code for sm_80, sm_86");
    expect_failure(b.bytes, b.n, 90, IMAGE_NO_BINARY, "-gencode arch=compute_75,code=compute_75");
    entry(&b, PTX, 100, RAW, "newer");
    end(&b);
    expect_failure(b.bytes, b.n, 90, IMAGE_NO_BINARY, "HEDDLE_DEVICE=sm_100");
    expect_failure("\177ELF and so on", SIZE_MAX, 90, IMAGE_NO_BINARY, "cubin");
    expect_failure("hello", SIZE_MAX, 90, IMAGE_INVALID, "neither");
    expect_failure("", 0, 90, IMAGE_INVALID, "neither");
}

static void ptx_text_is_an_image(void **state)
{
    const char text[] = "// a comment\n/* and another */\n.version 7.0\n.target sm_75\n";
    (void)state;
    expect(text, SIZE_MAX, 90, text);
    expect(text, sizeof text, 90, text);
}

/* Copies, so that the sanitizers see every read past the end. */
static void try_bytes(const uint8_t *bytes, size_t n)
{
    struct image image;
    uint8_t *copy = malloc(n + 1);
    memcpy(copy, bytes, n);
    if (image_read(copy, n, 90, &image) == IMAGE_OK)
        image_free(&image);
    free(copy);
}

static void broken_images_are_errors(void **state)
{
    struct buffer b;
    uint32_t seed = 1;
    (void)state;
    begin(&b);
    entry(&b, ELF, 75, RAW, "machine code");
    entry(&b, PTX, 75, ZSTD, text_75);
    entry(&b, PTX, 80, LZ4, text_90);
    end(&b);
    for (size_t n = 0; n < b.n; n++) {
        struct image image;
        uint8_t *cut = malloc(n + 1);
        memcpy(cut, b.bytes, n);
        assert_int_not_equal(image_read(cut, n, 90, &image), IMAGE_OK);
        free(cut);
    }
    for (size_t i = 0; i < b.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            b.bytes[i] ^= (uint8_t)(1 << bit);
            try_bytes(b.bytes, b.n);
            b.bytes[i] ^= (uint8_t)(1 << bit);
        }
    for (int round = 0; round < 20000; round++) {
        struct buffer c = b;
        for (int k = 0; k < 4; k++) {
            seed = seed * 1664525 + 1013904223;
            c.bytes[(seed >> 8) % c.n] = (uint8_t)(seed >> 24);
        }
        try_bytes(c.bytes, c.n);
    }
}

/* Another size than the payload has. */
static void lie(struct buffer *b, size_t entry, uint64_t bytes)
{
    memcpy(b->bytes + entry + 56, &bytes, 8);
}

static void sizes_that_lie_are_errors(void **state)
{
    const uint64_t lies[] = {0, 1, 60, 1000, 1 << 20, (1ull << 30) - 1, 1ull << 30, 1ull << 31, 1ull << 32, UINT64_MAX};
    struct buffer b;
    (void)state;
    for (int flags = LZ4; flags <= ZSTD; flags += ZSTD - LZ4)
        for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
            begin(&b);
            entry(&b, PTX, 75, (uint64_t)flags, text_75);
            end(&b);
            lie(&b, 16, lies[i]);
            expect_failure(b.bytes, b.n, 90, IMAGE_INVALID, "the fat binary is broken");
        }
}

/* A container with 300 MB of spaces in a frame of zstd. */
static void bomb(struct buffer *b)
{
    enum { BYTES = 300 << 20 };
    char *spaces = malloc(BYTES);
    size_t start = b->n, n;
    struct buffer one;
    memset(spaces, ' ', BYTES);
    begin(&one);
    entry(&one, PTX, 75, ZSTD, "x");
    n = ZSTD_compress(one.bytes + 96, sizeof one.bytes - 96, spaces, BYTES, 1);
    free(spaces);
    if (ZSTD_isError(n))
        return;
    size_t padded = (n + 7) / 8 * 8;
    memcpy(one.bytes + 16 + 8, &padded, 8);
    memcpy(one.bytes + 16 + 16, &n, 4);
    lie(&one, 16, BYTES);
    one.n = 96 + padded;
    end(&one);
    memcpy(b->bytes + start, one.bytes, one.n);
    b->n += one.n;
}

static void what_unpacks_to_too_much_is_an_error(void **state)
{
    static struct buffer b;
    (void)state;
    b.n = 0;
    bomb(&b);
    if (!b.n)
        skip();
    size_t n = b.n;
    uint8_t *four = malloc(4 * n);
    for (int i = 0; i < 4; i++)
        memcpy(four + (size_t)i * n, b.bytes, n);
    expect_failure(four, 4 * n, 90, IMAGE_INVALID, "more than 1 GiB");
    free(four);
}

/* Of an image of Heddle's own, whose second section is made to have the first one's text. */
static void sections_that_overlap_have_too_much_together(void **state)
{
    size_t n = 520 << 20, bytes;
    struct image_text texts[] = {{malloc(n), n, 75}, {(char[]){"x"}, 1, 75}};
    (void)state;
    if (!texts[0].text)
        skip();
    memset(texts[0].text, ' ', n);
    uint8_t *image = image_of_texts(texts, 2, &bytes);
    free(texts[0].text);
    if (!image)
        skip();
    Elf64_Shdr *sections = (Elf64_Shdr *)(image + sizeof(Elf64_Ehdr));
    sections[2] = sections[1];
    expect_failure(image, bytes, 90, IMAGE_INVALID, "more than 1 GiB");
    free(image);
}

static void images_are_taken_together_up_to_a_limit(void **state)
{
    struct image one, all = {0};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(image_read(text_75, SIZE_MAX, 90, &one), IMAGE_OK);
        assert_int_equal(image_take(&all, &one), IMAGE_OK);
        assert_int_equal(one.texts.n, 0);
        image_free(&one);
    }
    assert_int_equal(all.texts.n, 2);
    assert_int_equal(all.bytes, 2 * strlen(text_75));
    all.bytes = 1 << 30; /* as if */
    assert_int_equal(image_read(text_75, SIZE_MAX, 90, &one), IMAGE_OK);
    assert_int_equal(image_take(&all, &one), IMAGE_INVALID);
    assert_non_null(strstr(all.why, "more than 1 GiB"));
    assert_int_equal(one.texts.n, 1);
    image_free(&one);
    image_free(&all);
}

/* Nothing but digits: the size of a member ends with its field. */
static void a_library_s_member_without_an_end_of_its_header_is_an_error(void **state)
{
    char library[8 + 60];
    struct image image;
    (void)state;
    memcpy(library, "!<arch>\n", 8);
    memset(library + 8, '1', 60);
    assert_int_equal(object_read(library, sizeof library, 90, &image), IMAGE_INVALID);
    assert_non_null(strstr(image.why, "a member of the library"));
}

static void a_text_has_no_zero_in_it(void **state)
{
    struct buffer b;
    (void)state;
    begin(&b);
    entry(&b, PTX, 75, RAW, text_75);
    end(&b);
    b.bytes[16 + 80 + 20] = 0;
    expect_failure(b.bytes, b.n, 90, IMAGE_INVALID, "a zero byte");
}

/* Machine code of many kernels, as far as it is read: kernel i takes 8 + i % 200 registers and a
 * frame of 4 * i bytes, and all are the one section .text, of an STL.64 and an LDL. */
enum { MANY = 40000, NULL_SECTION = 0, NAMES, INFO, SYMBOLS, TEXT, N_SECTIONS };
struct many {
    Elf64_Ehdr header;
    Elf64_Shdr sections[N_SECTIONS];
    Elf64_Sym symbols[MANY];
    uint64_t text[2][2];
    struct {
        uint8_t format, attribute;
        uint16_t bytes;
        uint32_t symbol, number;
    } info[2 * MANY];
    char names[32];
};

static void write_section(struct many *m, unsigned section, unsigned type, unsigned name, void *at, size_t bytes)
{
    m->sections[section] = (Elf64_Shdr){.sh_type = type,
                                        .sh_name = name,
                                        .sh_link = NAMES,
                                        .sh_offset = (size_t)((char *)at - (char *)m),
                                        .sh_size = bytes};
}

static struct many *many_kernels(void)
{
    struct many *m = calloc(1, sizeof *m);
    assert_non_null(m);
    memcpy(m->header.e_ident, ELFMAG "\2\1", 6);
    m->header.e_type = ET_EXEC;
    m->header.e_shoff = offsetof(struct many, sections);
    m->header.e_shentsize = sizeof m->sections[0];
    m->header.e_shnum = N_SECTIONS;
    m->header.e_shstrndx = NAMES;
    memcpy(m->names, "\0.nv.info\0k", 12);
    write_section(m, NAMES, SHT_STRTAB, 0, m->names, sizeof m->names);
    write_section(m, INFO, SHT_PROGBITS, 1, m->info, sizeof m->info);
    write_section(m, SYMBOLS, SHT_SYMTAB, 0, m->symbols, sizeof m->symbols);
    write_section(m, TEXT, SHT_PROGBITS, 0, m->text, sizeof m->text);
    m->text[0][0] = 0x387, m->text[0][1] = 5 << 9;
    m->text[1][0] = 0x983, m->text[1][1] = 4 << 9;
    for (uint32_t i = 0; i < MANY; i++) {
        m->symbols[i] = (Elf64_Sym){.st_name = 10, .st_shndx = TEXT};
        m->info[i].format = m->info[MANY + i].format = 4;
        m->info[i].bytes = m->info[MANY + i].bytes = 8;
        m->info[i].attribute = 0x2f, m->info[i].symbol = i, m->info[i].number = 8 + i % 200;
        m->info[MANY + i].attribute = 0x11, m->info[MANY + i].symbol = MANY - 1 - i,
                       m->info[MANY + i].number = 4 * (MANY - 1 - i);
    }
    return m;
}

static void see_kernel(void *data, const char *name, const struct cubin_kernel *k)
{
    uint32_t i = (*(uint32_t *)data)++, has_frame = i > 0;
    assert_string_equal(name, "k");
    assert_int_equal(k->registers, 8 + i % 200);
    assert_int_equal(k->frame_bytes, 4 * i);
    assert_int_equal(k->local_stores, 2 * has_frame); /* in words */
    assert_int_equal(k->local_loads, has_frame);
}

static void machine_code_of_many_kernels_is_read_at_once(void **state)
{
    struct many *m = many_kernels();
    uint32_t seen = 0;
    (void)state;
    clock_t begin = clock();
    cubin_kernels(m, sizeof *m, see_kernel, &seen);
    assert_true(clock() - begin <
                CLOCKS_PER_SEC / 2); /* it takes some milliseconds, and seconds where each kernel looks at all */
    assert_int_equal(seen, MANY);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_ptx_for_the_device_is_taken),
        cmocka_unit_test(all_compressions_are_read),
        cmocka_unit_test(wrappers_lead_to_containers),
        cmocka_unit_test(several_containers_may_follow_each_other),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(ptx_text_is_an_image),
        cmocka_unit_test(broken_images_are_errors),
        cmocka_unit_test(sizes_that_lie_are_errors),
        cmocka_unit_test(what_unpacks_to_too_much_is_an_error),
        cmocka_unit_test(sections_that_overlap_have_too_much_together),
        cmocka_unit_test(images_are_taken_together_up_to_a_limit),
        cmocka_unit_test(a_library_s_member_without_an_end_of_its_header_is_an_error),
        cmocka_unit_test(a_text_has_no_zero_in_it),
        cmocka_unit_test(machine_code_of_many_kernels_is_read_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
