// Advertising sets, and when they go on air.

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "air.h"

enum { CONNECTABLE = 1 };                         // of a set's properties
enum { WHOLE = 3 };                               // of the operations on a set's data
enum { LONGEST_DELAY = 10000 };                   // of an advertising event: volume 6, part B, 4.4.2.2.1; microseconds

// A's set with this handle; a new one, unless there are too many.
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

bool advertises(int a)
{
    for (int i = 0; i < MAX_SETS; i++)
        if (adapters[a].sets[i].enabled && (adapters[a].sets[i].properties & CONNECTABLE))
            return true;
    return false;
}

static int64_t event_delay(void) { return random() % (LONGEST_DELAY + 1); }

static void enable(int a, const uint8_t *parameters, size_t count)
{
    for (size_t at = 2; at + 4 <= count; at += 4) {
        struct advertising *set = advertising(a, parameters[at]);
        if (!set)
            continue;
        set->enabled = parameters[0] != 0;
        set->next = now() + event_delay();
        set->awaited = set->enabled;
    }
}

static void set_parameters(struct advertising *set, const uint8_t *parameters, size_t count)
{
    if (count < 18)
        return;
    set->properties = number(parameters + 1);
    // The longest interval that the host allows: what works with it works with the others.
    set->interval = (number(parameters + 6) | parameters[8] << 16) * (int64_t)SLOT;
    set->address_type = parameters[10];
    memcpy(set->aim, parameters + 12, 6);
}

static void set_data(struct advertised *data, const uint8_t *parameters, size_t count)
{
    size_t length = count >= 4 ? parameters[3] : 0;
    if (count < 4 || parameters[1] != WHOLE || length > count - 4 || length > MAX_ADVERTISED)
        return;
    memcpy(data->bytes, parameters + 4, length);
    data->length = (uint8_t)length;
}

static uint32_t mix(uint32_t digest, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        digest = (digest ^ bytes[i]) * 16777619;
    return digest;
}

// FNV-1a of what a duplicate filter compares; never 0.
static uint32_t digest(const struct advertising *set)
{
    uint8_t head[] = { set->properties & 0xff, set->properties >> 8, set->address_type, set->data.length };
    uint32_t digest = mix(2166136261, head, sizeof head);

    digest = mix(digest, set->address, 6);
    digest = mix(digest, set->data.bytes, set->data.length);
    digest = mix(digest, set->response.bytes, set->response.length);
    return digest ? digest : 1;
}

// Records a command that btvirt has answered with success.
void advertising_is_set(int a)
{
    struct adapter *adapter = &adapters[a];
    const uint8_t *parameters = adapter->setting + 4;
    size_t count = adapter->setting_length - 4;
    uint16_t opcode = number(adapter->setting + 1);
    struct advertising *set = NULL;

    switch (opcode) {
    case LE_CLEAR_SETS:
        memset(adapter->sets, 0, sizeof adapter->sets);
        return;
    case LE_ENABLE_SETS:
        if (count >= 2 && parameters[1] == 0)
            for (int i = 0; i < MAX_SETS; i++)
                adapter->sets[i].enabled = false;
        else
            enable(a, parameters, count);
        return;
    case LE_SET_SET_PARAMETERS:
    case LE_SET_SET_RANDOM_ADDRESS:
    case LE_SET_SET_DATA:
    case LE_SET_SET_RESPONSE:
    case LE_REMOVE_SET:
        set = count >= 1 ? advertising(a, parameters[0]) : NULL;
    }
    if (!set)
        return;
    switch (opcode) {
    case LE_SET_SET_PARAMETERS:
        set_parameters(set, parameters, count);
        break;
    case LE_SET_SET_RANDOM_ADDRESS:
        if (count >= 7)
            memcpy(set->address, parameters + 1, 6);
        break;
    case LE_SET_SET_DATA:
        set_data(&set->data, parameters, count);
        break;
    case LE_SET_SET_RESPONSE:
        set_data(&set->response, parameters, count);
        break;
    case LE_REMOVE_SET:
        set->used = set->enabled = false;
        break;
    }
    set->digest = digest(set);
}

// Skips to the first advertising event after a time. Nothing was there to hear those before.
static void skip_events(struct advertising *set, int64_t time)
{
    int64_t usual = set->interval + LONGEST_DELAY / 2;
    if (set->next + usual < time)
        set->next += (time - set->next) / usual * usual;
    while (set->next <= time)
        set->next += set->interval + event_delay();
}

void watch_advertising(int a, int64_t time, int64_t *next)
{
    for (int i = 0; i < MAX_SETS; i++) {
        struct advertising *set = &adapters[a].sets[i];
        bool is_event = set->awaited && set->next <= time, is_wanted = false;
        if (!set->enabled || set->interval == 0)
            continue;
        for (int b = 0; b < adapter_count; b++) {
            if (b == a || !in_reach(a, b) || !wants(b, a, i))
                continue;
            if (is_event)
                hear(b, a, i);
            is_wanted = is_wanted || wants(b, a, i);
        }
        if (is_wanted && set->next <= time)
            skip_events(set, time);
        set->awaited = is_wanted;
        if (is_wanted)
            sooner(next, set->next);
    }
}
