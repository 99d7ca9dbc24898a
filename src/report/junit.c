/* Diagnostics as JUnit's XML, which CI services show as tests; see report.h. Each kernel that was
 * looked at is a test case. */
#include <jansson.h>

#include "base/demangle.h"
#include "base/map.h"
#include "base/text.h"
#include "report/report.h"

/* XML 1.0, 2.2 and 2.4: characters that it has, and those that have to be written otherwise. Line
 * ends in attributes read as blanks. */
static void put_xml(struct text *t, const char *text)
{
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        const char *name = c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : NULL;
        if (name)
            text_puts(t, name);
        else if (c == '\n' || c == '\t')
            text_put(t, p, 1);
        else if (c >= ' ')
            text_put(t, p, 1);
        else
            text_puts(t, "?");
    }
}

struct junit {
    struct arena *arena;
    const struct diags *diags;
    const char *program;
    struct text cases;
    unsigned tests, failures;
};

static const char host[] = "the host";

static const char *case_of(const struct diag *d)
{
    return d->kernel ? d->kernel : host;
}

static void put_finding(struct junit *j, uint32_t first, uint32_t n)
{
    const struct diag *d = &j->diags->list.at[first];
    struct diags one = {.arena = j->arena, .list = {.at = j->diags->list.at + first, .n = n}};
    bool fails = d->severity == DIAG_ERROR;
    text_puts(&j->cases, fails ? "    <failure type=\"" : "    <system-out>");
    if (fails) {
        put_xml(&j->cases, d->code);
        text_puts(&j->cases, "\" message=\"");
        put_xml(&j->cases, d->text);
        text_puts(&j->cases, "\">");
    }
    put_xml(&j->cases, report_text(&one, j->arena).p);
    text_puts(&j->cases, fails ? "</failure>\n" : "</system-out>\n");
    j->failures += fails;
}

/* JUnit's schema has failures before what was printed: errors come first. */
static void put_case(struct junit *j, const char *name)
{
    text_puts(&j->cases, "  <testcase classname=\"");
    put_xml(&j->cases, j->program);
    text_puts(&j->cases, "\" name=\"");
    put_xml(&j->cases, name);
    text_puts(&j->cases, "\">\n");
    for (int errors = 1; errors >= 0; errors--)
        for (uint32_t i = 0, n; i < j->diags->list.n; i += n) {
            const struct diag *d = &j->diags->list.at[i];
            n = report_finding(j->diags, i);
            if (strcmp(case_of(d), name) == 0 && (d->severity == DIAG_ERROR) == errors)
                put_finding(j, i, n);
        }
    text_puts(&j->cases, "  </testcase>\n");
    j->tests++;
}

static void put_once(struct junit *j, struct map *done, const char *name)
{
    if (!map_put(done, str_of(name), j))
        put_case(j, name);
}

struct str report_junit(const struct diags *d, const struct report_run *run, struct arena *arena)
{
    struct junit j = {
        .arena = arena, .diags = d, .program = run->program ? run->program : "heddle", .cases = {.arena = arena}};
    struct text t = {.arena = arena};
    struct map done;
    const char *kernel;
    json_t *value;
    map_init(&done, arena);
    json_object_foreach((json_t *)run->kernels, kernel, value) put_once(&j, &done, demangle(str_of(kernel), arena));
    for (uint32_t i = 0; i < d->list.n; i += report_finding(d, i))
        put_once(&j, &done, case_of(&d->list.at[i]));
    put_once(&j, &done, host);
    text_printf(&t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%u\" failures=\"%u\">\n", j.tests,
                j.failures);
    text_puts(&t, "<testsuite name=\"heddle check ");
    put_xml(&t, j.program);
    text_printf(&t, "\" tests=\"%u\" failures=\"%u\" errors=\"0\">\n", j.tests, j.failures);
    text_puts(&t, j.cases.p);
    text_puts(&t, "</testsuite>\n</testsuites>\n");
    return (struct str){t.p, t.n};
}
