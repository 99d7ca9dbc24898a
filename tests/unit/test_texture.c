/* Arrays, textures and surfaces as the host makes them (include/heddle.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "heddle.h"
#include "texture/pictures.h"
#include "texture/sample.h"

enum { U8 = 0x01, F32 = 0x20, BC1 = 0x91 };

static hd_machine *new_machine(void)
{
    hd_machine_options options = {.workers = 1, .memory_bytes = 1 << 24};
    hd_machine *m = NULL;
    assert_int_equal(hd_machine_create(&options, &m, NULL), HD_SUCCESS);
    return m;
}

static hd_array *new_array(hd_machine *m, hd_array_desc d)
{
    hd_array *a = NULL;
    const char *error;
    assert_int_equal(hd_array_create(m, &d, &a, &error), HD_SUCCESS);
    assert_null(error);
    return a;
}

static void levels_are_half_as_large(void **state)
{
    (void)state;
    hd_machine *m = new_machine();
    hd_array *a = new_array(m, (hd_array_desc){F32, 4, 20, 6, 5, 0, 99}), *second;
    hd_array_desc d;
    hd_array_level l;
    hd_array_get_desc(a, &d);
    assert_int_equal(d.levels, 5); /* 20, 10, 5, 2, 1 */
    assert_true(hd_array_get_level(a, 1, &l));
    assert_int_equal(l.width, 10);
    assert_int_equal(l.height, 3);
    assert_int_equal(l.depth, 2);
    assert_int_equal(l.pitch_bytes, 160);
    assert_int_equal(l.slice_bytes, 480);
    assert_false(hd_array_get_level(a, 5, &l));
    assert_int_equal(hd_array_of_level(a, 2, &second), HD_SUCCESS);
    hd_array_get_desc(second, &d);
    assert_int_equal(d.width, 5);
    assert_int_equal(d.levels, 1);
    hd_array_destroy(a);
    assert_false(hd_array_get_level(second, 0, &l));
    hd_array_destroy(second);
    hd_machine_destroy(m);
}

static void layers_stay_in_all_levels(void **state)
{
    (void)state;
    hd_machine *m = new_machine();
    hd_array *a = new_array(m, (hd_array_desc){U8, 1, 8, 8, 12, HD_ARRAY_LAYERED | HD_ARRAY_CUBEMAP, 3});
    hd_array_level l;
    assert_true(hd_array_get_level(a, 2, &l));
    assert_int_equal(l.width, 2);
    assert_int_equal(l.depth, 12);
    hd_array_destroy(a);
    hd_machine_destroy(m);
}

static void wrong_arrays_are_refused(void **state)
{
    (void)state;
    static const struct {
        hd_array_desc desc;
        hd_result result;
    } wrong[] = {
        {{F32, 3, 8, 8, 0, 0, 0}, HD_ERROR_INVALID_VALUE},
        {{F32, 1, 0, 8, 0, 0, 0}, HD_ERROR_INVALID_VALUE},
        {{F32, 1, 8, 0, 8, 0, 0}, HD_ERROR_INVALID_VALUE},
        {{F32, 1, 8, 4, 6, HD_ARRAY_CUBEMAP, 0}, HD_ERROR_INVALID_VALUE},
        {{F32, 1, 8, 8, 5, HD_ARRAY_CUBEMAP, 0}, HD_ERROR_INVALID_VALUE},
        {{F32, 1, 1 << 20, 0, 0, 0, 0}, HD_ERROR_INVALID_VALUE},
        {{BC1, 1, 8, 8, 0, 0, 0}, HD_ERROR_NOT_SUPPORTED},
        {{F32, 1, 8, 8, 0, 0x40, 0}, HD_ERROR_NOT_SUPPORTED},
        {{F32, 4, 16384, 16384, 0, 0, 0}, HD_ERROR_OUT_OF_MEMORY},
    };
    hd_machine *m = new_machine();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        hd_array *a;
        const char *error;
        assert_int_equal(hd_array_create(m, &wrong[i].desc, &a, &error), wrong[i].result);
        if (wrong[i].result != HD_ERROR_OUT_OF_MEMORY)
            assert_non_null(error);
    }
    hd_machine_destroy(m);
}

