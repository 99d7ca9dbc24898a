/* Arrays, textures and surfaces as the host makes them (include/heddle.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "heddle.h"

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
    assert_int_equal(hd_texture_create(m, &d, &texture, NULL), HD_ERROR_INVALID_VALUE);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_half_as_large),   cmocka_unit_test(layers_stay_in_all_levels),
        cmocka_unit_test(wrong_arrays_are_refused),   cmocka_unit_test(handles_cannot_lie),
        cmocka_unit_test(wrong_textures_are_refused), cmocka_unit_test(references_are_of_their_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
