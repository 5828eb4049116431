// Scanning over LE, and what it hears.

#define _GNU_SOURCE
#include <string.h>

#include "air.h"

enum { SCANNABLE = 2, DIRECTED = 4, RESPONSE = 8, LEGACY = 0x10 };  // of a set's properties, and of a report's type
enum { OWN_RANDOM = 1, UNKNOWN_STRENGTH = 127 };

// Records a command that btvirt has answered with success.
void scanning_is_set(int a)
{
    struct scanning *scanning = &adapters[a].scanning;
    const uint8_t *parameters = adapters[a].setting + 4;
    size_t count = adapters[a].setting_length - 4;

    switch (number(adapters[a].setting + 1)) {
    case LE_SET_SCAN_PARAMETERS:
        // Our own type of address, the policy, the radios to be used, then the first one's parameters.
        if (count >= 4)
            scanning->active = parameters[3] == 1;
        break;
    case LE_ENABLE_SCAN:
        if (count < 2)
            break;
        scanning->enabled = parameters[0] != 0;
        scanning->repeats = parameters[1] == 0;
        memset(scanning->heard, 0, sizeof scanning->heard);
        break;
    }
}

// Whether a scan should hear another adapter's set at its next event.
bool wants(int a, int advertiser, int set)
{
    const struct scanning *scanning = &adapters[a].scanning;
    const struct advertising *advertising = &adapters[advertiser].sets[set];

    if (!scanning->enabled || ((advertising->properties & DIRECTED) && with_address(advertising->aim) != a))
        return false;
    return scanning->repeats || scanning->heard[advertiser][set] != advertising->digest;
}

// "LE Extended Advertising Report".
static void report(int a, int advertiser, const struct advertising *set, uint8_t type, const struct advertised *data)
{
    uint8_t parameters[255] = { LE_EXTENDED_REPORT, 1, type, 0, set->address_type == 0 ? 0 : OWN_RANDOM };

    memcpy(parameters + 5, set->address_type == 0 ? adapters[advertiser].address : set->address, 6);
    parameters[11] = 1;  // LE 1M, the first radio and the second
    parameters[12] = 1;
    parameters[14] = parameters[15] = UNKNOWN_STRENGTH;
    parameters[25] = data->length;
    memcpy(parameters + 26, data->bytes, data->length);
    event(a, LE_META, parameters, (uint8_t)(26 + data->length));
}

// An advertising event: what the set says, and what it answers to a scanner that asks.
void hear(int a, int advertiser, int set)
{
    struct scanning *scanning = &adapters[a].scanning;
    const struct advertising *advertising = &adapters[advertiser].sets[set];
    uint8_t type = advertising->properties & (LEGACY | DIRECTED | SCANNABLE | 1);

    scanning->heard[advertiser][set] = advertising->digest;
    report(a, advertiser, advertising, type, &advertising->data);
    if (scanning->active && (type & SCANNABLE))
        report(a, advertiser, advertising, type & LEGACY ? type | RESPONSE : SCANNABLE | RESPONSE, &advertising->response);
}
