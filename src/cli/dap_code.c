/* PTX and memory for an editor; see dap.h. An instruction's address is its line in the PTX. */
#include "cli/dap.h"

#include <stdlib.h>
#include <string.h>

static const char *source_text(struct dap *d, json_t *body)
{
    enum { ALL = 1 << 30 };
    const char *wrong;
    size_t i;
    const json_t *line;
    struct text t = {.arena = &d->arena};
    json_t *answer = dap_ask(d, json_pack("{s:s, s:i, s:i}", "do", "ptx", "from", 1, "to", ALL), &wrong);
    json_array_foreach(json_object_get(answer, "lines"), i, line)
    {
        while (i == 0 && t.n + 1 < (size_t)number_of(line, "line"))
            text_puts(&t, "\n"); /* the lines before the text in its file */
        text_printf(&t, "%s\n", text_of(line, "text") ? text_of(line, "text") : "");
    }
    json_object_set_new(body, "content", json_text(t.p ? t.p : "", t.n));
    json_object_set_new(body, "mimeType", json_string("text/x-ptx"));
    json_decref(answer);
    return wrong;
}

const char *dap_source_request(struct dap *d, const json_t *arguments, json_t *body)
{
    int64_t reference = number_of(arguments, "sourceReference");
    const json_t *source = json_object_get(arguments, "source");
    reference = reference ? reference : number_of(source, "sourceReference");
    return reference == PTX_SOURCE ? source_text(d, body)
                                   : "there is no source of this number; the editor reads files itself";
}

const char *dap_disassemble(struct dap *d, const json_t *arguments, json_t *body)
{
    enum { MOST = 1 << 16 };
    const char *reference = text_of(arguments, "memoryReference"), *wrong = NULL;
    int64_t count = number_of(arguments, "instructionCount"),
            from = (reference ? front_small(strtoll(reference, NULL, 0)) : 0) +
                   front_small(number_of(arguments, "offset")) + front_small(number_of(arguments, "instructionOffset")),
            to = from + count - 1, ptx_line;
    json_t *list = json_array();
    if (count < 0 || count > MOST)
        wrong = "at most 65536 instructions can be shown at once";
    const json_t *frame = json_object_get(d->f.place, "frame");
    json_t *answer = wrong ? NULL
                           : dap_ask(d,
                                     json_pack("{s:s, s:I, s:I}", "do", "ptx", "from",
                                               (json_int_t)(from > 1 ? from : 1), "to", (json_int_t)to),
                                     &wrong);
    json_t *none = json_pack("{s:I}", "ptx_line", (json_int_t)number_of(frame, "ptx_line")),
           *source = dap_source(d, none, &ptx_line);
    const json_t *lines = json_object_get(answer, "lines");
    int64_t first = number_of(json_array_get(lines, 0), "line");
    for (int64_t n = from; answer && n <= to; n++) {
        const json_t *line = n >= first && first ? json_array_get(lines, (size_t)(n - first)) : NULL;
        const char *text = text_of(line, "text");
        json_t *j =
            json_pack("{s:s, s:s}", "address", arena_printf(&d->arena, "0x%llx", (unsigned long long)(n > 0 ? n : 0)),
                      "instruction", text ? text + strspn(text, " \t") : "");
        if (line) {
            json_object_set(j, "location", source);
            json_object_set_new(j, "line", json_integer(dap_line(d, n)));
        } else {
            json_object_set_new(j, "presentationHint", json_string("invalid"));
        }
        json_array_append_new(list, j);
    }
    json_object_set_new(body, "instructions", list);
    json_decref(none);
    json_decref(source);
    json_decref(answer);
    return wrong;
}

/* ---- memory ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static const char *base64(const uint8_t *bytes, size_t n, struct arena *arena)
{
    struct text t = {.arena = arena};
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)bytes[i] << 16 | (i + 1 < n ? bytes[i + 1] << 8 : 0) | (i + 2 < n ? bytes[i + 2] : 0);
        const char four[] = {digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=',
                             i + 2 < n ? digits[v & 63] : '='};
        text_put(&t, four, 4);
    }
    return t.p ? t.p : "";
}

/* Returns the number of bytes; -1 if the text is not base64. */
static int64_t from_base64(const char *text, uint8_t *to)
{
    int64_t n = 0;
    uint32_t v = 0, bits = 0;
    for (; *text && *text != '='; text++) {
        const char *digit = strchr(digits, *text);
        if (!digit)
            return -1;
        v = v << 6 | (uint32_t)(digit - digits);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            to[n++] = (uint8_t)(v >> bits);
        }
    }
    return n;
}

static const char *address_of(struct dap *d, const json_t *arguments, uint64_t *address)
{
    const char *reference = text_of(arguments, "memoryReference");
    char *end = NULL;
    *address = reference ? strtoull(reference, &end, 0) + (uint64_t)number_of(arguments, "offset") : 0;
    return reference && end > reference && !*end ? dap_look(d, d->chosen)
                                                 : "memoryReference is the address of memory: 0x...";
}

const char *dap_read_memory(struct dap *d, const json_t *arguments, json_t *body)
{
    enum { MOST = 1 << 16 };
    uint64_t address;
    const char *wrong = address_of(d, arguments, &address);
    int64_t count = number_of(arguments, "count");
    if (wrong)
        return wrong;
    if (count < 0 || count > MOST)
        return "0 to 65536 bytes can be read at once";
    json_object_set_new(body, "address", json_string(arena_printf(&d->arena, "0x%llx", (unsigned long long)address)));
    json_t *answer = count ? dap_ask(d,
                                     json_pack("{s:s, s:s, s:I, s:i, s:s}", "do", "memory", "expression",
                                               arena_printf(&d->arena, "0x%llx", (unsigned long long)address), "count",
                                               (json_int_t)count, "size", 1, "format", "x"),
                                     &wrong)
                           : NULL;
    const json_t *values = json_object_get(answer, "values"), *v;
    uint8_t *bytes = ARENA_ARRAY(&d->arena, uint8_t, (size_t)count + 1);
    size_t i, n = json_array_size(values);
    json_array_foreach(values, i, v) bytes[i] = (uint8_t)strtoul(json_string_value(v), NULL, 16);
    json_object_set_new(body, "data", json_string(base64(bytes, n, &d->arena)));
    if ((size_t)count > n)
        json_object_set_new(body, "unreadableBytes", json_integer(count - (int64_t)n));
    json_decref(answer);
    return NULL;
}

const char *dap_write_memory(struct dap *d, const json_t *arguments, json_t *body)
{
    enum { MOST = 4096 };
    const char *data = text_of(arguments, "data");
    uint64_t address;
    uint8_t bytes[MOST];
    const char *wrong = address_of(d, arguments, &address);
    if (wrong)
        return wrong;
    if (!data || strlen(data) > MOST * 4 / 3)
        return "at most 4096 bytes can be written at once";
    int64_t n = from_base64(data, bytes);
    if (n < 0)
        return "the data to write is not base64";
    for (int64_t i = 0; i < n && !wrong; i++)
        json_decref(dap_ask(d,
                            json_pack("{s:s, s:s, s:s}", "do", "set", "to",
                                      arena_printf(&d->arena, "*(unsigned char *)0x%llx",
                                                   (unsigned long long)address + (unsigned long long)i),
                                      "value", arena_printf(&d->arena, "%u", bytes[i])),
                            &wrong));
    if (!wrong)
        json_object_set_new(body, "bytesWritten", json_integer(n));
    return wrong;
}
