"""Kernels of other shapes than strides.py's, for the same campaign: locks and compare-and-swap loops, which compiled code runs lane
after lane; rows of a sparse matrix, which lanes walk through one by one; stores past the caches. Their addresses miss what they
mean by an element, by what a register wraps at, or not at all."""

HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"


def miss(R, size):
    """How far an address is off, mostly not at all."""
    return R.choice([0] * 16 + [size, size, -size, size // 2, 1, 1 << 31, -(1 << 31), 1 << 32, -(1 << 32), 1 << 44, 1 << 63])


def number(v):
    return str(v & ((1 << 64) - 1))


def head(R, steps):
    return [f"//! machine {R.randrange(4)} {R.randrange(3)} {steps}"]


LOCK = """.visible .entry k(.param .u64 out, .param .u64 locks, .param .u64 data, .param .u64 lock_off, .param .u64 data_off, .param .u32 mul,
    .param .u32 mask)
{
    .reg .b64 %out, %locks, %data, %x, %y; .reg .b32 %t, %u, %s, %v, %me, %i; .reg .pred %q;
    ld.param.u64 %out, [out]; ld.param.u64 %locks, [locks]; ld.param.u64 %data, [data];
    ld.param.u64 %x, [lock_off]; add.u64 %locks, %locks, %x; ld.param.u64 %x, [data_off]; add.u64 %data, %data, %x;
    mov.u32 %me, %tid.x;
    ld.param.u32 %t, [mul]; mul.lo.u32 %i, %me, %t; ld.param.u32 %t, [mask]; and.b32 %i, %i, %t;
    mul.wide.u32 %x, %i, 8; add.u64 %locks, %locks, %x;
    mul.wide.u32 %x, %i, STRIDE; add.u64 %data, %data, %x;
    BODY
    mul.wide.u32 %x, %me, 4; add.u64 %x, %x, %out; st.global.u32 [%x], %i;
    ret;
}
"""
BODIES = ["""TAKE:
    atom.global.cas.b32 %t, [%locks], 0, 1; setp.ne.u32 %q, %t, 0; @%q bra TAKE;
    membar.gl;
    ld.volatile.global.u32 %v, [%data+DISP]; add.u32 %v, %v, %me; st.volatile.global.u32 [%data+DISP], %v;
    membar.gl;
    atom.global.exch.b32 %t, [%locks], 0;""",
          """TAKE:
    atom.global.cas.b32 %t, [%locks], 0, 1; setp.ne.u32 %q, %t, 0; @%q bra TAKE;
    membar.gl;
    ld.global.u32 %v, [%data+DISP]; mad.lo.u32 %v, %me, 3, %v; st.global.u32 [%data+DISP], %v;
    membar.gl;
    st.volatile.global.u32 [%locks], 0;""",
          """    ld.volatile.global.u32 %t, [%data+DISP];
AGAIN:
    add.u32 %u, %t, %me; atom.global.cas.b32 %s, [%data+DISP], %t, %u; setp.ne.u32 %q, %s, %t; mov.u32 %t, %s; @%q bra AGAIN;"""]


def locks(R):
    stride, displacement = R.choice([4, 8, 16, 64]), R.choice([0, 0, 4, -(1 << 31), (1 << 31) - 4, -4096])
    cells = R.choice([16, 32, 64])
    data_bytes = cells * stride - R.choice([0, 0, stride - 4])
    text = LOCK.replace("BODY", R.choice(BODIES)).replace("STRIDE", str(stride)).replace("DISP", str(displacement))
    lines = head(R, 300000) + ["//! buffer 3072 hash 1", f"//! buffer {8 * cells} below 1 0", f"//! buffer {data_bytes} hash 2"]
    sizes = R.choice([32, 7]), R.choice([64, 96, 40])
    for _ in range(12):
        lines.append(f"//! launch {R.choice([1, 1, 2])} {R.choice(sizes)} result @0 @1 @2 {number(miss(R, 8))} "
                     f"{number(-displacement + miss(R, 4))} {R.choice([0, 1, 1, 3, 5])} {cells - 1}")
    return lines, text


ROWS = """.visible .entry k(.param .u64 out, .param .u64 index, .param .u64 in, .param .u64 index_off, .param .u64 in_off, .param .u32 row,
    .param .u32 more)
{
    .reg .b64 %out, %index, %in, %x, %y; .reg .b32 %me, %gid, %t, %j, %end, %c, %v, %acc, %row; .reg .pred %p;
    ld.param.u64 %out, [out]; ld.param.u64 %index, [index]; ld.param.u64 %in, [in];
    ld.param.u64 %x, [index_off]; add.u64 %index, %index, %x; ld.param.u64 %x, [in_off]; add.u64 %in, %in, %x;
    mov.u32 %me, %tid.x; mov.u32 %t, %ntid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %gid, %c, %t, %me;
    ld.param.u32 %row, [row]; mul.lo.u32 %j, %gid, %row; ld.param.u32 %end, [more];
    mul.lo.u32 %t, %me, 40503; shr.u32 %t, %t, 4; add.u32 %c, %row, 1; rem.u32 %t, %t, %c; add.u32 %t, %t, %end;
    add.u32 %end, %j, %t; mov.u32 %acc, 0;
    setp.ge.u32 %p, %j, %end; @%p bra DONE;
ROW:
    mul.wide.u32 %x, %j, 4; add.u64 %x, %index, %x; ld.global.u32 %c, [%x+DISP];
    WIDE %y, %c, SIZE; add.u64 %y, %in, %y; ld.global.KIND %v, [%y+DISP];
    mad.lo.u32 %acc, %acc, 31, %v;
    add.u32 %j, %j, 1; setp.lt.u32 %p, %j, %end; @%p bra ROW;
DONE:
    mul.wide.u32 %x, %gid, 4; add.u64 %x, %x, %out; st.global.u32 [%x], %acc; ret;
}
"""


def rows(R):
    size, displacement = R.choice([1, 2, 4, 4, 4]), R.choice([0, 0, 0, 4, -(1 << 31), (1 << 31) - 4])
    elements, signed = R.choice([100, 1000, 4096]), R.random() < 0.5
    threads = R.choice([32, 32, 64])
    row = R.choice([1, 4, 8, 16])
    entries = row * threads + row
    text = (ROWS.replace("WIDE", "mul.wide.s32" if signed else "mul.wide.u32").replace("SIZE", str(size)).replace("KIND", f"u{8 * size}")
            .replace("DISP", str(displacement)))
    evil = ""
    if R.random() < 0.6:
        word = R.choice([elements, elements - 1, elements + 1, 1 << 31, (1 << 31) - 1, (1 << 32) - 1, (1 << 32) // size - 1, 1 << 30])
        evil = f" {4 * R.randrange(entries)}={word % (1 << 32)}"
    lines = head(R, 300000) + ["//! buffer 3072 hash 1", f"//! buffer {4 * entries} below {elements} {R.randrange(1000)}{evil}",
                               f"//! buffer {size * elements} hash 2"]
    for _ in range(12):
        lines.append(f"//! launch 1 {threads} exact @0 @1 @2 {number(-displacement + miss(R, 4))} {number(-displacement + miss(R, size))} "
                     f"{row} {R.choice([0, 0, 0, 1, row])}")
    return lines, text


STREAM = """.visible .entry k(.param .u64 to, .param .u64 off)
{
    .reg .b64 %to, %x; .reg .b32 %me, %gid, %t, %c, %v;
    ld.param.u64 %to, [to]; ld.param.u64 %x, [off]; add.u64 %to, %to, %x;
    mov.u32 %me, %tid.x; mov.u32 %t, %ntid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %gid, %c, %t, %me;
    mul.lo.u32 %v, %gid, 2654435761; mul.wide.u32 %x, %gid, SIZE; add.u64 %x, %to, %x;
    st.global.VECTORu32 [%x+DISP], VALUES; ret;
}
"""


def stream(R):
    vector, displacement = R.choice([1, 2, 4]), R.choice([0, 0, 64, -(1 << 31)])
    size = 4 * vector
    text = (STREAM.replace("SIZE", str(size)).replace("VECTOR", f"v{vector}." if vector > 1 else "")
            .replace("VALUES", "{" + ", ".join(["%v"] * vector) + "}" if vector > 1 else "%v").replace("DISP", str(displacement)))
    threads = R.choice([128, 256])
    blocks = (33 << 20) // (threads * size)
    lines = head(R, 30000000) + [f"//! buffer {blocks * threads * size} below 7 1"]
    for _ in range(3):
        lines.append(f"//! launch {blocks} {threads} exact @0 {number(-displacement + miss(R, size))}")
    return lines, text


def make(R):
    lines, text = R.choices([locks, rows, stream], [10, 10, 1])[0](R)
    return "\n".join(lines) + "\n" + HEAD + text
