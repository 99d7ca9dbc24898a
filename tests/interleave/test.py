"""Loads and stores of neighbouring words, which compiled code moves together; see docs/JIT.md, "Memory"."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, cpu_levels, dump_of, fault_by_both, need_compiler, other_levels, written
from tap import launch, main, run, some

# Thread t is at t * STRIDE elements, and loads and stores elements behind that. Threads whose number has a bit of `mask` in common
# store nothing.
MOVES = """.visible .entry moves(.param .u64 out, .param .u64 in, .param .u32 mask)
{
    .reg .u64 %rd<9>; .reg .u32 %r<9>; .reg .pred %p; .reg .REG %v<32>; .reg .REG %sum;
    .shared .align 16 .b8 cells[16384];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r1, [mask];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r3, %r4, %r2;
    mul.wide.u32 %rd3, %r5, BYTES;
    add.u64 %rd4, %rd2, %rd3;
    add.u64 %rd5, %rd1, %rd3;
    mov.u32 %r6, cells;
    mad.lo.u32 %r7, %r2, BYTES, %r6;
    mov.REG %sum, 0;
LOADS
    and.b32 %r8, %r2, %r1;
    setp.ne.u32 %p, %r8, 0;
    BRANCH
STORES
DONE:
    AFTER
    ret;
}
"""
SIZES = {"u32": 4, "u64": 8, "u8": 1, "s16": 2, "s32": 4}  # the most telling first: tap.some()


def access(name, space, type, vector, to, at, values):
    many = f".v{vector}" if vector > 1 else ""
    place = f"[{to}+{at * SIZES[type]}]"
    list = ", ".join(f"%v{v}" for v in values)
    list = f"{{{list}}}" if vector > 1 else list
    return f"    {name}.{space}{many}.{type} " + (f"{list}, {place};" if name == "ld" else f"{place}, {list};")


def moves(type, stride, loads, stores, vector=1, masked=False, shared=False):
    """Elements that are loaded, and that are stored, in this order; in shared memory both are seen from behind a barrier."""
    reg = "u64" if type == "u64" else "u16" if SIZES[type] < 4 else type
    base = iter(range(0, 32, vector))
    lines = [access("ld", "global", type, vector, "%rd4", at, range(b, b + vector)) for at, b in zip(loads, base)]
    n = len(loads) * vector
    lines += [f"    mad.lo.{reg} %sum, %sum, 3, %v{v};" for v in range(n)]
    lines += [f"    add.{reg} %v{v}, %v{v}, {v + 1};" for v in range(n)]
    base = iter(k * vector % n for k in range(len(stores)))
    to, space = ("%r7", "shared") if shared else ("%rd5", "global")
    out = [access("st", space, type, vector, to, at, range(b, b + vector)) for at, b in zip(stores, base)]
    before, after = [], []
    if shared:  # what no thread stores is 0
        words = [f"    st.shared.u32 [%r6+{at}], 0;" for at in range(0, 32 * stride * SIZES[type], 4)]
        before = words + ["    bar.sync 0;"]
        after = ["bar.sync 0;"] + [
            l for at in range(stride) for l in (access("ld", "shared", type, 1, "%r7", at, [0]),
                                                access("st", "global", type, 1, "%rd5", at, [0]))]
    else:
        after = [f"    st.global.{type} [%rd5], %sum;"] if 0 not in stores and stride > max(stores) else []
    text = MOVES.replace("LOADS", "\n".join(before + lines)).replace("STORES", "\n".join(out)).replace("REG", reg)
    text = text.replace("BRANCH", "@%p bra DONE;" if masked else "").replace("AFTER", "\n".join(after))
    return text.replace("BYTES", str(stride * SIZES[type]))


LEVELS = "x86-64-v2", "x86-64-v3", "x86-64-v4"


def compare(text, masks=(0,), block=32, levels=False, grid=5):
    with written(text) as path:
        for mask in masks:
            args = path, "--grid", grid, "--block", block, "u8[16384]+print", "u8[16384]=rand", mask
            expected = by_both(*args)["buffers"]
            assert any(expected[0]["values"]), "nothing was stored"
            for level in other_levels(*LEVELS) if levels else ():
                assert launch(*args, "--engine", "jit", "--cpu", level)["buffers"] == expected, level


def words_one_behind_the_other_are_moved_exactly():
    for type in some(2, SIZES):
        for n in 2, 3, 4, 8:
            compare(moves(type, n, range(n), range(n)[::-1]), levels=type == "u32", grid=2, block=64)


def gaps_between_them_stay_as_they_are():
    for type in "s16", "u32", "u64":
        for stride, members in (2, [1]), (4, [0, 1, 3]), (4, [3, 1]), (8, [7, 0, 2, 5, 4]), (3, [0]), (5, [4, 1, 0, 2]):
            compare(moves(type, stride, members, members), levels=type == "u32")


def some_are_loaded_twice_or_stored_twice():
    compare(moves("u32", 2, [0, 1, 0, 1, 1], [0, 1, 1, 0]), levels=True)
    compare(moves("u32", 4, [0, 4, 1, 5, 2, 3], [0, 1, 4, 2, 3, 5]), levels=True, grid=1) # 4 is the next lane's 0


def more_than_one_run_through_one_register():
    compare(moves("u32", 2, [0, 64, 1, 65], [64, 0, 65, 1]), levels=True, grid=1)
    compare(moves("u64", 2, range(16), range(16)), levels=True, grid=1)
    compare(moves("u32", 4, range(16), range(16)[::-1]), levels=True, grid=1)


def vectors_of_one_lane_may_be_parts_of_a_run():
    for type in "s16", "u32":
        compare(moves(type, 8, [4, 0], [4, 0], vector=4), levels=True)
        compare(moves(type, 4, [0, 2], [2, 0], vector=2, masked=True), masks=(0, 5), levels=True)
    compare(moves("u64", 4, [0, 2], [0, 2], vector=2, masked=True), masks=(0, 2), levels=True)


def lanes_that_do_not_run_store_nothing():
    for type in some(2, SIZES):
        for n in 2, 3, 4:
            compare(moves(type, n, range(n), range(n), masked=True), masks=(0, 1, 6, 31), levels=type == "u32")
        compare(moves(type, 2, [1], [1], masked=True), masks=(0, 9), levels=True)


def shared_memory_is_moved_exactly():
    for type in some(2, SIZES):
        for n in 2, 3, 4:
            compare(moves(type, n, range(n), range(n), shared=True), levels=type == "u32")
            compare(moves(type, n, range(n), range(n), shared=True, masked=True), masks=(1, 6, 31), levels=type == "u32")
        compare(moves(type, 2, [0], [1], shared=True), levels=True)
        compare(moves(type, 2, [0], [0], shared=True, masked=True), masks=(4, 16), levels=True)
        compare(moves(type, 1, [0], [0], shared=True, masked=True), masks=(4, 16), levels=True)


# Four words of each thread; in the middle of the stores, or of the loads, stands something else.
BETWEEN = """.visible .entry between(.param .u64 out, .param .u64 in, .param .u64 apart)
{
    .reg .u64 %rd<10>; .reg .u32 %r<9>; .reg .u32 %v<9>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u64 %rd7, [apart];
    add.u64 %rd1, %rd1, 64;
    add.u64 %rd2, %rd2, 64;
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 16;
    add.u64 %rd4, %rd2, %rd3;
    add.u64 %rd5, %rd1, %rd3;
    add.u64 %rd6, %rd5, %rd7;
    mov.u32 %v0, 0;
    setp.lt.u32 %p, %r2, 20;
    mov.u32 %r3, 0;
    ld.global.u32 %v1, [%rd4];
    ld.global.u32 %v2, [%rd4+4];
    LOADS
    ld.global.u32 %v3, [%rd4+8];
    ld.global.u32 %v4, [%rd4+12];
    st.global.u32 [%rd5], %v4;
    st.global.u32 [%rd5+4], %v2;
    STORES
    st.global.u32 [%rd5+8], %v1;
    st.global.u32 [%rd5+12], %v3;
    ld.global.u32 %v5, [%rd5+4];
    add.u32 %v0, %v0, %v5;
    add.u64 %rd8, %rd5, 8192;
    st.global.u32 [%rd8], %v0;
    ret;
}
"""


def between(loads="", stores="", apart=0):
    text = BETWEEN.replace("LOADS", loads).replace("STORES", stores)
    with written(text) as path:
        args = path, "--grid", 1, "--block", 64, "u32[4096]=range+print", "u32[1024]=rand+print", apart
        expected = by_both(*args)["buffers"]
        for level in other_levels(*LEVELS):
            assert launch(*args, "--engine", "jit", "--cpu", level)["buffers"] == expected, level


def stores_stay_in_their_order_around_stores_elsewhere():
    for apart in 0, 4, 8, 12, 16, 2**64 - 4, 2**64 - 8, 1024, 6:
        if apart % 4 == 0:
            between(stores="st.global.u32 [%rd6], %r2;", apart=apart)
            between(stores="st.volatile.global.u32 [%rd6], %r2;", apart=apart)
            between(stores="@%p st.global.u32 [%rd6], %r2;", apart=apart)
        between(stores="st.global.u8 [%rd6], %r2;", apart=apart)
    between(stores="st.global.u32 [%rd5+8], %r2;")
    between(stores="st.global.u32 [%rd5+20], %r2;")


def what_is_stored_is_loaded_in_between():
    for apart in 0, 4, 8, 16, 2**64 - 12:
        for load in "ld.global.u32", "ld.volatile.global.u32", "ld.relaxed.gpu.global.u32", "@%p ld.global.u32":
            between(stores=f"{load} %v0, [%rd6];", apart=apart)
    between(stores="ld.global.u32 %v0, [%rd5];")
    between(stores="ld.global.u32 %v0, [%rd5+8];")


def loads_see_what_is_stored_before_them():
    back = "sub.u64 %rd6, %rd4, %rd7;"
    for apart in 0, 2**64 - 8, 2**64 - 12, 16, 2**64 - 24:
        for store in "st.global.u32 [%rd6], %r2;", "st.volatile.global.u32 [%rd6], %r2;", "@%p st.global.u32 [%rd6], 5;", \
                "atom.global.add.u32 %v0, [%rd6], 7;", "@%p atom.global.cas.b32 %v0, [%rd6], 0, 7;":
            between(loads=back + store, apart=apart)
    between(loads="st.global.u32 [%rd4+8], %r2;")
    between(loads="st.global.u32 [%rd4+24], %r2;")


def atomics_and_fences_keep_their_places():
    for apart in 0, 4, 8, 12:
        between(stores="atom.global.add.u32 %v0, [%rd6], 7;", apart=apart)
        between(stores="red.global.add.f32 [%rd6], 0f40000000;", apart=apart)
    for fence in "membar.gl;", "fence.acq_rel.gpu;", "fence.sc.sys;":
        between(loads=fence, stores=fence)


# A register changes between them, or is what a load loads.
def what_changes_between_them_is_seen():
    between(stores="add.u64 %rd5, %rd5, 1024;")
    between(loads="add.u64 %rd4, %rd4, 1024;")
    between(loads="mov.u32 %v1, 9; @%p mov.u32 %v2, 8;", stores="mov.u32 %v4, 1; @%p mov.u32 %v2, 0; add.u32 %v1, %v1, 3;")
    between(loads="ld.global.u32 %v2, [%rd4+8]; ld.global.u32 %v1, [%rd4+4];")


# An assumed shape does not hold here: its lanes wrap, and the interpreter goes on.
def where_the_interpreter_goes_on_what_came_before_is_stored():
    index = "cvt.u32.u64 %r5, %rd7; add.u32 %r6, %r5, %r2; mul.wide.u32 %rd9, %r6, 4;"
    for apart in 2**32 - 6, 2**32 - 40, 4:
        between(loads=index, apart=apart)
        between(stores=index, apart=apart)


# Each thread at a place of its own, out of a table, in global or in shared memory.
PLACES = """.visible .entry places(.param .u64 out, .param .u64 in, .param .u64 table, .param .u32 mask)
{
    .reg .u64 %rd<12>; .reg .u32 %r<12>; .reg .REG %v<5>; .reg .pred %p, %q;
    .shared .align 32 .b8 cells[8192];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u64 %rd3, [table];
    ld.param.u32 %r1, [mask];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd5, %rd3, %rd4;
    ld.global.u32 %r3, [%rd5];
    ld.global.u32 %r4, [%rd5+256];
    mul.wide.u32 %rd6, %r3, BYTES;
    xor.b64 %rd6, %rd6, 0;
    add.u64 %rd7, %rd2, %rd6;
    mul.wide.u32 %rd8, %r4, BYTES;
    add.u64 %rd9, %rd1, %rd8;
    mov.u32 %r5, cells;
    mad.lo.u32 %r6, %r3, BYTES, %r5;
    and.b32 %r7, %r2, %r1;
    setp.eq.u32 %p, %r7, 0;
    ZERO
    @%p ld.ORDERglobalTYPE LIST, [%rd7];
    st.shared.KIND [%r6], %v0;
    bar.sync 0;
    setp.lt.u32 %q, %r2, 20;
    @%q ld.shared.KIND %v0, [%r6];
    @%p bra DONE;
    st.ORDERglobalTYPE [%rd9], LIST;
DONE:
    ret;
}
"""


def places(type, vector=1, order=""):
    reg = "u64" if type == "u64" else "u16" if SIZES[type] < 4 else type
    list = ", ".join(f"%v{v}" for v in range(vector))
    text = PLACES.replace("LIST", f"{{{list}}}" if vector > 1 else list).replace("ORDER", order)
    text = text.replace("ZERO", "\n".join(f"    mov.{reg} %v{v}, {v + 1};" for v in range(vector))).replace("REG", reg)
    text = text.replace("TYPE", f".v{vector}.{type}" if vector > 1 else f".{type}").replace("KIND", type)
    return text.replace("BYTES", str(SIZES[type] * vector))


def a_table(values):
    return "u32[128]=" + ",".join(map(str, values))


APART = [(k * 37 + 11) % 128 for k in range(128)]
CROWDED = [k * k % 23 for k in range(128)]


def lanes_at_places_of_their_own_are_served_on_every_cpu_level():
    for type, vector, order in some(6, [("u8", 1, ""), ("u32", 1, ""), ("u64", 2, ""), ("u32", 4, ""), ("u64", 1, "volatile."), ("s16", 1, ""),
                                        ("u64", 1, ""), ("u32", 2, ""), ("u32", 1, "volatile."), ("u8", 1, "volatile.")]):
        with written(places(type, vector, order)) as path:
            for table in APART, CROWDED:
                for mask in 1, 21:
                    args = path, "--grid", 1, "--block", 32, "u8[4096]+print", "u8[4096]=rand", a_table(table), mask
                    expected = by_both(*args)["buffers"]
                    assert any(expected[0]["values"]), "nothing was stored"
                    for level in other_levels(*LEVELS):
                        assert launch(*args, "--engine", "jit", "--cpu", level)["buffers"] == expected, (type, level)


def one_lane_outside_is_found_among_all():
    outside = APART[:7] + [5000] + APART[8:]
    for level in cpu_levels(*LEVELS):
        with written(places("u32")) as path:
            fault_by_both(path, "--grid", 1, "--block", 32, "u8[4096]", "u8[4096]=rand", a_table(outside), 0, "--cpu", level)


# The words begin behind so many bytes, and so many elements are there.
PLACED = """.visible .entry placed(.param .u64 out, .param .u64 in, .param .u64 loads, .param .u64 stores, .param .u32 last)
{
    .reg .u64 %rd<9>; .reg .u32 %r<9>; .reg .u32 %v<9>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u64 %rd6, [loads];
    ld.param.u64 %rd7, [stores];
    ld.param.u32 %r1, [last];
    add.u64 %rd2, %rd2, %rd6;
    add.u64 %rd1, %rd1, %rd7;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r3, %r4, %r2;
    setp.gt.u32 %p, %r5, %r1;
    @%p bra DONE;
    mul.wide.u32 %rd3, %r5, 16;
    add.u64 %rd4, %rd2, %rd3;
    add.u64 %rd5, %rd1, %rd3;
    ld.global.u32 %v2, [%rd4+4];
    ld.global.u32 %v1, [%rd4];
    ld.global.u32 %v3, [%rd4+8];
    ld.global.u32 %v4, [%rd4+12];
    st.global.u32 [%rd5+8], %v4;
    st.global.u32 [%rd5], %v2;
    st.global.u32 [%rd5+4], %v1;
    st.global.u32 [%rd5+12], %v3;
DONE:
    ret;
}
"""
GRID = "--grid", 4, "--block", 64, "--workers", 1


def an_element_needs_its_own_alignment_alone():
    with written(PLACED) as path:
        for loads, stores in (0, 0), (4, 8), (12, 4), (60, 36):
            by_both(path, *GRID, "u32[1100]=range+print", "u32[1100]=rand", loads, stores, 255)
        for loads, stores in (1, 0), (2, 4), (0, 3):
            text = fault_by_both(path, *GRID, "u32[1100]", "u32[1100]=rand", loads, stores, 255)
            assert "align" in text, text


def the_end_of_an_allocation_is_where_it_is():
    with written(PLACED) as path:
        for words in 1024, 1023, 1022, 1021, 1020, 1000:
            for out, source in (words, 1100), (1100, words):
                args = path, *GRID, f"u32[{out}]+print", f"u32[{source}]=rand", 0, 0
                if words == 1024:
                    by_both(*args, 255)
                else:
                    fault_by_both(*args, 255)
                by_both(*args, words // 4 - 1)
        fault_by_both(path, *GRID, "u32[1100]", "u32[1100]=rand", 2**64 - 16, 0, 255)
        fault_by_both(path, *GRID, "u32[1100]", "u32[1100]=rand", 0, 2**64 - 8, 255)


def each_block_may_have_another_allocation():
    turns = "and.b32 %r6, %r3, 1; setp.eq.u32 %p, %r6, 0; selp.u64 %rd8, %rd1, %rd2, %p; selp.u64 %rd2, %rd2, %rd1, %p;" \
        "mov.u64 %rd1, %rd8;"
    text = PLACED.replace("mov.u32 %r4, %ntid.x;", "mov.u32 %r4, %ntid.x;" + turns)
    with written(text) as path:
        by_both(path, *GRID, "u32[1100]=range+print", "u32[1100]=rand+print", 4, 8, 255)
        by_both(path, *GRID, "u32[1100]=range+print", "u32[1060]=rand+print", 4, 8, 254)


def compiled_code_moves_them_as_vectors():
    need_compiler()
    scattered = "vpscatter", "vscatter", "vpgather", "vgather"
    kernels = moves("u32", 4, range(4), range(4)), moves("u32", 4, range(4), range(4), masked=True), \
        moves("u32", 3, range(3), range(3)), moves("u32", 2, [1], [1]), moves("u32", 2, range(2), range(2), masked=True, shared=True)
    for text in kernels:
        with written(text) as path:
            err = dump_of("asm", path, "--grid", 1, "--block", 32, "u32[4096]", "u32[4096]=rand", 1, target="x86-64-v4")
            assert "vmovd" in err and not [w for w in scattered if w in err], err[:200]


# Of two runs of one register's the one is inside for certain, the other only where lanes run.
TWO_RUNS = """.visible .entry two_runs(.param .u64 out, .param .u64 in, .param .u32 mask)
{
    .reg .u64 %rd<4>; .reg .u32 %r<5>; .reg .pred %p;
    .shared .align 8 .b8 own[832];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, own;
    mad.lo.u32 %r3, %r1, 8, %r2;
    setp.ge.u32 %p, %r1, 40;
    @%p bra DONE;
    st.shared.u32 [%r3], %r1;
    st.shared.u32 [%r3+512], %r1;
    st.shared.u32 [%r3+4], %r1;
    st.shared.u32 [%r3+516], %r1;
    ld.shared.u32 %r4, [%r3];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
DONE:
    ret;
}
"""


def of_two_runs_one_may_be_outside():
    compare(TWO_RUNS, block=64, levels=True, grid=1)


# Rows of 16 lanes, so far apart that whole vectors between them are gaps.
ROWS = """.visible .entry rows(.param .u64 out, .param .u64 in, .param .u32 mask)
{
    .reg .u64 %rd<4>; .reg .u32 %r<10>;
    .shared .align 8 .b8 own[8192];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 15;
    shr.u32 %r3, %r1, 4;
    mul.lo.u32 %r4, %r3, WAY;
    shl.b32 %r5, %r2, 2;
    add.u32 %r6, %r4, %r5;
    mov.u32 %r7, own;
    add.u32 %r8, %r7, %r6;
    st.shared.u32 [%r8], %r1;
    ld.shared.u32 %r9, [%r8];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r9;
    ret;
}
"""


def rows_with_wide_gaps_between_them():
    for way in 64, 128, 192, 256, 384, 508:
        compare(ROWS.replace("WAY", str(way)), block=256, levels=True, grid=1)


main(globals())
