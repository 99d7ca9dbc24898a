/* Checkers of the library (include/heddle.h). */
#include <stdlib.h>

#include "api/findings.h"
#include "api/handles.h"
#include "api/sized.h"
#include "check/host/host.h"
#include "check/memory/rules.h"
#include "check/shadow/shadow.h"
#include "record/recorder.h"

hd_result hd_checker_create_sized(hd_machine *machine, const hd_checker_options *options, size_t bytes,
                                  hd_checker **checker)
{
    hd_checker_options o;
    hd_result r = SIZED_READ(hd_checker_options, &o, options, bytes);
    if (r)
        return r;
    if (!machine || !checker || machine->checker || o.tools & ~(unsigned)HD_TOOLS_ALL ||
        o.on_error > HD_ON_ERROR_CONTEXT)
        return HD_ERROR_INVALID_VALUE;
    o.tools = o.tools ? o.tools : HD_TOOLS_ALL;
    hd_checker *c = calloc(1, sizeof *c);
    if (!c || !(c->checker = checker_new(machine->machine, &o, o.with ? o.with->checker : NULL))) {
        free(c);
        return HD_ERROR_OUT_OF_MEMORY;
    }
    c->machine = machine;
    c->options = o;
    c->recorder = o.with ? o.with->recorder : NULL;
    if (c->recorder && !recorder_add(c->recorder, c->checker, machine->machine, &c->options)) {
        checker_free(c->checker);
        free(c);
        return HD_ERROR_OUT_OF_MEMORY;
    }
    machine->checker = *checker = c;
    return HD_SUCCESS;
}

void hd_checker_destroy(hd_checker *c)
{
    if (!c)
        return;
    c->machine->checker = NULL;
    if (c->records)
        recorder_close(c->recorder);
    checker_free(c->checker);
    modules_forget(c->machine);
    free(c);
}

hd_checker *hd_machine_checker(const hd_machine *machine)
{
    return machine ? machine->checker : NULL;
}

/* Can an address space hold so many bytes at the address? */
static bool is_memory(const void *p, size_t bytes)
{
    uint64_t end;
    return p && bytes && !__builtin_add_overflow((uintptr_t)p, bytes, &end) && end <= 1ull << SHADOW_ADDRESS_BITS;
}

hd_result hd_checker_mark_undefined(hd_checker *c, const void *p, size_t bytes, const char *name)
{
    if (!c || !is_memory(p, bytes))
        return HD_ERROR_INVALID_VALUE;
    const struct host_event e = {.kind = HOST_UNDEFINED, .address = (uintptr_t)p, .bytes = bytes, .name = name};
    return checker_host(c->checker, &e) ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

void hd_checker_mark_defined(hd_checker *c, const void *p, size_t bytes)
{
    if (c && is_memory(p, bytes))
        checker_memory(c->checker, HOST_DEFINED, p, bytes);
}

void hd_checker_mark_copied(hd_checker *c, const void *to, const void *from, size_t bytes)
{
    if (c && is_memory(to, bytes) && is_memory(from, bytes))
        checker_host(c->checker,
                     &(struct host_event){
                         .kind = HOST_COPIED, .address = (uintptr_t)to, .from = (uintptr_t)from, .bytes = bytes});
}

size_t hd_checker_undefined_bytes(hd_checker *c, const void *p, size_t bytes)
{
    return c && is_memory(p, bytes) ? checker_undefined_bytes(c->checker, p, bytes) : 0;
}

size_t hd_checker_defined_bytes(hd_checker *c, const void *p, size_t bytes)
{
    return c && is_memory(p, bytes) ? checker_defined_bytes(c->checker, p, bytes) : bytes;
}

void hd_checker_forget(hd_checker *c, const void *p, size_t bytes)
{
    if (c && is_memory(p, bytes))
        checker_memory(c->checker, HOST_FORGET, p, bytes);
}

static bool fill_report(hd_checker *c, hd_report *r)
{
    jmp_buf oom;
    volatile bool whole = false;
    r->diags.limit = 0;
    r->arena.on_oom = &oom;
    if (setjmp(oom) == 0 && checker_report(c->checker, &r->diags)) {
        report_keep_places(r);
        whole = true;
    }
    r->arena.on_oom = NULL;
    return whole;
}

void *hd_host_view(const void *p)
{
    return host_view(p);
}

void hd_host_access(const void *p, size_t bytes, bool write)
{
    host_tell(p, bytes, write);
}

hd_result hd_checker_record(hd_checker *c, const char *path)
{
    if (!c || !path || c->recorder)
        return HD_ERROR_INVALID_VALUE;
    struct recorder *r = recorder_open(path);
    if (!r)
        return HD_ERROR_FILE;
    recorder_add(r, c->checker, c->machine->machine, &c->options);
    c->recorder = r;
    c->records = true;
    return HD_SUCCESS;
}

hd_result hd_checker_record_end(hd_checker *c, const char *program, const hd_report *others)
{
    if (!c || !c->records)
        return HD_ERROR_INVALID_VALUE;
    if (program || others)
        recorder_summary(c->recorder, program, others ? hd_report_json((hd_report *)others) : NULL);
    bool whole = recorder_close(c->recorder);
    c->recorder = NULL;
    c->records = false;
    return whole ? HD_SUCCESS : HD_ERROR_FILE;
}

void hd_checker_end(hd_checker *c)
{
    if (c)
        checker_host(c->checker, &(struct host_event){.kind = HOST_FINISH});
}

hd_result hd_checker_report(hd_checker *c, hd_report **report)
{
    if (!c || !report)
        return HD_ERROR_INVALID_VALUE;
    *report = NULL;
    hd_report *r = report_new();
    if (!r)
        return HD_ERROR_OUT_OF_MEMORY;
    hd_result result = fill_report(c, r) ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
    report_give(r, report);
    return result;
}

void api_findings_period(hd_checker *c)
{
    checker_period(c->checker);
}

hd_result hd_memory_rules_create(const hd_memory_rule *rules, size_t count, hd_memory_rules **made)
{
    if (!made || (count && !rules))
        return HD_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        bool apart = !i || (const char *)rules[i - 1].start + rules[i - 1].bytes <= (const char *)rules[i].start;
        if (!is_memory(rules[i].start, rules[i].bytes) || rules[i].uses & ~(unsigned)HD_MEMORY_ALL || !apart)
            return HD_ERROR_INVALID_VALUE;
    }
    *made = (hd_memory_rules *)rules_new(rules, count);
    return *made ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

hd_memory_rules *hd_memory_rules_keep(hd_memory_rules *rules)
{
    return (hd_memory_rules *)rules_keep((struct memory_rules *)rules);
}

void hd_memory_rules_destroy(hd_memory_rules *rules)
{
    rules_release((struct memory_rules *)rules);
}
