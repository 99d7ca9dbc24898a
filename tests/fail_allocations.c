/* Preloaded into a program: every n-th request for memory or for a thread fails, n = $FAIL_EVERY,
 * once $FAIL_AFTER of them have been granted. tests/memory/test.py */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static unsigned long requests, every, after;

__attribute__((constructor)) static void start(void)
{
    const char *n = getenv("FAIL_EVERY"), *k = getenv("FAIL_AFTER");
    after = k ? strtoul(k, NULL, 10) : 0;
    requests = 0;
    every = n ? strtoul(n, NULL, 10) : 0;
}

static int fails(void)
{
    if (!every)
        return 0;
    unsigned long n = __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
    return n > after && (n - after) % every == 0;
}

static void *none(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t n)
{
    return fails() ? none() : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? none() : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails() ? none() : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return fails() ? none() : __libc_memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
    void *got = fails() ? NULL : __libc_memalign(align, n);
    if (got)
        *p = got;
    return got ? 0 : ENOMEM;
}

void *mmap(void *at, size_t n, int protection, int flags, int file, off_t offset)
{
    if (fails()) {
        none();
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, n, protection, flags, file, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *data)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (fails())
        return EAGAIN;
    if (!real)
        real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))(uintptr_t)dlsym(
            RTLD_NEXT, "pthread_create");
    return real(thread, attributes, function, data);
}
