/* See dropped.h. A decoder of as much x86-64 as compilers put behind calls ("Intel 64 and IA-32 Architectures Software Developer's
 * Manual", volume 2, 2.1 and appendix A): which registers an instruction reads and writes matters only for rax. What it does
 * not know counts as a read, so that nothing is called dropped that may not be.
 */
#include "cuda/process/dropped.h"

#include <stdbool.h>
#include <string.h>

#ifdef __x86_64__

enum { MAX_STEPS = 200, MAX_DEPTH = 8, RAX = 0 };

/* What an opcode has and does; R is the register of its ModRM byte, M the other operand of it. */
enum {
    MODRM = 1,
    READS_R = 2,
    WRITES_R = 4,
    READS_M = 8,
    WRITES_M = 16,
    BYTE_IMM = 32,
    IMM = 64,        /* 4 bytes, 2 with prefix 66 */
    READS_RAX = 128, /* by itself */
    CLEARS = 256,    /* writes zero where R is M: it reads nothing then */
    KNOWN = 512,     /* nothing of this: 1 byte */
    EXTENDS = 1024,  /* its ModRM's register is a part of the opcode */
};

static const uint16_t one_byte[256] = {
#define ALU(base, more)                                                                                                \
    [base] = MODRM | READS_R | READS_M, [base + 1] = MODRM | READS_R | READS_M | (more),                               \
    [base + 2] = MODRM | READS_R | READS_M, [base + 3] = MODRM | READS_R | READS_M | (more),                           \
    [base + 4] = READS_RAX | BYTE_IMM, [base + 5] = READS_RAX | IMM
    ALU(0x00, 0),
    ALU(0x08, 0),
    ALU(0x10, 0),
    ALU(0x18, 0),
    ALU(0x20, 0),
    ALU(0x28, CLEARS),
    ALU(0x30, CLEARS),
    ALU(0x38, 0),
#undef ALU
    [0x63] = MODRM | WRITES_R | READS_M,
    [0x68] = IMM,
    [0x69] = MODRM | WRITES_R | READS_M | IMM,
    [0x6a] = BYTE_IMM,
    [0x6b] = MODRM | WRITES_R | READS_M | BYTE_IMM,
    [0x80] = MODRM | EXTENDS | READS_M | BYTE_IMM,
    [0x81] = MODRM | EXTENDS | READS_M | IMM,
    [0x83] = MODRM | EXTENDS | READS_M | BYTE_IMM,
    [0x84] = MODRM | READS_R | READS_M,
    [0x85] = MODRM | READS_R | READS_M,
    [0x88] = MODRM | READS_R,
    [0x89] = MODRM | READS_R | WRITES_M,
    [0x8b] = MODRM | READS_M | WRITES_R,
    [0x8d] = MODRM | WRITES_R,
    [0x90] = KNOWN,
    [0x98] = READS_RAX,
    [0x99] = READS_RAX,
    [0xa8] = READS_RAX | BYTE_IMM,
    [0xa9] = READS_RAX | IMM,
    [0xc1] = MODRM | EXTENDS | READS_M | BYTE_IMM,
    [0xc6] = MODRM | EXTENDS | BYTE_IMM,
    [0xc7] = MODRM | EXTENDS | WRITES_M | IMM,
    [0xc9] = KNOWN,
    [0xd1] = MODRM | EXTENDS | READS_M,
    [0xd3] = MODRM | EXTENDS | READS_M,
};

