/* How far the model of time (src/explain/model.h) is off, on launches that a device has run and
 * `heddle explain` has counted.
 *
 *     model-fit FILE            the geometric mean of max(measured / estimated, estimated / measured), and the kernels farthest off
 *     model-fit -v FILE         a line a kernel, with its bounds
 *     model-fit --fit FILE      finds the numbers of model.def, and those of rates.def that are fits, anew, and prints them
 *     model-fit --cross FILE    the same for kernels that the numbers have not seen: each kernel, and each group of like kernels, is
 *                               estimated with numbers that were found without it
 *
 * FILE (tests/model/record.py makes it): a line a launch: name, group, nanoseconds, then counters,
 * `field=value`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/cost.h"
#include "explain/model.h"

enum { MOST = 1000, FITS = 64 };

struct row {
    char name[64], group[64];
    double ns;
    struct kernel_counters c;
};

static struct row rows[MOST];
static unsigned n_rows;
static const struct device_model *device;
static struct device_rates rates;
static struct model_fit fit;

/* ---- reading ---- */

static bool read_access(struct kernel_counters *c, const char *key, double value)
{
    static const char *const kinds[] = {
#define KIND(name, ...) #name,
#include "explain/counters.def"
#undef KIND
    };
    for (unsigned k = 0; k < ACCESS_KINDS; k++) {
        size_t n = strlen(kinds[k]);
        if (strncmp(key, kinds[k], n) != 0 || key[n] != '.')
            continue;
#define ACCESS(name, ...)                                                                                              \
    if (strcmp(key + n + 1, #name) == 0) {                                                                             \
        c->access[k].name = (uint64_t)value;                                                                           \
        return true;                                                                                                   \
    }
#include "explain/counters.def"
#undef ACCESS
    }
    return false;
}

static bool read_class(struct kernel_counters *c, const char *key, double value)
{
    for (unsigned k = 0; k < COST_CLASSES; k++)
        if (strncmp(key, "class.", 6) == 0 && strcmp(key + 6, class_costs[k].name) == 0) {
            c->classes[k] = value;
            return true;
        }
    return false;
}

static bool read_clock(struct kernel_counters *c, const char *key, double value)
{
    size_t n = strlen(key) - 1;
    unsigned level = (unsigned)(key[n] - '0');
    if (strncmp(key, "sum_block_clock", 15) == 0 && level < CLOCK_LEVELS)
        c->sum_block_clock[level] = value;
    else if (strncmp(key, "max_block_clock", 15) == 0 && level < CLOCK_LEVELS)
        c->max_block_clock[level] = value;
    else
        return false;
    return true;
}

static bool read_field(struct kernel_counters *c, const char *key, double value)
{
#define MEMBER(name, member)                                                                                           \
    if (strcmp(key, #name) == 0) {                                                                                     \
        c->member = (__typeof__(c->member))value;                                                                      \
        return true;                                                                                                   \
    }
#define FIELD(name) MEMBER(name, name)
    FIELD(blocks)
    FIELD(warps)
    FIELD(threads_per_block)
    FIELD(warps_per_block)
    FIELD(static_shared_bytes)
    FIELD(dynamic_shared_bytes)
    FIELD(local_bytes)
    FIELD(spilled_bytes)
    FIELD(spill_loads)
    FIELD(spill_stores)
    FIELD(registers)
    FIELD(warp_instructions)
    FIELD(thread_instructions)
    FIELD(touched_lines)
    MEMBER(hot, hottest[0].operations)
    MEMBER(branches, control.branches)
    MEMBER(divergent, control.divergent)
    MEMBER(barrier_warps, control.barrier_warps)
    FIELD(busiest_sm)
#undef FIELD
#undef MEMBER
    return read_access(c, key, value) || read_class(c, key, value) || read_clock(c, key, value);
}

static bool read_row(char *line, struct row *row)
{
    char *at = NULL, *word = strtok_r(line, " \n", &at), *end;
    if (!word || *word == '#')
        return false;
    snprintf(row->name, sizeof row->name, "%s", word);
    snprintf(row->group, sizeof row->group, "%s", (word = strtok_r(NULL, " \n", &at)) ? word : "");
    row->ns = (word = strtok_r(NULL, " \n", &at)) ? strtod(word, NULL) : 0;
    while ((word = strtok_r(NULL, " \n", &at))) {
        char *value = strchr(word, '=');
        if (!value)
            break;
        *value++ = 0;
        if (!read_field(&row->c, word, strtod(value, &end)) || *end) {
            fprintf(stderr, "model-fit: %s: there is no counter `%s`\n", row->name, word);
            exit(2);
        }
    }
    return row->ns > 0;
}

static void read_rows(const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    if (!f) {
        perror(path);
        exit(2);
    }
    while (n_rows < MOST && getline(&line, &room, f) > 0)
        n_rows += read_row(line, &rows[n_rows]);
    free(line);
    fclose(f);
}

/* ---- errors ---- */

static double error_of(const struct row *row)
{
    double ns = model_time(&row->c, device, &rates, &fit).ns;
    return fabs(log(ns / row->ns));
}

/* Of those that a test has not left out; far outliers, which no number helps, count as no more than
 * 3. */
static double cost(const bool *out)
{
    double sum = 0;
    for (unsigned i = 0; i < n_rows; i++)
        sum += out && out[i] ? 0 : fmin(error_of(&rows[i]), log(3));
    return sum;
}

static double mean(void)
{
    double sum = 0;
    for (unsigned i = 0; i < n_rows; i++)
        sum += error_of(&rows[i]);
    return exp(sum / n_rows);
}

/* ---- fitting ---- */

struct number {
    const char *name;
    double *at, start, least, most;
};

static struct number numbers[FITS];
static unsigned n_numbers;

static void add_number(const char *name, double *at, double least, double most)
{
    numbers[n_numbers++] = (struct number){name, at, *at, least, most};
}

static void find_numbers(void)
{
#define FIT(name, value, least, most, ...) add_number(#name, &fit.name, least, most);
#include "explain/model.def"
#undef FIT
#define RATE(name, ...)                                                                                                \
    if (strncmp(device_rate(device->product, RATE_of_##name).from, "fit", 3) == 0)                                     \
        add_number(#name, &rates.name, rates.name / 3, rates.name * 3);
#include "explain/rates.def"
#undef RATE
}

static void start_again(void)
{
    for (unsigned k = 0; k < n_numbers; k++)
        *numbers[k].at = numbers[k].start;
}

/* Changes one number at a time for as long as that makes the error less. */
static void descend(const bool *out)
{
    static const double steps[] = {1.3, 1.08};
    double best = cost(out);
    for (unsigned s = 0; s < sizeof steps / sizeof steps[0]; s++)
        for (bool again = true; again;) {
            again = false;
            for (unsigned k = 0; k < 2 * n_numbers; k++) {
                struct number *x = &numbers[k / 2];
                double old = *x->at, next = k % 2 ? old * steps[s] : old / steps[s];
                *x->at = fmin(x->most, fmax(x->least, next));
                double c = cost(out);
                if (c < best - 1e-4)
                    best = c, again = true;
                else
                    *x->at = old;
            }
        }
}

static double leave_out(const char *what, const char *name)
{
    bool out[MOST] = {false};
    double sum = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < n_rows; i++)
        n += out[i] = strcmp(*what == 'g' ? rows[i].group : rows[i].name, name) == 0;
    start_again();
    descend(out);
    for (unsigned i = 0; i < n_rows; i++)
        sum += out[i] ? error_of(&rows[i]) : 0;
    if (*what == 'g')
        printf("  without %-12s %2u kernels, %.3f\n", name, n, exp(sum / n));
    return sum;
}

static void cross_validate(const char *what)
{
    double sum = 0;
    for (unsigned i = 0; i < n_rows; i++) {
        bool seen = false;
        for (unsigned k = 0; k < i; k++)
            seen |= *what == 'g' && strcmp(rows[k].group, rows[i].group) == 0;
        sum += seen ? 0 : leave_out(what, *what == 'g' ? rows[i].group : rows[i].name);
    }
    printf("each %s estimated without it: %.3f\n", what, exp(sum / n_rows));
}

/* ---- output ---- */

static int by_error(const void *a, const void *b)
{
    double x = error_of(a), y = error_of(b);
    return x < y ? 1 : x > y ? -1 : 0;
}

static void print_row(const struct row *row)
{
    struct model_time t = model_time(&row->c, device, &rates, &fit);
    printf("%-16s measured %8.0f ns, estimated %8.0f, ratio %.2f:", row->name, row->ns, t.ns, t.ns / row->ns);
    for (unsigned k = 0; k < BOUNDS; k++)
        if (t.bound_ns[k] > t.ns / 20)
            printf(" %s%s %.0f", bound_names[k].name, k == t.first ? "*" : "", t.bound_ns[k]);
    printf(", machine instructions %.0f\n", model_instructions(&row->c));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";
    bool all_known;
    if (argc < 2 || argc > 3) {
        fputs("model-fit [-v | --fit | --cross] FILE\n", stderr);
        return 2;
    }
    device = device_model_of_report("H200");
    rates = device_rates("H200", &all_known);
    fit = model_fit;
    read_rows(argv[argc - 1]);
    find_numbers();
    if (strcmp(mode, "--fit") == 0) {
        descend(NULL);
        for (unsigned k = 0; k < n_numbers; k++)
            printf("%s %.4g -> %.4g\n", numbers[k].name, numbers[k].start, *numbers[k].at);
    }
    qsort(rows, n_rows, sizeof rows[0], by_error);
    for (unsigned i = 0; i < n_rows && (i < 12 || strcmp(mode, "-v") == 0); i++)
        print_row(&rows[i]);
    printf("%u kernels, geometric mean of max(measured / estimated, estimated / measured): %.3f\n", n_rows, mean());
    if (strcmp(mode, "--cross") == 0) {
        cross_validate("kernel");
        cross_validate("group");
    }
    return 0;
}
