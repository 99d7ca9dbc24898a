/* racecheck; see racecheck.h. */
#include "check/checker.h"

void racecheck_open(struct checker *c)
{
    copies_open(c);
    proxies_open(c);
}

bool racecheck_begin(struct checker *c, const struct site_table *k, struct event_list *events)
{
    pthread_mutex_lock(&c->lock);
    const struct event_client *wgmma = wgmma_client(c, k);
    pthread_mutex_unlock(&c->lock);
    return (!k->has_async || events_add(events, &c->race.copies)) && (!wgmma || events_add(events, wgmma)) &&
           events_add(events, races_begin(c->race.races, k)) &&
           (!proxies_concern(k) || events_add(events, &c->race.proxies));
}
