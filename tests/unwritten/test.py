"""What kernels read that they have not written: shared and local memory, registers, frames of functions, parameters.

It is zero in all of them, whatever the host, another machine, kernel or block has left there, so that results do not depend on
it and nothing of it gets out."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import HEAD, by_both, has_level, need_compiler, written
from tap import launch, main, run, values

LEVELS = [level for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "generic") if has_level(level)]
ENGINES = "interp", "jit", "auto"


def sweep(variables, base, space, words, barrier=""):
    """Each thread adds up (by or) what it finds in its share of the words, then leaves a secret in all of them."""
    own = "mov.u32 %r3, %tid.x;" if space == "shared" else "mov.u32 %r3, 0;"
    step = "mov.u32 %r4, %ntid.x;" if space == "shared" else "mov.u32 %r4, 1;"
    loop = """
    mov.u32 %r5, %r3;
{label}:
    setp.ge.u32 %p1, %r5, {words};
    @%p1 bra {label}_END;
    mad.lo.u32 %r6, %r5, 4, %r2;
    {work}
    add.u32 %r5, %r5, %r4;
    bra {label};
{label}_END:
"""
    read = loop.format(label="READ", words=words, work=f"ld.{space}.u32 %r7, [%r6]; or.b32 %r8, %r8, %r7;")
    leave = loop.format(label="LEAVE", words=words, work=f"st.{space}.u32 [%r6], 0xdeadbeef;")
    return f"""{variables[0]}
.visible .entry sweep(.param .u64 out)
{{
    {variables[1]}
    .reg .u64 %rd<4>; .reg .u32 %r<12>; .reg .pred %p<2>;
    {base}
    {own}
    {step}
    mov.u32 %r8, 0;
{read}
    {barrier}
{leave}
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r9, %ntid.x;
    mov.u32 %r10, %tid.x;
    mad.lo.u32 %r1, %r1, %r9, %r10;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd1, %r1, 4, %rd1;
    st.global.u32 [%rd1], %r8;
    ret;
}}
"""


def all_are_zero(text, *options, grid=40, block=96, args=(), levels=LEVELS):
    need_compiler()
    with written(text) as path:
        for level in levels:
            for engine in ENGINES:
                result = launch(path, "--grid", grid, "--block", block, "--engine", engine, "--cpu", level, "--workers", 2,
                                *options, f"u32[{grid * block}]=ones+print", *args)
                found = {v for v in values(result, 1)}
                assert found == {0}, (level, engine, [hex(v) for v in sorted(found)[:4]])


STATIC = sweep(("", ".shared .align 16 .b8 tile[6000];"), "mov.u32 %r2, tile;", "shared", 1500, "bar.sync 0;")


def static_shared_memory_is_zero_in_every_block():
    all_are_zero(STATIC)


def dynamic_shared_memory_is_zero_in_every_block():
    text = sweep((".extern .shared .align 16 .b8 tile[];", ""), "mov.u32 %r2, tile;", "shared", 12000, "bar.sync 0;")
    all_are_zero(text, "--shared", 48000)


def both_kinds_of_shared_memory_are_zero_whatever_their_sizes():
    for static, dynamic in ((4, 4), (52, 108), (16, 1020)):
        text = sweep((".extern .shared .align 4 .b8 more[];", f".shared .align 4 .b8 tile[{static}];"),
                     "mov.u32 %r2, tile;", "shared", (static + dynamic) // 4, "bar.sync 0;")
        all_are_zero(text, "--shared", dynamic, levels=LEVELS[:1])


def shared_memory_of_blocks_that_take_turns_is_zero():
    """Named barriers and atomics are the interpreter's, which may hold several blocks at once; a schedule has one thread."""
    text = sweep(("", ".shared .align 16 .b8 tile[6000];"), "mov.u32 %r2, tile;", "shared", 1500,
                 "ld.param.u64 %rd2, [cell]; atom.global.add.u32 %r11, [%rd2], 1; barrier.sync 3, 96;"
                 ).replace(".param .u64 out", ".param .u64 out, .param .u64 cell")
    all_are_zero(text, args=["u32[1]"])
    with written(text) as path:
        for policy in "serial", "random:1":
            result = launch(path, "--grid", 40, "--block", 96, "--policy", policy, "u32[3840]=ones+print", "u32[1]")
            assert set(values(result, 1)) == {0}, policy


def local_memory_is_zero_in_every_thread():
    for words in 1, 37, 500, 5000:
        text = sweep(("", f".local .align 8 .b8 own[{4 * words}];"), "mov.u32 %r2, own;", "local", words)
        all_are_zero(text, grid=20, block=64, levels=LEVELS if words == 37 else LEVELS[:1])


def local_memory_of_warps_that_take_turns_is_zero():
    text = sweep(("", ".local .align 8 .b8 own[400];"), "mov.u32 %r2, own;", "local", 100,
                 "ld.param.u64 %rd2, [cell]; atom.global.add.u32 %r11, [%rd2], 1; barrier.sync 3, 96;"
                 ).replace(".param .u64 out", ".param .u64 out, .param .u64 cell")
    all_are_zero(text, args=["u32[1]"], levels=LEVELS[:1])


