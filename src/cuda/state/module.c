/* See module.h. */
#include "cuda/state/module.h"

#include "cuda/image/code.h"
#include "cuda/image/object.h"
#include "cuda/state/companion.h"
#include "cuda/state/contexts.h"
#include "cuda/state/machines.h"
#include "cuda/state/references.h"
#include "cuda/state/registered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ---- */

unsigned device_arch(struct device *d)
{
    int major = 0, minor = 0;
    hd_machine_get_attribute(d->machine, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major);
    hd_machine_get_attribute(d->machine, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor);
    return (unsigned)(10 * major + minor);
}

/* Reports what is wrong with an image or its PTX: into the JIT's log if there is one, else to the
   user. */
static void complain(const struct CUmod_st *m, struct jit_options *jit, const char *text)
{
    if (jit && jit->error)
        jit_log(jit, true, text);
    else if (strncmp(text, m->name, strlen(m->name)) == 0) /* diagnostics begin with the module's name */
        say("%s", text);
    else
        say("%s: %s", m->name, text);
}

CUresult from_image(enum image_result r)
{
    switch (r) {
    case IMAGE_OK: return CUDA_SUCCESS;
    case IMAGE_NO_BINARY: return CUDA_ERROR_NO_BINARY_FOR_GPU;
    case IMAGE_NO_MEMORY: return CUDA_ERROR_OUT_OF_MEMORY;
    default: return CUDA_ERROR_INVALID_IMAGE;
    }
}

/* ---- variables at the host's addresses ---- */

static bool note_placed(struct CUmod_st *m, const struct jit_options *jit)
{
    m->placed = calloc(jit->n_names, sizeof *m->placed);
    for (; m->placed && m->n_placed < jit->n_names; m->n_placed++) {
        char *name = strdup(jit->names[m->n_placed]);
        if (!name)
            return false;
        m->placed[m->n_placed] = (struct placed){.name = name, .at = jit->addresses[m->n_placed]};
    }
    return m->placed != NULL;
}

static void unregister_placed(const struct CUmod_st *m)
{
    for (unsigned i = 0; m->placed_once && i < m->n_placed; i++)
        registered_remove_held(m->placed[i].at);
}

static void forget_placed(struct CUmod_st *m)
{
    for (unsigned i = 0; i < m->n_placed; i++)
        free(m->placed[i].name);
    free(m->placed);
}

/* Writes the initial values once, however many devices load the module. Call with the lock held. */
static CUresult place_variables(struct CUmod_st *m, hd_module *on)
{
    for (unsigned i = 0; i < m->n_placed; i++) {
        struct placed *p = &m->placed[i];
        void *at;
        TRY(from_hd(hd_module_get_global(on, p->name, &at, &p->bytes)));
        if (!m->placed_once)
            memcpy(p->at, at, p->bytes);
        TRY(from_hd(hd_module_place_global(on, p->name, p->at)));
    }
    m->placed_once = true;
    return CUDA_SUCCESS;
}

/* Lets kernels, copies and inquiries find them. Call with the lock held. */
static void register_placed(struct CUmod_st *m, const struct device *d)
{
    CUcontext context = context_top() ? context_current_handle() : d->primary;
    for (unsigned i = 0; i < m->n_placed; i++) {
        struct registered r = {m->placed[i].at, m->placed[i].bytes, 0, context, (struct device *)d, true};
        registered_add_held(&r); /* variables that another device registered stay registered */
    }
}

/* The error for a load; PTX of a newer toolkit than Heddle knows has its own. */
static CUresult from_load(hd_result r, const hd_report *report)
{
    hd_diagnostic d;
    for (size_t i = 0; r == HD_ERROR_INVALID_PTX && report && hd_report_get(report, i, &d); i++)
        if (strcmp(d.code, "ptx-unknown-version") == 0 || strcmp(d.code, "ptx-newer-version") == 0)
            return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    return from_hd(r);
}

