/* See host_insn.h. "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2: 2.1 to 2.7 (formats), appendix A
 * (opcodes).
 */
#include "check/host/host_insn.h"

#include <string.h>

enum map { MAP_ONE = 0, MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3 };
enum prefix { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 };

struct insn {
    const uint8_t *at; /* the next byte */
    enum map map;
    enum prefix prefix;
    uint8_t opcode, modrm, sib;
    bool rex_w, rex_r, rex_x, rex_b, small_operands, small_addresses;
    bool vector, evex, broadcast; /* VEX or EVEX */
    unsigned mask;                /* its register, or 0 */
    unsigned vector_bytes;
    uint64_t segment;
};

/* ---- reading it ---- */

static void read_rex(struct insn *i, uint8_t rex)
{
    i->rex_w = rex & 8;
    i->rex_r = rex & 4;
    i->rex_x = rex & 2;
    i->rex_b = rex & 1;
}

static void read_vex(struct insn *i, const uint8_t *p, bool three)
{
    static const enum prefix prefixes[] = {PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2};
    uint8_t last = three ? p[2] : p[1];
    i->vector = true;
    i->map = three ? (enum map)(p[1] & 31) : MAP_0F;
    i->rex_r = !(p[1] & 0x80);
    i->rex_x = three && !(p[1] & 0x40);
    i->rex_b = three && !(p[1] & 0x20);
    i->rex_w = three && last & 0x80;
    i->vector_bytes = last & 4 ? 32 : 16;
    i->prefix = prefixes[last & 3];
    i->at = p + (three ? 3 : 2);
}

static void read_evex(struct insn *i, const uint8_t *p)
{
    static const enum prefix prefixes[] = {PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2};
    i->vector = i->evex = true;
    i->map = (enum map)(p[1] & 7);
    i->rex_r = !(p[1] & 0x80);
    i->rex_x = !(p[1] & 0x40);
    i->rex_b = !(p[1] & 0x20);
    i->rex_w = p[2] & 0x80;
    i->prefix = prefixes[p[2] & 3];
    i->vector_bytes = 16u << (p[3] >> 5 & 3);
    i->broadcast = p[3] & 0x10;
    i->mask = p[3] & 7;
    i->at = p + 4;
}

static bool read_legacy_prefix(struct insn *i, const struct host_registers *r)
{
    switch (*i->at) {
    case 0x66:
        i->small_operands = true;
        i->prefix = i->prefix ? i->prefix : PREFIX_66;
        break;
    case 0xf3: i->prefix = PREFIX_F3; break;
    case 0xf2: i->prefix = PREFIX_F2; break;
    case 0x64: i->segment = r->fs; break;
    case 0x65: i->segment = r->gs; break;
    case 0x67: i->small_addresses = true; break;
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x26:
    case 0xf0: break;
    default: return false;
    }
    i->at++;
    return true;
}

static void read_opcode(struct insn *i)
{
    if (*i->at == 0xc5)
        read_vex(i, i->at, false);
    else if (*i->at == 0xc4)
        read_vex(i, i->at, true);
    else if (*i->at == 0x62)
        read_evex(i, i->at);
    if ((*i->at & 0xf0) == 0x40 && !i->vector)
        read_rex(i, *i->at++);
    if (*i->at == 0x0f && !i->vector) {
        i->at++;
        i->map = *i->at == 0x38 ? MAP_0F38 : *i->at == 0x3a ? MAP_0F3A : MAP_0F;
        i->at += i->map != MAP_0F;
    }
    i->opcode = *i->at++;
}

static struct insn read_insn(const uint8_t *code, const struct host_registers *r)
{
    struct insn i = {.at = code};
    for (int n = 0; n < 14 && read_legacy_prefix(&i, r); n++)
        ;
    read_opcode(&i);
    return i;
}

/* ---- how many bytes ---- */

static unsigned general(const struct insn *i)
{
    return i->rex_w ? 8 : i->small_operands ? 2 : 4;
}

static unsigned by_low_bit(const struct insn *i)
{
    return i->opcode & 1 ? general(i) : 1;
}

