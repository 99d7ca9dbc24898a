/* See file.h. */
#include "record/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

static const char magic[8] = "heddleEV", head[] = "heddle-events ";

enum { BUFFER_BYTES = 1 << 17, MOST_RECORD_BYTES = 1 << 28, LEVEL = 3 };

static bool is_text_name(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".txt") == 0;
}

/* ---- writing ---- */

struct record_writer {
    FILE *file;
    ZSTD_CStream *zstd; /* NULL: a text file */
    int error;
    struct codec codec;
    char in[BUFFER_BYTES], out[BUFFER_BYTES];
    size_t n; /* the number of bytes in `in` */
};

static void put(struct record_writer *w, const void *bytes, size_t n)
{
    if (!w->error && fwrite(bytes, 1, n, w->file) != n)
        w->error = errno ? errno : EIO;
}

static void compress(struct record_writer *w, const char *bytes, size_t n, ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = {bytes, n, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {w->out, sizeof w->out, 0};
        left = ZSTD_compressStream2(w->zstd, &out, &in, how);
        if (ZSTD_isError(left)) {
            w->error = w->error ? w->error : ENOMEM;
            return;
        }
        put(w, w->out, out.pos);
    } while (how == ZSTD_e_end ? left > 0 : in.pos < in.size);
}

static void add(struct record_writer *w, const char *bytes, size_t n)
{
    if (!w->zstd) {
        put(w, bytes, n);
        return;
    }
    if (w->n + n > sizeof w->in) {
        compress(w, w->in, w->n, ZSTD_e_continue);
        w->n = 0;
    }
    if (n > sizeof w->in) {
        compress(w, bytes, n, ZSTD_e_continue);
        return;
    }
    memcpy(w->in + w->n, bytes, n);
    w->n += n;
}

struct record_writer *record_create(const char *path)
{
    struct record_writer *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->codec.text = is_text_name(path);
    w->zstd = w->codec.text ? NULL : ZSTD_createCStream();
    w->file = fopen(path, "wbe");
    if (!w->file || (!w->codec.text && !w->zstd)) {
        int error = w->file ? ENOMEM : errno;
        if (w->file)
            fclose(w->file);
        ZSTD_freeCStream(w->zstd);
        free(w);
        errno = error;
        return NULL;
    }
    if (w->codec.text) {
        w->error = fprintf(w->file, "%s%d\n", head, RECORD_VERSION) < 0 ? errno : 0;
    } else {
        char version = RECORD_VERSION;
        ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
        put(w, magic, sizeof magic);
        put(w, &version, 1);
    }
    return w;
}

void record_write(struct record_writer *w, struct record *r)
{
    if (w->error)
        return;
    codec_begin_write(&w->codec, r->kind, record_names);
    record_visit(&w->codec, r);
    codec_end_write(&w->codec);
    if (w->codec.no_memory)
        w->error = ENOMEM;
    else
        add(w, w->codec.out.at, w->codec.out.n);
}

bool record_finish(struct record_writer *w)
{
    struct record done = {.kind = RECORD_DONE};
    if (!w)
        return true;
    record_write(w, &done);
    if (w->zstd && !w->error)
        compress(w, w->in, w->n, ZSTD_e_end);
    if (fclose(w->file) && !w->error)
        w->error = errno;
    int error = w->error;
    ZSTD_freeCStream(w->zstd);
    codec_free(&w->codec);
    free(w);
    errno = error;
    return !error;
}

/* ---- reading ---- */

struct record_reader {
    char *path;
    FILE *file;
    ZSTD_DStream *zstd; /* NULL: a text file */
    bool ended, done;
    uint64_t number; /* the number of the record, or line */
    struct codec codec;
    char in[BUFFER_BYTES];
    ZSTD_inBuffer input;
    size_t hint;     /* zstd's hint: 0 at the end of a frame */
    VEC(char) bytes; /* bytes that were read */
    uint32_t from;   /* how many of them were consumed */
};

static void no_more(struct record_reader *r)
{
    codec_fail(&r->codec, "the file ends before its last record: it is damaged, or was not written completely");
}

/* Reads more of the file behind r->bytes; false at its end. */
static bool fill_plain(struct record_reader *r)
{
    size_t n = VEC_RESERVE(&r->bytes, BUFFER_BYTES) ? fread(r->bytes.at + r->bytes.n, 1, BUFFER_BYTES, r->file) : 0;
    r->bytes.n += (uint32_t)n;
    return n > 0;
}

static bool fill_compressed(struct record_reader *r)
{
    if (!VEC_RESERVE(&r->bytes, BUFFER_BYTES)) {
        codec_fail(&r->codec, "out of memory");
        return false;
    }
    ZSTD_outBuffer out = {r->bytes.at + r->bytes.n, BUFFER_BYTES, 0};
    while (!out.pos && !r->codec.error[0]) {
        if (r->input.pos == r->input.size) {
            r->input = (ZSTD_inBuffer){r->in, fread(r->in, 1, sizeof r->in, r->file), 0};
            if (!r->input.size)
                return false;
        }
        r->hint = ZSTD_decompressStream(r->zstd, &out, &r->input);
        if (ZSTD_isError(r->hint))
            codec_fail(&r->codec, "the file is damaged: %s", ZSTD_getErrorName(r->hint));
    }
    r->bytes.n += (uint32_t)out.pos;
    return out.pos > 0;
}

