// What comes from a host.

#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "air.h"

// True if the command was answered here.
static bool answers(int a, const uint8_t *packet, size_t length)
{
    struct adapter *adapter = &adapters[a];
    const uint8_t *parameters = packet + 4;
    size_t count = length - 4;
    uint16_t opcode = number(packet + 1);
    int peer;

    switch (opcode) {
    case RESET:
        // The peers would notice by their supervision timeouts; btvirt forgets both ends now.
        for (int i = 0; i < MAX_LINKS; i++) {
            struct link *link = &adapter->links[i], *other = link->used ? other_end(a, link) : NULL;
            if (other) {
                end_link(link->peer, other, CONNECTION_TIMEOUT);
                other->used = false;
            }
            link->used = false;
        }
        adapter->packet_count = 0;
        adapter->own_commands = 0;
        adapter->own_advertising_commands = 0;
        adapter->scan = 0;
        memset(adapter->random_address, 0, 6);
        adapter->paging.opcode = adapter->naming.opcode = adapter->le_connecting.opcode = 0;
        if (adapter->pages >= 0 && !adapter->accepted)
            no_connection(adapter->pages, adapter->address, CONNECTION_TIMEOUT);
        adapter->pages = -1;
        adapter->accept_timeout = ACCEPT_TIMEOUT_AT_START;
        adapter->own_page = adapter->own_le_connection = false;
        adapter->setting_length = 0;
        memset(adapter->sets, 0, sizeof adapter->sets);
        memset(&adapter->scanning, 0, sizeof adapter->scanning);
        return false;
    case WRITE_LOCAL_NAME:
        memset(adapter->name, 0, NAME_SIZE);
        memcpy(adapter->name, parameters, count < NAME_SIZE ? count : NAME_SIZE);
        return false;
    case LE_SET_SET_RANDOM_ADDRESS:
        if (count >= 7)
            memcpy(adapter->random_address, parameters + 1, 6);
        // fall through
    case LE_SET_SET_PARAMETERS:
    case LE_SET_SET_DATA:
    case LE_SET_SET_RESPONSE:
    case LE_ENABLE_SETS:
    case LE_REMOVE_SET:
    case LE_CLEAR_SETS:
    case LE_SET_SCAN_PARAMETERS:
    case LE_ENABLE_SCAN:
        adapter->setting_length = length <= MAX_COMMAND ? length : 0;
        memcpy(adapter->setting, packet, adapter->setting_length);
        return false;
    case WRITE_ACCEPT_TIMEOUT:
        if (count >= 2)
            adapter->accept_timeout = number(parameters) * SLOT;
        return false;
    case WRITE_SCAN_ENABLE:
        if (count >= 1)
            adapter->scan = parameters[0];
        return false;
    case LE_SET_RANDOM_ADDRESS:
        if (count >= 6)
            memcpy(adapter->random_address, parameters, 6);
        // btvirt refuses it once a set has advertised, until plain advertising has been switched off.
        adapter->own_advertising_commands++;
        to_emulator(a, (uint8_t[]){ COMMAND, LE_ENABLE_ADVERTISING & 0xff, LE_ENABLE_ADVERTISING >> 8, 1, 0 }, 5);
        return false;
    case CREATE_CONNECTION:
        return count >= 6 && pages(a, packet, length);
    case CANCEL_CONNECTION:
        if (count < 6)
            return false;
        peer = with_address(parameters);
        if (adapter->paging.opcode && memcmp(adapter->paging.address, parameters, 6) == 0) {
            command_complete(a, opcode, 0, parameters);
            end_attempt(a, &adapter->paging, UNKNOWN_CONNECTION);
        } else if (peer >= 0 && adapter->pages == peer && !adapter->accepted) {
            command_complete(a, opcode, 0, parameters);
            end_paging(a, UNKNOWN_CONNECTION, ENDED_BY_REMOTE_USER);
        } else if (peer >= 0 && adapter->pages == peer) {
            command_complete(a, opcode, CONNECTION_EXISTS, parameters);
        } else {
            command_complete(a, opcode, UNKNOWN_CONNECTION, parameters);
        }
        return true;
    case ACCEPT_CONNECTION:
    case REJECT_CONNECTION:
        peer = count >= 7 ? with_address(parameters) : -1;
        if (peer < 0)
            return false;
        if (adapters[peer].pages != a || adapters[peer].accepted) {
            // The page is over, and this host has been told; but btvirt would still make a link.
            command_status(a, opcode, UNKNOWN_CONNECTION);
            return true;
        }
        if (opcode == REJECT_CONNECTION) {
            // btvirt tells only the host that rejects, and not the reason.
            command_status(a, opcode, 0);
            end_paging(peer, parameters[6], ENDED_BY_LOCAL_HOST);
            return true;
        }
        adapters[peer].accepted = true;
        return false;
    case AUTHENTICATE: {
        struct link *link = count >= 2 ? with_handle(a, number(parameters)) : NULL;
        if (link)
            link->authenticates = true;
        return false;
    }
    case REPLY_CAPABILITIES:
        if (count < 9)
            return false;
        tell_capabilities(a, parameters);
        return true;
    case REPLY_LINK_KEY:
        peer = count >= 6 ? with_address(parameters) : -1;
        if (peer >= 0 && between(a, peer, false))
            return false;
        // btvirt would crash.
        command_complete(a, opcode, UNKNOWN_CONNECTION, parameters);
        return true;
    case REMOTE_NAME:
        if (count < 6)
            return false;
        peer = with_address(parameters);
        if (peer >= 0 && between(a, peer, false) && in_reach(a, peer)) {
            // Over the existing link; btvirt would page.
            uint8_t name[255] = { 0 };
            memcpy(name + 1, parameters, 6);
            memcpy(name + 7, adapters[peer].name, NAME_SIZE);
            command_status(a, opcode, 0);
            event(a, REMOTE_NAME_COMPLETE, name, sizeof name);
            return true;
        }
        if (peer >= 0 && in_reach(a, peer) && (adapters[peer].scan & PAGE_SCAN))
            return false;
        command_status(a, opcode, 0);
        start_attempt(&adapter->naming, opcode, parameters, 0, PAGE_TIMEOUT, page_timeout);
        return true;
    case CANCEL_REMOTE_NAME:
        if (!adapter->naming.opcode)
            return false;
        command_complete(a, opcode, 0, adapter->naming.address);
        end_attempt(a, &adapter->naming, UNKNOWN_CONNECTION);
        return true;
    case LE_CREATE_CONNECTION:
    case LE_EXTENDED_CREATE_CONNECTION:
        return count >= 12 && initiates(a, packet, length);
    case LE_CANCEL_CONNECTION:
        if (adapter->le_connecting.opcode) {
            command_complete(a, opcode, 0, NULL);
            end_attempt(a, &adapter->le_connecting, UNKNOWN_CONNECTION);
        } else {
            command_complete(a, opcode, COMMAND_DISALLOWED, NULL);
        }
        return true;
    case DISCONNECT: {
        struct link *link = count >= 3 ? with_handle(a, number(parameters)) : NULL;
        if (!link || link->ended || in_reach(a, link->peer))
            return false;
        command_status(a, opcode, 0);
        leave_silent_link(a, link);
        return true;
    }
    default:
        return false;
    }
}

void from_host(int a)
{
    uint8_t packet[MAX_PACKET];
    ssize_t length = read(adapters[a].vhci, packet, sizeof packet);

    if (length < 4)
        return;
    if (packet[0] == VENDOR) {
        // "There is your adapter": btvirt asked for the first ones, we for those that come back.
        if (!adapters[a].returning)
            to_emulator(a, packet, (size_t)length);
        adapters[a].returning = false;
    } else if (packet[0] == DATA && length >= 5) {
        transmit(a, packet, (size_t)length);
    } else if (packet[0] != COMMAND || !answers(a, packet, (size_t)length)) {
        to_emulator(a, packet, (size_t)length);
    }
}
