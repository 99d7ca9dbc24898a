/* tensor-copies [--engine E] [--policy P] [--every N]: runs the copies of tests/tensor_maps as
 * kernels, and compares what they leave with what an H200 left. One line for each that differs,
 * then "copies N: A agree, D differ". Run where HEDDLE_SOURCE says the source is.
 */
#include "oracle.h"

#include <inttypes.h>

#include "tensor_maps/forms.h"

static void write_copy(char *to, size_t size, const struct form *f)
{
    static const char *const coords[] = {"{%c0}", "{%c0, %c1}", "{%c0, %c1, %c2}", "{%c0, %c1, %c2, %c3}",
                                         "{%c0, %c1, %c2, %c3, %c4}"};
    static const char *const offsets[] = {"", "", "", ", {%o0}", ", {%o0, %o1}", ", {%o0, %o1, %o2}"};
    const char *at = coords[f->rank - 1];
    if (f->mode == STORE || f->mode == REDUCE)
        snprintf(to, size,
                 "cp.%sasync.bulk.tensor.%dd.global.shared::cta%s%s.bulk_group [%%map, %s], [%%at];\n"
                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n",
                 f->mode == REDUCE ? "reduce." : "", f->rank, f->mode == REDUCE ? "." : "",
                 f->mode == REDUCE ? OPS[f->op] : "", at);
    else
        snprintf(to, size,
                 "cp.async.bulk.tensor.%dd.shared::cluster.global%s.mbarrier::complete_tx::bytes [%%at], [%%map, %s], "
                 "[%%bar]%s;\n",
                 f->rank, f->mode == IM2COL ? ".im2col" : ".tile", at, f->mode == IM2COL ? offsets[f->rank] : "");
}

