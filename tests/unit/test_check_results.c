/* cli/check_results: the files of checked processes (cuda/watch/check_file.h) are read once, line
 * by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/check_results.h"

static struct arena arena;
static char folder[] = "/tmp/heddle-test-XXXXXX";

static void write_to(const char *name, const char *text)
{
    char path[sizeof folder + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* What is in the folder, which is empty then. */
static struct check_results collect(void)
{
    struct check_results r;
    char command[sizeof folder + 32];
    check_results_init(&r, &arena);
    json_t *processes = check_results_read(folder, r.diags.arena, &r.lost);
    check_results_collect(&r, processes, NULL, NULL);
    json_decref(processes);
    snprintf(command, sizeof command, "rm -f %s/*", folder);
    assert_int_equal(system(command), 0);
    return r;
}

#define SAYS(n, text)                                                                                                  \
    "{\"finding\": " #n ", \"says\": [{\"severity\":\"error\",\"code\":\"leak\",\"text\":\"" text                      \
    "\",\"help\":null}]}\n"
#define FIRST  "{\"process\": 7, \"program\": \"app\"}\n"
#define COUNTS "{\"launches\":3,\"unchecked\":1,\"running\":{\"k\":2},\"kernels\":[\"k\"]}\n"

static void what_stands_is_told_in_its_order(void **state)
{
    (void)state;
    write_to(
        "7-1.0",
        FIRST SAYS(1, "a") "{\"findings\": [1]}\n" COUNTS SAYS(2, "b") SAYS(
            3,
            "a, twice") "{\"findings\": [2, 3]}\n{\"launches\":5,\"unchecked\":1,\"running\":{},\"kernels\":[\"j\"]}\n"
                        "{\"ended\": true}\n");
    struct check_results r = collect();
    assert_false(r.lost);
    assert_int_equal(r.diags.list.n, 2);
    assert_string_equal(r.diags.list.at[0].text, "b");
    assert_string_equal(r.diags.list.at[1].text, "a, twice");
    assert_int_equal(r.diags.list.at[0].origin->pid, 0); /* it is the only one */
    assert_true(r.launches == 5 && r.unchecked == 1 && r.unended == 0 && json_object_size(r.kernels) == 2);
    assert_true(json_is_true(json_object_get(json_array_get(r.processes, 0), "ended")));
    check_results_free(&r);
}

static void processes_are_counted_together(void **state)
{
    (void)state;
    write_to("7-1.0", FIRST SAYS(1, "12 bytes") "{\"findings\": [1]}\n" COUNTS);
    write_to("8-2.0", "{\"process\": 8, \"program\": \"b\"}\n" SAYS(1, "40 bytes") "{\"findings\": [1]}\n" COUNTS);
    struct check_results r = collect();
    assert_true(!r.lost && r.n_processes == 2 && r.launches == 6 && r.unended == 4);
    assert_int_equal(r.diags.list.n, 1);
    assert_int_equal(r.diags.list.at[0].count, 2);
    assert_int_equal(r.diags.list.at[0].origin->pid, 7);
    check_results_free(&r);
}

static void damaged_files_lack_something(void **state)
{
    (void)state;
    static const char *const damaged[] = {
        FIRST SAYS(1, "a") "{\"findings\": [1]}\n{\"launches\":",
        FIRST SAYS(1, "a") "{\"findings\": [1]}\nno line\n",
        FIRST SAYS(1, "a") "{\"findings\": [1, 2]}\n",
        FIRST SAYS(1, "a") "{\"finding\": 9, \"says\": []}\n{\"findings\": [1]}\n",
        FIRST SAYS(1, "a") "{\"finding\": 2, \"says\": 7}\n{\"findings\": [1, 2]}\n",
        FIRST SAYS(1, "a") "{\"finding\": 2, \"says\n{\"findings\": [1]}\n",
    };
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        write_to("7-1.0", damaged[i]);
        struct check_results r = collect();
        assert_true(r.lost && r.diags.list.n == 1);
        check_results_free(&r);
    }
    write_to("7-1.0", "");
    struct check_results r = collect();
    assert_true(r.n_processes == 0 && r.diags.list.n == 0);
    check_results_free(&r);
    write_to("7-1.0", FIRST);
    write_to("7-1.0.lost", "");
    r = collect();
    assert_true(r.lost && r.n_processes == 1);
    check_results_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_is_told_in_its_order),
        cmocka_unit_test(processes_are_counted_together),
        cmocka_unit_test(damaged_files_lack_something),
    };
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    arena_free(&arena);
    return failed;
}
