"""Matrix instructions (PTX ISA 9.7.14, 9.7.15). What an H200 answers to single ones is compared in tests/oracle; here is a product that
both engines compute alike, lanes that come one after the other or not at all, descriptors, addresses that fault, and what heddle check
sees."""
import lzma
import os
import re
import struct
import sys
import tarfile
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, fault_by_both, written
from tap import FULL, launch, main, run, some, values

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"


def kernel(body):
    """%r1: the lane; %rd1, %rd2: two buffers."""
    return HEAD + f""".visible .entry k(.param .u64 p, .param .u64 q)
{{
    .reg .pred %p<9>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<12>;
    .shared .align 128 .b8 tile[2048];
    mov.u32 %r1, %laneid;
    mov.u32 %r2, tile;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [q];
    {body}
    ret;
}}
"""


# 32 x 32 x 32 by tiles of 16 x 16 x 16, a loop along k; A in p, B behind it, the product in q.
PRODUCT = kernel("""
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; mov.u32 %r5, 0;
    mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.f32 %f5, %f1; mov.f32 %f6, %f1; mov.f32 %f7, %f1;
    mov.f32 %f8, %f1;
more:
    mul.lo.u32 %r6, %r4, 512; add.u32 %r6, %r6, %r5; mul.wide.u32 %rd3, %r6, 2; add.s64 %rd3, %rd1, %rd3;
    mul.lo.u32 %r7, %r5, 32; mad.lo.u32 %r7, %r3, 16, %r7; mul.wide.u32 %rd4, %r7, 2; add.s64 %rd4, %rd1, %rd4;
    wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%rd3], 32;
    wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, [%rd4+2048], 32;
    wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8},
        {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27},
        {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8};
    add.u32 %r5, %r5, 16; setp.lt.u32 %p1, %r5, 32; @%p1 bra more;
    mul.lo.u32 %r8, %r4, 512; mad.lo.u32 %r8, %r3, 16, %r8; mul.wide.u32 %rd5, %r8, 4; add.s64 %rd5, %rd2, %rd5;
    wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd5], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, 32;
""")


def test_product_is_right_by_both_engines_and_all_levels_and_schedules():
    args = ["--grid", "2,2", "--block", 32, "f16[2,32,32]=randint:-9:9+print", "f32[32,32]=zeros+print"]
    with written(PRODUCT) as path:
        by_both(path, *args)
        for how in ["--cpu", "x86-64-v2"], ["--policy", "random:5"]:
            out = launch(path, *args, *how)
            both, product = values(out, 1), values(out, 2)
            a, b = both[:1024], both[1024:]
            wanted = [sum(a[32 * i + k] * b[32 * k + j] for k in range(32)) for i in range(32) for j in range(32)]
            assert product == wanted, how


ROWS = """
    shl.b32 %r3, %r1, 4; add.u32 %r3, %r3, %r2;
    st.shared.v4.b32 [%r3], {%r1, %r1, %r1, %r1};
    bar.warp.sync -1;
"""
STORE = "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r4;"
ARGS = ["--grid", 1, "--block", 32, "u32[32]=zeros+print", "u32[32]=zeros"]