static unsigned bytes_of_one(const struct insn *i)
{
    uint8_t o = i->opcode;
    if (o < 0x40)
        return (o & 7) < 4 ? by_low_bit(i) : 0;
    switch (o) {
    case 0x63: return 4;
    case 0x69:
    case 0x6b:
    case 0x81:
    case 0x83: return general(i);
    case 0x80: return 1;
    case 0x84 ... 0x8b:
    case 0xc0:
    case 0xc1:
    case 0xc6:
    case 0xc7:
    case 0xd0 ... 0xd3:
    case 0xf6:
    case 0xf7:
    case 0xfe: return by_low_bit(i);
    case 0xff: return (i->modrm >> 3 & 7) < 2 ? general(i) : 8;
    default: return 0;
    }
}

/* Of packed and scalar floating-point instructions, by prefix. */
static unsigned by_prefix(const struct insn *i, unsigned packed)
{
    return i->prefix == PREFIX_F3 ? 4 : i->prefix == PREFIX_F2 ? 8 : packed;
}

static unsigned bytes_of_0f(const struct insn *i)
{
    unsigned full = i->vector ? i->vector_bytes : 16;
    bool wide = i->prefix == PREFIX_66 || i->prefix == PREFIX_F3;
    switch (i->opcode) {
    case 0x10:
    case 0x11: return by_prefix(i, full);
    case 0x12:
    case 0x16: return i->prefix == PREFIX_F3 ? full : i->prefix == PREFIX_F2 ? 0 : 8;
    case 0x13:
    case 0x17:
    case 0xd6: return 8;
    case 0x28:
    case 0x29:
    case 0x2b: return full;
    case 0x2a: return i->prefix == PREFIX_F3 || i->prefix == PREFIX_F2 ? (i->rex_w ? 8 : 4) : 8;
    case 0x2c:
    case 0x2d: return by_prefix(i, 8);
    case 0x2e:
    case 0x2f: return i->prefix == PREFIX_66 ? 8 : 4;
    case 0x40 ... 0x4f: return general(i);
    case 0x51 ... 0x59:
    case 0x5c ... 0x5f:
    case 0xc2: return by_prefix(i, full);
    case 0x5a: return by_prefix(i, i->prefix == PREFIX_66 ? full : full / 2);
    case 0x6e: return i->rex_w ? 8 : 4;
    case 0x6f:
    case 0x7f: return wide ? full : i->evex ? full : 8;
    case 0x7e: return i->prefix == PREFIX_F3 ? 8 : i->rex_w ? 8 : 4;
    case 0x90 ... 0x9f: return i->vector ? 0 : 1;
    case 0xb0:
    case 0xb6:
    case 0xbe:
    case 0xc0: return 1;
    case 0xaf:
    case 0xb1:
    case 0xb8:
    case 0xbc:
    case 0xbd:
    case 0xc1:
    case 0xc3: return general(i);
    case 0xb7:
    case 0xbf: return 2;
    case 0xc6: return full;
    case 0xc7: return (i->modrm >> 3 & 7) == 1 ? (i->rex_w ? 16 : 8) : 0;
    case 0xe7: return i->prefix == PREFIX_66 ? full : 8;
    case 0x60 ... 0x6d:
    case 0x74 ... 0x76:
    case 0xd4:
    case 0xd5:
    case 0xd8 ... 0xe5:
    case 0xe8 ... 0xef:
    case 0xf4 ... 0xfe: return i->prefix == PREFIX_66 ? full : 0;
    default: return 0;
    }
}

static unsigned bytes_of_0f38(const struct insn *i)
{
    unsigned full = i->vector ? i->vector_bytes : 16;
    if (i->prefix != PREFIX_66)
        return 0;
    switch (i->opcode) {
    case 0x00 ... 0x0b:
    case 0x1c ... 0x1e:
    case 0x28 ... 0x2b:
    case 0x37 ... 0x40: return full;
    case 0x18:
    case 0x58: return 4;
    case 0x19:
    case 0x59: return 8;
    case 0x1a:
    case 0x5a: return 16;
    case 0x20:
    case 0x23:
    case 0x25:
    case 0x30:
    case 0x33:
    case 0x35: return full / 2;
    case 0x21:
    case 0x24:
    case 0x31:
    case 0x34: return full / 4;
    case 0x22:
    case 0x32: return full / 8;
    case 0x78: return 1;
    case 0x79: return 2;
    case 0x96 ... 0x98:
    case 0x9a:
    case 0x9c:
    case 0x9e:
    case 0xa6 ... 0xa8:
    case 0xaa:
    case 0xac:
    case 0xae:
    case 0xb6 ... 0xb8:
    case 0xba:
    case 0xbc:
    case 0xbe: return i->vector ? full : 0;
    case 0x99:
    case 0x9b:
    case 0x9d:
    case 0x9f:
    case 0xa9:
    case 0xab:
    case 0xad:
    case 0xaf:
    case 0xb9:
    case 0xbb:
    case 0xbd:
    case 0xbf: return i->vector ? (i->rex_w ? 8 : 4) : 0;
    default: return 0;
    }
}