/* Of the map at %map, all that tensormap.replace can change: to that of a form. */
static void write_changes(char *to, size_t size, const struct form *f, const char *space, const char *at)
{
    static const int NUMBER[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12}; /* of the driver's types */
    size_t n = 0;
#define CHANGE(field, bits, ...)                                                                                       \
    n += (size_t)snprintf(to + n, size - n, "tensormap.replace.tile." field ".%s.b1024.b" #bits " [%s], ", space, at), \
        n += (size_t)snprintf(to + n, size - n, __VA_ARGS__)
    CHANGE("global_address", 64, "%%tensor;\n");
    CHANGE("rank", 32, "%d;\n", f->rank - 1);
    for (int d = 0; d < 5; d++) {
        bool has = d < f->rank;
        CHANGE("box_dim", 32, "%d, %u;\n", d, has ? f->box[d] : 1);
        CHANGE("global_dim", 32, "%d, %u;\n", d, has ? (unsigned)f->dims[d] : 1);
        CHANGE("element_stride", 32, "%d, %u;\n", d, has ? f->steps[d] : 1);
        if (d < 4)
            CHANGE("global_stride", 64, "%d, %" PRIu64 ";\n", d, d + 1 < f->rank ? f->strides[d] : 0);
    }
    CHANGE("elemtype", 32, "%d;\n", NUMBER[f->type]);
    CHANGE("interleave_layout", 32, "%d;\n", f->interleave);
    CHANGE("swizzle_mode", 32, "%d;\n", f->swizzle);
    CHANGE("fill_mode", 32, "%d;\n", f->fill);
}

/* In global memory, or in shared memory, from where it goes back. */
static void write_change(char *to, size_t size, const struct form *f, bool in_shared)
{
    char changes[4096];
    write_changes(changes, sizeof changes, f, in_shared ? "shared::cta" : "global", in_shared ? "%s" : "%map");
    static const char from_global[] = "mov.u32 %s, here; mov.u32 %i, 0;\n"
                                      "fetch: cvt.u64.u32 %p, %i; add.u64 %p, %p, %map; ld.global.u32 %v, [%p];\n"
                                      "add.u32 %b, %s, %i; st.shared.u32 [%b], %v; add.u32 %i, %i, 4;\n"
                                      "setp.lt.u32 %q, %i, 128; @%q bra fetch;\n";
    snprintf(to, size, "%s%s%sfence.proxy.tensormap::generic.acquire.gpu [%%map], 128;\n", in_shared ? from_global : "",
             changes,
             in_shared ? "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                         "[%map], [%s], 128;\n"
                       : "fence.proxy.tensormap::generic.release.gpu;\n");
}

static void write_kernel(char *to, size_t size, const struct form *f, const char *change)
{
    char copy[512];
    write_copy(copy, sizeof copy, f);
    bool loads = f->mode == LOAD || f->mode == IM2COL;
    snprintf(
        to, size,
        ".version 8.6\n.target sm_90a\n.address_size 64\n"
        ".visible .entry copy(.param .align 64 .b8 map[128], .param .u64 image, .param .align 4 .b8 where[40], "
        ".param .u64 place, .param .u64 tensor)\n{\n"
        ".reg .b64 %%map, %%image, %%p, %%tensor; .reg .b32 %%at, %%bar, %%i, %%v, %%s, %%b, %%c<5>, %%o32; .reg .b16 "
        "%%o<3>; .reg .pred %%q;\n"
        ".shared .align 1024 .b8 room[40960]; .shared .align 128 .b8 here[128]; .shared .align 8 .b64 bar;\n"
        "mov.b64 %%map, map; cvta.param.u64 %%map, %%map; ld.param.u64 %%image, [image];\n%s"
        "ld.param.b32 %%c0, [where]; ld.param.b32 %%c1, [where+4]; ld.param.b32 %%c2, [where+8];\n"
        "ld.param.b32 %%c3, [where+12]; ld.param.b32 %%c4, [where+16];\n"
        "ld.param.b32 %%o32, [where+20]; cvt.u16.u32 %%o0, %%o32; ld.param.b32 %%o32, [where+24]; cvt.u16.u32 %%o1, "
        "%%o32;\n"
        "ld.param.b32 %%o32, [where+28]; cvt.u16.u32 %%o2, %%o32;\n"
        "ld.param.b32 %%at, [where+32]; mov.u32 %%b, room; add.u32 %%at, %%at, %%b; mov.u32 %%bar, bar;\n"
        "mov.u32 %%i, 0;\nfill: cvt.u64.u32 %%p, %%i; add.u64 %%p, %%p, %%image; ld.global.u32 %%v, [%%p];\n"
        "add.u32 %%s, %%i, %%b; st.shared.u32 [%%s], %%v; add.u32 %%i, %%i, 4; setp.lt.u32 %%q, %%i, 32768; @%%q bra "
        "fill;\n"
        "fence.proxy.async;\n%s%s%s"
        "mov.u32 %%i, 0;\nback: cvt.u64.u32 %%p, %%i; add.u64 %%p, %%p, %%image; add.u32 %%s, %%i, %%b;\n"
        "ld.shared.u32 %%v, [%%s]; st.global.u32 [%%p], %%v; add.u32 %%i, %%i, 4; setp.lt.u32 %%q, %%i, 32768; @%%q "
        "bra back;\n"
        "ret;\n}\n",
        change,
        loads ? "ld.param.b32 %v, [where+36]; mbarrier.init.shared.b64 [%bar], 1; mbarrier.arrive.expect_tx.shared.b64 "
                "_, [%bar], %v;\n"
              : "",
        copy, loads ? "wait: mbarrier.try_wait.parity.shared.b64 %q, [%bar], 0; @!%q bra wait;\n" : "");
}

static hd_tensor_map map_of(const struct form *f, void *address)
{
    hd_tensor_map m = {.type = (unsigned)f->type, .rank = (unsigned)f->rank, .address = address};
    m.interleave = (unsigned)f->interleave;
    m.swizzle = (unsigned)f->swizzle;
    m.fill_nan = f->fill;
    m.im2col = f->mode == IM2COL;
    for (int d = 0; d < f->rank; d++) {
        m.dims[d] = f->dims[d];
        m.steps[d] = f->steps[d];
        m.box[d] = f->box[d];
        if (d + 1 < f->rank)
            m.strides_bytes[d] = f->strides[d];
    }
    for (int d = 0; d < 3; d++) {
        m.lower[d] = f->lower[d];
        m.upper[d] = f->upper[d];
    }
    m.channels = f->channels;
    m.pixels = f->pixels;
    return m;
}

struct room {
    hd_machine *machine;
    void *global, *image, *map;
};

/* Runs the copy of a form by a map: by that map, or, where there is text that changes it, by what
 * it becomes in global memory. False where it does not end as on an H200, with the reason. */
static bool copy_agrees(struct room *r, const struct form *f, const uint8_t *map, const char *change, int launch,
                        uint64_t hash, char *why, size_t size)
{
    char text[16384];
    hd_module *module;
    hd_kernel *kernel;
    hd_report *report = NULL;
    fill_global(f, r->global);
    for (uint32_t i = 0; i < SHARED / 4; i++)
        ((uint32_t *)r->image)[i] = shared_word(f, i);
    memcpy(r->map, map, 128);
    int32_t where[10];
    for (int i = 0; i < 5; i++)
        where[i] = f->coords[i];
    for (int i = 0; i < 3; i++)
        where[5 + i] = f->offsets[i];
    where[8] = f->at;
    where[9] = (int32_t)bytes_of(f);
    write_kernel(text, sizeof text, f, change);
    hd_source s = {"copy.ptx", text, strlen(text)};
    hd_result result = hd_module_load(r->machine, &s, 1, &module, &report);
    if (!oracle_ran(result, report, why, size))
        return false;
    report = NULL;
    result = hd_module_get_kernel(module, "copy", &kernel, &report);
    void *tensor = (uint8_t *)r->global + GUARD + f->base;
    const void *args[] = {map, &r->image, where, &r->map, &tensor};
    hd_launch_config c = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args};
    if (!result)
        result = hd_launch(kernel, &c, NULL, &report);
    bool ran = oracle_ran(result, report, why, size);
    hd_module_unload(module);
    if (ran != (launch == 0))
        return false;
    bool stores = f->mode == STORE || f->mode == REDUCE;
    uint64_t got = hash_of(stores ? r->global : r->image, stores ? GLOBAL + 2 * GUARD : SHARED);
    snprintf(why, size, "other bytes than on an H200");
    return !ran || got == hash;
}

