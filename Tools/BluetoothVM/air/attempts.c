// Commands that wait for another adapter, and are answered here.

#define _GNU_SOURCE
#include <string.h>

#include "air.h"

void start_attempt(struct attempt *attempt, uint16_t opcode, const uint8_t *address, uint8_t type, uint8_t status,
                   int64_t after)
{
    *attempt = (struct attempt){ .opcode = opcode, .address_type = type, .status = status };
    memcpy(attempt->address, address, 6);
    attempt->due = after > 0 ? now() + after : 0;
}

void end_attempt(int a, struct attempt *attempt, uint8_t status)
{
    uint8_t parameters[255] = { status };
    uint16_t opcode = attempt->opcode;

    attempt->opcode = 0;
    switch (opcode) {
    case CREATE_CONNECTION:
        no_connection(a, attempt->address, status);
        break;
    case REMOTE_NAME:
        memcpy(parameters + 1, attempt->address, 6);
        event(a, REMOTE_NAME_COMPLETE, parameters, 255);
        break;
    case LE_CREATE_CONNECTION:
    case LE_EXTENDED_CREATE_CONNECTION:
        parameters[0] = opcode == LE_CREATE_CONNECTION ? LE_CONNECTION_COMPLETE : LE_ENHANCED_CONNECTION_COMPLETE;
        parameters[1] = status;
        parameters[5] = attempt->address_type;
        memcpy(parameters + 6, attempt->address, 6);
        event(a, LE_META, parameters, opcode == LE_CREATE_CONNECTION ? 19 : 31);
        break;
    }
}

void watch_attempts(int a, int64_t time, int64_t *next)
{
    struct attempt *attempts[] = { &adapters[a].paging, &adapters[a].naming, &adapters[a].le_connecting };
    for (int i = 0; i < 3; i++) {
        if (attempts[i]->opcode == 0 || attempts[i]->due == 0)
            continue;
        if (attempts[i]->due <= time && attempts[i] == &adapters[a].paging && attempts[i]->length > 0)
            is_heard(a);
        else if (attempts[i]->due <= time)
            end_attempt(a, attempts[i], attempts[i]->status);
        if (attempts[i]->opcode)
            sooner(next, attempts[i]->due);
    }
}