static void handles_cannot_lie(void **state)
{
    (void)state;
    hd_machine *m = new_machine();
    hd_array *a = new_array(m, (hd_array_desc){F32, 1, 8, 8, 0, 0, 0}), *plain;
    hd_array *s = new_array(m, (hd_array_desc){F32, 1, 8, 8, 0, HD_ARRAY_SURFACE, 0});
    hd_texture_desc d = {.resource = HD_RESOURCE_ARRAY, .array = a, .filter = 1}, got;
    uint64_t texture, surface;
    const char *error;
    assert_int_equal(hd_texture_create(m, &d, &texture, &error), HD_SUCCESS);
    assert_int_equal(hd_surface_create(m, s, &surface, &error), HD_SUCCESS);
    assert_true(hd_texture_get_desc(m, texture, &got));
    assert_ptr_equal(got.array, a);
    assert_true(hd_surface_get_array(m, surface, &plain));
    assert_ptr_equal(plain, s);
    assert_int_equal(hd_texture_destroy(m, surface), HD_ERROR_INVALID_VALUE);
    assert_int_equal(hd_texture_destroy(m, texture + 16), HD_ERROR_INVALID_VALUE);
    assert_int_equal(hd_texture_destroy(m, (uint64_t)(uintptr_t)a), HD_ERROR_INVALID_VALUE);
    assert_int_equal(hd_texture_destroy(m, texture), HD_SUCCESS);
    assert_int_equal(hd_texture_destroy(m, texture), HD_ERROR_INVALID_VALUE);
    assert_int_equal(hd_surface_destroy(m, surface), HD_SUCCESS);
    hd_array_destroy(a);
    hd_array_destroy(s);
    hd_machine_destroy(m);
}

static void wrong_textures_are_refused(void **state)
{
    (void)state;
    hd_machine *m = new_machine();
    hd_array *a = new_array(m, (hd_array_desc){U8, 4, 8, 8, 0, 0, 0});
    uint64_t texture;
    hd_texture_desc d = {.resource = HD_RESOURCE_ARRAY, .array = a, .filter = 1, .flags = HD_TEXTURE_READ_AS_INTEGER};
    assert_int_equal(hd_texture_create(m, &d, &texture, NULL), HD_SUCCESS);
    d = (hd_texture_desc){.resource = HD_RESOURCE_ARRAY, .array = a, .address_mode = {4}};
    assert_int_equal(hd_texture_create(m, &d, &texture, NULL), HD_ERROR_INVALID_VALUE);
    d = (hd_texture_desc){.resource = HD_RESOURCE_LINEAR, .format = F32, .channels = 1, .bytes = 64};
    assert_int_equal(hd_texture_create(m, &d, &texture, NULL), HD_ERROR_INVALID_VALUE);
    d = (hd_texture_desc){.resource = HD_RESOURCE_ARRAY,
                          .array = a,
                          .viewed = true,
                          .view_format = 13,
                          .view_width = 8,
                          .view_height = 8};
    assert_int_equal(hd_texture_create(m, &d, &texture, NULL), HD_SUCCESS);
    d.view_format = 15; /* four of 32 bits */
    assert_int_equal(hd_texture_create(m, &d, &texture, NULL), HD_ERROR_INVALID_VALUE);
    d.view_format = 0x19;
    assert_int_equal(hd_texture_create(m, &d, &texture, NULL), HD_ERROR_NOT_SUPPORTED);
    hd_array_destroy(a);
    hd_machine_destroy(m);
}

