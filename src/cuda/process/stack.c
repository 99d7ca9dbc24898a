/* See stack.h. */
#include "cuda/process/stack.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "base/demangle.h"
#include "base/file_name.h"
#include "cuda/process/python.h"
#include "cuda/process/symbols.h"
#include "x86/insn.h"

enum { MAX_ADDRESSES = 32, MAX_FRAMES = 16, MAX_INLINED = 8, MAX_OWN = 64, N_BUCKETS = 1 << 12, PYTHON_BYTES = 4096 };

struct stack {
    struct stack *next;
    uint64_t hash;
    const char *call; /* CUDA's function, as its library exports it */
    bool is_read;     /* its text was looked up */
    struct stack_text text;
    const char *python; /* its calls, as text, or NULL */
    size_t n;
    uintptr_t addresses[]; /* the program's return addresses; CUDA's are not included */
};

struct range {
    uintptr_t start, end;
};

static struct {
    pthread_mutex_t lock;
    struct stack *buckets[N_BUCKETS];
    pthread_once_t once;
    char folder[4096]; /* the folder of our libraries, with a slash */
    struct range own[MAX_OWN];
    _Atomic size_t n_own;
    struct arena arena; /* for texts */
    bool tried;         /* the library was loaded, or cannot be */
    size_t (*symbols_at)(uintptr_t address, struct symbol *symbols, size_t n);
} depot = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* ---- which code is ours ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool is_library_of_ours(const char *name)
{
    static const char *const prefixes[] = {
        "libcuda.so",
        "libcudart.so",
        "libheddle",
#define LIBRARY(name, soname, cuda) soname,
#include "cuda/libraries.def"
#undef LIBRARY
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (starts_with(name, prefixes[i]))
            return true;
    return false;
}

static bool is_noted(uintptr_t start)
{
    for (size_t i = 0; i < depot.n_own; i++)
        if (depot.own[i].start == start)
            return true;
    return false;
}

static int note_own(struct dl_phdr_info *object, size_t bytes, void *data)
{
    const char *name = base_name(object->dlpi_name);
    size_t folder = (size_t)(name - object->dlpi_name);
    (void)bytes;
    (void)data;
    if (folder != strlen(depot.folder) || strncmp(object->dlpi_name, depot.folder, folder) != 0 ||
        !is_library_of_ours(name))
        return 0;
    for (int i = 0; i < object->dlpi_phnum && depot.n_own < MAX_OWN; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && p->p_flags & PF_X && !is_noted(start)) {
            depot.own[depot.n_own] = (struct range){start, start + p->p_memsz};
            depot.n_own++;
        }
    }
    return 0;
}

static void find_own(void)
{
    Dl_info own;
    if (!dladdr((void *)find_own, &own) || !own.dli_fname || strlen(own.dli_fname) >= sizeof depot.folder)
        return;
    memcpy(depot.folder, own.dli_fname, (size_t)(base_name(own.dli_fname) - own.dli_fname));
    dl_iterate_phdr(note_own, NULL);
}

/* Only adds objects, and publishes each when it is complete. */
void stack_note_own(void)
{
    pthread_once(&depot.once, find_own);
    pthread_mutex_lock(&depot.lock);
    dl_iterate_phdr(note_own, NULL);
    pthread_mutex_unlock(&depot.lock);
}

bool stack_is_own(uintptr_t address)
{
    pthread_once(&depot.once, find_own);
    for (size_t i = 0; i < depot.n_own; i++)
        if (depot.own[i].start <= address && address < depot.own[i].end)
            return true;
    return false;
}

/* ---- taking one ---- */

struct walk {
    uintptr_t call; /* return address in the outermost of our functions */
    const char *name;
    size_t n;
    uintptr_t addresses[MAX_ADDRESSES];
    size_t n_python;
    char python[PYTHON_BYTES];
};

static _Unwind_Reason_Code visit(struct _Unwind_Context *c, void *data)
{
    struct walk *w = data;
    int before = 0; /* 0 for a signal's frame: its address is the instruction itself */
    uintptr_t address = _Unwind_GetIPInfo(c, &before) - !before;
    if (address + 1 <= 1 || w->n == MAX_ADDRESSES)
        return _URC_END_OF_STACK;
    if (w->n == 0 && stack_is_own(address))
        w->call = address;
    else
        w->addresses[w->n++] = address;
    return _URC_NO_REASON;
}

