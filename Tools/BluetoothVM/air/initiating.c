// Connections over LE: who advertises, and who waits for that.

#define _GNU_SOURCE
#include <string.h>

#include "air.h"

// A's set of this handle; a new one, unless there are too many.
struct advertising *advertising(int a, uint8_t handle)
{
    struct advertising *unused = NULL;
    for (int i = 0; i < MAX_SETS; i++) {
        struct advertising *set = &adapters[a].sets[i];
        if (set->used && set->handle == handle)
            return set;
        if (!set->used && !unused)
            unused = set;
    }
    if (unused)
        *unused = (struct advertising){ .used = true, .handle = handle };
    return unused;
}

static bool advertises(int a)
{
    for (int i = 0; i < MAX_SETS; i++)
        if (adapters[a].sets[i].enabled && adapters[a].sets[i].connectable)
            return true;
    return false;
}

// "LE Create Connection", plain or extended. True if it was answered here.
bool initiates(int a, const uint8_t *packet, size_t length)
{
    struct adapter *adapter = &adapters[a];
    uint16_t opcode = number(packet + 1);
    // The filter policy, then where it is 0 the peer; between them the extended one has the type of our own address.
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
    // Whether a set advertises is known of extended advertising only. btvirt forgets who waits for an advertisement.
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

// Notes what btvirt has answered with success.
void advertising_is_set(int a)
{
    struct adapter *adapter = &adapters[a];
    const uint8_t *parameters = adapter->setting + 4;
    size_t count = adapter->setting_length - 4;
    uint16_t opcode = number(adapter->setting + 1);

    adapter->setting_length = 0;
    if (opcode == LE_CLEAR_SETS || (opcode == LE_ENABLE_SETS && count >= 2 && parameters[1] == 0)) {
        for (int i = 0; i < MAX_SETS; i++) {
            adapter->sets[i].enabled = false;
            adapter->sets[i].used = adapter->sets[i].used && opcode != LE_CLEAR_SETS;
        }
    } else if (opcode == LE_ENABLE_SETS) {
        for (size_t at = 2; at + 4 <= count; at += 4) {
            struct advertising *set = advertising(a, parameters[at]);
            if (set)
                set->enabled = parameters[0] != 0;
        }
    } else if (count >= 1) {
        struct advertising *set = advertising(a, parameters[0]);
        if (set && opcode == LE_REMOVE_SET)
            set->used = set->enabled = false;
        else if (set && count >= 2)
            set->connectable = (parameters[1] & 1) != 0;
    }
}
