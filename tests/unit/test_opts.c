/* base/opts: options are read as their entries say, and every misuse is an error that tells what is
 * wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/opts.h"

struct values {
    bool quiet;
    uint64_t workers, memory;
    uint32_t grid[3];
    const char *name;
    struct opt_list vars;
    bool track;
    struct opt_count skip;
};

static const struct opt entries[] = {
    {"quiet", 'q', OPT_SWITCH, "", "say less", 1, offsetof(struct values, quiet)},
    {"workers", 0, OPT_NUMBER, "N", "threads", 1, offsetof(struct values, workers)},
    {"memory", 0, OPT_SIZE, "SIZE", "memory", 1, offsetof(struct values, memory)},
    {"grid", 0, OPT_DIMS, "X,Y,Z", "blocks", 1, offsetof(struct values, grid)},
    {"name", 'n', OPT_TEXT, "NAME", "a name", 1, offsetof(struct values, name)},
    {"var", 0, OPT_LIST, "NAME", "a variable", 1, offsetof(struct values, vars)},
    {"track", 0, OPT_YES_NO, "", "or not", 1, offsetof(struct values, track)},
    {"skip", 's', OPT_COUNT, "N", "how many", 1, offsetof(struct values, skip)},
    {"isa", 0, OPT_SWITCH, "", "the table", 2, offsetof(struct values, quiet)},
};

static const char *command_name(unsigned command)
{
    return command ? "ptx" : "launch";
}

static const struct opt_elsewhere elsewhere[] = {{"xml", "--format json", 1}, {"read", "no", 2}};

static struct opts opts = {.at = entries,
                           .n = sizeof entries / sizeof entries[0],
                           .command_name = command_name,
                           .runs_nothing = "track",
                           .elsewhere = elsewhere,
                           .n_elsewhere = 2};

/* One reading; the arena lives as long as the test program. */
static struct arena arena;
static struct values values;
static const char *words[16];
static int n_words;

#define READ(...)                                                                                                      \
    read_words((char *[]){"launch", __VA_ARGS__}, sizeof((char *[]){"launch", __VA_ARGS__}) / sizeof(char *))

static const char *read_words(char **argv, size_t argc)
{
    values = (struct values){0};
    return opts_parse(&opts, 0, (int)argc, argv, &values, words, &n_words, &arena);
}

static void values_of_every_kind_are_read(void **state)
{
    (void)state;
    assert_null(READ("a.ptx", "-q", "--workers", "3", "--memory=2G", "--grid", "32x8", "-n", "x", "--var", "u",
                     "--var=v", "b"));
    assert_true(values.quiet && values.workers == 3 && values.memory == 2ull << 30);
    assert_true(values.grid[0] == 32 && values.grid[1] == 8 && values.grid[2] == 1);
    assert_string_equal(values.name, "x");
    assert_int_equal(values.vars.n, 2);
    assert_string_equal(values.vars.at[1], "v");
    assert_int_equal(n_words, 2);
    assert_string_equal(words[1], "b");
}

static void yes_and_no_may_be_said(void **state)
{
    (void)state;
    assert_null(READ("--track", "a"));
    assert_true(values.track && n_words == 1);
    assert_null(READ("--track", "no", "yes"));
    assert_true(!values.track && n_words == 1);
    assert_null(READ("--track=yes", "no"));
    assert_true(values.track && n_words == 1);
    assert_non_null(strstr(READ("--track=maybe"), "must be yes or no"));
}

static void counts_may_be_zero(void **state)
{
    (void)state;
    assert_null(READ("a"));
    assert_false(values.skip.given);
    assert_null(READ("-s", "0"));
    assert_true(values.skip.given && values.skip.value == 0);
    assert_null(READ("--skip", "7"));
    assert_int_equal(values.skip.value, 7);
    assert_non_null(strstr(READ("--skip", "1K"), "a number of at least 0"));
}

static void options_of_other_programs_lead_to_ours(void **state)
{
    (void)state;
    assert_string_equal(READ("--xml"), "there is no option `--xml`: --format json");
    assert_string_equal(READ("--xml=x"), "there is no option `--xml`: --format json");
    assert_non_null(strstr(READ("--read"), "launch --help"));
}

static void options_behind_a_program_are_its_own(void **state)
{
    (void)state;
    opts.first_word_ends = 1;
    assert_null(READ("-q", "app", "--workers", "3"));
    assert_int_equal(n_words, 3);
    assert_int_equal(values.workers, 0);
    assert_null(READ("--track", "one", "two", "--workers", "3"));
    assert_int_equal(n_words, 2);
    assert_int_equal(values.workers, 3);
    opts.first_word_ends = 0;
}

static const char *first(char **argv, int argc)
{
    return opts_first_word(&opts, 3, argc, argv);
}

#define FIRST(...)                                                                                                     \
    first((char *[]){"launch", __VA_ARGS__}, (int)(sizeof((char *[]){"launch", __VA_ARGS__}) / sizeof(char *)))

static void the_first_word_is_found_behind_any_options(void **state)
{
    (void)state;
    assert_string_equal(FIRST("app", "--grid", "4"), "app");
    assert_string_equal(FIRST("--grid", "4", "-q", "--isa", "--memory=2G", "-n", "name", "app"), "app");
    assert_string_equal(FIRST("--track", "app"), "app");
    assert_string_equal(FIRST("--track", "no", "app"), "app");
    assert_string_equal(FIRST("--unheard-of", "app"), "app");
    assert_string_equal(FIRST("--", "--app"), "--app");
    assert_null(FIRST("--grid"));
    assert_null(FIRST("-q"));
}

