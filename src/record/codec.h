/* Records as bytes and as text: what is said once of a record, which fields it has, reads and
 * writes it in both forms.
 *
 *     a visitor calls codec_number(c, "warp", &v), codec_list(c, "address", &list), ... in one order, for all four
 *
 * Binary: a record is the length of what follows, its kind, a mask of the fields that are not 0 (or
 * empty), and these: numbers as LEB128, texts and lists with their lengths; lists as differences,
 * addresses as differences to what stood there last in a record of the same context. Text: a line,
 * the kind's name and `name=value` for each of the same fields; `#` begins a comment.
 *
 * The first thing that is wrong is kept with its place, and nothing more is read.
 */
#ifndef HEDDLE_RECORD_CODEC_H
#define HEDDLE_RECORD_CODEC_H

#include "base/str.h"
#include "base/vec.h"

/* Numbers that follow each other; of a record that was read good until the next. */
struct number_list {
    uint64_t *at;
    uint32_t n;
};

enum { CODEC_FIELDS = 64, CODEC_NUMBERS = 1 << 16, CODEC_CONTEXTS = 1 << 12, CODEC_RECORD_BYTES = 1 << 28 };

struct codec_field {
    struct str name, value;
    bool used;
};

struct codec {
    bool reads, text;
    /* What is written: */
    VEC(char) out; /* on the heap */
    bool no_memory;
    /* What is read: */
    struct str in; /* that is left of the record */
    uint64_t numbers[CODEC_NUMBERS];
    uint32_t n_numbers;
    struct codec_field fields[CODEC_FIELDS]; /* of a line */
    unsigned n_fields;
    VEC(char) words; /* texts of a line, without their quotes */
    /* Binary: */
    uint64_t mask;
    unsigned field;
    VEC(char) values;
    uint64_t last[CODEC_CONTEXTS]; /* addresses, by context */
    char error[256];               /* "" while all is well */
};

void codec_free(struct codec *c);
/* Between records nothing is left of the last one but what differences are to. */
void codec_reset(struct codec *c);

/* A record, from its kind on, is written into c->out: `kinds` are their names. */
void codec_begin_write(struct codec *c, unsigned kind, const char *const *kinds);
void codec_end_write(struct codec *c);
/* A record (without its length), or a line; returns its kind, or -1 where it is none of n. */
int codec_begin_read(struct codec *c, struct str record, const char *const *kinds, unsigned n);
/* All fields have been visited: there must be nothing left. */
bool codec_end_read(struct codec *c);

void codec_fail(struct codec *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* At most `most`. */
void codec_number(struct codec *c, const char *name, uint64_t *v, uint64_t most);
/* In hexadecimal, as text; near what was last in this context. */
void codec_address(struct codec *c, const char *name, uint64_t *v, uint64_t context);
/* One of n words. */
void codec_word(struct codec *c, const char *name, uint64_t *v, const char *const *words, unsigned n);
/* Bits of a set, by their words; NULL words: as a hexadecimal number. */
void codec_set(struct codec *c, const char *name, uint64_t *v, uint64_t all);
void codec_list(struct codec *c, const char *name, struct number_list *list, bool addresses);
void codec_text(struct codec *c, const char *name, struct str *text);

/* For members of any size. */
#define CODEC_NUMBER(c, name, member)                                                                                  \
    do {                                                                                                               \
        uint64_t number_ = (uint64_t)(member);                                                                         \
        codec_number((c), (name), &number_, (typeof(member))-1 > 0 ? (uint64_t)(typeof(member))-1 : INT64_MAX);        \
        (member) = (typeof(member))number_;                                                                            \
    } while (0)
#define CODEC_FLAG(c, name, member)                                                                                    \
    do {                                                                                                               \
        uint64_t flag_ = (member);                                                                                     \
        codec_number((c), (name), &flag_, 1);                                                                          \
        (member) = flag_;                                                                                              \
    } while (0)
#define CODEC_LANES(c, name, member)                                                                                   \
    do {                                                                                                               \
        uint64_t lanes_ = (member);                                                                                    \
        codec_set((c), (name), &lanes_, UINT32_MAX);                                                                   \
        (member) = (uint32_t)lanes_;                                                                                   \
    } while (0)
#define CODEC_WORD(c, name, member, words)                                                                             \
    do {                                                                                                               \
        uint64_t word_ = (uint64_t)(member);                                                                           \
        codec_word((c), (name), &word_, (words), sizeof(words) / sizeof *(words));                                     \
        (member) = (typeof(member))word_;                                                                              \
    } while (0)

#endif