static bool fill(struct record_reader *r)
{
    if (r->from) {
        memmove(r->bytes.at, r->bytes.at + r->from, r->bytes.n - r->from);
        r->bytes.n -= r->from;
        r->from = 0;
    }
    if (r->bytes.n > MOST_RECORD_BYTES) {
        codec_fail(&r->codec, "a record is too long");
        return false;
    }
    return r->zstd ? fill_compressed(r) : fill_plain(r);
}

static bool take_line(struct record_reader *r, struct str *line)
{
    const char *end;
    while (!(end = r->bytes.n > r->from ? memchr(r->bytes.at + r->from, '\n', r->bytes.n - r->from) : NULL))
        if (!fill(r))
            return false;
    *line = (struct str){r->bytes.at + r->from, (size_t)(end - (r->bytes.at + r->from))};
    r->from += (uint32_t)line->n + 1;
    r->number++;
    return true;
}

static bool take_record(struct record_reader *r, struct str *record)
{
    enum { LENGTH_MOST = 5 };
    uint64_t n = 0;
    for (unsigned i = 0, shift = 0;; i++, shift += 7) {
        if (i == LENGTH_MOST) {
            codec_fail(&r->codec, "a record is too long");
            return false;
        }
        while (r->bytes.n - r->from <= i)
            if (!fill(r))
                return false;
        uint8_t byte = (uint8_t)r->bytes.at[r->from + i];
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            r->from += i + 1;
            break;
        }
    }
    if (n > MOST_RECORD_BYTES) {
        codec_fail(&r->codec, "a record is too long");
        return false;
    }
    while (r->bytes.n - r->from < n)
        if (!fill(r))
            return false;
    *record = (struct str){r->bytes.at + r->from, n};
    r->from += (uint32_t)n;
    r->number++;
    return true;
}

static bool is_empty(struct str line)
{
    size_t i = 0;
    while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t' || line.p[i] == '\r'))
        i++;
    return i == line.n || line.p[i] == '#';
}

bool record_next(struct record_reader *r, struct record *to)
{
    struct str bytes = {0};
    if (r->done || r->codec.error[0])
        return false;
    do {
        if (!(r->zstd ? take_record(r, &bytes) : take_line(r, &bytes))) {
            no_more(r);
            return false;
        }
    } while (!r->zstd && is_empty(bytes));
    int kind = codec_begin_read(&r->codec, bytes, record_names, RECORD_KINDS);
    if (kind < 0)
        return false;
    memset(to, 0, sizeof *to);
    to->kind = (enum record_kind)kind;
    record_visit(&r->codec, to);
    if (!codec_end_read(&r->codec))
        return false;
    r->done = kind == RECORD_DONE;
    while (r->done && r->zstd && r->hint && fill(r)) /* reads the checksum */
        ;
    if (r->done && r->zstd && r->hint)
        no_more(r);
    return !r->done && !r->codec.error[0];
}

static const char *wrong_head(struct record_reader *r)
{
    char start[sizeof magic + 1];
    struct str line;
    if (fread(start, 1, sizeof start, r->file) != sizeof start)
        return "it is not a file of events";
    if (memcmp(start, magic, sizeof magic) == 0) {
        if (start[sizeof magic] != RECORD_VERSION)
            return "it is of another version of Heddle";
        r->zstd = ZSTD_createDStream();
        return r->zstd ? NULL : "out of memory";
    }
    if (memcmp(start, head, sizeof start) != 0)
        return "it is not a file of events";
    rewind(r->file);
    r->codec.text = true;
    if (!take_line(r, &line) || line.n != sizeof head || line.p[line.n - 1] != '0' + RECORD_VERSION)
        return "it is of another version of Heddle";
    return NULL;
}

struct record_reader *record_open(const char *path, struct arena *arena, const char **error)
{
    struct record_reader *r = calloc(1, sizeof *r);
    *error = "out of memory";
    if (!r)
        return NULL;
    r->codec.reads = true;
    r->path = strdup(path);
    r->file = fopen(path, "rbe");
    if (!r->file)
        *error = arena_printf(arena, "cannot read %s: %s", path, strerror(errno));
    const char *wrong = r->file && r->path ? wrong_head(r) : "";
    if (!wrong)
        return r;
    if (*wrong)
        *error = arena_printf(arena, "%s cannot be replayed: %s", path, wrong);
    record_close(r);
    return NULL;
}

void record_rewind(struct record_reader *r)
{
    struct str line;
    fseek(r->file, r->zstd ? (long)sizeof magic + 1 : 0, SEEK_SET);
    if (r->zstd)
        ZSTD_DCtx_reset(r->zstd, ZSTD_reset_session_only);
    r->input = (ZSTD_inBuffer){0};
    r->bytes.n = r->from = 0;
    r->number = 0;
    r->hint = 0;
    r->done = false;
    memset(r->codec.last, 0, sizeof r->codec.last);
    if (!r->zstd)
        take_line(r, &line);
}

const char *record_error(struct record_reader *r, struct arena *arena)
{
    if (!r->codec.error[0])
        return NULL;
    return arena_printf(arena, r->zstd ? "%s: record %llu: %s" : "%s:%llu: %s", r->path,
                        (unsigned long long)(r->number ? r->number : 1), r->codec.error);
}

void record_fail(struct record_reader *r, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    codec_fail(&r->codec, "%s", text);
}

void record_close(struct record_reader *r)
{
    if (!r)
        return;
    if (r->file)
        fclose(r->file);
    ZSTD_freeDStream(r->zstd);
    codec_free(&r->codec);
    free(r->bytes.at);
    free(r->path);
    free(r);
}