static void negative_numbers_and_words_behind_dashes_are_words(void **state)
{
    (void)state;
    assert_null(READ("-3", "-.5", "-inf", "-", "--", "--grid", "-q"));
    assert_int_equal(n_words, 6);
    assert_string_equal(words[4], "--grid");
    assert_false(values.quiet);
}

static void misuse_is_an_error(void **state)
{
    (void)state;
    assert_string_equal(READ("--gird", "4"), "there is no option `--gird`; did you mean `--grid`?");
    assert_non_null(strstr(READ("--unheard-of"), "launch --help"));
    assert_non_null(strstr(READ("--isa"), "option of `heddle ptx`"));
    assert_non_null(strstr(READ("--grid"), "needs a value"));
    assert_non_null(strstr(READ("--grid", "--quiet"), "needs a value"));
    assert_non_null(strstr(READ("--quiet=1"), "takes no value"));
    assert_non_null(strstr(READ("--grid", "1", "--grid", "1"), "given twice"));
    assert_non_null(strstr(READ("-q", "--quiet"), "given twice"));
    assert_non_null(READ("-x"));
    assert_non_null(READ("--q"));
    assert_non_null(READ("-quiet"));
}

static void values_that_do_not_fit_are_errors(void **state)
{
    (void)state;
    static const char *const bad_dims[] = {"0", "1,0", "1,2,3,4", "", "a", "1,", "99999999999", "-1"};
    for (size_t i = 0; i < sizeof bad_dims / sizeof bad_dims[0]; i++)
        assert_non_null(READ("--grid", (char *)bad_dims[i]));
    static const char *const bad_numbers[] = {"0", "x", "1.5", "2K", "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad_numbers / sizeof bad_numbers[0]; i++)
        assert_non_null(READ("--workers", (char *)bad_numbers[i]));
    assert_non_null(READ("--memory", "12Q"));
    assert_non_null(READ("--memory", "99999999999T"));
}

static void sizes_have_units(void **state)
{
    (void)state;
    uint64_t v;
    assert_true(opts_size(str_of("512"), &v) && v == 512);
    assert_true(opts_size(str_of("64k"), &v) && v == 64 << 10);
    assert_true(opts_size(str_of("3MiB"), &v) && v == 3 << 20);
    assert_true(opts_size(str_of("1TB"), &v) && v == 1ull << 40);
    assert_false(opts_size(str_of("K"), &v));
    assert_false(opts_size(str_of("5Ki"), &v));
}

static void numbers_have_exponents(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "", "e", "1e", "e9", ".", "1.5", "1e-1", "1.25e1", "1e20", "99999999999999999999", "1.2.3", "1K", "-1", " 1"};
    uint64_t v;
    assert_true(opts_number(str_of("0"), &v) && v == 0);
    assert_true(opts_number(str_of("1e9"), &v) && v == 1000000000);
    assert_true(opts_number(str_of("2.5E+6"), &v) && v == 2500000);
    assert_true(opts_number(str_of("1.50e1"), &v) && v == 15);
    assert_true(opts_number(str_of("18446744073709551615"), &v) && v == UINT64_MAX);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(opts_number(str_of(wrong[i]), &v));
}

static void times_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } some[] = {{"10", 10},      {"0.5", 0.5},   {"5m", 300},    {"5min", 300}, {"90s", 90},
                {"1h30m", 5400}, {"20ms", 0.02}, {"1.5h", 5400}, {"1d", 86400}};
    static const char *const wrong[] = {"", "m", "5 m", "5x", "0", "0.1ms", "5mm", "-1", "1e3", "s5"};
    double v;
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        assert_true(opts_seconds(str_of(some[i].text), &v) && v > 0.999 * some[i].seconds &&
                    v < 1.001 * some[i].seconds);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(opts_seconds(str_of(wrong[i]), &v));
}

static void help_has_a_line_for_each_option_of_the_command(void **state)
{
    (void)state;
    opt_lines lines = opts_lines(&opts, 0, &arena);
    const char *help = opt_lines_help(&lines, &arena);
    assert_non_null(strstr(help, "-q, --quiet"));
    assert_non_null(strstr(help, "--grid X,Y,Z"));
    assert_null(strstr(help, "--isa"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_kind_are_read),
        cmocka_unit_test(yes_and_no_may_be_said),
        cmocka_unit_test(counts_may_be_zero),
        cmocka_unit_test(options_of_other_programs_lead_to_ours),
        cmocka_unit_test(options_behind_a_program_are_its_own),
        cmocka_unit_test(the_first_word_is_found_behind_any_options),
        cmocka_unit_test(negative_numbers_and_words_behind_dashes_are_words),
        cmocka_unit_test(misuse_is_an_error),
        cmocka_unit_test(values_that_do_not_fit_are_errors),
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(numbers_have_exponents),
        cmocka_unit_test(times_have_units),
        cmocka_unit_test(help_has_a_line_for_each_option_of_the_command),
    };
    int failed = cmocka_run_group_tests_name("opts", tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