def test_lanes_that_have_parted_meet_at_it():
    with written(kernel(ROWS + """
        and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra even;
        add.u32 %r6, %r1, 7;
    even:
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];
    """ + STORE)) as path:
        for how in ["--policy", "random:1"], ["--policy", "random:2"], ["--policy", "serial"], ["--engine", "jit"]:
            assert values(launch(path, *ARGS, *how), 1) == [lane // 4 for lane in range(32)], how


def test_lanes_that_never_come_are_a_deadlock():
    with written(kernel(ROWS + """
        setp.lt.u32 %p1, %r1, 16;
        @!%p1 bra spin;
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];
        bra done;
    spin:
        bar.warp.sync -1;
    done:
    """)) as path:
        status, out, err = run("launch", path, *ARGS)
        assert status == 1 and "deadlock" in err and "lanes 0-15 wait" in err and "ldmatrix" in err, err


def test_a_loop_that_waits_for_rows_that_nobody_will_change_is_a_deadlock():
    with written(kernel("""
        shl.b32 %r3, %r1, 4; add.u32 %r3, %r3, %r2;
    more:
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];
        setp.eq.u32 %p1, %r4, 0; @%p1 bra more;
    """)) as path:
        status, out, err = run("launch", path, *ARGS, "--timeout", 20)
        assert status == 1 and "threads spin on a value that no thread will change [deadlock]" in err, err


def test_misaligned_row_faults():
    with written(kernel(ROWS + "add.u32 %r3, %r3, 8; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r3];")) as path:
        err = fault_by_both(path, *ARGS)
        assert "misaligned" in err and "thread (0,0,0)" in err, err


def test_rows_outside_shared_memory_fault():
    with written(kernel("shl.b32 %r3, %r1, 7; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r3];")) as path:
        err = fault_by_both(path, *ARGS)
        assert "illegal-address" in err and "thread (16,0,0)" in err, err
    with written(kernel("shl.b32 %r3, %r1, 7; stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r3], {%r4, %r5, %r6, %r7};")) as path:
        err = fault_by_both(path, *ARGS)
        assert "writes 16 bytes" in err and "thread (16,0,0)" in err, err


def test_a_matrix_past_a_buffer_faults():
    load = "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%rd1], 16;"
    with written(kernel(load)) as path:
        launch(path, "--grid", 1, "--block", 32, "f32[256]=ones", "u32[32]=zeros")
        err = fault_by_both(path, "--grid", 1, "--block", 32, "f32[255]=ones", "u32[32]=zeros")
        assert "just past the end" in err and "argument 1" in err, err


# Block b loads or stores by stride number b: a load's registers go to 64 bytes of each lane, a store has 8 KB of its own.
STRIDES = HEAD + """.visible .entry k(.param .u64 strides, .param .u64 out, .param .u64 in)
{
    .reg .b32 %r<12>, %f<12>; .reg .b64 %d<12>, %rd<8>;
    ld.param.u64 %rd1, [strides]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [in];
    mov.u32 %r10, %ctaid.x; mov.u32 %r11, %laneid;
    mul.wide.u32 %rd4, %r10, 4; add.u64 %rd1, %rd1, %rd4; mul.wide.u32 %rd4, %r10, BYTES; add.u64 %rd2, %rd2, %rd4;
    mul.wide.u32 %rd5, %r11, 64; ld.global.u32 %r9, [%rd1];
    BODY
    ret;
}
"""
REGISTERS = {"f16": 8, "bf16": 4, "tf32": 4, "s8": 2, "u8": 2}  # of A and B of 16 x 16


def registers_of(shape, which, type):
    if type == "f64":
        return [f"%d{i}" for i in range(2 if which in "cd" else 1)]
    if which in "cd":
        return [f"%r{i}" if type != "f32" else f"%f{i}" for i in range(2 if shape.startswith("m8n8") else 4 if type == "f16" else 8)]
    n = REGISTERS.get(type, 1)
    if type in ("s8", "u8", "bf16") and not shape.startswith("m16"):
        n = n * 2 if (shape.startswith("m32")) == (which == "a") else n // 2
    return [f"%r{i}" for i in range(n)]


def moves_by_strides(line):
    """Of a line of the record: the kernel, the strides, what each gives."""
    what, _, answers = line.partition(": ")
    kind, shape, which, type, layout, space = what.split()
    registers = registers_of(shape, which, type)
    words = [("b64", 8) if type == "f64" else ("b32", 4)] * len(registers)
    matrix = f"wmma.{kind}.{which}.sync.aligned.{layout}.{shape}{'' if space == 'generic' else '.global'}.{type}"
    all_of = "{" + ", ".join(registers) + "}"
    if kind == "load":
        body = [f"{matrix} {all_of}, [%rd3], %r9; add.u64 %rd2, %rd2, %rd5;"]
        body += [f"st.global.{t} [%rd2+{n * i}], {r};" for i, (r, (t, n)) in enumerate(zip(registers, words))]
    else:
        body = ["add.u64 %rd3, %rd3, %rd5;"]
        body += [f"ld.global.{t} {r}, [%rd3+{n * i}];" for i, (r, (t, n)) in enumerate(zip(registers, words))]
        body += [f"{matrix} [%rd2], {all_of}, %r9;"]
    answers = dict(answer.split("=") for answer in answers.split())
    text = STRIDES.replace("BODY", "\n    ".join(body)).replace("BYTES", "2048" if kind == "load" else "8192")
    return text, [int(s) for s in answers], list(answers.values()), sum(n for _, n in words) // 4


def test_strides_that_no_line_may_have_are_those_of_an_h200():
    """Memory counts its half words, or is 0xee where a store finds it. Recorded: the CRC of what a load gives the lanes, or a store leaves."""
    with lzma.open(os.path.join(os.path.dirname(__file__), "strides-h200.txt.xz"), "rt") as f:
        lines = f.read().splitlines()
    assert len(lines) == 120, len(lines)
    for line in some(24, lines):
        text, strides, answers, words = moves_by_strides(line)
        stores = line.startswith("store")
        bytes_each = 8192 if stores else 2048
        with written(text) as path:
            out = by_both(path, "--grid", len(strides), "--block", 32, f"u32[{len(strides)}]={','.join(map(str, strides))}",
                          f"u32[{len(strides) * bytes_each // 4}]=fill:{0xEEEEEEEE}+print", "u16[32768]=range")
        got = [int(v) for v in values(out, 2)]
        for b, (stride, answer) in enumerate(zip(strides, answers)):
            mine = got[b * bytes_each // 4:(b + 1) * bytes_each // 4]
            if not stores:
                mine = [word for lane in range(32) for word in mine[16 * lane:16 * lane + words]]
            assert f"{zlib.crc32(struct.pack(f'<{len(mine)}I', *mine)):08x}" == answer, (line.split(":")[0], stride)


def test_matrices_of_less_than_a_byte_read_nothing_behind_their_last_line():
    for type, shape, bits in (("s4", "m8n8k32", 4), ("u4", "m8n8k32", 4), ("b1", "m8n8k128", 1)):
        for which, layout in ("a", "row"), ("b", "col"):
            for stride in some(4, (33, 1, 9, 161, 31, 32, 127, 300)):
                apart = stride * bits // 32 * 4  # bytes, of eight lines
                size = 7 * apart + 16
                text = kernel(f"wmma.load.{which}.sync.aligned.{layout}.{shape}.global.{type} {{%r4}}, [%rd2], {stride};" + STORE)
                with written(text) as path:
                    args = [path, *ARGS[:4], "u32[32]=zeros+print"]
                    got = values(by_both(*args, f"u8[{size}]=range"), 1)
                    at = [lane // 4 * apart + lane % 4 * 4 for lane in range(32)]
                    assert got == [int.from_bytes(bytes((a + k) & 255 for k in range(4)), "little") for a in at], (type, stride)
                    err = fault_by_both(*args, f"u8[{size - 1}]=range")
                    assert f"past the end of the {size - 1}-byte buffer" in err, err


def test_strides_of_less_than_a_byte_are_whole_words_of_shared_memory_too():
    fill = "shl.b32 %r5, %r1, 4; add.u32 %r5, %r5, %r2; mul.lo.u32 %r6, %r1, 0x10101010; add.u32 %r6, %r6, 0; " \
           "st.shared.v4.b32 [%r5], {%r6, %r6, %r6, %r6}; bar.warp.sync -1;"
    for stride, line in (9, 4), (33, 16), (63, 28), (64, 32):
        with written(kernel(fill + f"wmma.load.a.sync.aligned.row.m8n8k32.shared.s4 {{%r4}}, [%r2], {stride};" + STORE)) as path:
            got = values(by_both(path, *ARGS), 1)
            assert [v & 255 for v in got] == [(lane // 4 * line + lane % 4 * 4) // 16 * 16 for lane in range(32)], (stride, got)


def test_a_matrix_that_is_misaligned_by_its_place_or_its_stride_faults():
    for place, stride in (1, 16), (2, 16):
        load = f"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {{%r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11}}, [%rd1+{place}], {stride};"
        with written(kernel(load)) as path:
            err = fault_by_both(path, *ARGS[:4], "f16[1024]=ones", "u32[32]=zeros")
            assert "not a multiple of 4 [misaligned-address]" in err and "wmma.load" in err, err


def test_a_descriptor_past_shared_memory_faults():
    with written(kernel("""
        mov.b64 %rd3, 0x0000008000400078; setp.eq.u32 %p1, %r1, %r1;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd3, %rd3, %p1, 1, 1, 0, 0;
    """)) as path:
        err = fault_by_both(path, "--grid", 1, "--block", 128, "u32[32]=zeros", "u32[32]=zeros")
        assert "illegal-address" in err, err


def test_a_product_of_a_warpgroup_that_is_not_whole_faults():
    with written(kernel("""
        mov.b64 %rd3, 0x0000001000080000; setp.eq.u32 %p1, %r1, %r1;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd3, %rd3, %p1, 1, 1, 0, 0;
    """)) as path:
        launch(path, "--grid", 1, "--block", 128, "u32[32]=zeros", "u32[32]=zeros")
        for block, threads in (32, 32), (96, 96), (127, 127), (160, 32):
            err = fault_by_both(path, "--grid", 1, "--block", block, "u32[32]=zeros", "u32[32]=zeros")
            assert f"of 128 threads, but its warpgroup has {threads}:" in err and "[warpgroup]" in err, err


def rows_of_descriptors(folder):
    """What an H200 answered to descriptors (tests/oracle/README.md): (kernel, words, shared bytes): [(descriptor, checksum or fault)]."""
    with tarfile.open(os.path.join(os.environ["HEDDLE_SOURCE"], "tests", "oracle", "descriptors-h200.tar.xz")) as archive:
        archive.extractall(folder)
    found = {}
    with open(os.path.join(folder, "descriptors", "expected.txt")) as f:
        for name, words, descriptor, answer, *shared in map(str.split, f):
            found.setdefault((name, int(words), int(*shared or [232448])), []).append((int(descriptor, 16), answer))
    return found


def answers_to_descriptors(folder, name, words, shared, descriptors, *how):
    """The checksums of the elements' addresses, or `fault`."""
    given, taken = os.path.join(folder, "descriptors.bin"), os.path.join(folder, "addresses.bin")
    with open(given, "wb") as f:
        f.write(struct.pack(f"<{len(descriptors)}Q", *descriptors))
    status, out, err = run("launch", os.path.join(folder, "descriptors", "probe.ptx"), name, "--grid", len(descriptors), "--block", 128,
                           "--shared", shared, f"u64[{len(descriptors)}]=@{given}", f"u32[{len(descriptors) * words}]=zeros+save:{taken}",
                           shared, *how)
    if status:
        assert "illegal-address" in err, err
        return ["fault"]
    with open(taken, "rb") as f:
        return [f"{zlib.crc32(f.read(4 * words)):08x}" for _ in descriptors]


def test_elements_are_where_descriptors_say_as_on_an_h200():
    """Swizzles whose pattern begins anywhere (the base offset), offsets that are 0, negative or let rows overlap, starts of all kinds."""
    with tempfile.TemporaryDirectory() as folder:
        for (name, words, shared), rows in rows_of_descriptors(folder).items():
            rows = [row for row in rows if row[1] != "fault"]
            for how, step in ([], 1 if FULL else 3), (["--engine", "interp", "--cpu", "x86-64-v2"], 17):
                answers = answers_to_descriptors(folder, name, words, shared, [row[0] for row in rows[::step]], *how) if rows else []
                for (descriptor, expected), answer in zip(rows[::step], answers):
                    assert answer == expected, (name, hex(descriptor), how)


def test_descriptors_that_leave_shared_memory_fault_as_on_an_h200():
    with tempfile.TemporaryDirectory() as folder:
        cases = [(key, row[0]) for key, rows in rows_of_descriptors(folder).items() for row in rows if row[1] == "fault"]
        for (name, words, shared), descriptor in some(8, cases[::2] + cases[1::2]):
            assert answers_to_descriptors(folder, name, words, shared, [descriptor]) == ["fault"], (name, hex(descriptor))


def check(body):
    with written(kernel(body)) as path:
        return run("check", path, *ARGS)


def test_checker_sees_rows_that_nobody_has_written():
    status, out, err = check("shl.b32 %r3, %r1, 4; add.u32 %r3, %r3, %r2; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r3];")
    assert status == 1 and "uninitialised-read, 16 times" in err, err


def test_checker_sees_a_race_of_a_store_and_another_warp():
    body = ROWS + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r4};"
    with written(kernel(body)) as path:
        status, out, err = run("check", path, "--grid", 1, "--block", 64, "u32[32]=zeros", "u32[32]=zeros")
        assert status == 1 and "data-race" in err, err


def test_checker_finds_nothing_in_a_product_or_in_rows_behind_a_barrier():
    status, out, err = check(ROWS + "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r4, %r5, %r6, %r7}, [%r3];")
    assert status == 0, err
    with written(PRODUCT) as path:
        status, out, err = run("check", path, "--grid", "2,2", "--block", 32, "f16[2,32,32]=range", "f32[32,32]=zeros")
        assert status == 0, err


def regs(prefix, first, n):
    return "{" + ", ".join(f"{prefix}{first + k}" for k in range(n)) + "}"


F8, R8, R4 = regs("%f", 1, 8), regs("%r", 10, 8), regs("%r", 10, 4)
D = f"wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r2], {F8}, 16;"
D16 = f"wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r2], {R4}, 16;"
VECTOR = "shl.b32 %r3, %r1, 4; add.u32 %r3, %r3, %r2; ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r3];"
MEET = "bar.warp.sync -1;"


def test_checker_tells_lanes_apart_that_access_a_matrix_without_meeting():
    """Which lane accesses what the ISA leaves open; that of one fragment it is the same each time is all that holds."""
    load_a = f"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {R8}, [%r2], 16;"
    load_column = f"wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 {R8}, [%r2], 16;"
    for stores, reads in ((D, VECTOR), (D16, VECTOR), (D16, load_a), (D16, load_column),
                          (D, f"wmma.load.c.sync.aligned.col.m16n16k16.shared.f32 {F8}, [%r2], 16;")):
        status, out, err = check(stores + reads)
        assert status == 1 and "data-race" in err and "__syncwarp()" in err, (stores, reads, err)
        status, out, err = check(stores + MEET + reads)
        assert status == 0, (stores, reads, err)
    status, out, err = check(D + f"wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {F8}, [%r2], 16;" + D)
    assert status == 0, err


def test_checker_sees_races_of_matrices_between_warps_and_with_any_stride():
    for stride in 16, 18, 20, 24:
        body = f"mov.u32 %r3, %tid.y; mad.lo.u32 %r2, %r3, BYTES, %r2; wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r2], {F8}, {stride};"
        used = 4 * (15 * stride + 16)
        for apart, races in (used & ~31, used % 32 > 0), (used + 31 & ~31, False):
            with written(kernel(body.replace("BYTES", str(apart))).replace("tile[2048]", "tile[8192]")) as path:
                status, out, err = run("check", path, "--grid", 1, "--block", "32,2", "u32[32]=zeros", "u32[32]=zeros")
                assert ("data-race" in err) == races and status == races, (stride, apart, err)


def test_checker_sees_what_of_a_matrix_nobody_has_written():
    load = f"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {R8}, [%r2+512], 16;"
    for bytes, found in (512, False), (510, True):
        fill = f"""mov.u32 %r3, 0; more: mad.lo.u32 %r4, %r3, 64, %r2; shl.b32 %r5, %r1, 1; add.u32 %r4, %r4, %r5;
            sub.u32 %r6, %r4, %r2; setp.lt.u32 %p1, %r6, {bytes}; @%p1 st.shared.u16 [%r4+512], %r3;
            add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 8; @%p2 bra more; {MEET}"""
        status, out, err = check(fill + load)
        assert status == found and ("uninitialised-read" in err) == found, (bytes, err)


# Loads and stores: opcode, shape and layout, type, registers, and elements between rows.
MOVES = [("load.a", "row.m16n16k16", "f16", R8, 24), ("load.a", "col.m16n16k16", "f16", R8, 16), ("load.b", "row.m16n16k16", "f16", R8, 18),
         ("load.b", "col.m8n32k16", "f16", R8, 16), ("load.a", "row.m32n8k16", "bf16", R8, 16), ("load.b", "row.m32n8k16", "s8", "{%r10}", 16),
         ("load.c", "row.m16n16k16", "f32", F8, 20), ("load.c", "col.m16n16k16", "f32", F8, 16), ("load.c", "row.m16n16k16", "f32", F8, 0),
         ("load.a", "row.m16n16k8", "tf32", R4, 8), ("load.a", "row.m8n8k32", "s4", "{%r10}", 32),
         ("store.d", "row.m16n16k16", "f32", F8, 16), ("store.d", "col.m16n16k16", "f32", F8, 20), ("store.d", "row.m16n16k16", "f32", F8, 18),
         ("store.d", "row.m32n8k16", "f16", R4, 8), ("store.d", "col.m8n32k16", "f16", R4, 12), ("store.d", "row.m8n8k4", "f64", "{%rd8, %rd9}", 10)]


def test_matrices_are_moved_alike_whoever_watches():
    for move, shape, type, registers, stride in MOVES:
        place, names = "[%rd1]", registers.strip("{}").split(", ")
        operands = f"{registers}, {place}" if move.startswith("load") else f"{place}, {registers}"
        start = "".join(f"cvt.rn.f32.u32 {r}, %r1; mul.f32 {r}, {r}, 0f3F800{k + 1}00;" if r.startswith("%f") else
                        f"mad.lo.u32 %r9, %r1, {k + 77777}, 5; cvt.u64.u32 {r}, %r9;" if r.startswith("%rd") else
                        f"mad.lo.u32 {r}, %r1, {k + 77777}, 5;" for k, r in enumerate(names))
        write = "mad.wide.u32 %rd3, %r1, 64, %rd2;" + "".join(
            f"st.global.{'f32' if r.startswith('%f') else 'u64' if r.startswith('%rd') else 'u32'} [%rd3+{8 * k}], {r};"
            for k, r in enumerate(names))
        body = f"{start} wmma.{move}.sync.aligned.{shape}.global.{type} {operands}, {stride}; {write}"
        args = ["--grid", 1, "--block", 32, "u32[512]=randint:0:2000000000+print", "u32[512]=zeros+print"]
        with written(kernel(body)) as path:
            first, *others = [[line for line in run(how, path, *args)[1].splitlines() if line.startswith("argument")]
                              for how in ("launch", "check", "explain")]
            assert len(first) == 2 and others == [first, first], (move, shape, type, first, others)


# ---- products that are still at work ----

GO, COMMIT, WAIT = "wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"


def product(d=1, a="%rd3"):
    """Of 64 x 8 x 16 halves, into four registers from %f(d) on."""
    transposed = "0" if a.startswith("{") else "0, 0"
    results = ", ".join(f"%f{d + k}" for k in range(4))
    return f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{results}}}, {a}, %rd3, %p1, 1, 1, {transposed};"


def findings(body):
    """Codes of what heddle check says, and its text."""
    prepared = f"""mov.b64 %rd3, 0x0000000800080000; setp.eq.u32 %p1, %r1, %r1;
        {"".join(f"mov.f32 %f{k}, 0f00000000;" for k in range(1, 9))} {"".join(f"mov.b32 %r{k}, 0;" for k in range(10, 14))}
        {body}
    """
    with written(kernel(prepared)) as path:
        status, out, err = run("check", path, "--grid", 1, "--block", 128, "u32[128]=zeros", "u32[128]=zeros")
    return set(re.findall(r"\[((?:unfinished|missing)-wgmma[-a-z]*)", err)), err


USE = "st.global.f32 [%rd1], %f1;"


def test_results_that_are_waited_for_are_no_finding():
    for body in (GO + product() + COMMIT + WAIT + USE,
                 GO + product() + product() + COMMIT + WAIT + USE,  # accumulators need no wait between products
                 GO + product() + COMMIT + product(5) + COMMIT + "wgmma.wait_group.sync.aligned 1;" + USE + WAIT,
                 GO + product() + "mov.f32 %f8, %f1;" + COMMIT + WAIT + "st.global.f32 [%rd1], %f8;",  # as compilers copy them
                 GO + product(a="{%r10, %r11, %r12, %r13}") + COMMIT + WAIT + "add.u32 %r10, %r10, 1;",
                 "mov.u32 %r5, 0;" + GO + "more:" + product() + COMMIT + WAIT + "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; @%p2 bra more;"
                 + USE):
        codes, err = findings(body)
        assert not codes, (body, err)


def test_results_and_factors_that_are_still_at_work_are_found():
    for body, said in (
            (GO + product() + COMMIT + USE + WAIT, "reads a register"),
            (GO + product() + WAIT + USE, "reads a register"),  # which waits for nothing: it was not committed
            (GO + product() + COMMIT + product(5) + COMMIT + "wgmma.wait_group.sync.aligned 1; st.global.f32 [%rd1], %f5;" + WAIT,
             "reads a register"),
            (GO + product() + COMMIT + "mov.f32 %f8, %f1; st.global.f32 [%rd1], %f8;" + WAIT, "reads a register"),
            (GO + product() + COMMIT + "add.f32 %f1, %f7, %f7;" + WAIT, "writes a register"),
            (GO + product(a="{%r10, %r11, %r12, %r13}") + COMMIT + "add.u32 %r11, %r11, 1;" + WAIT, "writes a register"),
            ("mov.u32 %r5, 0;" + GO + "more: add.f32 %f1, %f7, %f7;" + GO + product() + COMMIT +
             "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; @%p2 bra more;" + WAIT, "writes a register")):  # of the pass before
        codes, err = findings(body)
        assert codes == {"unfinished-wgmma"} and said in err and ("128 times" in err or "more:" in body), (body, err)


def test_registers_that_no_fence_has_ordered_are_found():
    for body in (product() + COMMIT + WAIT + USE,
                 GO + "add.f32 %f1, %f7, %f7;" + product() + COMMIT + WAIT,
                 GO + "add.u32 %r11, %r1, 1;" + product(a="{%r10, %r11, %r12, %r13}") + COMMIT + WAIT):
        codes, err = findings(body)
        assert codes == {"missing-wgmma-fence"} and "wgmma.mma_async" in err, (body, err)
    assert not findings("add.f32 %f1, %f7, %f7;" + GO + product() + COMMIT + WAIT)[0]


def test_what_no_thread_comes_to_is_no_finding():
    codes, err = findings(GO + product() + COMMIT + "setp.gt.u32 %p2, %r1, 99; @!%p2 bra done;" + USE + "done:" + WAIT)
    assert not codes, err


def test_kernels_of_triton_wait_and_are_found_where_they_do_not():
    half = "f16[128,64]=ones"
    cases = {"matmul": [half, half, "f32[64,64]=zeros", 64, 64, 64, 0, 0], "attention": [half, half, half, half, 0.125, 64, 0, 0]}
    with tarfile.open(os.path.join(os.environ["HEDDLE_SOURCE"], "tests", "triton", "ptx.tar.xz")) as archive:
        for name, args in cases.items():
            text = archive.extractfile(f"{name}-sm_90.ptx").read().decode()
            for n, expected in (0, 0), (7, 1):
                with written(text.replace("wgmma.wait_group.sync.aligned 0;", f"wgmma.wait_group.sync.aligned {n};")) as path:
                    status, out, err = run("check", path, "--grid", 1, "--block", 128, "--shared", 65536, *args)
                assert status == expected and ("unfinished-wgmma" in err) == bool(n), (name, n, err)


main(globals())