static void references_are_of_their_kind(void **state)
{
    (void)state;
    static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .global .texref picture;\n.visible .global .surfref board;\n"
                               ".visible .global .u32 number;\n.visible .entry k() { ret; }\n";
    hd_machine *m = new_machine();
    hd_array *a = new_array(m, (hd_array_desc){F32, 1, 8, 8, 0, HD_ARRAY_SURFACE, 0});
    hd_source source = {"t.ptx", text, sizeof text - 1};
    hd_module *module;
    uint64_t picture, board;
    assert_int_equal(hd_module_load(m, &source, 1, &module, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_get_reference(module, "number", HD_REFERENCE_TEXTURE, &picture), HD_ERROR_NOT_FOUND);
    assert_int_equal(hd_module_get_reference(module, "board", HD_REFERENCE_TEXTURE, &picture), HD_ERROR_NOT_FOUND);
    assert_int_equal(hd_module_get_reference(module, "picture", HD_REFERENCE_TEXTURE, &picture), HD_SUCCESS);
    assert_int_equal(hd_module_get_reference(module, "board", HD_REFERENCE_SURFACE, &board), HD_SUCCESS);
    assert_int_equal(hd_module_get_global(module, "picture", NULL, NULL), HD_ERROR_NOT_FOUND);
    hd_texture_desc d = {.resource = HD_RESOURCE_ARRAY, .array = a};
    assert_int_equal(hd_texture_bind(m, picture, &d, NULL), HD_SUCCESS);
    assert_int_equal(hd_texture_bind(m, board, &d, NULL), HD_ERROR_INVALID_VALUE);
    assert_int_equal(hd_surface_bind(m, board, a, NULL), HD_SUCCESS);
    assert_int_equal(hd_surface_bind(m, board, NULL, NULL), HD_SUCCESS);
    assert_int_equal(hd_texture_destroy(m, picture), HD_ERROR_INVALID_VALUE);
    hd_array_destroy(a);
    hd_module_unload(module);
    assert_int_equal(hd_texture_bind(m, picture, NULL, NULL), HD_ERROR_INVALID_VALUE);
    hd_machine_destroy(m);
}

/* ---- reading ---- */

static uint32_t random_bits(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static float random_coordinate(bool normalized)
{
    static const float special[] = {0, 1, -1, 0.5F, 1e9F, -1e9F, 3e38F, -3e38F, 16777216, 1e-30F};
    uint32_t r = random_bits() % 20;
    if (r < 10)
        return special[r];
    if (r == 10)
        return __builtin_nanf("");
    if (r == 11)
        return random_bits() & 1 ? __builtin_inff() : -__builtin_inff();
    return ((float)(random_bits() & 0xffffff) / 4194304 - 2) * (normalized ? 1 : 9);
}

/* Vectors and lane by lane: the same bits, with texels of any kind. */
static void pictures_are_read_as_lanes_would(void **state)
{
    (void)state;
    static const unsigned formats[] = {0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x10, 0x20};
    hd_machine *m = new_machine();
    unsigned read = 0, levels = 0;
    while (hd_cpu_level(levels))
        levels++;
    for (unsigned round = 0; round < 1800; round++) {
        unsigned channels = 1u << round % 3, most = round % 7 ? 9 : 3000;
        hd_array *a = new_array(
            m, (hd_array_desc){formats[round % 8], channels, 1 + random_bits() % most, 1 + random_bits() % 9, 0, 0, 0});
        hd_array_level l;
        assert_true(hd_array_get_level(a, 0, &l));
        for (size_t i = 0; i < l.slice_bytes; i++)
            ((uint8_t *)l.start)[i] = (uint8_t)random_bits();
        struct array shape = {.format = {0}, .width = (uint32_t)l.width, .height = (uint32_t)l.height, .n_levels = 1};
        assert_true(texel_format_of(formats[round % 8], channels, &shape.format));
        array_lay_out(&shape);
        shape.levels[0].start = (uint64_t)(uintptr_t)l.start;
        bool whole = formats[round % 8] == 0x03 || formats[round % 8] == 0x0a; /* no filter mixes them */
        bool raw = whole || random_bits() & 1;
        hd_texture_desc d = {.filter = raw ? 0 : random_bits() & 1,
                             .flags = (random_bits() & 1 ? HD_TEXTURE_NORMALIZED_COORDINATES : 0) |
                                      (raw ? HD_TEXTURE_READ_AS_INTEGER : 0),
                             .address_mode = {random_bits() % 2, random_bits() % 2}};
        struct texture t;
        struct picture p;
        float x[WARP_LANES], y[WARP_LANES];
        uint32_t out[4][WARP_LANES];
        assert_null(texture_make(&t, &d, &shape, 0, 1));
        if (!picture_of(&t, &t.sampler, 0, &p)) { /* bytes with a sign, as fractions */
            assert_int_equal(formats[round % 8], 0x08);
            hd_array_destroy(a);
            continue;
        }
        for (unsigned k = 0; k < WARP_LANES; k++) {
            x[k] = random_coordinate(t.sampler.normalized);
            y[k] = random_coordinate(t.sampler.normalized);
            if (round % 5 == 0) { /* texels' middles, which are not mixed */
                x[k] = floorf(x[k]) + 0.5F;
                y[k] = floorf(y[k]) + 0.5F;
            }
        }
        const struct picture_fns *fns = pictures_for_level(hd_cpu_level(round / 24 % levels));
        uint32_t left = fns->read(&p, x, y, out);
        for (unsigned k = 0; k < WARP_LANES; k++) {
            struct texture_at at = {.at.f = {x[k], y[k]}};
            uint32_t texel[4];
            texture_sample(&t, &t.sampler, false, LOD_NONE, &at, texel);
            for (unsigned c = 0; c < 4 && !(left >> k & 1); c++, read++)
                assert_memory_equal(&out[c][k], &texel[c], 4);
        }
        hd_array_destroy(a);
    }
    assert_true(read > 50000);
    hd_machine_destroy(m);
}

/* A machine, and a kernel that reads a texture, by its handle, at places that threads have. */
static const char reads[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .texref picture;\n"
    ".visible .entry by_handle(.param .u64 out, .param .u64 t) {\n"
    ".reg .u64 %rd<4>; .reg .f32 %f<5>; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [t]; mov.f32 %f1, 0f3F000000;\n"
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f1, %f1}]; st.global.f32 [%rd1], %f1; ret; }\n"
    ".visible .entry by_name(.param .u64 out) {\n"
    ".reg .u64 %rd<4>; .reg .f32 %f<5>; ld.param.u64 %rd1, [out]; mov.f32 %f1, 0f3F000000;\n"
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, {%f1, %f1}]; st.global.f32 [%rd1], %f1; ret; }\n"
    ".visible .entry writes(.param .u64 s, .param .s32 x) {\n"
    ".reg .u64 %rd<4>; .reg .b32 %r<5>; ld.param.u64 %rd1, [s]; ld.param.u32 %r1, [x];\n"
    "sust.b.2d.b32.trap [%rd1, {%r1, %r2}], %r1; ret; }\n";