static bool encode(const struct room *r, const struct form *f, uint8_t *map, char *why, size_t size)
{
    hd_tensor_map m = map_of(f, (uint8_t *)r->global + GUARD + f->base);
    const char *error = NULL;
    if (!hd_tensor_map_encode(&m, map, &error))
        return true;
    snprintf(why, size, "encoding: %s", error);
    return false;
}

struct tally {
    unsigned agree, differ;
};

static void count(struct tally *t, bool good, const struct form *f, int number, const char *how, const char *why)
{
    t->agree += good;
    t->differ += !good;
    if (!good)
        printf("form %d%s (mode %d, type %d, rank %d): %s\n", number, how, f->mode, f->type, f->rank, why);
}

static FILE *open_table(const char *source, const char *name)
{
    char path[4096], text[200];
    snprintf(path, sizeof path, "%s/tests/tensor_maps/%s", source, name);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, sizeof text, file)) /* the columns' names */
        exit(ORACLE_USAGE);
    return file;
}

static void try_encoded(struct room *r, FILE *table, unsigned every, struct tally *t)
{
    _Alignas(64) uint8_t map[128];
    char why[512];
    int number, encoding, launch, done;
    unsigned seen = 0;
    uint64_t hash;
    while (fscanf(table, "%d %d %d %d %" SCNx64, &number, &encoding, &launch, &done, &hash) == 5) {
        struct form f = form_of(number);
        if (!encoding && seen++ % every == 0)
            count(t, encode(r, &f, map, why, sizeof why) && copy_agrees(r, &f, map, "", launch, hash, why, sizeof why),
                  &f, number, "", why);
    }
}

/* Maps that kernels have changed from those of other forms, and made of zeroes. */
static void try_replaced(struct room *r, FILE *table, unsigned every, struct tally *t)
{
    _Alignas(64) uint8_t map[128];
    char why[512], change[8192] = "ld.param.u64 %map, [place]; ld.param.u64 %tensor, [tensor];\n";
    size_t n = strlen(change);
    int number, before, launch;
    unsigned seen = 0;
    uint64_t hash, of_zeroes;
    while (fscanf(table, "%d %d %d %" SCNx64 " %" SCNx64, &number, &before, &launch, &hash, &of_zeroes) == 5) {
        struct form f = form_of(number), from = form_of(before);
        if (seen++ % every)
            continue;
        write_change(change + n, sizeof change - n, &f, seen % 2);
        count(t,
              encode(r, &from, map, why, sizeof why) && copy_agrees(r, &f, map, change, launch, hash, why, sizeof why),
              &f, number, " by a changed map", why);
        memset(map, 0, sizeof map);
        if (launch == 0)
            count(t, copy_agrees(r, &f, map, change, launch, of_zeroes, why, sizeof why), &f, number,
                  " by a map made of zeroes", why);
    }
}

int main(int argc, char **argv)
{
    char *with_folder[16], folder[4096];
    int n = 0;
    const char *source = getenv("HEDDLE_SOURCE");
    source = source ? source : ".";
    for (; n < argc && n < 15; n++)
        with_folder[n] = argv[n];
    snprintf(folder, sizeof folder, "%s/tests/tensor_maps", source);
    with_folder[n++] = folder;
    struct oracle_options o = oracle_parse(n, with_folder, ".", "h200.tsv");
    struct room r = {.machine = o.machine};
    struct tally t = {0, 0};
    if (hd_alloc(o.machine, GLOBAL + 2 * GUARD, &r.global) || hd_alloc(o.machine, SHARED, &r.image) ||
        hd_alloc(o.machine, 128, &r.map))
        return ORACLE_USAGE;
    FILE *encoded = open_table(source, "h200.tsv"), *replaced = open_table(source, "replaced.tsv");
    try_encoded(&r, encoded, o.every, &t);
    try_replaced(&r, replaced, o.every, &t);
    fclose(encoded);
    fclose(replaced);
    hd_machine_destroy(o.machine);
    printf("copies %u: %u agree, %u differ\n", t.agree + t.differ, t.agree, t.differ);
    return t.differ != 0;
}
