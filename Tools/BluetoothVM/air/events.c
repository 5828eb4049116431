// What comes from btvirt's controllers.

#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>

#include "air.h"

// Whether the host hears of another adapter's inquiry response or advertisement.
static bool hears(int a, const uint8_t *address, uint8_t scan)
{
    int peer = with_address(address);
    return peer < 0 || (in_reach(a, peer) && (adapters[peer].scan & scan) == scan);
}

// BR/EDR: btvirt has made a link, or not.
static void connected(int a, uint8_t status, uint16_t handle, const uint8_t *address)
{
    struct adapter *adapter = &adapters[a];
    int peer = with_address(address);

    if (peer >= 0 && adapter->pages == peer)
        adapter->pages = -1;
    if (status != 0)
        return;
    add_link(a, handle, address, false, false);
    // It was paging the adapter that has just connected to it.
    if (adapter->paging.opcode && memcmp(adapter->paging.address, address, 6) == 0) {
        adapter->paging.status = CONNECTION_EXISTS;
        adapter->paging.length = 0;
        adapter->paging.due = now();
    }
}

// LE: btvirt has made a link. From the handle on: the role, the peer's type of address and address.
static void connected_by_le(int a, uint8_t *handle)
{
    bool central = handle[2] == 0;
    uint16_t own = number(handle);

    // The host that is connected to is told the other one's handle. Its own is the first that is free, like every new
    // one.
    if (!central)
        for (own = FIRST_HANDLE; with_handle(a, own);)
            own++;
    handle[0] = own & 0xff;
    handle[1] = own >> 8;
    adapters[a].last_le_handle = own;
    add_link(a, own, handle + 4, true, central);
}

// True if the event is not for the host. May change it.
static bool withholds(int a, uint8_t *packet, size_t length)
{
    struct adapter *adapter = &adapters[a];
    struct link *link;

    switch (packet[1]) {
    case CONNECTION_COMPLETE:
        if (length >= 14)
            connected(a, packet[3], number(packet + 4), packet + 6);
        return false;
    case AUTHENTICATION_COMPLETE:
        link = length >= 6 ? with_handle(a, number(packet + 4)) : NULL;
        if (!link)
            return false;
        authenticated(a, link, packet[3]);
        return true;
    case DISCONNECTION_COMPLETE:
        link = length >= 7 && packet[3] == 0 ? with_handle(a, number(packet + 4)) : NULL;
        if (!link)
            return false;
        link->used = false;
        if (!link->ended)
            drop_packets(a, link->handle);
        return link->ended;
    case ENCRYPTION_CHANGE:
        // Linux then asks for the key's size, and refuses a peer that it hears before it has the answer. On air no peer
        // is that quick.
        link = length >= 7 && packet[3] == 0 && packet[6] != 0 ? with_handle(a, number(packet + 4)) : NULL;
        if (link && !link->le)
            adapter->encrypting_until = now() + 200000;
        return false;
    case COMMAND_STATUS: {
        uint16_t opcode = length >= 7 ? number(packet + 5) : 0;
        if (opcode == CREATE_CONNECTION && packet[3] != 0)
            adapter->pages = -1;
        if (opcode == DISCONNECT && adapter->own_commands > 0) {
            adapter->own_commands--;
            return true;
        }
        bool le = opcode == LE_CREATE_CONNECTION || opcode == LE_EXTENDED_CREATE_CONNECTION;
        bool own = (le && adapter->own_le_connection) || (opcode == CREATE_CONNECTION && adapter->own_page);
        adapter->own_le_connection = adapter->own_le_connection && !le;
        adapter->own_page = adapter->own_page && opcode != CREATE_CONNECTION;
        return own;
    }
    case COMMAND_COMPLETE:
        if (length >= 7 && number(packet + 4) == LE_ENABLE_ADVERTISING && adapter->own_advertising_commands > 0) {
            adapter->own_advertising_commands--;
            return true;
        }
        if (length >= 7 && number(packet + 4) == READ_KEY_SIZE)
            adapter->encrypting_until = now() + 1000;
        if (length < 7 || packet[6] != 0)
            return false;
        if (adapter->setting_length >= 4 && number(packet + 4) == number(adapter->setting + 1)) {
            advertising_is_set(a);
            scanning_is_set(a);
            adapter->setting_length = 0;
        }
        switch (number(packet + 4)) {
        case READ_ADDRESS:
            if (length >= 13)
                memcpy(adapter->address, packet + 7, 6);
            break;
        case READ_BUFFER_SIZE:
            if (length >= 14) {
                packet[7] = LARGEST_DATA & 0xff;
                packet[8] = LARGEST_DATA >> 8;
                packet[10] = 8;
                packet[11] = 0;
            }
            break;
        case LE_READ_BUFFER_SIZE:
        case LE_READ_BUFFER_SIZE_2:
            if (length >= 10) {
                packet[7] = 251;
                packet[8] = 0;
                packet[9] = 8;
            }
            break;
        }
        return false;
    case INQUIRY_RESULT:
    case RSSI_INQUIRY_RESULT:
    case EXTENDED_INQUIRY_RESULT:
        return length >= 10 && !hears(a, packet + 4, INQUIRY_SCAN);
    case LE_META:
        if (length >= 9 && packet[3] == LE_SET_TERMINATED) {
            struct advertising *set = advertising(a, packet[5]);
            if (set)
                set->enabled = false;
            link = packet[4] == 0 ? with_handle(a, adapter->last_le_handle) : NULL;
            if (!link)
                return false;
            packet[6] = link->handle & 0xff;
            packet[7] = link->handle >> 8;
            // btvirt also ends the advertising of the side that asked for the link, even if there was none.
            return link->central;
        }
        if (length < 15)
            return false;
        switch (packet[3]) {
        case LE_CONNECTION_COMPLETE:
        case LE_ENHANCED_CONNECTION_COMPLETE:
            if (packet[4] == 0)
                connected_by_le(a, packet + 5);
            return false;
        case LE_REPORT:
            return !hears(a, packet + 7, 0);
        case LE_EXTENDED_REPORT:
            // The next advertising event brings ours.
            return true;
        }
        return false;
    default:
        return false;
    }
}

void from_emulator(int a)
{
    uint8_t packet[MAX_PACKET];
    ssize_t length = recv(adapters[a].emulator, packet, sizeof packet, MSG_DONTWAIT);

    if (length < 1)
        return;
    if (packet[0] == EVENT && length >= 3 && withholds(a, packet, (size_t)length))
        return;
    to_host(a, packet, (size_t)length);
}