/* vinsertf128 and its like. */
static unsigned bytes_of_0f3a(const struct insn *i)
{
    bool part = i->opcode == 0x18 || i->opcode == 0x19 || i->opcode == 0x38 || i->opcode == 0x39;
    return i->vector && i->prefix == PREFIX_66 && part ? 16 : 0;
}

static unsigned bytes_of(const struct insn *i)
{
    if (i->broadcast)
        return i->rex_w ? 8 : 4;
    switch (i->map) {
    case MAP_ONE: return bytes_of_one(i);
    case MAP_0F: return bytes_of_0f(i);
    case MAP_0F38: return bytes_of_0f38(i);
    case MAP_0F3A: return bytes_of_0f3a(i);
    default: return 0;
    }
}

/* ---- masks ---- */

/* Of an element of a masked move; 0: not known. */
static unsigned element_bytes(const struct insn *i)
{
    bool moves = i->opcode == 0x6f || i->opcode == 0x7f,
         packed = i->opcode == 0x10 || i->opcode == 0x11 || i->opcode == 0x28 || i->opcode == 0x29;
    if (i->map != MAP_0F || !(moves || packed))
        return 0;
    if (moves && i->prefix == PREFIX_F2)
        return i->rex_w ? 2 : 1;
    return i->rex_w ? 8 : 4;
}

/* What its mask leaves of the operand, where that is in one piece. */
static void apply_mask(const struct insn *i, const struct host_registers *r, struct host_operand *o)
{
    unsigned element = element_bytes(i), n = element ? o->bytes / element : 0;
    uint64_t all = n < 64 ? (1ull << n) - 1 : ~0ull, lanes = r->masks[i->mask] & all;
    unsigned first = lanes ? (unsigned)__builtin_ctzll(lanes) : 0;
    uint64_t piece = lanes >> first;
    bool one_piece = lanes && (piece & (piece + 1)) == 0;
    o->address += first * element;
    o->bytes = one_piece ? (unsigned)__builtin_popcountll(lanes) * element : 0;
}

/* ---- where ---- */

static uint64_t displacement(const struct insn *i, unsigned bytes, unsigned scale)
{
    int32_t wide = 0;
    if (bytes == 1)
        return (uint64_t)((int64_t)(int8_t)*i->at * (int64_t)scale);
    memcpy(&wide, i->at, bytes);
    return (uint64_t)(int64_t)wide;
}

static uint64_t base_and_index(const struct insn *i, const struct host_registers *r)
{
    unsigned index = (i->sib >> 3 & 7) | (unsigned)i->rex_x << 3, base = (i->sib & 7) | (unsigned)i->rex_b << 3;
    uint64_t at = index == 4 ? 0 : r->at[index] << (i->sib >> 6);
    return (i->sib & 7) == 5 && i->modrm < 0x40 ? at : at + r->at[base];
}

/* In EVEX, displacements of a byte count in what is accessed (2.7.5). */
static bool address_of(struct insn *i, const struct host_registers *r, unsigned bytes, uint64_t *address)
{
    unsigned mod = i->modrm >> 6, rm = i->modrm & 7;
    uint64_t at = 0;
    if (mod == 3 || (mod == 0 && rm == 5) || i->small_addresses || (i->evex && mod == 1 && !bytes))
        return false; /* what is relative to the instruction lies in the program's own data */
    bool has_sib = rm == 4;
    if (has_sib)
        i->sib = *i->at++;
    at = has_sib ? base_and_index(i, r) : r->at[rm | (unsigned)i->rex_b << 3];
    unsigned width = mod == 1 ? 1 : mod == 2 || (has_sib && (i->sib & 7) == 5) ? 4 : 0;
    *address = i->segment + at + (width ? displacement(i, width, i->evex ? bytes : 1) : 0);
    i->at += width;
    return true;
}

