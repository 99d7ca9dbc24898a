/* What the oracle programs share: options, files, lines. */
#ifndef HEDDLE_TESTS_ORACLE_H
#define HEDDLE_TESTS_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle.h"

struct file {
    char *bytes; /* ended by a zero that does not count */
    size_t n;
};

struct oracle_options {
    char dir[4096];
    hd_machine *machine;
};

static inline struct file oracle_read(const char *dir, const char *name)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    struct file r = {0};
    if (!f) {
        fprintf(stderr, "oracle: cannot read %s\n", path);
        exit(2);
    }
    fseek(f, 0, SEEK_END);
    r.n = (size_t)ftell(f);
    rewind(f);
    r.bytes = malloc(r.n + 1);
    if (!r.bytes || fread(r.bytes, 1, r.n, f) != r.n)
        exit(2);
    r.bytes[r.n] = 0;
    fclose(f);
    return r;
}

/* The next line without its end, or NULL. */
static inline char *oracle_line(char **rest)
{
    char *line = *rest, *end = line ? strchr(line, '\n') : NULL;
    if (!line || !*line)
        return NULL;
    if (end)
        *end = 0;
    *rest = end ? end + 1 : NULL;
    return line;
}

/* The first n fields between tabs. */
static inline void oracle_split(char *line, char **field, int n)
{
    for (int i = 0; i < n; i++) {
        field[i] = line;
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = 0;
    }
}

static inline void oracle_explain(hd_result r, const hd_report *report, char *text, size_t size)
{
    hd_diagnostic d;
    snprintf(text, size, "%s", hd_report_get(report, 0, &d) ? d.text : hd_result_string(r));
}

/* Options --workers N, --cpu LEVEL and --policy POLICY, then the folder, whose subfolder `sub` is taken where it has `probe`. */
static inline struct oracle_options oracle_parse(int argc, char **argv, const char *sub, const char *probe)
{
    struct oracle_options o = {0};
    hd_machine_options options = {.memory_bytes = 256 << 20};
    const char *dir = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--workers") == 0 && i + 1 < argc)
            options.workers = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--cpu") == 0 && i + 1 < argc)
            options.cpu_level = argv[++i];
        else if (strcmp(argv[i], "--policy") == 0 && i + 1 < argc)
            options.policy = argv[++i];
        else
            dir = argv[i];
    }
    if (!dir || hd_machine_create(&options, &o.machine, NULL)) {
        fprintf(stderr, "usage: %s [--workers N] [--cpu LEVEL] [--policy POLICY] DIR\n", argv[0]);
        exit(2);
    }
    char path[8192];
    snprintf(path, sizeof path, "%s/%s/%s", dir, sub, probe);
    FILE *f = fopen(path, "rb");
    snprintf(o.dir, sizeof o.dir, f ? "%s/%s" : "%s", dir, sub);
    if (f)
        fclose(f);
    return o;
}

#endif