static uint64_t hash_of(const struct walk *w)
{
    uint64_t h = (uintptr_t)w->name;
    for (size_t i = 0; i < w->n; i++)
        h = (h ^ w->addresses[i]) * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < w->n_python; i++)
        h = (h ^ (unsigned char)w->python[i]) * 0x100000001b3;
    return h ^ h >> 32;
}

static struct stack *find(const struct walk *w, uint64_t hash)
{
    struct stack *s = depot.buckets[hash % N_BUCKETS];
    while (s && (s->hash != hash || s->call != w->name || s->n != w->n ||
                 memcmp(s->addresses, w->addresses, w->n * sizeof *w->addresses) ||
                 strcmp(s->python ? s->python : "", w->python) != 0))
        s = s->next;
    return s;
}

static struct stack *add(const struct walk *w, uint64_t hash)
{
    struct stack *s = calloc(1, sizeof *s + w->n * sizeof *w->addresses);
    if (!s)
        return NULL;
    s->hash = hash;
    s->call = w->name;
    s->n = w->n;
    s->python = w->n_python ? strdup(w->python) : NULL;
    memcpy(s->addresses, w->addresses, w->n * sizeof *w->addresses);
    s->next = depot.buckets[hash % N_BUCKETS];
    depot.buckets[hash % N_BUCKETS] = s;
    return s;
}

const struct stack *stack_here(void)
{
    struct walk w;
    Dl_info call;
    w.call = 0;
    w.name = NULL;
    w.n = 0;
    w.python[0] = 0;
    w.n_python = python_calls(w.python, sizeof w.python);
    _Unwind_Backtrace(visit, &w);
    if (w.call && dladdr((void *)w.call, &call))
        w.name = call.dli_sname;
    uint64_t hash = hash_of(&w);
    pthread_mutex_lock(&depot.lock);
    struct stack *s = find(&w, hash);
    if (!s)
        s = add(&w, hash);
    pthread_mutex_unlock(&depot.lock);
    return s;
}

bool stack_drops_result(const struct stack *s)
{
    const struct x86_reader *reader = x86_reader();
    enum x86_result_use use = reader ? RESULT_RETURNED : RESULT_READ;
    for (size_t i = 0; s && i < s->n && use == RESULT_RETURNED; i++)
        use = reader->result_use((const uint8_t *)s->addresses[i] + 1, NULL);
    return use == RESULT_DROPPED;
}

/* ---- reading it ---- */

/* A function's name as programs write it: cuMemAlloc for cuMemAlloc_v2, cudaMemcpy for
 * cudaMemcpy_ptds, cudaLaunchKernel for __cudaLaunchKernel. */
static const char *api_name(const char *symbol)
{
    symbol += starts_with(symbol, "__") ? 2 : 0;
    size_t n = strlen(symbol);
    for (size_t i = n; i > 4; i--)
        if (starts_with(symbol + i - 1, "_v2") || starts_with(symbol + i - 1, "_v3") ||
            starts_with(symbol + i - 1, "_v4") || starts_with(symbol + i - 1, "_v1") ||
            starts_with(symbol + i - 1, "_pt"))
            n = i - 1;
    return arena_strndup(&depot.arena, symbol, n);
}

static void load_symbols(void)
{
    depot.tried = true;
    void *library = dlopen(arena_printf(&depot.arena, "%slibheddle-symbols.so", depot.folder), RTLD_LAZY | RTLD_LOCAL);
    if (library)
        *(void **)&depot.symbols_at = dlsym(library, "heddle_symbols_at");
}

/* Is it a header whose functions call the runtime, of a toolkit or of ours? */
static bool is_header_of_cuda(const char *file)
{
    static const char *const headers[] = {"cuda_runtime.h", "cuda_runtime_api.h", "device_functions.h"};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (strcmp(base_name(file), headers[i]) == 0)
            return true;
    return false;
}

static const char stub_prefix[] = "__device_stub__";

/* Where the prefix is in the name of a stub, which clang leaves in the kernel's namespace;
 * NULL: the function is none. */
