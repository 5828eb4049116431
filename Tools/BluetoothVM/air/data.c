// Data, from one host to the other: as slow as the air, and held back while a link is silent.

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "air.h"

void drop_packets(int a, uint16_t handle)
{
    struct adapter *adapter = &adapters[a];
    int kept = 0;
    for (int i = 0; i < adapter->packet_count; i++) {
        if ((number(adapter->packets[i].bytes + 1) & 0xfff) == handle)
            continue;
        if (kept != i)
            adapter->packets[kept] = adapter->packets[i];
        kept++;
    }
    adapter->packet_count = kept;
}

// How long the radio of BR/EDR takes for one: the slots of the smallest packet of 3 Mb/s that holds it, and at least
// one for the answer (Core Specification 5.4, volume 2, part B, table 6.10). A packet never holds the end of one L2CAP
// PDU and the start of the next, so each of a host's is one.
static int64_t air_time(size_t size)
{
    return (size <= 83 ? 1 + 1 : size <= 552 ? 3 + 1 : 5 + 1) * SLOT;
}

void transmit(int a, const uint8_t *packet, size_t length)
{
    struct adapter *adapter = &adapters[a];
    const struct link *link = with_handle(a, number(packet + 1) & 0xfff);
    bool slots = in_slots && link && !link->le;
    int64_t time = now();

    if (adapter->packet_count == MAX_PACKETS || length > MAX_PACKET) {
        fprintf(stderr, "air: adapter %d sends more than it was told to\n", a);
        return;
    }
    struct packet *waiting = &adapter->packets[adapter->packet_count++];
    waiting->come = time;
    waiting->takes = slots ? air_time(length - 5) : rate > 0 ? (int64_t)(length - 5) * 1000000 / rate : 0;
    waiting->due = waiting->takes > 0 ? 0 : time + delay;
    waiting->length = length;
    memcpy(waiting->bytes, packet, length);
}

// The packet whose turn it is: the first one of the link that comes next after the one that was served last.
static struct packet *with_turn(int a)
{
    struct adapter *adapter = &adapters[a];
    struct packet *chosen = NULL;
    int least = MAX_LINKS;
    for (int i = 0; i < adapter->packet_count; i++) {
        struct packet *packet = &adapter->packets[i];
        struct link *link = packet->due ? NULL : with_handle(a, number(packet->bytes + 1) & 0xfff);
        if (!link || link->ended)
            continue;
        int turn = ((int)(link - adapter->links) - adapter->served - 1 + MAX_LINKS) % MAX_LINKS;
        if (turn < least) {
            least = turn;
            chosen = packet;
        }
    }
    if (chosen)
        adapter->served = (adapter->served + 1 + least) % MAX_LINKS;
    return chosen;
}

// Gives the air, once it is free, to a packet that waits for it. A controller keeps what it is to send for each link by
// itself (Core Specification 5.4, volume 2, part B, 4.5.1), so that no link waits until another one's queue is empty.
static void give_air(int a, int64_t time)
{
    struct adapter *adapter = &adapters[a];
    while (adapter->air_free <= time) {
        struct packet *packet = with_turn(a);
        if (!packet)
            return;
        int64_t start = packet->come > adapter->air_free ? packet->come : adapter->air_free;
        adapter->air_free = start + packet->takes;
        packet->due = adapter->air_free + delay;
    }
}

static void deliver(int a, const struct link *link, const struct link *other, struct packet *packet)
{
    uint16_t handle = number(packet->bytes + 1);
    unsigned flags = handle >> 12;

    completed_packet(a, link->handle);
    sent_packets[a][link->peer]++;
    size_t size = packet->length - 5;
    sent_bytes[a][link->peer] += size;
    sent_sizes[a][link->peer][size <= LARGEST_DATA ? size : LARGEST_DATA + 1]++;
    // "First, not flushable" goes from hosts only; it arrives as "first".
    if ((flags & 3) == 0)
        flags |= 2;
    handle = other->handle | flags << 12;
    packet->bytes[1] = handle & 0xff;
    packet->bytes[2] = handle >> 8;
    to_host(link->peer, packet->bytes, packet->length);
}

// Delivers packets whose time has come and whose receiver is in reach; the others keep their order.
void deliver_due(int a, int64_t time)
{
    struct adapter *adapter = &adapters[a];

    give_air(a, time);
    int kept = 0, count = adapter->packet_count;
    for (int i = 0; i < count; i++) {
        struct packet *packet = &adapter->packets[i];
        struct link *link = with_handle(a, number(packet->bytes + 1) & 0xfff);
        if (!link || link->ended)
            continue;
        struct link *other = other_end(a, link);
        // If there is no other end yet, the peer's host is about to hear of the link.
        if (packet->due > 0 && packet->due <= time && in_reach(a, link->peer) && other && !other->ended
            && adapters[link->peer].encrypting_until <= time) {
            deliver(a, link, other, packet);
            continue;
        }
        if (kept != i)
            adapter->packets[kept] = *packet;
        kept++;
    }
    adapter->packet_count = kept;
}
