/* Records as bytes and as text: one visitor for each record states its fields, and reads and writes
 * both forms.
 *
 *     a visitor calls codec_number(c, "warp", &v), codec_list(c, "address", &list), ... in one
 * order for all four
 *
 * Binary: a record is the length of what follows, its kind, a mask of the fields that are not 0 (or
 * empty), and the values: numbers as LEB128; texts and lists with their lengths; lists as
 * differences; addresses as differences to the last one in a record of the same context. Text: a
 * line with the kind's name and `name=value` for each of these fields; `#` begins a comment.
 *
 * After the first error, which is kept with its place, nothing more is read.
 */
#ifndef HEDDLE_RECORD_CODEC_H
#define HEDDLE_RECORD_CODEC_H

#include "base/str.h"
#include "base/vec.h"

/* A list of numbers; of a record that was read, valid until the next one. */
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
    /* Writing: */
    VEC(char) out; /* on the heap */
    bool no_memory;
    /* Reading: */
    struct str in; /* the rest of the record */
    uint64_t numbers[CODEC_NUMBERS];
    uint32_t n_numbers;
    struct codec_field fields[CODEC_FIELDS]; /* of a text line */
    unsigned n_fields;
    VEC(char) words; /* texts of a line, without quotes */
    /* Binary: */
    uint64_t mask;
    unsigned field;
    VEC(char) values;
    uint64_t last[CODEC_CONTEXTS]; /* the last address, by context */
    char error[256];               /* "" if there is no error */
};

void codec_free(struct codec *c);
/* Forgets the last record, except the addresses that differences refer to. */
void codec_reset(struct codec *c);

/* Begins to write a record, from its kind on, into c->out; `kinds` are the names of kinds. */
void codec_begin_write(struct codec *c, unsigned kind, const char *const *kinds);
void codec_end_write(struct codec *c);
/* Begins to read a record (without its length) or a line; returns its kind, or -1 if it is none of
   n. */
int codec_begin_read(struct codec *c, struct str record, const char *const *kinds, unsigned n);
/* Ends reading; a record with unread fields is an error. */
bool codec_end_read(struct codec *c);

void codec_fail(struct codec *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number, at most `most`. */
void codec_number(struct codec *c, const char *name, uint64_t *v, uint64_t most);
/* An address: hexadecimal in text; in binary, the difference to the last one of this context. */
void codec_address(struct codec *c, const char *name, uint64_t *v, uint64_t context);
/* One of n words. */
void codec_word(struct codec *c, const char *name, uint64_t *v, const char *const *words, unsigned n);
/* A set of bits by their words; as a hexadecimal number if words is NULL. */
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
