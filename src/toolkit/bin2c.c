/* bin2c: a file as an array of C, which programs have in them to load it. See tools.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/file.h"
#include "toolkit/tools.h"

struct array {
    const char *name, *type, *padding, *alignment;
    bool is_const, is_static, has_length;
};

/* Bytes of an element; 0: there is no such type. */
static size_t element_bytes(const char *type)
{
    return strcmp(type, "char") == 0       ? 1
           : strcmp(type, "short") == 0    ? 2
           : strcmp(type, "int") == 0      ? 4
           : strcmp(type, "longlong") == 0 ? 8
                                           : 0;
}

static void write_array(const struct array *a, const unsigned char *bytes, size_t n, size_t size)
{
    const char *type = strcmp(a->type, "longlong") == 0 ? "long long" : a->type;
    size_t elements = (n + size - 1) / size;
    const char *prefix = a->is_static ? "static " : a->is_const ? "extern " : "";
    printf("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    if (a->has_length)
        printf("%sunsigned long long %sLength = %zu;\n", a->is_static ? "static " : "", a->name, n);
    if (a->is_const && !a->is_static)
        printf("%sconst unsigned %s %s[%zu];\n", prefix, type, a->name, elements);
    printf("%s%sunsigned %s %s[%zu]%s%s%s = {", a->is_static ? "static " : "", a->is_const ? "const " : "", type,
           a->name, elements, a->alignment ? " __attribute__((aligned(" : "", a->alignment ? a->alignment : "",
           a->alignment ? ")))" : "");
    for (size_t i = 0; i < elements; i++) {
        unsigned long long value = 0;
        memcpy(&value, bytes + i * size, n - i * size < size ? n - i * size : size);
        printf("%s0x%0*llx,", i % (16 / size) ? "" : "\n", (int)(2 * size), value);
    }
    printf("\n};\n\n#ifdef __cplusplus\n}\n#endif\n");
}

/* "0,255": the bytes, behind those of the file. */
static bool add_padding(struct file_bytes *file, const char *padding)
{
    char *more = padding ? realloc(file->bytes, file->n + strlen(padding) + 1) : file->bytes;
    if (!more)
        return false;
    file->bytes = more;
    for (char *end; padding && *padding; padding = *end == ',' ? end + 1 : end) {
        more[file->n++] = (char)strtoul(padding, &end, 0);
        if (end == padding)
            return false;
    }
    more[file->n] = 0;
    return true;
}

int tool_bin2c(struct tool *t)
{
    struct array a = {.name = "imageBytes", .type = "char"};
    const char *path = NULL;
    struct file_bytes file;
    for (; t->at < t->n; t->at++) {
        const char *word = t->words[t->at];
        if (*word != '-')
            path = word;
        else if (tool_option(t, "const", "c", NULL))
            a.is_const = true;
        else if (tool_option(t, "static", "st", NULL))
            a.is_static = true;
        else if (tool_option(t, "length", "l", NULL))
            a.has_length = true;
        else if (!tool_option(t, "name", "n", &a.name) && !tool_option(t, "type", "t", &a.type) &&
                 !tool_option(t, "padd", "p", &a.padding) && !tool_option(t, "alignment", "a", &a.alignment))
            return tool_fail(t, "there is no option `%s` here: -c, -st, -l, -n NAME, -t TYPE, -p BYTES, -a N", word);
    }
    if (!path || !a.name || !a.type || !element_bytes(a.type))
        return tool_fail(
            t, "the file is missing, as in `bin2c --name kernel kernel.ptx`; types are char, short, int and longlong");
    const char *error = file_read(t->arena, path, 0, &file);
    if (error)
        return tool_fail(t, "%s", error);
    bool padded = add_padding(&file, a.padding);
    if (padded)
        write_array(&a, (const unsigned char *)file.bytes, file.n, element_bytes(a.type));
    free(file.bytes);
    return padded ? 0 : tool_fail(t, "`-p %s`: bytes are written like 0,255", a.padding);
}
