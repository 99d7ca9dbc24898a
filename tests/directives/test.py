"""What a launch is held to: .maxntid, .reqntid (PTX ISA 11.4) and the device's limits. Where a directive is repeated its last one
counts, as in what ptxas writes. Clusters: tests/clusters."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import written
from tap import main, run

KERNEL = """.visible .entry counted(.param .u64 p) HEAD
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [p];
    red.global.add.u32 [%rd1], 1;
    ret;
}
"""
# (head, grid, block, dynamic shared bytes, what is said, or nothing)
LAUNCHES = [
    (".maxntid 4", "1", "4", 0, ""),
    (".maxntid 4", "1", "2,2", 0, ""),
    (".maxntid 2, 2", "1", "4", 0, ""),
    (".maxntid 2, 2", "1", "1,1,4", 0, ""),
    (".maxntid 4", "1", "5", 0, "the block has 5 threads; at most 4 are possible for this kernel (.maxntid)"),
    (".maxntid 2, 1, 2", "1", "5", 0, "at most 4 are possible"),
    (".maxntid 8 .maxntid 4", "1", "5", 0, "at most 4 are possible"),
    (".maxntid 4 .maxntid 8", "1", "5", 0, ""),
    (".maxntid 2048", "1", "1024", 0, ""),
    (".maxntid 65536, 65536, 65536", "1", "1024", 0, ""),
    (".maxntid 4294967295, 4294967295, 4294967295", "1", "1024", 0, ""),
    (".maxntid 2048", "1", "1025", 0, "the block has 1025 threads; at most 1024 are possible"),
    (".reqntid 4", "1", "4", 0, ""),
    (".reqntid 4", "1", "3", 0, "block.x is 3; the kernel requires 4 (.reqntid)"),
    (".reqntid 4", "1", "2,2", 0, "block.y is 2; the kernel requires 1 (.reqntid)"),
    (".reqntid 2, 2", "1", "4", 0, "block.y is 1; the kernel requires 2 (.reqntid)"),
    (".reqntid 2, 2, 2", "1", "2,2,2", 0, ""),
    (".reqntid 2 .reqntid 4", "1", "4", 0, ""),
    (".maxnreg 16 .minnctapersm 2 .maxntid 64", "1", "64", 0, ""),
    ('.pragma "nounroll";', "1", "64", 0, ""),
    ("", "1", "32,33", 0, "the block has 1056 threads; at most 1024 are possible"),
    ("", "1", "1,1,65", 0, "block.z is 65; 1 to 64 are possible"),
    ("", "1,65536", "1", 0, "grid.y is 65536; 1 to 65535 are possible"),
    ("", "2147483648", "1", 0, "grid.x is 2147483648; 1 to 2147483647 are possible"),
    ("", "1", "1", 232448, ""),
    ("", "1", "1", 232449, "the block needs 232449 bytes of shared memory (0 static, 232449 dynamic); it can have 232448"),
]


def product(text):
    x, y, z = (*map(int, text.split(",")), 1, 1)[:3]
    return x * y * z


def a_launch_is_held_to_what_the_kernel_says():
    for head, grid, block, shared, words in LAUNCHES:
        with written(KERNEL.replace("HEAD", head)) as path:
            status, out, err = run("launch", path, "--grid", grid, "--block", block, *(["--shared", shared] if shared else []),
                                   "u32[1]+print")
        assert words in err and status == (1 if words else 0), f"{head} {grid} {block} {shared}: {out}{err}"
        assert words or f"= {product(grid) * product(block)}" in out, f"{head} {grid} {block}: {out}"


LAST_WORDS = """.version 7.8
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 s[];
.visible .entry k(.param .u64 out)
{
.reg .u64 %rd<2>; .reg .u32 %r<5>;
ld.param.u64 %rd1, [out];
st.shared.u32 [s+24], 7;
ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s+AT];
st.global.u32 [%rd1], %r3;
ret;
}
"""


def a_vector_may_begin_before_the_end_of_dynamic_shared_memory_but_not_behind():
    for engine in "interp", "jit":
        for at, words in (16, ""), (32, "reads 16 bytes at shared address 0x20; the block's shared memory has 32 bytes"):
            with written(LAST_WORDS.replace("AT", str(at))) as path:
                status, out, err = run("launch", path, "--grid", 1, "--block", 1, "--shared", 28, "--engine", engine, "u32[1]+print")
            assert words in err and status == (1 if words else 0), f"{engine} {at}: {out}{err}"
            assert words or "= 7" in out, f"{engine} {at}: {out}"


PAST_THE_END = LAST_WORDS.replace("st.shared.u32 [s+24], 7;\nld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s+AT];", "st.shared.u32 [s+AT], 7;")


def the_checker_holds_shared_memory_to_what_was_asked_for():
    fixed = PAST_THE_END.replace(".extern .shared .align 16 .b8 s[];", ".shared .align 16 .b8 s[28];")
    for text, shared in (PAST_THE_END, ("--shared", 28)), (fixed, ()):
        for at, words in (24, ""), (28, "writes 4 bytes at shared address 0x1c; the block's shared memory has 28 bytes"):
            with written(text.replace("AT", str(at))) as path:
                status, out, err = run("check", path, "--grid", 1, "--block", 1, *shared, "--tool", "memcheck", "u32[1]")
            assert words in err + out and status == (1 if words else 0), f"{at} {shared}: {out}{err}"


main(globals())