# A function that calls itself %r2 times; its frame is looked at on the way down and left full of secrets.
RECURSIVE = """.func (.param .b32 seen) dive(.param .b32 depth)
{
    .local .align 8 .b8 own[64];
    .reg .u32 %r<8>; .reg .pred %p<2>;
    ld.param.u32 %r1, [depth];
    ld.local.u32 %r2, [own];
    ld.local.u32 %r3, [own+60];
    or.b32 %r2, %r2, %r3;
    st.local.u32 [own], 0xdeadbeef;
    st.local.u32 [own+60], 0xdeadbeef;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra END;
    sub.u32 %r1, %r1, 1;
    {
    .param .b32 d; .param .b32 s;
    st.param.b32 [d], %r1;
    call.uni (s), dive, (d);
    ld.param.b32 %r4, [s];
    }
    or.b32 %r2, %r2, %r4;
END:
    st.param.b32 [seen], %r2;
    ret;
}
.visible .entry sweep(.param .u64 out)
{
    .reg .u64 %rd<3>; .reg .u32 %r<8>;
    mov.u32 %r6, 30;
    {
    .param .b32 d; .param .b32 s;
    st.param.b32 [d], %r6;
    call.uni (s), dive, (d);
    ld.param.b32 %r5, [s];
    }
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd1, %r1, 4, %rd1;
    st.global.u32 [%rd1], %r5;
    ret;
}
"""


def frames_of_functions_are_zero_in_every_block():
    all_are_zero(RECURSIVE, grid=10, levels=LEVELS[:1])


def the_stack_beyond_all_frames_is_zero():
    """By an address of its own making, a thread reads what other threads' calls have left there."""
    text = RECURSIVE.replace("mov.u32 %r6, 30;", """
    mov.u32 %r6, 0; mov.u32 %r4, 30; mov.u32 %r7, 4096;
AGAIN:
    ld.local.u32 %r0, [%r7];
    or.b32 %r6, %r6, %r0;
    st.local.u32 [%r7], 0xdeadbeef;
    add.u32 %r7, %r7, 4;
    setp.lt.u32 %p1, %r7, 20000;
    @%p1 bra AGAIN;
    mov.u32 %r0, %r6;
    mov.u32 %r6, 30;""", 1).replace(".reg .u64 %rd<3>; .reg .u32 %r<8>;\n    \n", ".reg .pred %p<2>; .reg .u64 %rd<3>; .reg .u32 %r<8>;\n", 1)
    text = text.replace("    st.global.u32 [%rd1], %r5;", "    or.b32 %r5, %r5, %r0;\n    st.global.u32 [%rd1], %r5;")
    all_are_zero(text, grid=10, levels=LEVELS[:1])


def what_a_function_does_not_return_is_zero():
    text = """.func (.param .align 4 .b8 both[8]) half(.param .b32 x)
{
    .reg .u32 %r<2>;
    ld.param.u32 %r1, [x];
    st.param.b32 [both], %r1;
    ret;
}
.visible .entry sweep(.param .u64 out)
{
    .reg .u64 %rd<3>; .reg .u32 %r<8>;
    mov.u32 %r3, %tid.x;
    {
    .param .b32 d; .param .align 4 .b8 s[8];
    st.param.b32 [d], %r3;
    call.uni (s), half, (d);
    ld.param.b32 %r4, [s];
    ld.param.b32 %r5, [s+4];
    }
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd1, %r1, 4, %rd1;
    st.global.u32 [%rd1], %r5;
    ret;
}
"""
    all_are_zero(text, levels=LEVELS[:1])


def registers_that_nobody_has_written_are_zero():
    """In all lanes, in the first block and the next, where paths part and where predicates leave out the only write."""
    text = """.visible .entry sweep(.param .u64 out)
{
    .reg .u64 %rd<6>; .reg .u32 %r<12>; .reg .f32 %f<4>; .reg .pred %p<4>;
    mov.u32 %r3, %tid.x;
    ld.param.u64 %rd1, [out];
    setp.gt.u32 %p1, %r3, 1000;
    @%p1 mov.u32 %r4, 0xdeadbeef;
    @%p1 bra MET;
    and.b32 %r9, %r3, 1;
    setp.eq.u32 %p2, %r9, 5;
    @%p2 bra OTHER;
    bra MET;
OTHER:
    mov.u32 %r5, 0xdeadbeef;
    mov.u64 %rd3, 0xdeadbeefdeadbeef;
    mov.f32 %f1, 0f40000000;
MET:
    or.b32 %r6, %r4, %r5;
    cvt.u32.u64 %r7, %rd3;
    or.b32 %r6, %r6, %r7;
    mov.b32 %r8, %f1;
    or.b32 %r6, %r6, %r8;
    selp.b32 %r10, 1, 0, %p3;
    or.b32 %r6, %r6, %r10;
    mov.u32 %r4, 0xdeadbeef;
    mov.u32 %r5, 0xdeadbeef;
    mov.u64 %rd3, 0xdeadbeefdeadbeef;
    setp.lt.u32 %p3, %r3, 2000;
    @!%p3 bra MET;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    mad.wide.u32 %rd1, %r1, 4, %rd1;
    st.global.u32 [%rd1], %r6;
    ret;
}
"""
    all_are_zero(text)


