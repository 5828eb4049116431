// Pairing and authentication over BR/EDR.

#define _GNU_SOURCE
#include <string.h>

#include "air.h"

// "IO Capability Request Reply" with all its parameters. btvirt asks an adapter only the first time it is paired with
// another one; but at the end of a pairing Linux releases the link once for each time it was asked at the beginning,
// and ends a link when it believes that nothing else uses it.
void tell_capabilities(int a, const uint8_t *parameters)
{
    int peer = with_address(parameters);
    struct link *link = peer >= 0 ? between(a, peer, false) : NULL, *other = link ? other_end(a, link) : NULL;
    uint8_t told[9], ours[10] = { 0 }, theirs[10] = { 0 };

    command_complete(a, REPLY_CAPABILITIES, other ? 0 : UNKNOWN_CONNECTION, parameters);
    if (!other)
        return;
    memcpy(told, adapters[a].address, 6);
    memcpy(told + 6, parameters + 6, 3);
    event(peer, CAPABILITIES_RESPONSE, told, sizeof told);
    if (!other->has_told) {
        link->has_told = true;
        event(peer, CAPABILITIES_REQUEST, adapters[a].address, 6);
        return;
    }
    other->has_told = false;
    memcpy(theirs, adapters[a].address, 6);
    memcpy(ours, parameters, 6);
    event(peer, CONFIRMATION_REQUEST, theirs, sizeof theirs);
    event(a, CONFIRMATION_REQUEST, ours, sizeof ours);
}

// Tells the side that has asked for it. btvirt tells a side that has ever asked for any, or both; and it finds the link
// by its peer, the wrong one if there are two.
void authenticated(int a, struct link *link, uint8_t status)
{
    struct link *own = link->le ? between(a, link->peer, false) : link;
    struct link *other = own ? other_end(a, own) : NULL;

    if (own && own->authenticates && !own->ended)
        authentication_complete(a, own, status);
    if (other && other->authenticates && !other->ended)
        authentication_complete(link->peer, other, status);
}
