/* cli/npy: files that NumPy writes are read, ours read back the same, damaged ones are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/npy.h"

static struct arena arena;

/* A file of the version with the header and `data` zero bytes behind it. */
static const char *read_header(unsigned version, const char *header, size_t data, struct npy *npy)
{
    size_t prefix = version == 1 ? 10 : 12, n = strlen(header);
    char *b = arena_alloc(&arena, prefix + n + data);
    memcpy(b, "\x93NUMPY", 6);
    b[6] = (char)version;
    b[8] = (char)n;
    b[9] = (char)(n >> 8);
    memcpy(b + prefix, header, n);
    return npy_read(&arena, b, prefix + n + data, npy);
}

#define HEADER(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"

static void files_of_numpy_are_read(void **state)
{
    (void)state;
    struct npy n;
    assert_null(read_header(1, HEADER("'<f4'", "False", "(2, 3)"), 24, &n));
    assert_true(n.type == TYPE_f32 && n.n_dims == 2 && n.dim[0] == 2 && n.dim[1] == 3 && n.count == 6);
    assert_null(read_header(2, HEADER("'<i8'", "False", "(5,)"), 40, &n));
    assert_true(n.type == TYPE_s64 && n.n_dims == 1 && n.count == 5);
    assert_null(read_header(3, HEADER("'|u1'", "True", "(7,)"), 7, &n)); /* one dimension has no order */
    assert_true(n.type == TYPE_u8);
    assert_null(read_header(1, HEADER("'<f8'", "False", "()"), 8, &n));
    assert_true(n.n_dims == 0 && n.count == 1);
    assert_null(read_header(1, HEADER("'<f2'", "False", "(0, 4)"), 0, &n));
    assert_int_equal(n.count, 0);
    assert_null(read_header(1, "{'shape': (3L,), 'descr': \"|V2\", 'fortran_order': False}", 6, &n));
    assert_true(npy_fits(&n, TYPE_bf16));
}

static void types_fit_by_size_and_kind(void **state)
{
    (void)state;
    struct npy n = {.type = TYPE_s32};
    assert_true(npy_fits(&n, TYPE_s32) && npy_fits(&n, TYPE_u32) && npy_fits(&n, TYPE_b32));
    assert_false(npy_fits(&n, TYPE_f32));
    assert_false(npy_fits(&n, TYPE_s64));
    n.type = TYPE_f32;
    assert_true(npy_fits(&n, TYPE_b32) && !npy_fits(&n, TYPE_u32));
    n.type = TYPE_f16;
    assert_false(npy_fits(&n, TYPE_bf16));
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    struct npy n;
    assert_non_null(npy_read(&arena, "", 0, &n));
    assert_non_null(npy_read(&arena, "not a NumPy file at all", 23, &n));
    assert_non_null(npy_read(&arena, "\x93NUMPY\x01\x00\xff\xff{}", 12, &n));
    assert_non_null(npy_read(&arena, "\x93NUMPY\x02\x00\x02\x00", 10, &n));
    assert_non_null(read_header(4, HEADER("'<f4'", "False", "(2,)"), 8, &n));
    assert_non_null(strstr(read_header(1, HEADER("'>f4'", "False", "(2,)"), 8, &n), "big-endian"));
    assert_non_null(strstr(read_header(1, HEADER("'<f4'", "True", "(2, 2)"), 16, &n), "Fortran"));
    assert_non_null(strstr(read_header(1, HEADER("'<c8'", "False", "(2,)"), 16, &n), "<c8"));
    assert_non_null(strstr(read_header(1, HEADER("[('x', '<f4')]", "False", "(2,)"), 8, &n), "structures"));
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "{'descr'",
        "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        assert_non_null(read_header(1, headers[i], 8, &n));
    assert_non_null(strstr(read_header(1, HEADER("'<f4'", "False", "(2,)"), 7, &n), "ends early"));
    assert_non_null(read_header(1, HEADER("'<f4'", "False", "(2,)"), 9, &n));
    assert_non_null(read_header(1, HEADER("'<f8'", "False", "(4611686018427387904,)"), 8, &n));
}