/* Behind 0F. Vector registers do not matter: of most, only the address of M. */
static uint16_t two_byte(uint8_t opcode)
{
    switch (opcode) {
    case 0x1e: /* endbr64 */
    case 0x1f: return MODRM | EXTENDS;
    case 0x2a:
    case 0x6e: return MODRM | READS_M;
    case 0x2c:
    case 0x2d: return MODRM | WRITES_R;
    case 0x7e: return MODRM | READS_M; /* or writes it, which is the same as not to know */
    case 0x70:
    case 0xc2:
    case 0xc6: return MODRM | BYTE_IMM;
    case 0xaf: return MODRM | READS_R | READS_M;
    case 0xb6:
    case 0xb7:
    case 0xbe:
    case 0xbf: return MODRM | READS_M | WRITES_R;
    case 0xd6:
    case 0xef: return MODRM;
    default: break;
    }
    if ((opcode >= 0x40 && opcode <= 0x4f))
        return MODRM | READS_R | READS_M; /* cmov */
    if ((opcode >= 0x10 && opcode <= 0x17) || opcode == 0x28 || opcode == 0x29 || opcode == 0x2e || opcode == 0x2f ||
        (opcode >= 0x51 && opcode <= 0x6f) || opcode == 0x7f)
        return MODRM;
    return 0;
}

struct insn {
    const uint8_t *next;
    uint8_t opcode, rex, modrm;
    bool two_byte, wide, half; /* half: prefix 66 */
    uint16_t does;
    bool m_is_register, address_has_rax;
    unsigned r, m;
};

/* The ModRM byte with what follows it (2.1.5, 2.2.1.6). */
static const uint8_t *read_modrm(const uint8_t *p, struct insn *i)
{
    unsigned mode = *p >> 6, rm = *p & 7;
    i->modrm = *p++;
    i->r = (i->modrm >> 3 & 7) | (i->rex & 4 ? 8 : 0);
    i->m = rm | (i->rex & 1 ? 8 : 0);
    i->m_is_register = mode == 3;
    if (mode == 3)
        return p;
    bool no_base = mode == 0 && rm == 5;
    i->address_has_rax = i->m == RAX && rm != 4;
    if (rm == 4) {
        unsigned base = (*p & 7) | (i->rex & 1 ? 8 : 0), index = (*p >> 3 & 7) | (i->rex & 2 ? 8 : 0);
        no_base = mode == 0 && (*p & 7) == 5;
        i->address_has_rax = (base == RAX && !no_base) || index == RAX;
        p++;
    }
    return p + (mode == 1 ? 1 : mode == 2 || no_base ? 4 : 0);
}

/* The prefixes and the opcode; NULL: not known. */
static const uint8_t *read_opcode(const uint8_t *p, struct insn *i)
{
    while (*p == 0x66 || *p == 0xf2 || *p == 0xf3 || *p == 0x2e || *p == 0x3e)
        i->half |= *p++ == 0x66;
    if ((*p & 0xf0) == 0x40) {
        i->rex = *p++;
        i->wide = i->rex & 8;
    }
    if (*p == 0xc5) { /* VEX of two bytes: an instruction of the map 0F on vectors */
        i->rex = p[1] & 0x80 ? 0 : 4;
        i->two_byte = true;
        p += 2;
    } else if (*p == 0x0f) {
        i->two_byte = true;
        p++;
    }
    i->opcode = *p++;
    i->does = i->two_byte ? two_byte(i->opcode) : one_byte[i->opcode];
    return p;
}

/* An instruction of the tables; false where it is in none. */
static bool read_insn(const uint8_t *p, struct insn *i)
{
    p = read_opcode(p, i);
    if (!i->does)
        return false;
    if (i->does & MODRM)
        p = read_modrm(p, i);
    p += i->does & BYTE_IMM ? 1 : i->does & IMM ? (i->half ? 2 : 4) : 0;
    i->next = p;
    return true;
}

static bool reads_rax(const struct insn *i)
{
    if (i->does & READS_RAX || i->address_has_rax)
        return true;
    if (i->does & CLEARS && i->m_is_register && i->r == i->m)
        return false;
    return (i->does & READS_R && !(i->does & EXTENDS) && i->r == RAX) ||
           (i->does & READS_M && i->m_is_register && i->m == RAX);
}

