// Connections over BR/EDR: from the page to its end.

#define _GNU_SOURCE
#include <string.h>

#include "air.h"

// Whether btvirt may be given A's page now. If two page each other the first gets through, and the other is told when
// that link is there: see `connected`.
static bool gets_through(int a, int peer)
{
    return peer >= 0 && in_reach(a, peer) && (adapters[peer].scan & PAGE_SCAN) && adapters[peer].pages != a;
}

// Whether all links that A can have over BR/EDR are taken, by other adapters or by pages that its host or the other one
// has yet to accept.
static bool is_full(int a)
{
    int taken = 0;
    for (int b = 0; b < adapter_count; b++)
        taken += between(a, b, false) || adapters[a].pages == b || adapters[b].pages == a;
    return taken >= MAX_ACTIVE_LINKS;
}

static void begin_paging(int a, int peer)
{
    adapters[a].pages = peer;
    adapters[a].accepted = false;
    adapters[a].pages_until = now() + adapters[peer].accept_timeout;
}

// A's page is over, with a status for each of the two hosts.
void end_paging(int a, uint8_t own_status, uint8_t status)
{
    int peer = adapters[a].pages;

    adapters[a].pages = -1;
    no_connection(a, adapters[peer].address, own_status);
    no_connection(peer, adapters[a].address, status);
}

// "Create Connection" with at least an address. True if it was answered here.
//
// The limit of the dialling adapter is reported by its own controller: Connection Limit Exceeded (Core Specification
// 5.4, volume 1, part F, 2.9). That of the dialled adapter is reported over the air: it scans for pages, as its host
// has asked, and its link manager refuses the connection with Connection Rejected Due To Limited Resources (2.13), by
// LMP_not_accepted (volume 2, part C, 4.1.1), without a word to its host. Some real controllers may not answer the page
// at all, which then is a page timeout.
bool pages(int a, const uint8_t *packet, size_t length)
{
    struct adapter *adapter = &adapters[a];
    struct attempt *attempt = &adapter->paging;
    const uint8_t *address = packet + 4;
    int peer = with_address(address);

    if (peer >= 0)
        finish_half_links(a, peer);
    if (attempt->opcode || adapter->pages >= 0) {
        command_status(a, CREATE_CONNECTION, COMMAND_DISALLOWED);
        return true;
    }
    if (peer >= 0 && between(a, peer, false)) {
        command_status(a, CREATE_CONNECTION, CONNECTION_EXISTS);
        return true;
    }
    if (is_full(a)) {
        command_status(a, CREATE_CONNECTION, CONNECTION_LIMIT);
        return true;
    }
    bool refused = peer >= 0 && adapters[peer].refusal;
    bool through = gets_through(a, peer) && !refused;
    if (through && page_time == 0 && !is_full(peer)) {
        begin_paging(a, peer);
        return false;
    }
    command_status(a, CREATE_CONNECTION, 0);
    if (refused) {
        start_attempt(attempt, CREATE_CONNECTION, address, 0, adapters[peer].refusal, 20000);
    } else if (through && length <= MAX_COMMAND) {
        start_attempt(attempt, CREATE_CONNECTION, address, 0, PAGE_TIMEOUT, page_time > 0 ? page_time : 1);
        attempt->length = length;
        memcpy(attempt->packet, packet, length);
    } else {
        start_attempt(attempt, CREATE_CONNECTION, address, 0, PAGE_TIMEOUT, page_timeout);
    }
    return true;
}

// A page has taken as long as it should.
void is_heard(int a)
{
    struct attempt *attempt = &adapters[a].paging;
    int peer = with_address(attempt->address);
    size_t length = attempt->length;

    attempt->length = 0;
    if (!gets_through(a, peer)) {
        attempt->due = now() + page_timeout;
        return;
    }
    // The adapter that pages may have been paged meanwhile.
    if (is_full(a) || is_full(peer)) {
        end_attempt(a, attempt, is_full(a) ? CONNECTION_LIMIT : LIMITED_RESOURCES);
        return;
    }
    attempt->opcode = 0;
    begin_paging(a, peer);
    adapters[a].own_page = true;
    to_emulator(a, attempt->packet, length);
}

// A page that the other host has neither accepted nor rejected.
void watch_paging(int a, int64_t time, int64_t *next)
{
    struct adapter *adapter = &adapters[a];
    if (adapter->pages < 0 || adapter->accepted)
        return;
    if (time < adapter->pages_until)
        sooner(next, adapter->pages_until);
    else
        end_paging(a, ACCEPT_TIMEOUT, ACCEPT_TIMEOUT);
}