def what_the_kernels_own_malloc_gives_first_is_zero():
    text = """.extern .func (.param .b64 p) malloc(.param .b64 n);
.visible .entry sweep(.param .u64 out)
{
    .reg .u64 %rd<8>; .reg .u32 %r<12>; .reg .pred %p<2>;
    {
    .param .b64 n; .param .b64 p;
    mov.u64 %rd1, 400;
    st.param.b64 [n], %rd1;
    call.uni (p), malloc, (n);
    ld.param.b64 %rd2, [p];
    }
    mov.u32 %r5, 0;
    add.u64 %rd3, %rd2, 400;
AGAIN:
    ld.u32 %r6, [%rd2];
    or.b32 %r5, %r5, %r6;
    add.u64 %rd2, %rd2, 4;
    setp.lt.u64 %p1, %rd2, %rd3;
    @%p1 bra AGAIN;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    ld.param.u64 %rd4, [out];
    mad.wide.u32 %rd4, %r1, 4, %rd4;
    st.global.u32 [%rd4], %r5;
    ret;
}
"""
    all_are_zero(text, levels=LEVELS[:1])


def checking_still_finds_the_read():
    text = sweep(("", ".shared .align 16 .b8 tile[64];"), "mov.u32 %r2, tile;", "shared", 16, "bar.sync 0;")
    with written(text) as path:
        status, _, err = run("check", path, "--grid", 1, "--block", 32, "u32[32]")
    assert status == 1 and "[uninitialised-read" in err, err


# Each thread reads a word of its stack that only threads from 16 on have written; %p1 holds in those, %p2 in thread 3, too.
SPECULATED = HEAD + """
.visible .entry k(.param .u64 out)
{
    .local .align 4 .b8 frame[4];
    .reg .u64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, frame;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    setp.ge.u32 %p1, %r1, 16;
    setp.eq.or.u32 %p2, %r1, 3, %p1;
    mov.u32 %r3, -1;
    @%p1 st.local.u32 [%r2], %r1;
    USE
STORE:
    st.global.u32 [%rd1], %r3;
DONE:
    ret;
}
"""
LOAD = "ld.local.u32 %r4, [%r2];"
# The code, and how many threads use what nobody has written.
USES = {
    LOAD + "selp.b32 %r3, %r4, %r3, %p1;": 0,
    LOAD + "selp.b32 %r3, %r3, %r4, %p1;": 16,
    LOAD + "selp.b32 %r3, %r4, %r3, %p2;": 1,
    LOAD + "add.u32 %r5, %r4, 1; xor.b32 %r5, %r5, %r4; selp.b32 %r3, %r5, %r3, %p2;": 1,
    LOAD + "mov.u32 %r5, %r4; mov.u32 %r4, 0; selp.b32 %r3, %r4, %r3, %p2;": 0,
    LOAD + "@!%p1 bra STORE; mov.u32 %r3, %r4;": 0,
    LOAD + "@!%p2 bra STORE; mov.u32 %r3, %r4;": 1,
    LOAD + "@%p1 bra L; bra STORE; L: mov.u32 %r3, %r4;": 0,
    LOAD + "@%p2 mov.u32 %r3, %r4;": 1,
    LOAD + "@!%p1 st.global.u32 [%rd1], %r4;": 16,
    LOAD + "@%p1 st.global.u32 [%rd1], %r4;": 0,
    LOAD + "setp.eq.u32 %p3, %r4, 7; selp.b32 %r3, 1, 2, %p3;": 16,
    LOAD + "setp.eq.u32 %p3, %r4, 7; @%p3 bra STORE; mov.u32 %r3, 5;": 16,
    LOAD + "mov.u32 %r3, 5; @!%p2 exit; bar.warp.sync -1; mov.u32 %r3, %r4;": 1,
    LOAD + "setp.ge.u32 %p3, %r1, 16; selp.b32 %r3, %r4, %r3, %p3;": 16,  # %p3 comes too late to be known
    LOAD + "L: @!%p2 bra DONE; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 4; @%p2 bra L;": 1,  # nor how often it goes around
}


def reads_count_where_a_thread_uses_what_it_read():
    for use, wanted in USES.items():
        with written(SPECULATED.replace("USE", use)) as path:
            status, out, err = run("check", "--tool", "initcheck", path, "k", "--grid", 1, "--block", 32, "u32[32]=zeros")
            found = re.search(r"uninitialised-read(?:, (\d+) times)?", out + err)
            count = int(found.group(1) or 1) if found else 0
            assert count == wanted and status == (1 if wanted else 0), (use, count, wanted, out + err)


main(globals())
