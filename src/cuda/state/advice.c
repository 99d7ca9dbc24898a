/* See advice.h. */
#include "cuda/state/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static const struct advised unadvised = {.preferred.id = ADVICE_NOWHERE, .prefetched.id = ADVICE_NOWHERE};

struct stretch {
    const char *start, *end;
    struct advised is;
};

/* Sorted by address; protected by the state's lock. */
static VEC(struct stretch) advice;

/* The index of the first stretch that ends behind an address. */
static size_t first_behind(const char *address)
{
    size_t low = 0, high = advice.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (advice.at[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert(size_t i, struct stretch s)
{
    struct stretch *new = VEC_INSERT(&advice, i);
    if (new)
        *new = s;
    return new;
}

/* Splits the stretch that contains the address. */
static bool split(const char *address)
{
    size_t i = first_behind(address);
    if (i == advice.n || advice.at[i].start >= address)
        return true;
    struct stretch before = advice.at[i];
    before.end = address;
    if (!insert(i, before))
        return false;
    advice.at[i + 1].start = address;
    return true;
}

/* Makes stretches cover start to end exactly, without gaps. */
static bool cover(const char *start, const char *end)
{
    bool good = split(start) && split(end);
    for (size_t i = first_behind(start); good && start < end; i++) {
        const char *next = i < advice.n && advice.at[i].start < end ? advice.at[i].start : end;
        if (next > start)
            good = insert(i, (struct stretch){start, next, unadvised});
        start = good ? advice.at[i].end : end;
    }
    return good;
}

void advice_forget(const void *start, size_t bytes)
{
    const char *from = start, *to = from + bytes;
    state_lock();
    size_t i = first_behind(from), end = i;
    while (end < advice.n && advice.at[end].start < to)
        end++;
    VEC_REMOVE(&advice, i, end - i);
    state_unlock();
}

/* ---- what is said ---- */

static CUmemLocation told(CUmemLocation l)
{
    switch (l.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return l;
    case CU_MEM_LOCATION_TYPE_HOST: return (CUmemLocation){l.type, ADVICE_AT_HOST};
    default: return (CUmemLocation){CU_MEM_LOCATION_TYPE_INVALID, ADVICE_NOWHERE};
    }
}

static void take(struct advised *a, int what, CUmemLocation l)
{
    bool sets = what == CU_MEM_ADVISE_SET_ACCESSED_BY;
    switch (what) {
    case ADVICE_PREFETCH: a->prefetched = told(l); break;
    case CU_MEM_ADVISE_SET_READ_MOSTLY: a->read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: a->read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: a->preferred = told(l); break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: a->preferred = unadvised.preferred; break;
    default:
        if (l.type == CU_MEM_LOCATION_TYPE_DEVICE)
            a->by_devices = sets ? a->by_devices | 1u << l.id : a->by_devices & ~(1u << l.id);
        else
            a->by_host = sets;
    }
}

bool advice_take(const char *start, const char *end, int what, CUmemLocation l)
{
    state_lock();
    bool good = cover(start, end);
    for (size_t i = first_behind(start); good && i < advice.n && advice.at[i].start < end; i++)
        take(&advice.at[i].is, what, l);
    state_unlock();
    return good;
}

/* ---- what has been said ---- */

static CUmemLocation both(CUmemLocation a, CUmemLocation b)
{
    return a.type == b.type && a.id == b.id ? a : unadvised.preferred;
}

struct advised advice_of(const char *start, const char *end)
{
    struct advised all = unadvised;
    bool first = true;
    state_lock();
    for (size_t i = first_behind(start); start < end; i++) {
        const char *next = i < advice.n && advice.at[i].start < end ? advice.at[i].start : end;
        const struct advised *is = next > start ? &unadvised : &advice.at[i].is;
        all = first ? *is
                    : (struct advised){all.read_mostly && is->read_mostly, all.by_host && is->by_host,
                                       all.by_devices & is->by_devices, both(all.preferred, is->preferred),
                                       both(all.prefetched, is->prefetched)};
        i -= next > start; /* the new stretch comes next */
        start = next > start ? next : advice.at[i].end;
        first = false;
    }
    state_unlock();
    return all;
}