static hd_kernel *kernel_of(hd_module *module, const char *name)
{
    hd_kernel *k = NULL;
    assert_int_equal(hd_module_get_kernel(module, name, &k, NULL), HD_SUCCESS);
    return k;
}

static void expect(hd_kernel *k, const void *const *args, hd_result result, const char *code)
{
    static const hd_engine engines[] = {HD_ENGINE_INTERP, HD_ENGINE_AUTO};
    for (size_t i = 0; i < 2; i++) {
        hd_report *report;
        hd_diagnostic d;
        hd_launch_config c = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .args = args, .engine = engines[i]};
        assert_int_equal(hd_launch(k, &c, NULL, &report), result);
        if (code) {
            assert_true(hd_report_get(report, 0, &d));
            assert_string_equal(d.code, code);
        }
        hd_report_free(report);
    }
}

static void what_is_no_texture_is_a_fault(void **state)
{
    (void)state;
    hd_machine *m = new_machine();
    hd_array *a = new_array(m, (hd_array_desc){F32, 1, 8, 8, 0, HD_ARRAY_SURFACE, 0});
    hd_array *line = new_array(m, (hd_array_desc){F32, 1, 8, 0, 0, 0, 0});
    hd_source source = {"t.ptx", reads, sizeof reads - 1};
    hd_module *module;
    float *out;
    uint64_t texture, surface, flat;
    assert_int_equal(hd_module_load(m, &source, 1, &module, NULL), HD_SUCCESS);
    assert_int_equal(hd_alloc(m, 64, (void **)&out), HD_SUCCESS);
    hd_array_level l;
    assert_true(hd_array_get_level(a, 0, &l));
    *(float *)l.start = 7;
    hd_texture_desc d = {.resource = HD_RESOURCE_ARRAY, .array = a}, of_line = {.array = line};
    assert_int_equal(hd_texture_create(m, &d, &texture, NULL), HD_SUCCESS);
    assert_int_equal(hd_texture_create(m, &of_line, &flat, NULL), HD_SUCCESS);
    assert_int_equal(hd_surface_create(m, a, &surface, NULL), HD_SUCCESS);
    hd_kernel *by_handle = kernel_of(module, "by_handle"), *by_name = kernel_of(module, "by_name"),
              *writes = kernel_of(module, "writes");
    expect(by_handle, (const void *[]){&out, &texture}, HD_SUCCESS, NULL);
    assert_true(*out == 7);
    expect(by_handle, (const void *[]){&out, &flat}, HD_SUCCESS, NULL); /* of another shape: 0, as on an H200 */
    assert_true(*out == 0);
    const uint64_t made_up[] = {0,           1,          texture + 1600,     texture ^ 1ull << 40,
                                surface + 1, UINT64_MAX, (uintptr_t)l.start, (uintptr_t)out};
    for (size_t i = 0; i < sizeof made_up / sizeof made_up[0]; i++)
        expect(by_handle, (const void *[]){&out, &made_up[i]}, HD_ERROR_ILLEGAL_ADDRESS, "no-texture");
    expect(by_name, (const void *[]){&out}, HD_ERROR_ILLEGAL_ADDRESS, "texture-unbound");
    uint64_t picture;
    assert_int_equal(hd_module_get_reference(module, "picture", HD_REFERENCE_TEXTURE, &picture), HD_SUCCESS);
    assert_int_equal(hd_texture_bind(m, picture, &d, NULL), HD_SUCCESS);
    expect(by_name, (const void *[]){&out}, HD_SUCCESS, NULL);
    assert_true(*out == 7);
    int32_t x[] = {4, 32, -4, 2};
    expect(writes, (const void *[]){&surface, &x[0]}, HD_SUCCESS, NULL);
    expect(writes, (const void *[]){&surface, &x[1]}, HD_ERROR_ILLEGAL_ADDRESS, "surface-bounds");
    expect(writes, (const void *[]){&surface, &x[2]}, HD_ERROR_ILLEGAL_ADDRESS, "surface-bounds");
    expect(writes, (const void *[]){&surface, &x[3]}, HD_ERROR_MISALIGNED_ADDRESS, "surface-misaligned");
    expect(writes, (const void *[]){&texture, &x[0]}, HD_ERROR_ILLEGAL_ADDRESS, "no-texture");
    hd_array_destroy(a);
    expect(by_handle, (const void *[]){&out, &texture}, HD_ERROR_ILLEGAL_ADDRESS, "texture-freed");
    expect(by_name, (const void *[]){&out}, HD_ERROR_ILLEGAL_ADDRESS, "texture-freed");
    assert_int_equal(hd_texture_destroy(m, texture), HD_SUCCESS);
    expect(by_handle, (const void *[]){&out, &texture}, HD_ERROR_ILLEGAL_ADDRESS, "no-texture");
    hd_texture_desc linear = {.resource = HD_RESOURCE_PITCH2D,
                              .address = out,
                              .format = F32,
                              .channels = 1,
                              .width = 4,
                              .height = 2,
                              .pitch = 32};
    assert_int_equal(hd_texture_create(m, &linear, &texture, NULL), HD_SUCCESS);
    float *other;
    assert_int_equal(hd_alloc(m, 64, (void **)&other), HD_SUCCESS);
    expect(by_handle, (const void *[]){&other, &texture}, HD_SUCCESS, NULL);
    assert_int_equal(hd_free(m, out), HD_SUCCESS);
    expect(by_handle, (const void *[]){&other, &texture}, HD_ERROR_ILLEGAL_ADDRESS, "texture-freed");
    hd_array_destroy(line);
    hd_machine_destroy(m);
}