static void set_machine_code(hd_module *module, const struct image_kernel *k)
{
    const hd_machine_code code = {k->code.registers, k->code.frame_bytes, k->code.local_loads, k->code.local_stores};
    hd_module_set_machine_code(module, k->name, &code);
}

/* The module's texts, and the functions of the device runtime that they call; the caller frees
   them. NULL if memory is exhausted. */
static hd_source *sources_of(const struct CUmod_st *m, size_t *n)
{
    hd_source *sources = calloc(m->image.texts.n + 1, sizeof *sources);
    bool graphs = false;
    *n = m->image.texts.n;
    for (size_t i = 0; sources && i < *n; i++) {
        sources[i] = (hd_source){m->name, m->image.texts.at[i].text, m->image.texts.at[i].bytes};
        graphs = graphs || device_graphs_wanted(sources[i].text, m->image.texts.at[i].bytes);
    }
    if (sources && graphs)
        sources[(*n)++] = (hd_source){"graphs of the device runtime", device_graphs_ptx, strlen(device_graphs_ptx)};
    return sources;
}

CUresult module_on(struct CUmod_st *m, struct device *d, struct jit_options *jit, hd_module **module)
{
    hd_module **on = &m->on[d->ordinal];
    CUresult r = CUDA_SUCCESS;
    *module = __atomic_load_n(on, __ATOMIC_ACQUIRE);
    if (m->companion)
        return CUDA_ERROR_NO_BINARY_FOR_GPU; /* its kernels cannot be listed */
    if (!*module) {
        size_t n;
        hd_source *sources = sources_of(m, &n);
        hd_report *report = NULL;
        state_lock();
        if (!*on) {
            hd_module *new = NULL;
            hd_result loaded = sources ? hd_module_load(d->machine, sources, n, &new, &report) : HD_ERROR_OUT_OF_MEMORY;
            r = from_load(loaded, report);
            if (!r)
                r = place_variables(m, new);
            for (size_t i = 0; !r && i < m->image.kernels.n; i++)
                set_machine_code(new, &m->image.kernels.at[i]);
            if (!r) {
                register_placed(m, d);
                __atomic_store_n(on, new, __ATOMIC_RELEASE);
            } else {
                hd_module_unload(new);
            }
        }
        *module = *on;
        state_unlock();
        if (report && r)
            complain(m, jit, hd_report_text(report));
        else if (report && jit)
            jit_log(jit, false, hd_report_text(report));
        hd_report_free(report);
        free(sources);
    }
    return r;
}

struct CUmod_st *module_of(const void *handle, bool library)
{
    struct CUmod_st *m = record_of(handle, HANDLE_MODULE);
    return m && (m->context == NULL) == library ? m : NULL;
}

/* Frees a module whose handle, and those of its functions, are gone. */
static void free_module(void *record)
{
    struct CUmod_st *m = record;
    for (int i = 0; i < MAX_DEVICES; i++)
        hd_module_unload(m->on[i]);
    while (m->functions) {
        struct CUfunc_st *f = m->functions;
        m->functions = f->next;
        free(f->set_before);
        free(f->name);
        free(f);
    }
    image_free(&m->image);
    companion_free(m->companion);
    forget_placed(m);
    free(m);
}

CUresult module_new(CUcontext c, const void *image, size_t bytes, const char *name, struct jit_options *jit,
                    struct CUmod_st **module)
{
    struct device *d;
    hd_module *loaded;
    CUcontext current = context_top();
    CUresult r = c ? CUDA_SUCCESS : device_get(current ? current->device->ordinal : 0, &d);
    struct CUmod_st *m = r ? NULL : calloc(1, sizeof *m);
    if (!m)
        return r ? r : CUDA_ERROR_OUT_OF_MEMORY;
    d = c ? c->device : d;
    m->context = c;
    snprintf(m->name, sizeof m->name, "%s", name);
    r = from_image(image_read(image, bytes, device_arch(d), &m->image));
    if (r == CUDA_ERROR_NO_BINARY_FOR_GPU)
        m->companion = companion_new(image, bytes, device_arch(d), m->image.why, sizeof m->image.why);
    if (m->companion)
        r = CUDA_SUCCESS;
    if (!r)
        r = jit_limit_registers(jit, m->image.texts.at, m->image.texts.n);
    if (!r && jit && jit->n_names && !note_placed(m, jit))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    else if (r)
        complain(m, jit, m->image.why);
    else if (c && !m->companion)
        r = module_on(m, d, jit, &loaded); /* libraries load when they are first used */
    if (!r)
        r = handle_give(HANDLE_MODULE, m, c, &m->handle);
    if (r)
        free_module(m);
    else
        *module = m;
    return r;
}