/* Every file that ends too soon, and every byte of a header changed: an answer, and no access
 * outside. */
static void any_damage_is_survived(void **state)
{
    (void)state;
    struct npy n;
    static const char whole[] = "\x93NUMPY\x01\x00\x3c\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }  \n"
                                "12345678";
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        char *exact = malloc(size ? size : 1);
        memcpy(exact, whole, size);
        assert_non_null(npy_read(&arena, exact, size, &n));
        free(exact);
    }
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        char *exact = malloc(sizeof whole - 1);
        memcpy(exact, whole, sizeof whole - 1);
        for (int c = 0; c < 256; c++) {
            exact[i] = (char)c;
            npy_read(&arena, exact, sizeof whole - 1, &n);
        }
        free(exact);
    }
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    static const enum isa_type types[] = {TYPE_u8,  TYPE_u16, TYPE_u32, TYPE_u64, TYPE_s8,  TYPE_s16,
                                          TYPE_s32, TYPE_s64, TYPE_f16, TYPE_f32, TYPE_f64, TYPE_b8,
                                          TYPE_b16, TYPE_b32, TYPE_b64, TYPE_bf16};
    char folder[] = P_tmpdir "/heddle-test-XXXXXX", data[6 * 8];
    assert_non_null(mkdtemp(folder));
    const char *path = arena_printf(&arena, "%s/a.npy", folder);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct npy n = {.type = types[i], .n_dims = 2, .dim = {2, 3}, .count = 6, .data = data}, back;
        struct file_writer w;
        struct file_bytes f;
        assert_null(file_create(&w, &arena, path));
        npy_write(&w, &n);
        assert_null(file_finish(&w));
        assert_null(file_read(&arena, path, 0, &f));
        assert_null(npy_read(&arena, f.bytes, f.n, &back));
        assert_true(npy_fits(&back, types[i]) && back.n_dims == 2 && back.dim[1] == 3);
        assert_memory_equal(back.data, data, 6 * value_bytes(types[i]));
        assert_int_equal((size_t)(back.data - f.bytes) % 64, 0);
        free(f.bytes);
    }
    unlink(path);
    rmdir(folder);
}

static void a_failed_file_leaves_nothing(void **state)
{
    (void)state;
    struct file_writer w;
    assert_non_null(file_create(&w, &arena, "/no/such/folder/a.npy"));
    assert_non_null(file_may_create(&arena, "/no/such/folder/a.npy"));
    assert_non_null(file_may_create(&arena, P_tmpdir));
    if (access("/dev/full", W_OK) == 0) {
        assert_null(file_create(&w, &arena, "/dev/full"));
        assert_non_null(strstr(file_write(&w, "x", 1), "No space left"));
        assert_non_null(file_finish(&w));
    }
    char folder[] = P_tmpdir "/heddle-test-XXXXXX";
    struct stat st;
    assert_non_null(mkdtemp(folder));
    const char *path = arena_printf(&arena, "%s/a.npy", folder);
    assert_null(file_create(&w, &arena, path));
    assert_null(file_write(&w, "x", 1));
    assert_int_not_equal(stat(path, &st), 0); /* not before it is complete */
    w.error = "made to fail";
    assert_non_null(file_finish(&w));
    assert_int_not_equal(stat(path, &st), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing is left in it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_numpy_are_read),    cmocka_unit_test(types_fit_by_size_and_kind),
        cmocka_unit_test(damaged_files_are_refused),  cmocka_unit_test(any_damage_is_survived),
        cmocka_unit_test(what_is_written_reads_back), cmocka_unit_test(a_failed_file_leaves_nothing),
    };
    int failed = cmocka_run_group_tests_name("npy", tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
