/* Which functions count as empty, so that a jump at their entry destroys nothing: as C libraries of
 * several compilers have them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "cuda/process/preload.h"

static int called;

static void hook(void)
{
    called++;
}

/* Calls a function of these 16 bytes after it was to be patched; returns whether it was. */
static bool patched(const unsigned char bytes[16])
{
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(code, MAP_FAILED);
    memcpy(code, bytes, 16);
    assert_int_equal(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
    called = 0;
    bool is = patch_empty_function((uintptr_t)code, hook);
    if (!is)
        assert_memory_equal(code, bytes, 16);
    void (*function)(void);
    memcpy(&function, &code, sizeof code);
    function();
    assert_int_equal(called, is);
    munmap(code, 4096);
    return is;
}

static void empty_functions_are_patched(void **state)
{
    (void)state;
    static const unsigned char empty[][16] = {
        {0xc3, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},          /* glibc 2.31 */
        {0xf3, 0xc3, 0x0f, 0x1f, 0x40, 0x00, 0x66, 0x2e, 0x0f, 0x1f}, /* 2.27 */
        {0xf3, 0xc3, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},    /* the same with other padding */
        {0xf3, 0x0f, 0x1e, 0xfa, 0xc3, 0x66, 0x2e, 0x0f, 0x1f, 0x84}, /* with CET */
        {0xc3, 0xcc, 0xcc, 0xcc, 0xcc},
        {0xc3, 0x90, 0x90, 0x90, 0x90},
    };
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++)
        assert_true(patched(empty[i]));
}

static void others_stay_as_they_are(void **state)
{
    (void)state;
    static const unsigned char others[][16] = {
        {0x31, 0xc0, 0xc3, 0x66, 0x90}, /* returns 0 */
        {0xc3, 0x31, 0xc0, 0xc3, 0x90}, /* another function follows at once */
        {0xf3, 0xc3, 0x31, 0xc0, 0xc3},
        {0xf3, 0x90, 0xc3, 0xcc, 0xcc, 0xcc}, /* a pause */
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(patched(others[i]));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(empty_functions_are_patched),
                                              cmocka_unit_test(others_stay_as_they_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
