"""The examples compute what the CPU computes, or what the lecture's slides say."""
import os
import sys

sys.path[:0] = [os.path.join(os.environ["HEDDLE_SOURCE"], d) for d in ("tests", "examples")]
import reference
from tap import examples, launch, main, run, values, variable


def ptx(name):
    return f"{examples}/{name}/{name}.ptx"


def saxpy():
    r = launch(ptx("saxpy"), "--grid", 4, "--block", 256, 1000, 2.0, "f32[1000]=range+print", "f32[1000]=ones+print")
    assert values(r, 4) == [2.0 * i + 1 for i in range(1000)]
    assert values(r, 3) == list(range(1000))


def histogram():
    for n, grid, block in [(100000, 8, 256), (1, 1, 32), (777, 3, 100), (5000, 40, 1024)]:
        r = launch(ptx("histogram"), "--grid", grid, "--block", block, f"u8[{n}]=rand+print", n, "u32[256]+print")
        assert values(r, 3) == reference.histogram(values(r, 1)), (n, grid, block)


def matmul(file, kernel, tile, width):
    blocks = (width + tile - 1) // tile
    matrix = f"f32[{width},{width}]"
    r = launch(ptx(file), kernel, "--grid", f"{blocks},{blocks}", "--block", f"{tile},{tile}",
               f"{matrix}=randint:-8:8+print", f"{matrix}=randint:-8:8+print", f"{matrix}+print", width)
    assert values(r, 3) == reference.matmul(values(r, 1), values(r, 2), width), (kernel, width)


def tiled_matrix_product_of_any_width():
    for tile in 8, 16, 32:
        for width in 1, tile - 1, 33, 64:
            matmul("matmul_tiled", f"matmul_tiled<{tile}>", tile, width)


def lecture_matrix_product_in_one_block():
    matmul("matmul_lecture", "MatrixMulOneBlock", 16, 16)
    matmul("matmul_lecture", "MatrixMulOneBlock", 32, 32)


def lecture_naive_matrix_product_for_each_tile_width():
    for tile in 1, 2, 4, 8, 16, 32:
        matmul("matmul_lecture", f"MatrixMulNaive<{tile}>", tile, 32)


def lecture_tiled_matrix_product_for_each_tile_width():
    for tile in 1, 2, 4, 8, 16, 32:
        matmul("matmul_lecture", f"MatrixMulTiled<{tile}>", tile, 32)


def a_tile_of_64_exceeds_the_threads_of_a_block():
    status, _, err = run("launch", ptx("matmul_lecture"), "MatrixMulTiled<32>", "--grid", 1, "--block", "64,64",
                         "f32[64,64]", "f32[64,64]", "f32[64,64]", 64)
    assert status == 1 and "4096 threads" in err and "1024" in err, err


def vectors_have_components():
    r = launch(ptx("vector_types"), "make_vectors", "--grid", 1, "--block", 1, "s32[2]+print", "f32[4]+print")
    assert values(r, 1) == [1, 2] and values(r, 2) == [1.0, 2.0, 3.0, 4.0]


def vectors_are_loaded_and_stored_whole():
    n = 64
    r = launch(ptx("vector_types"), "use_vectors", "--grid", 2, "--block", n // 2, f"f32[{n},4]=randint:-99:99+print",
               f"f32[{n},4]+print", f"s16[{n},4]=randint:-999:999+print", f"s32[{n},2]+print",
               f"f64[{n},2]=rand+print", f"f64[{n},2]+print")
    rows = [values(r, 1)[4 * i:4 * i + 4] for i in range(n)]
    assert values(r, 2) == [c for x, y, z, w in rows for c in (w, z, y, x + w)]
    small = values(r, 3)
    assert values(r, 4) == [small[i] + small[i + 1] for i in range(0, 4 * n, 2)]
    wide = values(r, 5)
    assert values(r, 6) == [wide[i ^ 1] for i in range(2 * n)]


def threads_find_their_element():
    r = launch(ptx("vector_types"), "square", "--grid", 3, "--block", 64, "f32[192]=range:-96+print", "f32[192]+print")
    assert values(r, 2) == [x * x for x in values(r, 1)]


def threads_of_a_block_synchronise():
    r = launch(ptx("vector_types"), "neighbour_sum", "--grid", 1, "--block", 1000, "--shared", 4000,
               "s32[1000]=rand+print", "s32[1000]+print")
    md = values(r, 1)
    wrap = lambda x: (x + 2**31) % 2**32 - 2**31
    assert values(r, 2) == [wrap(md[i] + md[(i + 1) % 1000]) for i in range(1000)]


def plain_increments_are_lost():
    assert variable(launch(ptx("atomics"), "plain_increment", "--grid", 1, "--block", 8), "count") == [1]
    (count,) = variable(launch(ptx("atomics"), "plain_increment", "--grid", 8, "--block", 1), "count")
    assert 1 <= count <= 8


def eight_atomic_incs_that_wrap_at_1_leave_0():
    r = launch(ptx("atomics"), "atomic_inc", "--grid", 1, "--block", 8, "--var", "count+print")
    assert variable(r, "count") == [0]
    r = launch(ptx("atomics"), "atomic_inc", "--grid", 1, "--block", 7, "--var", "count+print")
    assert variable(r, "count") == [1]


def eight_atomic_adds_leave_8():
    for grid, block in (1, 8), (8, 1), (2, 4):
        r = launch(ptx("atomics"), "atomic_add_one", "--grid", grid, "--block", block)
        assert variable(r, "count") == [8]
    r = launch(ptx("atomics"), "atomic_add_one", "--grid", 1, "--block", 8, "--var", "count=100")
    assert variable(r, "count") == [108]


def compare_and_swap_returns_what_the_slides_say():
    r = launch(ptx("atomics"), "cas_example", "--grid", 1, "--block", 1, "s32[1]", "s32[3]+print", "s32[3]+print")
    assert values(r, 2) == [1, 2, 2]
    assert values(r, 3) == [2, 2, 3]


def addition_by_compare_and_swap_loses_nothing():
    threads = 8 * 96
    r = launch(ptx("atomics"), "add_by_cas", "--grid", 8, "--block", 96, "s32[1]=5", 3, f"s32[{threads}]+print")
    assert values(r, 1) == [5 + 3 * threads]
    assert sorted(values(r, 3)) == [5 + 3 * i for i in range(threads)]


def lots_of_atomics_agree_with_any_order():
    n = 2 * 64
    r = launch(ptx("atomics"), "lots_of_atomics", "--grid", 2, "--block", 64, "s32[8]=0,0,0,7,7,-1,0,0+print",
               "u32[2]=998,3+print")
    cells = values(r, 1)
    bits_and, bits_or, bits_xor = -1, 0, 0
    for i in range(1, n + 1):
        bits_and, bits_or, bits_xor = bits_and & ~i, bits_or | i, bits_xor ^ i
    total = n * (n + 1) // 2
    assert cells[:2] == [total, -total] and 1 <= cells[2] <= n
    assert cells[3:] == [-n, n, bits_and, bits_or, bits_xor], cells
    inc, dec = 998, 3
    for _ in range(n):
        inc = 0 if inc >= 1000 else inc + 1
        dec = 1000 if dec == 0 or dec > 1000 else dec - 1
    assert values(r, 2) == [inc, dec]


def shared_atomics_count_every_thread():
    r = launch(ptx("atomics"), "count_in_shared", "--grid", 37, "--block", 200, "s32[1]+print")
    assert values(r, 1) == [37 * 200]


main(globals())