CUresult module_open(CUcontext c, const char *path, struct jit_options *jit, struct CUmod_st **module)
{
    size_t bytes;
    void *data = image_file(path, &bytes);
    if (!data) {
        log_line(LOG_ERROR, "%s cannot be read", path);
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    CUresult r = module_new(c, data, bytes, path, jit, module);
    free(data);
    return r;
}

void module_end(struct CUmod_st *m)
{
    state_lock();
    m->ended = true;
    unregister_placed(m); /* the memory may be freed next */
    for (struct CUfunc_st *f = m->functions; f; f = f->next)
        record_take(f->handle, HANDLE_FUNCTION);
    references_leave_held(m);
    state_unlock();
    companion_end(m->companion);
    call_later(free_module, m);
}

void module_drop(struct CUmod_st *m)
{
    if (record_take(m->handle, HANDLE_MODULE))
        module_end(m);
}

static void unload(void *module)
{
    hd_module_unload(module);
}

static void leave(void *device, void *record)
{
    const struct device *d = device;
    struct CUmod_st *m = record;
    hd_module *on = m->context ? NULL : m->on[d->ordinal];
    if (!on)
        return;
    __atomic_store_n(&m->on[d->ordinal], NULL, __ATOMIC_RELEASE);
    for (struct CUfunc_st *f = m->functions; f; f = f->next)
        __atomic_store_n(&f->on[d->ordinal], NULL, __ATOMIC_RELEASE);
    references_leave_held(m);
    call_later(unload, on);
}

void libraries_leave(struct device *d)
{
    state_lock();
    records_each(HANDLE_MODULE, leave, d);
    state_unlock();
}

/* ---- kernels ---- */

struct CUfunc_st *function_of(const void *handle)
{
    return record_of(handle, HANDLE_FUNCTION);
}

static bool has_kernel(const hd_module *m, const char *name)
{
    for (size_t i = 0; i < hd_module_kernel_count(m); i++)
        if (strcmp(hd_module_kernel_name(m, i), name) == 0)
            return true;
    return false;
}

/* Call with the state's lock held. */
static CUresult function_new(struct CUmod_st *m, const char *name, struct CUfunc_st **function)
{
    struct CUfunc_st *f = m->ended ? NULL : calloc(1, sizeof *f);
    char *copy = f ? strdup(name) : NULL;
    CUresult r = m->ended ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_OUT_OF_MEMORY;
    if (copy) {
        *f = (struct CUfunc_st){
            .next = m->functions, .module = m, .name = copy, .dynamic_shared_limit = -1, .carveout = -1};
        r = handle_give_held(HANDLE_FUNCTION, f, NULL, &f->handle);
    }
    if (r) {
        free(copy);
        free(f);
        return r;
    }
    *function = m->functions = f;
    return CUDA_SUCCESS;
}

CUresult function_get(struct CUmod_st *m, struct device *d, const char *name, struct CUfunc_st **function)
{
    hd_module *loaded;
    CUresult r = CUDA_SUCCESS;
    if (m->companion)
        TRY(companion_find(m, PACK_KERNEL, name, &m, &name));
    TRY(module_on(m, d, NULL, &loaded));
    state_lock();
    struct CUfunc_st *f = m->functions;
    while (f && strcmp(f->name, name) != 0)
        f = f->next;
    if (!f)
        r = has_kernel(loaded, name) ? function_new(m, name, &f) : CUDA_ERROR_NOT_FOUND;
    state_unlock();
    if (r == CUDA_ERROR_NOT_FOUND)
        log_line(LOG_ERROR, "%s: there is no kernel `%s`", m->name, name);
    *function = f;
    return r;
}

CUresult function_on(struct CUfunc_st *f, struct device *d, hd_kernel **kernel)
{
    hd_kernel **on = &f->on[d->ordinal];
    *kernel = __atomic_load_n(on, __ATOMIC_ACQUIRE);
    if (*kernel)
        return CUDA_SUCCESS;
    hd_module *loaded;
    hd_report *report = NULL;
    TRY(module_on(f->module, d, NULL, &loaded));
    hd_result r = hd_module_get_kernel(loaded, f->name, kernel, &report);
    if (r && report)
        say("%s", hd_report_text(report));
    hd_report_free(report);
    state_lock();
    if (!r && f->module->on[d->ordinal] == loaded) /* unless it left the device meanwhile */
        __atomic_store_n(on, *kernel, __ATOMIC_RELEASE);
    state_unlock();
    return from_hd(r);
}

CUresult function_find(CUfunction handle, struct device *d, struct CUfunc_st **f, hd_kernel **kernel)
{
    *f = function_of(handle);
    return *f ? function_on(*f, d, kernel) : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- options of the just-in-time compiler ---- */

CUresult jit_read(struct jit_options *o, unsigned n, const CUjit_option *options, void **values)
{
    *o = (struct jit_options){0};
    if (n && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n; i++) {
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER: o->info = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER: o->error = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            o->info_bytes = (size_t)(unsigned)(uintptr_t)values[i];
            o->info_size = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            o->error_bytes = (size_t)(unsigned)(uintptr_t)values[i];
            o->error_size = &values[i];
            break;
        case CU_JIT_WALL_TIME: o->wall_time = &values[i]; break;
        case CU_JIT_GLOBAL_SYMBOL_NAMES: o->names = values[i]; break;
        case CU_JIT_GLOBAL_SYMBOL_ADDRESSES: o->addresses = values[i]; break;
        case CU_JIT_MAX_REGISTERS: o->max_registers = (unsigned)(uintptr_t)values[i]; break;
        case CU_JIT_GLOBAL_SYMBOL_COUNT: o->n_names = (unsigned)(uintptr_t)values[i]; break;
        default: /* options about machine code, of which there is none */
            if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
                return CUDA_ERROR_INVALID_VALUE;
        }
    }
    /* The log replaces what the caller's buffers contained. */
    if (o->info && o->info_bytes)
        *o->info = 0;
    if (o->error && o->error_bytes)
        *o->error = 0;
    return o->n_names && (!o->names || !o->addresses) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult jit_limit_registers(const struct jit_options *o, struct image_text *texts, size_t n)
{
    const hd_ptx_code code = {.max_registers = o ? o->max_registers : 0};
    bool good = true;
    for (size_t i = 0; i < n && code.max_registers && good; i++) {
        hd_ptx *ptx = NULL;
        hd_source source = {"", texts[i].text, texts[i].bytes};
        good = hd_ptx_read(&source, &ptx, NULL) || image_set_code(&texts[i], ptx, &code);
        hd_ptx_free(ptx);
    }
    return good ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Appends as much as fits. */
void jit_log(struct jit_options *o, bool error, const char *text)
{
    char *log = error ? o->error : o->info;
    size_t size = error ? o->error_bytes : o->info_bytes, used = log && size ? strnlen(log, size) : 0;
    if (log && used < size)
        snprintf(log + used, size - used, "%s", text);
}

static void give_size(void **value, const char *log, size_t size)
{
    if (value)
        *value = (void *)(uintptr_t)(log && size ? strnlen(log, size) : 0);
}

void jit_done(struct jit_options *o)
{
    give_size(o->info_size, o->info, o->info_bytes);
    give_size(o->error_size, o->error, o->error_bytes);
    if (o->wall_time)
        *o->wall_time = NULL; /* 0.0 milliseconds: nothing is compiled in advance */
}
