/* Checkers of the library (include/heddle.h). */
#include <stdlib.h>

#include "api/handles.h"

hd_result hd_checker_create(hd_machine *machine, const hd_checker_options *options, hd_checker **checker)
{
    hd_checker_options o = options ? *options : (hd_checker_options){0};
    if (!machine || !checker || machine->checker || machine->machine->schedule.policy == POLICY_FAIR ||
        o.tools & ~(unsigned)HD_TOOLS_ALL)
        return HD_ERROR_INVALID_VALUE;
    o.tools = o.tools ? o.tools : HD_TOOLS_ALL;
    hd_checker *c = calloc(1, sizeof *c);
    if (!c || !(c->checker = checker_new(machine->machine, &o))) {
        free(c);
        return HD_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_init(&c->lock, NULL);
    c->machine = machine;
    c->options = o;
    machine->checker = *checker = c;
    return HD_SUCCESS;
}

void hd_checker_destroy(hd_checker *c)
{
    if (!c)
        return;
    c->machine->checker = NULL;
    checker_free(c->checker);
    modules_forget(c->machine);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

hd_result hd_checker_mark_undefined(hd_checker *c, const void *p, size_t bytes, const char *name)
{
    if (!c || !p || !bytes)
        return HD_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&c->lock);
    bool ok = checker_mark_undefined(c->checker, p, bytes, name);
    pthread_mutex_unlock(&c->lock);
    return ok ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

void hd_checker_mark_defined(hd_checker *c, const void *p, size_t bytes)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    checker_mark_defined(c->checker, p, bytes);
    pthread_mutex_unlock(&c->lock);
}

void hd_checker_end(hd_checker *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    checker_finish(c->checker);
    pthread_mutex_unlock(&c->lock);
}

hd_result hd_checker_report(hd_checker *c, hd_report **report)
{
    if (!c || !report)
        return HD_ERROR_INVALID_VALUE;
    *report = NULL;
    hd_report *r = report_new();
    if (!r)
        return HD_ERROR_OUT_OF_MEMORY;
    volatile hd_result result = HD_ERROR_OUT_OF_MEMORY;
    jmp_buf oom;
    pthread_mutex_lock(&c->lock);
    if (setjmp(oom) == 0) {
        r->arena.on_oom = &oom;
        r->diags.limit = 0;
        checker_report(c->checker, &r->diags);
        report_keep_places(r);
        result = HD_SUCCESS;
    }
    r->arena.on_oom = NULL;
    pthread_mutex_unlock(&c->lock);
    report_give(r, report);
    return result;
}