static const char *find_stub(const char *function)
{
    const char *at = strstr(function, stub_prefix);
    size_t scope = at ? strcspn(function, "<(") : 0;
    bool is_stub = at && (at == function || (at[-1] == ':' && (size_t)(at - function) < scope));
    return is_stub ? at : NULL;
}

/* The kernel that a stub launches: nvcc's stubs are named by its mangled name without the
   underscore, clang's by its name. */
static const char *kernel_of(const char *function, const char *stub, struct arena *a)
{
    const char *name = stub + strlen(stub_prefix);
    return name[0] == 'Z' ? demangle(str_of(arena_printf(a, "_%s", name)), a)
                          : arena_printf(a, "%.*s%s", (int)(stub - function), function, name);
}

/* Is it the object that calls main, or a thread's function? */
static bool is_runtime(const char *object)
{
    const char *name = base_name(object);
    return starts_with(name, "libc.so") || starts_with(name, "libpthread") || starts_with(name, "ld-linux");
}

static const char unknown_place[] = "at an unknown place";

struct reading {
    hd_frame frames[MAX_FRAMES];
    size_t n;
    const char *call;
    const char *kernel; /* the kernel of the last stub */
    bool done;
};

/* Calls between the user's code and CUDA: functions of CUDA's headers, which then count as the CUDA
 * function that was called, and functions that launch kernels: a stub and, with nvcc, a function
 * with the kernel's name that calls it. */
static bool is_wrapper(struct reading *r, const char *function, const char *file)
{
    struct arena *a = &depot.arena;
    const char *stub = find_stub(function);
    if (starts_with(function, "__cudaLaunch") || strstr(function, "__wrapper__device_stub_"))
        return true; /* nvcc's, of CUDA 13 and of templates */
    if (stub) {
        r->kernel = kernel_of(function, stub, a);
        r->call = arena_printf(a, "the launch of `%s`", r->kernel);
        return true;
    }
    if (r->kernel)
        return strcmp(function, r->kernel) == 0;
    bool same = r->call && starts_with(function, r->call) && strchr("<", function[strlen(r->call)]);
    if (!same && !(file && is_header_of_cuda(file)))
        return false;
    if (starts_with(function, "cuda"))
        r->call = arena_strndup(a, function, strcspn(function, "<"));
    return true;
}

/* The name of a GoogleTest test, as its output writes it, for the function that runs it: "test
 * Sums.Of64" for "Sums_Of64_Test::TestBody()", "test Sums.Of64<int>" for
 * "gtest_suite_Sums_::Of64<int>::TestBody()"; NULL for other functions. GoogleTest forbids
 * underscores in names of tests; if there are more, they are kept. */
static const char *google_test(const char *function, struct arena *a)
{
    static const char body[] = "::TestBody", typed[] = "gtest_suite_", end[] = "_Test";
    const char *at = strstr(function, body);
    size_t n = at ? (size_t)(at - function) : 0;
    const char *suite = at ? strstr(function, typed) : NULL, *member = suite ? strstr(suite, "_::") : NULL;
    if (member && member < at)
        return arena_printf(a, "test %.*s.%.*s", (int)(member - suite - (sizeof typed - 1)), suite + sizeof typed - 1,
                            (int)(at - member - 3), member + 3);
    const char *name = function;
    for (const char *p = function; p < at; p++)
        name = *p == ':' ? p + 1 : name; /* skips namespaces */
    n = at ? (size_t)(at - name) : 0;
    if (n < sizeof end || strncmp(at - (sizeof end - 1), end, sizeof end - 1) != 0)
        return NULL;
    char *test = arena_strndup(a, name, n - (sizeof end - 1)), *between = strchr(test, '_');
    if (between && !strchr(between + 1, '_'))
        *between = '.';
    return arena_printf(a, "test %s", test);
}

static const char *file_of(const struct symbol *s, struct arena *a)
{
    bool joined = s->file && s->file[0] != '/' && s->folder;
    return joined ? arena_printf(a, "%s/%s", s->folder, s->file) : s->file ? arena_strdup(a, s->file) : NULL;
}