/* Texels that nobody has written, and a surface that threads write without order. */
static void checkers_see_texels(void **state)
{
    (void)state;
    static const struct {
        const char *kernel, *code;
    } cases[] = {{"by_handle", "uninitialised-read"}, {"writes", "data-race"}};
    for (size_t i = 0; i < 2; i++) {
        hd_machine *m = new_machine();
        hd_checker_options options = {0};
        hd_checker *checker;
        hd_array *a = new_array(m, (hd_array_desc){F32, 1, 8, 8, 0, HD_ARRAY_SURFACE, 0});
        hd_source source = {"t.ptx", reads, sizeof reads - 1};
        hd_module *module;
        hd_report *report = NULL;
        uint64_t object;
        void *out;
        assert_int_equal(hd_checker_create(m, &options, &checker), HD_SUCCESS);
        assert_int_equal(hd_module_load(m, &source, 1, &module, NULL), HD_SUCCESS);
        assert_int_equal(hd_alloc(m, 64, &out), HD_SUCCESS);
        hd_texture_desc d = {.array = a};
        hd_array_level l;
        int32_t x = 4;
        assert_true(hd_array_get_level(a, 0, &l));
        assert_int_equal(hd_checker_mark_undefined(checker, l.start, 8, NULL), HD_SUCCESS);
        assert_int_equal(i ? hd_surface_create(m, a, &object, NULL) : hd_texture_create(m, &d, &object, NULL),
                         HD_SUCCESS);
        const void *of_texture[] = {&out, &object}, *of_surface[] = {&object, &x};
        hd_launch_config c = {.grid = {2, 1, 1}, .block = {64, 1, 1}, .args = i ? of_surface : of_texture};
        hd_launch(kernel_of(module, cases[i].kernel), &c, NULL, NULL);
        assert_int_equal(hd_checker_report(checker, &report), HD_SUCCESS);
        bool found = false;
        hd_diagnostic diagnostic;
        for (size_t k = 0; hd_report_get(report, k, &diagnostic); k++)
            found |= strcmp(diagnostic.code, cases[i].code) == 0;
        assert_true(found);
        hd_report_free(report);
        hd_checker_destroy(checker);
        hd_array_destroy(a);
        hd_machine_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_half_as_large),
        cmocka_unit_test(layers_stay_in_all_levels),
        cmocka_unit_test(wrong_arrays_are_refused),
        cmocka_unit_test(handles_cannot_lie),
        cmocka_unit_test(wrong_textures_are_refused),
        cmocka_unit_test(references_are_of_their_kind),
        cmocka_unit_test(pictures_are_read_as_lanes_would),
        cmocka_unit_test(what_is_no_texture_is_a_fault),
        cmocka_unit_test(checkers_see_texels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
