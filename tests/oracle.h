/* What the oracle programs share: options, files, lines, and counting what agrees. */
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
    int every;    /* of how many one is run */
    char *groups; /* ",NAME,NAME,": those that are run; NULL: all */
    char dir[4096];
    hd_machine *machine;
};

enum { ORACLE_USAGE = 2, ORACLE_SKIPPED = 77 }; /* exit statuses */

/* The engines that exist. */
static const char *const oracle_engines[] = {"auto", "interp", "jit"}; /* in the order of enum hd_engine */

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

/* Whether it went well, else why not; frees the report. */
static inline bool oracle_ran(hd_result r, hd_report *report, char *text, size_t size)
{
    hd_diagnostic d;
    if (r)
        snprintf(text, size, "%s", hd_report_get(report, 0, &d) ? d.text : hd_result_string(r));
    hd_report_free(report);
    return !r;
}

/* Only an engine that exists is taken: tests that name another must not pass. */
static inline hd_engine oracle_engine(const char *engine)
{
    for (size_t i = 0; i < sizeof oracle_engines / sizeof oracle_engines[0]; i++)
        if (strcmp(engine, oracle_engines[i]) == 0)
            return (hd_engine)i;
    fprintf(stderr, "oracle: no engine `%s`; there is", engine);
    for (size_t i = 0; i < sizeof oracle_engines / sizeof oracle_engines[0]; i++)
        fprintf(stderr, "%s `%s`", i ? "," : "", oracle_engines[i]);
    fputc('\n', stderr);
    exit(ORACLE_USAGE);
}

/* "v3" is short for "x86-64-v3". Ends the program where this CPU lacks the level: that is no
 * failure. */
static inline const char *oracle_cpu_level(const char *level)
{
    for (size_t i = 0; hd_cpu_level(i); i++) {
        const char *name = hd_cpu_level(i), *tail = strrchr(name, '-');
        if (strcmp(level, name) == 0 || (tail && strcmp(level, tail + 1) == 0))
            return name;
    }
    printf("this CPU lacks level %s\n", level);
    exit(ORACLE_SKIPPED);
}

static inline bool oracle_has(const char *dir, const char *name)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    if (f)
        fclose(f);
    return f != NULL;
}

/* The subfolder `sub` of dir where it has the file `probe`, else dir itself. */
static inline void oracle_folder(const char *dir, const char *sub, const char *probe, char *out, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, sub);
    bool below = oracle_has(path, probe);
    snprintf(out, size, below ? "%s/%s" : "%s", dir, sub);
}

/* The names in a file, one at the start of each line, as struct oracle_options has them. */
static inline char *oracle_groups(const char *path)
{
    struct file f = oracle_read(path[0] == '/' ? "" : ".", path);
    size_t size = f.n + 3, n = 0;
    char *names = malloc(size), *rest = f.bytes;
    n += (size_t)snprintf(names, size, ",");
    for (char *line; (line = oracle_line(&rest));)
        n += (size_t)snprintf(names + n, size - n, "%.*s,", (int)strcspn(line, " "), line);
    free(f.bytes);
    return names;
}

static inline bool oracle_has_group(const struct oracle_options *o, const char *group)
{
    char name[128];
    snprintf(name, sizeof name, ",%s,", group);
    return !o->groups || strstr(o->groups, name);
}

/* Options --every N, --groups FILE, --engine E, --workers N, --cpu LEVEL and --policy POLICY, then
 * the folder; see oracle_folder(). */
static inline struct oracle_options oracle_parse(int argc, char **argv, const char *sub, const char *probe)
{
    struct oracle_options o = {.every = 1};
    hd_machine_options options = {.memory_bytes = 256 << 20};
    const char *dir = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--workers") == 0 && i + 1 < argc)
            options.workers = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--every") == 0 && i + 1 < argc)
            o.every = atoi(argv[++i]);
        else if (strcmp(argv[i], "--groups") == 0 && i + 1 < argc)
            o.groups = oracle_groups(argv[++i]);
        else if (strcmp(argv[i], "--engine") == 0 && i + 1 < argc)
            options.engine = oracle_engine(argv[++i]);
        else if (strcmp(argv[i], "--cpu") == 0 && i + 1 < argc)
            options.cpu_level = oracle_cpu_level(argv[++i]);
        else if (strcmp(argv[i], "--policy") == 0 && i + 1 < argc)
            options.policy = argv[++i];
        else if (argv[i][0] == '-' || dir)
            dir = "";
        else
            dir = argv[i];
    }
    if (!dir || !*dir || o.every < 1 || hd_machine_create(&options, &o.machine, NULL)) {
        fprintf(
            stderr,
            "usage: %s [--every N] [--groups FILE] [--engine E] [--workers N] [--cpu LEVEL] [--policy POLICY] DIR\n",
            argv[0]);
        exit(ORACLE_USAGE);
    }
    oracle_folder(dir, sub, probe, o.dir, sizeof o.dir);
    return o;
}

/* Which of the fields has the group that a line belongs to; none where there are no groups. */
enum { ORACLE_NO_GROUP = -1 };

/* Runs what the fields of line n say. True where it does what the H200 did; else the text says how
 * not. */
typedef bool oracle_agrees(void *data, unsigned n, char **field, char *text, size_t size);

enum { ORACLE_MOST_FIELDS = 24 };

/* All lines of a file, or of the groups, or one of these in `every`, each with so many fields, the
 * first of them its name. A line for each that differs, then "WHAT N: A agree, D differ". The
 * machine is gone then; returns the exit status. */
static inline int oracle_run(const struct oracle_options *o, const char *file, int fields, int group, const char *what,
                             oracle_agrees *agrees, void *data)
{
    struct file list = oracle_read(o->dir, file);
    unsigned agree = 0, differ = 0, n = 0, of_groups = 0;
    char *rest = list.bytes;
    for (char *line; (line = oracle_line(&rest)); n++) {
        char *field[ORACLE_MOST_FIELDS], text[512] = "";
        oracle_split(line, field, fields);
        if (group != ORACLE_NO_GROUP && !oracle_has_group(o, field[group]))
            continue;
        if (of_groups++ % (unsigned)o->every)
            continue;
        if (agrees(data, n, field, text, sizeof text)) {
            agree++;
            continue;
        }
        differ++;
        printf("%s: %s\n", field[0], text);
    }
    hd_machine_destroy(o->machine);
    free(o->groups);
    free(list.bytes);
    printf("%s %u: %u agree, %u differ\n", what, agree + differ, agree, differ);
    return differ != 0;
}

#endif
