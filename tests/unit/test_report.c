/* report/: diagnostics are the same after JSON and back, and findings of several runs are merged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "report/report.h"

static struct arena arena;

static const char ptx[] = "one\n\tld.global.f32 \t%f2, [%rd6];\nthree\n";

static struct place place_of(const char *part, const struct cuda_place *cuda)
{
    const struct source *s = source_new(&arena, "app.ptx", (struct str){ptx, sizeof ptx - 1});
    return (struct place){s, (uint32_t)(strstr(s->text.p, part) - s->text.p), (uint32_t)strlen(part), cuda};
}

/* One of everything that a diagnostic can have. */
static struct diags everything(void)
{
    static const struct cuda_line chain[] = {{"main.cu", 12}, {"inlined.h", 3}};
    static const struct cuda_place cuda = {"main.cu", 12, chain, 2, 0}, line = {.file = "main.cu", .line = 14};
    static const hd_frame frames[] = {
        {.function = "main", .file = "main.cu", .line = 40, .object = "/bin/app", .offset = 77},
        {.object = "/lib/libc.so.6", .offset = 9}};
    static const struct diag_origin origin = {"app", 4711, "heddle check --policy random:7 ./app", NULL};
    struct diags d = {.arena = &arena};
    diag_finding(&d, DIAG_ERROR, place_of("ld.global.f32", &cuda), "data-race", "order them", 5, "a `race`");
    diag_of_kernel(&d, "saxpy<float>", "scope");
    d.list.at[0].origin = &origin;
    diag_note(&d, place_of("three", &line), "other", "the other access");
    diag_host(&d, DIAG_WARNING, "leak", NULL, 2, frames, 2, "64 bytes are never freed");
    diag_error(&d, (struct place){0}, "launch-config", NULL, "no place at all");
    return d;
}

static struct diags and_back(const struct diags *d)
{
    struct diags again = {.arena = &arena};
    json_t *list = json_loads(report_json(d, &arena).p, 0, NULL);
    assert_non_null(list);
    assert_true(report_read(list, &again));
    json_decref(list);
    return again;
}

static void json_and_back_is_the_same(void **state)
{
    (void)state;
    struct diags d = everything(), again = and_back(&d);
    assert_int_equal(again.errors, d.errors);
    assert_int_equal(again.warnings, d.warnings);
    assert_string_equal(report_text(&again, &arena).p, report_text(&d, &arena).p);
    assert_string_equal(report_json(&again, &arena).p, report_json(&d, &arena).p);
    assert_string_equal(report_sarif(&again, &arena).p, report_sarif(&d, &arena).p);
    assert_non_null(strstr(report_text(&again, &arena).p, "ld.global.f32 \t%f2"));
    assert_non_null(strstr(report_text(&again, &arena).p, "in kernel `saxpy<float>` of process 4711, `app`"));
}

static void findings_name_the_tool_that_looks_for_them(void **state)
{
    static const struct {
        const char *code, *reason, *tool;
    } some[] = {{"illegal-address", NULL, "memcheck"},    {"leak", NULL, "memcheck"},
                {"data-race", "scope", "racecheck"},      {"uninitialised-read", NULL, "initcheck"},
                {"barrier-count", NULL, "synccheck"},     {"not-watched", "initcheck", "initcheck"},
                {"not-watched", "racecheck", "racecheck"}};
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        struct diags d = {.arena = &arena};
        diag_error(&d, (struct place){0}, some[i].code, NULL, "a finding");
        diag_of_kernel(&d, NULL, some[i].reason);
        diag_note(&d, (struct place){0}, some[i].code, "a note");
        diag_error(&d, (struct place){0}, "trap", NULL, "no tool's");
        json_t *list = json_loads(report_json(&d, &arena).p, 0, NULL),
               *log = json_loads(report_sarif(&d, &arena).p, 0, NULL);
        const char *of_result = NULL;
        assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "tool")), some[i].tool);
        assert_null(json_object_get(json_array_get(list, 1), "tool"));
        assert_null(json_object_get(json_array_get(list, 2), "tool"));
        assert_int_equal(json_unpack(log, "{s:[{s:[{s:{s:s}}]}]}", "runs", "results", "properties", "tool", &of_result),
                         0);
        assert_string_equal(of_result, some[i].tool);
        json_decref(list);
        json_decref(log);
    }
}

