/* What programs of campaigns share: cases from standard input, each done in a process of its own,
 * which may crash or hang.
 *
 *     PROGRAM [--seconds-a-case N] [--crime NAME] [FILE...]
 *
 * A case is a line "CASE NUMBER BYTES" and so many bytes. For each a line is said: "NUMBER VERDICT
 * COUNTS what". With FILEs these are done instead, with more words.
 */
#ifndef HEDDLE_TESTS_CASES_H
#define HEDDLE_TESTS_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Those from V_PRINT on are findings. */
enum verdict { V_OK, V_REFUSED, V_PRINT, V_CANARY, V_BOUNDS, V_DIFFERS, V_UNREPEATABLE, V_CRASH, V_HANG };

enum { CASE_COUNTS = 8 };

/* What a child tells, even if it crashes. */
struct told {
    enum verdict verdict;
    char where[256], what[4096];
    unsigned counts[CASE_COUNTS]; /* by case_counts */
    uint64_t hash;                /* of a result, for the parent to compare */
    int launch;                   /* the launch in question */
    bool may_vary;                /* its result is compared only where schedules agree */
    void *addresses;              /* of the machine */
};
extern struct told *told;

extern bool loud;
extern const char *crime; /* what the program itself is to do wrong, to show that it would be seen; "" if nothing */

/* What an address of a signal lies in, if the program knows; NULL: it never does. */
extern const char *(*case_describe)(const void *address);

/* The program's: names of told->counts, NULL at the end; what becomes of a case, in *told, by
 * do_in_child(). */
extern const char *const case_counts[];
void do_case(const char *bytes, size_t n);

/* Calls a function in a child; how it died, if it did, is in *told. */
void do_in_child(void (*function)(const void *), const void *argument);

/* For children: ends with a finding. */
__attribute__((format(printf, 2, 3), noreturn)) void case_fails(enum verdict verdict, const char *format, ...);

#endif