bool host_insn_operand(const uint8_t *code, const struct host_registers *r, struct host_operand *operand)
{
    struct insn i = read_insn(code, r);
    i.modrm = *i.at++;
    operand->bytes = bytes_of(&i);
    if (!address_of(&i, r, operand->bytes, &operand->address))
        return false;
    if (i.mask)
        apply_mask(&i, r, operand);
    return true;
}

/* ---- the same at another address ---- */

/* Opcodes whose meaning goes on in modrm, where others name a register. */
static bool is_group(const struct insn *i)
{
    uint8_t o = i->opcode;
    if (i->map == MAP_0F)
        return o == 0xc7;
    return i->map == MAP_ONE &&
           (o == 0x80 || o == 0x81 || o == 0x83 || o == 0xc0 || o == 0xc1 || o == 0xc6 || o == 0xc7 ||
            (o >= 0xd0 && o <= 0xd3) || o == 0xf6 || o == 0xf7 || o == 0xfe || o == 0xff);
}

static unsigned immediate_bytes(const struct insn *i)
{
    unsigned wide = i->small_operands && !i->rex_w ? 2 : 4, which = i->modrm >> 3 & 7;
    if (i->map == MAP_0F3A || (i->map == MAP_0F && (i->opcode == 0xc2 || i->opcode == 0xc6)))
        return 1;
    if (i->map != MAP_ONE)
        return 0;
    switch (i->opcode) {
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6: return 1;
    case 0x69:
    case 0x81:
    case 0xc7: return wide;
    case 0xf6: return which < 2 ? 1 : 0;
    case 0xf7: return which < 2 ? wide : 0;
    default: return 0;
    }
}

/* Prefixes and opcode, up to modrm, without the bits that are for the address. */
static void copy_head(const uint8_t *code, const uint8_t *end, const struct insn *i, struct host_moved *m)
{
    const uint8_t *p = code;
    struct insn legacy = {.at = code};
    const struct host_registers none = {0};
    while (read_legacy_prefix(&legacy, &none)) {
        if (*p != 0x64 && *p != 0x65)
            m->code[m->length++] = *p;
        p = legacy.at;
    }
    const uint8_t *first = p;
    for (; p < end; p++)
        m->code[m->length++] = *p;
    uint8_t *head = m->code + m->length - (end - first);
    if (!i->vector && (*head & 0xf0) == 0x40)
        *head &= (uint8_t)~3;
    if (i->evex || (i->vector && *head == 0xc4))
        head[1] |= 0x60;
}

bool host_insn_moved(const uint8_t *code, const struct host_registers *r, struct host_moved *m)
{
    enum { RSP = 4, RSI = 6, RDI = 7 };
    struct insn i = read_insn(code, r);
    const uint8_t *modrm = i.at++;
    i.modrm = *modrm;
    unsigned bytes = bytes_of(&i), which = i.modrm >> 3 & 7, reg = which | (unsigned)i.rex_r << 3;
    bool group = is_group(&i), uses_stack = i.map == MAP_ONE && i.opcode == 0xff && which > 1,
         may_trap = i.map == MAP_ONE && (i.opcode == 0xf6 || i.opcode == 0xf7) && which > 5;
    *m = (struct host_moved){.base = !group && reg == RDI ? RSI : RDI};
    if (!bytes || uses_stack || may_trap || (!group && reg == RSP) || !address_of(&i, r, bytes, &m->address))
        return false;
    copy_head(code, modrm, &i, m);
    m->code[m->length++] = (uint8_t)(which << 3 | m->base);
    for (unsigned n = immediate_bytes(&i); n; n--)
        m->code[m->length++] = *i.at++;
    m->original_length = (uint32_t)(i.at - code);
    return true;
}

bool host_insn_string(const uint8_t *code, struct host_string *s)
{
    const struct host_registers none = {0};
    struct insn i = read_insn(code, &none);
    bool moves = i.opcode == 0xa4 || i.opcode == 0xa5, sets = i.opcode == 0xaa || i.opcode == 0xab;
    if (i.map != MAP_ONE || i.vector || i.prefix != PREFIX_F3 || i.segment || i.small_addresses || !(moves || sets))
        return false;
    *s = (struct host_string){(uint32_t)(i.at - code), by_low_bit(&i), moves};
    return true;
}
