// What hosts and controllers are told.

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "air.h"

void to_host(int a, const uint8_t *packet, size_t length)
{
    if (adapters[a].vhci < 0)
        return;
    if (write(adapters[a].vhci, packet, length) < 0)
        fprintf(stderr, "air: hci%d takes no packet: %s\n", a, strerror(errno));
}

void to_emulator(int a, const uint8_t *packet, size_t length)
{
    // A host has one command under way: if this blocked for lack of room, btvirt would have stopped altogether.
    if (send(adapters[a].emulator, packet, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        fprintf(stderr, "air: btvirt takes no packet for adapter %d: %s\n", a, strerror(errno));
}

void event(int a, uint8_t code, const uint8_t *parameters, uint8_t length)
{
    uint8_t packet[3 + 255] = { EVENT, code, length };
    memcpy(packet + 3, parameters, length);
    to_host(a, packet, 3 + length);
}

void command_status(int a, uint16_t opcode, uint8_t status)
{
    event(a, COMMAND_STATUS, (uint8_t[]){ status, 1, opcode & 0xff, opcode >> 8 }, 4);
}

void command_complete(int a, uint16_t opcode, uint8_t status, const uint8_t *address)
{
    uint8_t parameters[10] = { 1, opcode & 0xff, opcode >> 8, status };
    if (address)
        memcpy(parameters + 4, address, 6);
    event(a, COMMAND_COMPLETE, parameters, address ? 10 : 4);
}

void disconnection_complete(int a, uint16_t handle, uint8_t reason)
{
    event(a, DISCONNECTION_COMPLETE, (uint8_t[]){ 0, handle & 0xff, handle >> 8, reason }, 4);
}

// "Connection Complete" for a link that was not made.
void no_connection(int a, const uint8_t *address, uint8_t status)
{
    uint8_t parameters[11] = { status };
    memcpy(parameters + 3, address, 6);
    parameters[9] = 1;
    event(a, CONNECTION_COMPLETE, parameters, sizeof parameters);
}

void authentication_complete(int a, struct link *link, uint8_t status)
{
    link->authenticates = link->has_told = false;
    event(a, AUTHENTICATION_COMPLETE, (uint8_t[]){ status, link->handle & 0xff, link->handle >> 8 }, 3);
}

void completed_packet(int a, uint16_t handle)
{
    event(a, COMPLETED_PACKETS, (uint8_t[]){ 1, handle & 0xff, handle >> 8, 1, 0 }, 5);
}
