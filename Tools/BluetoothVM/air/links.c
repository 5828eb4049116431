// Adapters, and links between them: they begin with what btvirt reports, and end for both hosts.

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "air.h"

int with_address(const uint8_t *address)
{
    for (int a = 0; a < adapter_count; a++)
        if (memcmp(adapters[a].address, address, 6) == 0 || memcmp(adapters[a].random_address, address, 6) == 0)
            return a;
    return -1;
}

bool in_reach(int a, int b)
{
    return adapters[a].vhci >= 0 && adapters[b].vhci >= 0 && !muted[a][b];
}

struct link *with_handle(int a, uint16_t handle)
{
    for (int i = 0; i < MAX_LINKS; i++)
        if (adapters[a].links[i].used && adapters[a].links[i].handle == handle)
            return &adapters[a].links[i];
    return NULL;
}

// The end at B of a link of A. If the two have had two links one after the other, the first may still be waiting to be
// forgotten.
struct link *other_end(int a, const struct link *link)
{
    struct adapter *peer = &adapters[link->peer];
    struct link *other = NULL;
    for (int i = 0; i < MAX_LINKS; i++) {
        struct link *end = &peer->links[i];
        if (!end->used || end->peer != a || end->le != link->le)
            continue;
        if (end->ended == link->ended)
            return end;
        other = end;
    }
    return other && link->ended && between(a, link->peer, link->le) ? NULL : other;
}

// A's end of the link of this kind between two adapters.
struct link *between(int a, int peer, bool le)
{
    for (int i = 0; i < MAX_LINKS; i++) {
        struct link *link = &adapters[a].links[i];
        if (link->used && !link->ended && link->peer == peer && link->le == le)
            return link;
    }
    return NULL;
}

void add_link(int a, uint16_t handle, const uint8_t *address, bool le, bool central)
{
    int peer = with_address(address);
    struct link *link = with_handle(a, handle);
    for (int i = 0; !link && i < MAX_LINKS; i++)
        if (!adapters[a].links[i].used)
            link = &adapters[a].links[i];
    if (peer < 0 || !link) {
        fprintf(stderr, "air: adapter %d has a link that can't be followed\n", a);
        return;
    }
    *link = (struct link){ .used = true, .le = le, .central = central, .handle = handle, .peer = peer };
}

void end_link(int a, struct link *link, uint8_t reason)
{
    if (link->ended)
        return;
    link->ended = true;
    drop_packets(a, link->handle);
    disconnection_complete(a, link->handle, reason);
}

static void forget(int a, const struct link *link)
{
    uint8_t command[] = { COMMAND, DISCONNECT & 0xff, DISCONNECT >> 8, 3, link->handle & 0xff, link->handle >> 8, 0x13 };

    adapters[a].own_commands++;
    to_emulator(a, command, sizeof command);
}

// Tells both hosts, and makes btvirt forget the link.
void break_link(int a, struct link *link)
{
    struct link *other = other_end(a, link);
    bool first = !link->ended || (other && !other->ended);

    end_link(a, link, CONNECTION_TIMEOUT);
    if (other)
        end_link(link->peer, other, CONNECTION_TIMEOUT);
    if (first)
        forget(a, link);
}

// Its host ends a link to an adapter out of reach, which does not learn of that. btvirt forgets the link when both
// hosts have.
void leave_silent_link(int a, struct link *link)
{
    struct link *other = other_end(a, link);

    if (link->ended)
        return;
    end_link(a, link, ENDED_BY_LOCAL_HOST);
    if (!other || other->ended)
        forget(a, link);
}

// If one end has left the other, what remains is ended before a new link between the two begins.
void finish_half_links(int a, int b)
{
    for (int i = 0; i < MAX_LINKS; i++) {
        struct link *link = &adapters[a].links[i];
        struct link *other = link->used && link->peer == b ? other_end(a, link) : NULL;
        if (other && link->ended != other->ended)
            break_link(a, link);
    }
}

void watch_links(int a, int64_t time, int64_t *next)
{
    for (int i = 0; i < MAX_LINKS; i++) {
        struct link *link = &adapters[a].links[i], *other = link->used ? other_end(a, link) : NULL;
        if (!other || (link->ended && other->ended && adapters[a].vhci >= 0))
            continue;
        if (in_reach(a, link->peer) && !link->ended && !other->ended) {
            link->lost_at = 0;
            continue;
        }
        if (link->lost_at == 0)
            link->lost_at = time;
        if (supervision == 0 || other->ended)
            continue;
        if (time < link->lost_at + supervision) {
            sooner(next, link->lost_at + supervision);
            continue;
        }
        break_link(a, link);
    }
}