static bool writes_rax(const struct insn *i)
{
    bool clears = i->does & CLEARS && i->m_is_register && i->r == i->m;
    return ((i->does & WRITES_R || clears) && i->r == RAX && !(i->does & EXTENDS)) ||
           (i->does & WRITES_M && i->m_is_register && i->m == RAX);
}

static int32_t displacement(const uint8_t *p)
{
    int32_t d;
    memcpy(&d, p, sizeof d);
    return d;
}

struct path {
    const uint8_t *end;
    int steps, depth;
};

static enum result_use follow(struct path *path, const uint8_t *p);

/* Both ways on: a read on either is one. */
static enum result_use fork_at(struct path *path, const uint8_t *next, const uint8_t *target)
{
    if (path->depth++ == MAX_DEPTH)
        return RESULT_READ;
    enum result_use a = follow(path, next), b = a == RESULT_READ ? a : follow(path, target);
    path->depth--;
    return a == RESULT_READ || b == RESULT_READ ? RESULT_READ : a == RESULT_RETURNED ? a : b;
}

/* Calls and jumps through memory or a register; the rest of the opcode's group is arithmetic. */
static enum result_use through(const struct insn *i)
{
    unsigned which = i->modrm >> 3 & 7;
    bool uses = i->address_has_rax || (i->m_is_register && i->m == RAX);
    return (which == 2 || which == 4) && !uses ? RESULT_DROPPED : RESULT_READ;
}

/* Where control goes elsewhere, or the instruction is in no table: true with what is known then, else *p is the next one. */
static bool transfer(struct path *path, const uint8_t **next, enum result_use *use)
{
    struct insn i = {0};
    const uint8_t *p = read_opcode(*next, &i);
    if (i.two_byte && (i.opcode & 0xf0) == 0x80) {
        *use = fork_at(path, p + 4, p + 4 + displacement(p));
        return true;
    }
    if (i.two_byte) {
        *use = i.opcode == 0x0b ? RESULT_DROPPED : RESULT_READ; /* ud2: it never gets there */
        return true;
    }
    unsigned low = (i.opcode & 7) | (i.rex & 1 ? 8 : 0);
    switch (i.opcode & 0xf8) {
    case 0x50:
        *use = RESULT_READ;
        *next = p;
        return low == RAX;
    case 0x58:
        *use = RESULT_DROPPED;
        *next = p;
        return low == RAX;
    case 0xb0: *next = p + 1; return false; /* a byte of it: the rest is still there */
    case 0xb8:
        *use = RESULT_DROPPED;
        *next = p + (i.wide ? 8 : i.half ? 2 : 4);
        return low == RAX;
    case 0x70:
    case 0x78: *use = fork_at(path, p + 1, p + 1 + (int8_t)*p); return true;
    default: break;
    }
    switch (i.opcode) {
    case 0xc2:
    case 0xc3: *use = RESULT_RETURNED; return true;
    case 0xe8: *use = RESULT_DROPPED; return true;
    case 0xe9: *next = p + 4 + displacement(p); return false;
    case 0xeb: *next = p + 1 + (int8_t)*p; return false;
    case 0xff:
        read_modrm(p, &i);
        *use = through(&i);
        return true;
    default: *use = RESULT_READ; return true;
    }
}

static enum result_use follow(struct path *path, const uint8_t *p)
{
    while (path->steps++ < MAX_STEPS && (!path->end || p < path->end)) {
        struct insn i = {0};
        enum result_use use;
        if (!read_insn(p, &i)) {
            if (transfer(path, &p, &use))
                return use;
            continue;
        }
        if (reads_rax(&i))
            return RESULT_READ;
        if (writes_rax(&i))
            return RESULT_DROPPED;
        p = i.next;
    }
    return RESULT_READ;
}

enum result_use result_use(const uint8_t *code, const uint8_t *end)
{
    struct path path = {.end = end};
    return follow(&path, code);
}

#else

enum result_use result_use(const uint8_t *code, const uint8_t *end)
{
    (void)code;
    (void)end;
    return RESULT_READ;
}

#endif
