// Connections over LE: which adapter waits for which one to advertise.

#define _GNU_SOURCE
#include <string.h>

#include "air.h"

// "LE Create Connection", plain or extended. True if it was answered here.
bool initiates(int a, const uint8_t *packet, size_t length)
{
    struct adapter *adapter = &adapters[a];
    uint16_t opcode = number(packet + 1);
    // The filter policy, then, if that is 0, the peer; between them the extended form has the type of our own address.
    const uint8_t *policy = opcode == LE_CREATE_CONNECTION ? packet + 8 : packet + 4;
    const uint8_t *type = opcode == LE_CREATE_CONNECTION ? policy + 1 : policy + 2;
    int peer = with_address(type + 1);

    if (*policy != 0 || length > MAX_COMMAND)
        return false;
    if (peer >= 0)
        finish_half_links(a, peer);
    if (adapter->le_connecting.opcode) {
        command_status(a, opcode, COMMAND_DISALLOWED);
        return true;
    }
    if (peer >= 0 && between(a, peer, true)) {
        command_status(a, opcode, CONNECTION_EXISTS);
        return true;
    }
    // Only for extended advertising is it known whether a set advertises. btvirt forgets hosts that wait for an
    // advertisement.
    bool extended = opcode == LE_EXTENDED_CREATE_CONNECTION;
    if (peer >= 0 && in_reach(a, peer) && (!extended || advertises(peer)))
        return false;
    command_status(a, opcode, 0);
    start_attempt(&adapter->le_connecting, opcode, type + 1, *type, 0, 0);
    adapter->le_connecting.length = length;
    memcpy(adapter->le_connecting.packet, packet, length);
    return true;
}

// Gives btvirt the LE connection that has waited, once its peer can be heard.
void watch_initiating(int a)
{
    struct attempt *attempt = &adapters[a].le_connecting;
    int peer = attempt->opcode ? with_address(attempt->address) : -1;

    if (peer < 0 || !in_reach(a, peer) || (attempt->opcode == LE_EXTENDED_CREATE_CONNECTION && !advertises(peer)))
        return;
    attempt->opcode = 0;
    if (between(a, peer, true)) {
        // The peer has connected meanwhile.
        attempt->opcode = number(attempt->packet + 1);
        end_attempt(a, attempt, CONNECTION_EXISTS);
        return;
    }
    adapters[a].own_le_connection = true;
    to_emulator(a, attempt->packet, attempt->length);
}