/* GitHub takes no file of which one result has no location with a line. */
static void a_result_in_sarif_has_a_place_of_the_host_or_the_program(void **state)
{
    static const hd_frame in_program = {.object = "/bin/app", .offset = 77};
    static const hd_frame frames[] = {{.object = "/lib/libc.so.6", .offset = 9},
                                      {.function = "main", .file = "main.cu", .line = 40, .object = "/bin/app"}};
    static const struct diag_origin origin = {"app", 4711, NULL, NULL};
    static const struct {
        const char *uri;
        int line;
    } want[] = {{"main.cu", 40}, {"file:///bin/app", 1}, {"app", 1}};
    struct diags d = {.arena = &arena};
    (void)state;
    diag_host(&d, DIAG_WARNING, "leak", NULL, 2, frames, 2, "64 bytes are never freed");
    diag_host(&d, DIAG_WARNING, "leak", NULL, 2, &in_program, 1, "65 bytes are never freed");
    diag_host(&d, DIAG_WARNING, "leak", NULL, 2, NULL, 0, "66 bytes are never freed");
    d.list.at[2].origin = &origin;
    json_t *log = json_loads(report_sarif(&d, &arena).p, 0, NULL);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        json_t *results = json_object_get(json_array_get(json_object_get(log, "runs"), 0), "results");
        const char *uri = NULL;
        int line = 0;
        json_unpack(json_array_get(results, i), "{s:[{s:{s:{s:s}, s:{s:i}}}]}", "locations", "physicalLocation",
                    "artifactLocation", "uri", &uri, "region", "startLine", &line);
        assert_string_equal(uri, want[i].uri);
        assert_int_equal(line, want[i].line);
    }
    json_decref(log);
}

static void what_is_no_report_is_refused(void **state)
{
    static const char *const texts[] = {"{}", "[1]", "[{}]", "[{\"severity\": \"error\", \"code\": \"x\"}]",
                                        "[{\"severity\": \"loud\", \"code\": \"x\", \"text\": \"y\"}]"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct diags d = {.arena = &arena};
        json_t *value = json_loads(texts[i], 0, NULL);
        assert_non_null(value);
        assert_false(report_read(value, &d));
        json_decref(value);
    }
}

static void equal_findings_become_one_with_their_counts(void **state)
{
    (void)state;
    struct diags d = everything(), again = and_back(&d), all = {.arena = &arena};
    static const struct diag_origin third = {"app", 0, "heddle check --policy random:9 ./app", NULL};
    report_merge(&all, &d, NULL);
    report_merge(&all, &again, &third);
    assert_int_equal(all.list.n, d.list.n);
    assert_int_equal(all.list.at[0].count, 10);
    assert_int_equal(all.list.at[0].origin->pid, 4711);
    assert_int_equal(all.list.at[2].count, 4);
    assert_int_equal(all.list.at[3].count, 2);
    assert_int_equal(all.errors, 2);
    assert_int_equal(all.warnings, 1);
}

static void findings_of_other_reasons_places_and_kernels_stay_apart(void **state)
{
    (void)state;
    struct diags all = {.arena = &arena};
    for (int i = 0; i < 5; i++) {
        struct diags d = everything();
        if (i == 1)
            d.list.at[0].reason = "order";
        if (i == 2)
            d.list.at[0].kernel = "saxpy<double>";
        if (i == 3)
            d.list.at[1].place = place_of("one", NULL); /* of its note: the other access */
        if (i == 4)
            d.list.at[3].text = "no place, but another text";
        report_merge(&all, &d, NULL);
    }
    assert_int_equal(all.errors, 2 + 3 + 1);
    assert_int_equal(all.warnings, 1);
}

static void numbers_of_a_text_without_a_place_make_no_difference(void **state)
{
    (void)state;
    struct diags all = {.arena = &arena};
    for (int i = 0; i < 3; i++) {
        struct diags d = {.arena = &arena};
        diag_finding(&d, DIAG_WARNING, (struct place){0}, "leak", NULL, 1, "%d bytes at 0x%xbc are not freed", 8 + i,
                     0x7ffa0 + i);
        report_merge(&all, &d, NULL);
    }
    assert_int_equal(all.list.n, 1);
    assert_int_equal(all.list.at[0].count, 3);
}

static void a_source_may_be_empty(void **state)
{
    (void)state;
    const struct source *s = source_new(&arena, "empty.ptx", (struct str){NULL, 0});
    assert_int_equal(s->text.n, 0);
    assert_string_equal(s->text.p, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_and_back_is_the_same),
        cmocka_unit_test(findings_name_the_tool_that_looks_for_them),
        cmocka_unit_test(a_result_in_sarif_has_a_place_of_the_host_or_the_program),
        cmocka_unit_test(what_is_no_report_is_refused),
        cmocka_unit_test(equal_findings_become_one_with_their_counts),
        cmocka_unit_test(findings_of_other_reasons_places_and_kernels_stay_apart),
        cmocka_unit_test(a_source_may_be_empty),
        cmocka_unit_test(numbers_of_a_text_without_a_place_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
