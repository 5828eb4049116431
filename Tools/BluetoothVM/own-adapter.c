// Preloaded into bluetoothd: shows it only one adapter, PICONET_OWN_ADAPTER (hci1), so that several of them on one
// machine play several hosts, each on a bus of its own.
//
// bluetoothd takes every adapter of the kernel's management interface, with no option to prevent it. Here the other
// adapters are removed from what it reads: they are left out of the list, and their events become one that nobody
// knows. What would listen on all adapters (SDP on PSM 1) listens on this one: the kernel gives an adapter's PSM to
// only one listener.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// <bluetooth/bluetooth.h>, <bluetooth/hci.h>; the management protocol is in doc/mgmt-api.txt of BlueZ.
enum { L2CAP = 0, HCI = 1, CONTROL_CHANNEL = 3, ADDRESS_SIZE = 6, ADDRESS_AT = 4 };
enum { HEADER_SIZE = 6, NO_INDEX = 0xffff, COMMAND_COMPLETE = 1, READ_INDEX_LIST = 3, NOBODYS_EVENT = 0x7f7f };
struct management_address {
    sa_family_t family;
    uint16_t device, channel;
};

static unsigned own;
static uint8_t address[ADDRESS_SIZE];
static int management = -1;
static int (*next_bind)(int, const struct sockaddr *, socklen_t);
static ssize_t (*next_read)(int, void *, size_t);

__attribute__((constructor)) static void begin(void) {
    // Function pointers of dlsym: POSIX.1-2017, dlsym(3).
    *(void **)&next_bind = dlsym(RTLD_NEXT, "bind");
    *(void **)&next_read = dlsym(RTLD_NEXT, "read");
    const char *name = getenv("PICONET_OWN_ADAPTER");
    if (!name || strncmp(name, "hci", 3)) abort();
    own = (unsigned)strtoul(name + 3, NULL, 10);

    // struct hci_dev_info begins with the number, the name and the address.
    struct {
        uint16_t number;
        char name[8];
        uint8_t address[ADDRESS_SIZE];
        uint8_t rest[128];
    } info = {.number = (uint16_t)own};
    int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, HCI);
    if (descriptor < 0 || ioctl(descriptor, _IOR('H', 211, int), &info)) abort();
    close(descriptor);
    memcpy(address, info.address, ADDRESS_SIZE);
}

int bind(int descriptor, const struct sockaddr *name, socklen_t size) {
    int protocol = -1;
    socklen_t length = sizeof protocol;
    uint8_t copy[64];
    static const uint8_t any[ADDRESS_SIZE];
    if (name->sa_family != AF_BLUETOOTH || size > sizeof copy || getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &length))
        return next_bind(descriptor, name, size);
    memcpy(copy, name, size);
    if (protocol == HCI && size >= sizeof(struct management_address)) {
        struct management_address at;
        memcpy(&at, name, sizeof at);
        if (at.channel == CONTROL_CHANNEL) management = descriptor;
    }
    if (protocol == L2CAP && size >= ADDRESS_AT + ADDRESS_SIZE && !memcmp(copy + ADDRESS_AT, any, ADDRESS_SIZE))
        memcpy(copy + ADDRESS_AT, address, ADDRESS_SIZE);
    return next_bind(descriptor, (const struct sockaddr *)copy, size);
}

static unsigned number(const uint8_t *bytes) { return bytes[0] | bytes[1] << 8; }
static void set(uint8_t *bytes, unsigned value) {
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
}

ssize_t read(int descriptor, void *buffer, size_t size) {
    ssize_t got = next_read(descriptor, buffer, size);
    if (descriptor != management || got < HEADER_SIZE) return got;
    uint8_t *event = buffer;
    unsigned index = number(event + 2);
    // If a read gave nothing, bluetoothd would stop reading.
    if (index != NO_INDEX && index != own) set(event, NOBODYS_EVENT);
    if (number(event) != COMMAND_COMPLETE || got < HEADER_SIZE + 5 || number(event + HEADER_SIZE) != READ_INDEX_LIST) return got;
    uint8_t *count = event + HEADER_SIZE + 3, *list = count + 2;
    unsigned kept = 0;
    for (unsigned i = 0; i < number(count) && list + 2 * i + 2 <= event + got; i++)
        if (number(list + 2 * i) == own) set(list + 2 * kept++, own);
    set(count, kept);
    set(event + 4, 5 + 2 * kept);
    return HEADER_SIZE + 5 + 2 * kept;
}
