"""Stores of whole lines to large arrays go past the caches, where nobody can see the difference: jit/analysis/nontemporal.c."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, cpu_levels, dump_of, need_compiler, written
from tap import Skip, main, some

# Thread i: %in and %out are the addresses of its 4 bytes, or of as many as SIZE says.
FRAME = """.visible .entry copy(.param .u64 in, .param .u64 out, .param .u32 n)
{
    .reg .u64 %in, %out, %a, %b, %rd<8>; .reg .u32 %i, %n, %r<8>; .reg .f32 %f<4>; .reg .pred %p;
    .shared .align 64 .b8 s[4096];
    ld.param.u64 %a, [in];
    ld.param.u64 %b, [out];
    ld.param.u32 %n, [n];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.u32 %i, %r1, %r2, %r0;
    mul.wide.u32 %rd0, %i, SIZE;
    add.u64 %in, %a, %rd0;
    add.u64 %out, %b, %rd0;
    BODY
    ret;
}
"""
COPY = "ld.global.u32 %r3, [%in]; st.global.u32 [%out], %r3;"
PAST = {  # name: (bytes of a thread, what it does)
    "words": (4, COPY),
    "any space": (4, "ld.u32 %r3, [%in]; st.u32 [%out], %r3;"),
    "pairs of words": (8, "ld.global.v2.u32 {%r3, %r4}, [%in]; st.global.v2.u32 [%out], {%r4, %r3};"),
    "double words": (8, "ld.global.u64 %rd1, [%in]; st.global.u64 [%out], %rd1;"),
    "halves": (2, "ld.global.u16 %r3, [%in]; st.global.u16 [%out], %r3;"),
    "some threads": (4, "setp.lt.u32 %p, %i, %n; @!%p bra END;" + COPY + "END:"),
    "a guard": (4, "setp.lt.u32 %p, %i, %n; ld.global.u32 %r3, [%in]; @%p st.global.u32 [%out], %r3;"),
    "an index of 64 bits": (4, "cvt.u64.u32 %rd1, %n; mul.lo.u64 %rd2, %rd1, 128; add.u64 %rd3, %in, %rd2;"
                               "add.u64 %rd4, %out, %rd2; ld.global.u32 %r3, [%rd3]; st.global.u32 [%rd4], %r3;"),
    "behind a barrier": (4, "shl.b32 %r4, %r0, 2; mov.u32 %r5, s; add.u32 %r5, %r5, %r4; ld.global.u32 %r3, [%in];"
                            "st.shared.u32 [%r5], %r3; bar.sync 0; ld.shared.u32 %r3, [%r5]; st.global.u32 [%out], %r3;"),
}
PLAIN = {
    "of an array that it loads": (4, "ld.global.u32 %r3, [%out]; add.u32 %r3, %r3, 1; st.global.u32 [%out], %r3;"),
    "where others may ask": (4, COPY + "membar.gl;"),
    "where others may count": (4, COPY + "red.global.add.u32 [%a], 1;"),
    "for others to see": (4, "ld.global.u32 %r3, [%in]; st.volatile.global.u32 [%out], %r3;"),
    "relaxed": (4, "ld.global.u32 %r3, [%in]; st.relaxed.gpu.global.u32 [%out], %r3;"),
    "with others that are seen": (4, COPY + "st.volatile.global.u32 [%in], %r3;"),
    "less than a line": (1, "ld.global.u8 %r3, [%in]; st.global.u8 [%out], %r3;"),
    "in a loop": (4, "L: " + COPY + "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;"),
    "to where memory says": (4, "ld.global.u64 %rd1, [%in]; add.u64 %rd1, %rd1, %rd0; st.global.u32 [%rd1], %n;"),
    "apart": (8, "ld.global.u32 %r3, [%in]; st.global.u32 [%out], %r3;"),
}


def text_of(size, body):
    return FRAME.replace("SIZE", str(size)).replace("BODY", body)


def stores(size, body, level, block="64"):
    """How many stores of the kernel's assembly are non-temporal; it is compiled for a level that need not be here."""
    with written(text_of(size, body)) as path:
        err = dump_of("asm", path, "--grid", 1, "--block", block, "u32[4096]", "u32[4096]", 0, target=level)
    assert "assembly of copy" in err, err
    return len(re.findall(r"\bv?movnt(?:ps|dq|pd|i[lq])\b", err))


def stores_that_nobody_waits_for_go_past_the_caches():
    need_compiler()
    for level in "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+amd":
        for name, (size, body) in PAST.items():
            assert stores(size, body, level), (level, name)
    assert stores(*PAST["words"], "x86-64-v4") == 2, "one for each line"
    assert stores(*PAST["words"], "armv8-a") == 0


def others_do_not():
    need_compiler()
    for name, (size, body) in PLAIN.items():
        assert not stores(size, body, "x86-64-v4"), name


def rows_of_a_picture_do_where_they_are_lines():
    need_compiler()
    tile = ("mov.u32 %r3, %tid.y; mul.wide.u32 %rd1, %r3, %n; add.u64 %rd2, %in, %rd1; add.u64 %rd3, %out, %rd1;"
            "ld.global.u32 %r4, [%rd2]; st.global.u32 [%rd3], %r4;")
    assert stores(4, tile, "x86-64-v4", "16,4") > 0
    assert stores(4, tile, "x86-64-v4", "8,8") == 0


LARGE = 9 << 20  # words: more than 32 MB; and launches store more than 8


def copied(name, n, words, grid, to, threads, *more):
    """Both engines store the same, to the buffer `to`."""
    size, body = PAST[name]
    with written(text_of(size, body)) as path:
        by_both(path, "--grid", grid, "--block", threads, f"u32[{words}]=rand+hide", to, n, *more)


def what_they_store_is_the_same():
    levels = cpu_levels("x86-64-v2", "x86-64-v3", "x86-64-v4")
    for level in levels:
        for name in some(3, ("words", "a guard", "halves", "behind a barrier")) if level == levels[-1] else ("words",):
            blocks = 8201 if name != "halves" else 17001
            n = 256 * blocks - 77
            copied(name, n, LARGE, blocks, f"u32[{LARGE}]=range+sum", 256, "--cpu", level, "--workers", 2)
    if not levels:
        raise Skip("no x86-64")


def lines_that_are_not_whole_are_stored_as_ever():
    """An array that begins in the middle of a line; blocks of 40 threads, whose second warp has eight."""
    text = text_of(4, "ld.global.u32 %r3, [%in]; st.global.u32 [%out+20], %r3;")
    with written(text) as path:
        by_both(path, "--grid", 8201, "--block", 256, f"u32[{LARGE}]=rand+hide", f"u32[{LARGE}]=range+sum", 0)
    copied("words", 0, LARGE, 60001, f"u32[{LARGE}]=range+sum", 40)


def what_is_stored_is_there_for_the_next_launch_and_for_the_block_itself():
    """Each thread loads, through the same pointer in a register of its own, what its neighbour in the block has stored before a barrier."""
    body = COPY + """bar.sync 0; xor.b32 %r4, %i, 1; mul.wide.u32 %rd1, %r4, 4; add.u64 %rd2, %a, %rd1;
    ld.global.u32 %r5, [%rd2+16777216]; st.global.u32 [%out+33554432], %r5;"""
    words = 3 * (16 << 20) // 4 + 8201 * 256  # each part is 16 MB behind the one before
    with written(text_of(4, body)) as path:
        by_both(path, "--grid", 8201, "--block", 256, f"u32[{words}]=rand+sum", "same:1+16777216", 0)


main(globals())