static void read_frame(struct reading *r, const struct symbol *symbol, const char *object, uint64_t offset)
{
    struct arena *a = &depot.arena;
    const char *function = symbol->function ? demangle(str_of(symbol->function), a) : NULL;
    if (r->n == 0 && function && is_wrapper(r, function, symbol->file))
        return;
    r->frames[r->n++] = (hd_frame){
        .function = function, .file = file_of(symbol, a), .line = symbol->line, .object = object, .offset = offset};
    const char *test = function && r->n < MAX_FRAMES ? google_test(function, a) : NULL;
    if (test)
        r->frames[r->n++] = (hd_frame){.function = test};
    r->done = test || (function && strcmp(function, "main") == 0) || r->n == MAX_FRAMES;
}

static void read_address(struct reading *r, uintptr_t address)
{
    Dl_info at = {0};
    struct symbol symbols[MAX_INLINED];
    size_t n = 0;
    if (!dladdr((void *)address, &at) || !at.dli_fname)
        at.dli_fname = "";
    /* reached our own code: a stream's thread that called the program */
    if (stack_is_own(address) || is_runtime(at.dli_fname)) {
        r->done = r->n > 0;
        return;
    }
    if (!depot.tried)
        load_symbols();
    if (depot.symbols_at)
        n = depot.symbols_at(address, symbols, MAX_INLINED);
    if (!n)
        symbols[n++] = (struct symbol){.function = at.dli_sname};
    uint64_t offset = at.dli_fbase ? address + 1 - (uintptr_t)at.dli_fbase : address + 1;
    for (size_t i = 0; i < n && !r->done; i++)
        read_frame(r, &symbols[i], arena_strdup(&depot.arena, at.dli_fname), offset);
}

static const char *place_of(const struct reading *r)
{
    struct arena *a = &depot.arena;
    for (size_t i = 0; i < r->n; i++)
        if (r->frames[i].file)
            return arena_printf(a, "at %s:%u", file_as_shown(r->frames[i].file, a), r->frames[i].line);
    if (!r->n)
        return unknown_place;
    const hd_frame *f = &r->frames[0];
    return arena_printf(a, "in %s of %s", f->function ? f->function : "a function", base_name(f->object));
}

/* In a Python process: only what the user wrote, without the interpreter's and the libraries'
 * frames. */
static void read_python(struct reading *r, const char *text)
{
    struct python_call call;
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) /* frames of extensions, if they have lines */
        if (r->frames[i].file && !python_is_library(r->frames[i].object ? r->frames[i].object : ""))
            r->frames[n++] = r->frames[i];
    r->n = n;
    while (r->n < MAX_FRAMES && python_next(&text, &call, &depot.arena))
        if (call.file ? !python_is_library(call.file) : r->n > 0)
            r->frames[r->n++] = (hd_frame){.function = call.function, .file = call.file, .line = call.line};
}

/* Is it the interpreter? Its own Python calls describe what called it. */
static bool is_interpreter(uintptr_t address)
{
    Dl_info at;
    const char *name = dladdr((void *)address, &at) && at.dli_fname ? base_name(at.dli_fname) : "";
    return starts_with(name, "python") || starts_with(name, "libpython") || starts_with(name, "libffi");
}

static void read_stack(struct stack *s)
{
    struct reading r = {.call = s->call ? api_name(s->call) : NULL};
    for (size_t i = 0; i < s->n && !r.done && !(s->python && is_interpreter(s->addresses[i])); i++)
        read_address(&r, s->addresses[i]);
    if (s->python)
        read_python(&r, s->python);
    hd_frame *frames = ARENA_ARRAY(&depot.arena, hd_frame, r.n + 1);
    memcpy(frames, r.frames, r.n * sizeof *frames);
    s->text = (struct stack_text){r.call, frames, r.n, place_of(&r)};
}

struct stack_text stack_text(const struct stack *stack)
{
    struct stack *s = (struct stack *)stack; /* the text is cached in it */
    jmp_buf oom;
    if (!s)
        return (struct stack_text){.place = unknown_place};
    pthread_mutex_lock(&depot.lock);
    if (!s->is_read) {
        s->text.place = unknown_place;
        depot.arena.on_oom = &oom;
        if (setjmp(oom) == 0)
            read_stack(s);
        depot.arena.on_oom = NULL;
        s->is_read = true;
    }
    pthread_mutex_unlock(&depot.lock);
    return s->text;
}
