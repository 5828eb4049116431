// The air between the emulated adapters, preloaded into btvirt.
//
// btvirt emulates controllers, each behind a descriptor of /dev/vhci. Opened by it, that path gives one end of a socket pair;
// a thread of ours holds the other end and the real descriptor, and passes HCI packets between the two:
//
//     kernel's hciA <-- /dev/vhci --> this thread <-- socket pair --> btvirt's controller A
//
// Commands and events go through, data does not: a packet from A goes from here to B's kernel, with B's handle. (btvirt would
// pass it on with A's, which is wrong as soon as one adapter has two links, in packets of 192 bytes, one at a time. Here they
// are 1021 bytes, a 3-DH5 packet's payload, eight buffered, as in common controllers.) So the air can be slow, lossless yet
// silent as a radio out of range is, or gone; and what passes is counted.
//
// What a host can see is as a controller would have it: an adapter out of reach isn't found by inquiry or scan, paging it
// takes the page timeout, and a link to it ends by the supervision timeout. Adapters are found by inquiry only while inquiry
// scan is on, which btvirt ignores.
//
// Every attempt to connect ends with an event to its host, which waits for one with all other commands to that adapter: an LE
// connection waits until its peer advertises or it is cancelled, of two that page each other one gets through, and what was
// cancelled, rejected or never answered ends for both. btvirt forgets these.
//
// Requests come as datagrams to the socket $PICONET_FAULTS; see `fault` for what they mean.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_ADAPTERS = 16, MAX_LINKS = 16, MAX_PACKETS = 32, MAX_PACKET = 4096, MAX_COMMAND = 260, MAX_SETS = 8, NAME_SIZE = 248,
    FIRST_HANDLE = 42  // of btvirt
};

// Core Specification 5.4, volume 4, part A: packet types of UART transport; part E: the rest.
enum { COMMAND = 1, DATA = 2, EVENT = 4, VENDOR = 0xff };
enum {
    INQUIRY_RESULT = 0x02, CONNECTION_COMPLETE = 0x03, DISCONNECTION_COMPLETE = 0x05, AUTHENTICATION_COMPLETE = 0x06,
    REMOTE_NAME_COMPLETE = 0x07, ENCRYPTION_CHANGE = 0x08,
    COMMAND_COMPLETE = 0x0e, COMMAND_STATUS = 0x0f, COMPLETED_PACKETS = 0x13, RSSI_INQUIRY_RESULT = 0x22,
    EXTENDED_INQUIRY_RESULT = 0x2f,
    CAPABILITIES_REQUEST = 0x31, CAPABILITIES_RESPONSE = 0x32, CONFIRMATION_REQUEST = 0x33, LE_META = 0x3e
};
enum {
    LE_CONNECTION_COMPLETE = 0x01, LE_REPORT = 0x02, LE_ENHANCED_CONNECTION_COMPLETE = 0x0a, LE_EXTENDED_REPORT = 0x0d,
    LE_SET_TERMINATED = 0x12
};
enum {
    CREATE_CONNECTION = 0x0405, DISCONNECT = 0x0406, CANCEL_CONNECTION = 0x0408, ACCEPT_CONNECTION = 0x0409,
    REJECT_CONNECTION = 0x040a, REPLY_LINK_KEY = 0x040b, AUTHENTICATE = 0x0411, REMOTE_NAME = 0x0419, CANCEL_REMOTE_NAME = 0x041a, RESET = 0x0c03, WRITE_LOCAL_NAME = 0x0c13,
    REPLY_CAPABILITIES = 0x042b, WRITE_ACCEPT_TIMEOUT = 0x0c16, WRITE_SCAN_ENABLE = 0x0c1a, READ_BUFFER_SIZE = 0x1005, READ_ADDRESS = 0x1009, READ_KEY_SIZE = 0x1408,
    LE_READ_BUFFER_SIZE = 0x2002, LE_SET_RANDOM_ADDRESS = 0x2005, LE_ENABLE_ADVERTISING = 0x200a, LE_CREATE_CONNECTION = 0x200d, LE_CANCEL_CONNECTION = 0x200e,
    LE_SET_SET_RANDOM_ADDRESS = 0x2035, LE_SET_SET_PARAMETERS = 0x2036, LE_ENABLE_SETS = 0x2039, LE_REMOVE_SET = 0x203c,
    LE_CLEAR_SETS = 0x203d, LE_EXTENDED_CREATE_CONNECTION = 0x2043, LE_READ_BUFFER_SIZE_2 = 0x2060
};
enum { INQUIRY_SCAN = 1, PAGE_SCAN = 2 };
enum { SLOT = 625, ACCEPT_TIMEOUT_AT_START = 0x1fa0 * SLOT };  // microseconds
enum {
    UNKNOWN_CONNECTION = 0x02, PAGE_TIMEOUT = 0x04, CONNECTION_TIMEOUT = 0x08, CONNECTION_EXISTS = 0x0b,
    COMMAND_DISALLOWED = 0x0c, ACCEPT_TIMEOUT = 0x10, ENDED_BY_REMOTE_USER = 0x13, ENDED_BY_LOCAL_HOST = 0x16
};

// One end of a link. It stays until btvirt has forgotten its own, so that its handle isn't given out meanwhile.
struct link {
    bool used, le;
    bool central;     // LE: it asked for the link
    bool authenticates;  // its host has asked for authentication, and waits
    bool has_told;    // its host has told its input and output capabilities, and the other one has not yet
    bool ended;       // the host has been told that it ended
    uint16_t handle;
    int peer;
    int64_t lost_at;  // since when there was no contact; 0: there is
};

struct packet {
    int64_t due;
    size_t length;
    uint8_t bytes[MAX_PACKET];
};

// A command that waits for another adapter: one out of reach, or one that doesn't advertise yet.
struct attempt {
    uint16_t opcode;  // 0: none
    uint8_t address[6], address_type, status;
    int64_t due;      // 0: until it is cancelled
    uint8_t packet[MAX_COMMAND];  // as it came, where btvirt gets it later; else empty
    size_t length;
};

// An advertising set.
struct advertising {
    bool used, connectable, enabled;
    uint8_t handle;
};

struct adapter {
    int vhci;         // -1: gone
    int emulator;
    bool returning;   // the answer to the request for a new adapter is ours to read
    uint8_t address[6], random_address[6];
    uint8_t scan;
    uint8_t refusal;  // with which status connecting to it fails; 0: it does not
    unsigned own_commands;  // Disconnects that no host sent and whose status no host gets
    unsigned own_advertising_commands;  // likewise
    bool own_page, own_le_connection;   // btvirt's status of a connection that waited is no host's: it has one
    int pages;              // whom btvirt pages for it; -1: nobody
    bool accepted;          // by them: the link is about to be there
    int64_t pages_until;    // when they have not answered that
    int64_t accept_timeout; // how long its own host may take to answer one
    uint8_t name[NAME_SIZE];
    uint16_t last_le_handle;
    struct advertising sets[MAX_SETS];
    uint8_t setting[MAX_COMMAND];  // the last command about advertising sets, until it is answered
    size_t setting_length;
    int64_t air_free;
    int64_t encrypting_until;  // data for it waits so long; 0: not
    struct link links[MAX_LINKS];
    struct packet packets[MAX_PACKETS];
    int packet_count;
    struct attempt paging, naming, le_connecting;
};

// All below belongs to the thread, but for `adapter_count` and a new adapter, which are changed with the lock held.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct adapter adapters[MAX_ADAPTERS];
static int adapter_count;
static int wake[2] = { -1, -1 };
static int control = -1;
static bool muted[MAX_ADAPTERS][MAX_ADAPTERS];
static uint64_t sent_packets[MAX_ADAPTERS][MAX_ADAPTERS], sent_bytes[MAX_ADAPTERS][MAX_ADAPTERS];
static int64_t delay, supervision = 20000000, page_timeout = 5120000;  // microseconds
// Nobody is heard at once on air. What is more, bluetoothd takes back a passing pairing when it comes to read that the link has ended,
// and ends with it whatever link there is by then.
static int64_t page_time = 200000;
static int64_t rate;                                                   // bytes a second; 0: any

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * (int64_t)1000000 + time.tv_nsec / 1000;
}

// The earlier of two times; 0: none.
static void sooner(int64_t *next, int64_t time)
{
    if (time > 0 && (*next == 0 || time < *next))
        *next = time;
}

static uint16_t number(const uint8_t *bytes) { return bytes[0] | bytes[1] << 8; }

static int real_open(const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

// MARK: What hosts and controllers are told

static void to_host(int a, const uint8_t *packet, size_t length)
{
    if (adapters[a].vhci < 0)
        return;
    if (write(adapters[a].vhci, packet, length) < 0)
        fprintf(stderr, "air: hci%d takes no packet: %s\n", a, strerror(errno));
}

static void to_emulator(int a, const uint8_t *packet, size_t length)
{
    // A host has one command under way; that this blocks for want of room would be btvirt's standstill.
    if (send(adapters[a].emulator, packet, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        fprintf(stderr, "air: btvirt takes no packet for adapter %d: %s\n", a, strerror(errno));
}

static void event(int a, uint8_t code, const uint8_t *parameters, uint8_t length)
{
    uint8_t packet[3 + 255] = { EVENT, code, length };
    memcpy(packet + 3, parameters, length);
    to_host(a, packet, 3 + length);
}

static void command_status(int a, uint16_t opcode, uint8_t status)
{
    event(a, COMMAND_STATUS, (uint8_t[]){ status, 1, opcode & 0xff, opcode >> 8 }, 4);
}

static void command_complete(int a, uint16_t opcode, uint8_t status, const uint8_t *address)
{
    uint8_t parameters[10] = { 1, opcode & 0xff, opcode >> 8, status };
    if (address)
        memcpy(parameters + 4, address, 6);
    event(a, COMMAND_COMPLETE, parameters, address ? 10 : 4);
}

static void disconnection_complete(int a, uint16_t handle, uint8_t reason)
{
    event(a, DISCONNECTION_COMPLETE, (uint8_t[]){ 0, handle & 0xff, handle >> 8, reason }, 4);
}

// "Connection Complete" of a link that there isn't.
static void no_connection(int a, const uint8_t *address, uint8_t status)
{
    uint8_t parameters[11] = { status };
    memcpy(parameters + 3, address, 6);
    parameters[9] = 1;
    event(a, CONNECTION_COMPLETE, parameters, sizeof parameters);
}

static void authentication_complete(int a, struct link *link, uint8_t status)
{
    link->authenticates = link->has_told = false;
    event(a, AUTHENTICATION_COMPLETE, (uint8_t[]){ status, link->handle & 0xff, link->handle >> 8 }, 3);
}

static void completed_packet(int a, uint16_t handle)
{
    event(a, COMPLETED_PACKETS, (uint8_t[]){ 1, handle & 0xff, handle >> 8, 1, 0 }, 5);
}

// MARK: Adapters and links

static int with_address(const uint8_t *address)
{
    for (int a = 0; a < adapter_count; a++)
        if (memcmp(adapters[a].address, address, 6) == 0 || memcmp(adapters[a].random_address, address, 6) == 0)
            return a;
    return -1;
}

static bool in_reach(int a, int b)
{
    return adapters[a].vhci >= 0 && adapters[b].vhci >= 0 && !muted[a][b];
}

static struct link *with_handle(int a, uint16_t handle)
{
    for (int i = 0; i < MAX_LINKS; i++)
        if (adapters[a].links[i].used && adapters[a].links[i].handle == handle)
            return &adapters[a].links[i];
    return NULL;
}

// The end at B of a link of A.
static struct link *other_end(int a, const struct link *link)
{
    struct adapter *peer = &adapters[link->peer];
    for (int i = 0; i < MAX_LINKS; i++)
        if (peer->links[i].used && peer->links[i].peer == a && peer->links[i].le == link->le)
            return &peer->links[i];
    return NULL;
}

// A's end of the link of this kind between two adapters.
static struct link *between(int a, int peer, bool le)
{
    for (int i = 0; i < MAX_LINKS; i++) {
        struct link *link = &adapters[a].links[i];
        if (link->used && !link->ended && link->peer == peer && link->le == le)
            return link;
    }
    return NULL;
}

static void add_link(int a, uint16_t handle, const uint8_t *address, bool le, bool central)
{
    int peer = with_address(address);
    struct link *link = with_handle(a, handle);
    for (int i = 0; !link && i < MAX_LINKS; i++)
        if (!adapters[a].links[i].used)
            link = &adapters[a].links[i];
    if (peer < 0 || !link) {
        fprintf(stderr, "air: adapter %d has a link that can't be followed\n", a);
        return;
    }
    *link = (struct link){ .used = true, .le = le, .central = central, .handle = handle, .peer = peer };
}

static void drop_packets(int a, uint16_t handle)
{
    struct adapter *adapter = &adapters[a];
    int kept = 0;
    for (int i = 0; i < adapter->packet_count; i++) {
        if ((number(adapter->packets[i].bytes + 1) & 0xfff) == handle)
            continue;
        if (kept != i)
            adapter->packets[kept] = adapter->packets[i];
        kept++;
    }
    adapter->packet_count = kept;
}

static void end(int a, struct link *link, uint8_t reason)
{
    if (link->ended)
        return;
    link->ended = true;
    drop_packets(a, link->handle);
    disconnection_complete(a, link->handle, reason);
}

// Both hosts are told, and btvirt is made to forget the link.
static void break_link(int a, struct link *link)
{
    struct link *other = other_end(a, link);
    uint8_t command[] = { COMMAND, DISCONNECT & 0xff, DISCONNECT >> 8, 3, link->handle & 0xff, link->handle >> 8, 0x13 };
    bool first = !link->ended || (other && !other->ended);

    end(a, link, CONNECTION_TIMEOUT);
    if (other)
        end(link->peer, other, CONNECTION_TIMEOUT);
    if (first) {
        adapters[a].own_commands++;
        to_emulator(a, command, sizeof command);
    }
}

// MARK: Data

static void transmit(int a, const uint8_t *packet, size_t length)
{
    struct adapter *adapter = &adapters[a];
    int64_t start = now();

    if (adapter->packet_count == MAX_PACKETS || length > MAX_PACKET) {
        fprintf(stderr, "air: adapter %d sends more than it was told to\n", a);
        return;
    }
    if (rate > 0) {
        if (adapter->air_free > start)
            start = adapter->air_free;
        start += (int64_t)(length - 5) * 1000000 / rate;
        adapter->air_free = start;
    }
    struct packet *waiting = &adapter->packets[adapter->packet_count++];
    waiting->due = start + delay;
    waiting->length = length;
    memcpy(waiting->bytes, packet, length);
}

static void deliver(int a, const struct link *link, const struct link *other, struct packet *packet)
{
    uint16_t handle = number(packet->bytes + 1);
    unsigned flags = handle >> 12;

    completed_packet(a, link->handle);
    sent_packets[a][link->peer]++;
    sent_bytes[a][link->peer] += packet->length - 5;
    // "First, not flushable" goes from hosts only; it arrives as "first".
    if ((flags & 3) == 0)
        flags |= 2;
    handle = other->handle | flags << 12;
    packet->bytes[1] = handle & 0xff;
    packet->bytes[2] = handle >> 8;
    to_host(link->peer, packet->bytes, packet->length);
}

// Those whose time has come and whose receiver is in reach; the others keep their order.
static void deliver_due(int a, int64_t time)
{
    struct adapter *adapter = &adapters[a];
    int kept = 0, count = adapter->packet_count;

    for (int i = 0; i < count; i++) {
        struct packet *packet = &adapter->packets[i];
        struct link *link = with_handle(a, number(packet->bytes + 1) & 0xfff);
        if (!link || link->ended)
            continue;
        struct link *other = other_end(a, link);
        // No other end yet: the peer's host is about to hear of the link.
        if (packet->due <= time && in_reach(a, link->peer) && other && !other->ended
            && adapters[link->peer].encrypting_until <= time) {
            deliver(a, link, other, packet);
            continue;
        }
        if (kept != i)
            adapter->packets[kept] = *packet;
        kept++;
    }
    adapter->packet_count = kept;
}

// MARK: From the host

static void start_attempt(struct attempt *attempt, uint16_t opcode, const uint8_t *address, uint8_t type, uint8_t status,
                          int64_t after)
{
    *attempt = (struct attempt){ .opcode = opcode, .address_type = type, .status = status };
    memcpy(attempt->address, address, 6);
    attempt->due = after > 0 ? now() + after : 0;
}

static void end_attempt(int a, struct attempt *attempt, uint8_t status)
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

// An end that the other one has left, or that was left by it, ends before a new link between the two begins.
static void finish_half_links(int a, int b)
{
    for (int i = 0; i < MAX_LINKS; i++) {
        struct link *link = &adapters[a].links[i];
        struct link *other = link->used && link->peer == b ? other_end(a, link) : NULL;
        if (other && link->ended != other->ended)
            break_link(a, link);
    }
}

// Whether btvirt may be given A's page now. Of two that page one another the first gets through, and the other is told when that
// link is there: see `connected`.
static bool gets_through(int a, int peer)
{
    return peer >= 0 && in_reach(a, peer) && (adapters[peer].scan & PAGE_SCAN) && adapters[peer].pages != a;
}

static void begin_paging(int a, int peer)
{
    adapters[a].pages = peer;
    adapters[a].accepted = false;
    adapters[a].pages_until = now() + adapters[peer].accept_timeout;
}

// A's page is over, with another status for either host.
static void end_paging(int a, uint8_t own_status, uint8_t status)
{
    int peer = adapters[a].pages;

    adapters[a].pages = -1;
    no_connection(a, adapters[peer].address, own_status);
    no_connection(peer, adapters[a].address, status);
}

// "Create Connection" with at least an address. True if it was answered here.
static bool pages(int a, const uint8_t *packet, size_t length)
{
    struct adapter *adapter = &adapters[a];
    struct attempt *attempt = &adapter->paging;
    const uint8_t *address = packet + 4;
    int peer = with_address(address);

    if (peer >= 0)
        finish_half_links(a, peer);
    if (attempt->opcode || adapter->pages >= 0) {
        command_status(a, CREATE_CONNECTION, COMMAND_DISALLOWED);
        return true;
    }
    if (peer >= 0 && between(a, peer, false)) {
        command_status(a, CREATE_CONNECTION, CONNECTION_EXISTS);
        return true;
    }
    bool refused = peer >= 0 && adapters[peer].refusal;
    bool through = gets_through(a, peer) && !refused;
    if (through && page_time == 0) {
        begin_paging(a, peer);
        return false;
    }
    command_status(a, CREATE_CONNECTION, 0);
    if (refused) {
        start_attempt(attempt, CREATE_CONNECTION, address, 0, adapters[peer].refusal, 20000);
    } else if (through && length <= MAX_COMMAND) {
        start_attempt(attempt, CREATE_CONNECTION, address, 0, PAGE_TIMEOUT, page_time);
        attempt->length = length;
        memcpy(attempt->packet, packet, length);
    } else {
        start_attempt(attempt, CREATE_CONNECTION, address, 0, PAGE_TIMEOUT, page_timeout);
    }
    return true;
}

// A page has taken its time.
static void is_heard(int a)
{
    struct attempt *attempt = &adapters[a].paging;
    int peer = with_address(attempt->address);
    size_t length = attempt->length;

    attempt->length = 0;
    if (!gets_through(a, peer)) {
        attempt->due = now() + page_timeout;
        return;
    }
    attempt->opcode = 0;
    begin_paging(a, peer);
    adapters[a].own_page = true;
    to_emulator(a, attempt->packet, length);
}

// A's set of this handle; a new one, unless there are too many.
static struct advertising *advertising(int a, uint8_t handle)
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

// A page that the other host has neither accepted nor rejected.
static void watch_paging(int a, int64_t time, int64_t *next)
{
    struct adapter *adapter = &adapters[a];
    if (adapter->pages < 0 || adapter->accepted)
        return;
    if (time < adapter->pages_until)
        sooner(next, adapter->pages_until);
    else
        end_paging(a, ACCEPT_TIMEOUT, ACCEPT_TIMEOUT);
}

static bool advertises(int a)
{
    for (int i = 0; i < MAX_SETS; i++)
        if (adapters[a].sets[i].enabled && adapters[a].sets[i].connectable)
            return true;
    return false;
}

// "LE Create Connection", plain or extended. True if it was answered here.
static bool initiates(int a, const uint8_t *packet, size_t length)
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
static void watch_initiating(int a)
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
static void advertising_is_set(int a)
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

// "IO Capability Request Reply" with all its parameters. btvirt asks an adapter only the first time it is paired with another one; but
// Linux lets go of a link at the end of a pairing as often as it was asked at its beginning, and ends that link when it is not used
// otherwise as often as it believes.
static void tell_capabilities(int a, const uint8_t *parameters)
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
                end(link->peer, other, CONNECTION_TIMEOUT);
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
        return false;
    case WRITE_LOCAL_NAME:
        memset(adapter->name, 0, NAME_SIZE);
        memcpy(adapter->name, parameters, count < NAME_SIZE ? count : NAME_SIZE);
        return false;
    case LE_SET_SET_PARAMETERS:
    case LE_ENABLE_SETS:
    case LE_REMOVE_SET:
    case LE_CLEAR_SETS:
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
    case LE_SET_SET_RANDOM_ADDRESS:
        if (count >= 7)
            memcpy(adapter->random_address, parameters + 1, 6);
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
            // The page is over, and this host has been told. btvirt would make a link all the same.
            command_status(a, opcode, UNKNOWN_CONNECTION);
            return true;
        }
        if (opcode == REJECT_CONNECTION) {
            // btvirt tells only the host that rejects, and not why.
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
            // Over the link that there is; btvirt would page.
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
        // The other end hears nothing of it.
        command_status(a, opcode, 0);
        end(a, link, ENDED_BY_LOCAL_HOST);
        return true;
    }
    default:
        return false;
    }
}

static void from_host(int a)
{
    uint8_t packet[MAX_PACKET];
    ssize_t length = read(adapters[a].vhci, packet, sizeof packet);

    if (length < 4)
        return;
    if (packet[0] == VENDOR) {
        // "There is your adapter": btvirt asked for the first, we for those that come back.
        if (!adapters[a].returning)
            to_emulator(a, packet, (size_t)length);
        adapters[a].returning = false;
    } else if (packet[0] == DATA && length >= 5) {
        transmit(a, packet, (size_t)length);
    } else if (packet[0] != COMMAND || !answers(a, packet, (size_t)length)) {
        to_emulator(a, packet, (size_t)length);
    }
}

// MARK: From the controller

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
    // It was paging whoever has just connected to it.
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

    // Whom the link comes to is told the other one's handle. Its own is the first that is free, as is every new one.
    if (!central)
        for (own = FIRST_HANDLE; with_handle(a, own);)
            own++;
    handle[0] = own & 0xff;
    handle[1] = own >> 8;
    adapters[a].last_le_handle = own;
    add_link(a, own, handle + 4, true, central);
}

// Who has asked for it is told. btvirt tells who has ever asked for any, or both; and finds the link by its peer, the wrong one where
// there are two.
static void authenticated(int a, struct link *link, uint8_t status)
{
    struct link *own = link->le ? between(a, link->peer, false) : link;
    struct link *other = own ? other_end(a, own) : NULL;

    if (own && own->authenticates && !own->ended)
        authentication_complete(a, own, status);
    if (other && other->authenticates && !other->ended)
        authentication_complete(link->peer, other, status);
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
        // Linux asks for the key's size then, and refuses whom it hears before it has the answer. On air nobody is that quick.
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
        if (adapter->setting_length >= 4 && number(packet + 4) == number(adapter->setting + 1))
            advertising_is_set(a);
        switch (number(packet + 4)) {
        case READ_ADDRESS:
            if (length >= 13)
                memcpy(adapter->address, packet + 7, 6);
            break;
        case READ_BUFFER_SIZE:
            if (length >= 14) {
                packet[7] = 1021 & 0xff;
                packet[8] = 1021 >> 8;
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
            // btvirt ends also the advertising of who asked for the link, even where there was none.
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
            return !hears(a, packet + 8, 0);
        }
        return false;
    default:
        return false;
    }
}

static void from_emulator(int a)
{
    uint8_t packet[MAX_PACKET];
    ssize_t length = recv(adapters[a].emulator, packet, sizeof packet, MSG_DONTWAIT);

    if (length < 1)
        return;
    if (packet[0] == EVENT && length >= 3 && withholds(a, packet, (size_t)length))
        return;
    to_host(a, packet, (size_t)length);
}

// MARK: Requests

static const char *come_back(int a)
{
    if (adapters[a].vhci >= 0)
        return "error it is not gone";
    int descriptor = real_open("/dev/vhci", O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
    if (descriptor < 0)
        return "error no /dev/vhci";
    if (write(descriptor, (uint8_t[]){ VENDOR, 0 }, 2) != 2) {
        close(descriptor);
        return "error the kernel makes no adapter";
    }
    adapters[a].returning = true;
    adapters[a].vhci = descriptor;
    return "ok";
}

static const char *go(int a)
{
    if (adapters[a].vhci < 0)
        return "error it is gone";
    close(adapters[a].vhci);
    adapters[a].vhci = -1;
    adapters[a].packet_count = 0;
    for (int i = 0; i < MAX_LINKS; i++)
        adapters[a].links[i].ended = true;
    return "ok";
}

static void count_out(char *answer, size_t size)
{
    size_t used = 0;
    for (int a = 0; a < adapter_count; a++)
        for (int b = 0; b < adapter_count; b++)
            if (sent_packets[a][b] && used < size)
                used += (size_t)snprintf(answer + used, size - used, "%d %d %llu %llu\n", a, b,
                                         (unsigned long long)sent_packets[a][b], (unsigned long long)sent_bytes[a][b]);
    if (used == 0)
        snprintf(answer, size, "ok");
    memset(sent_packets, 0, sizeof sent_packets);
    memset(sent_bytes, 0, sizeof sent_bytes);
}

static void cut(int a, int b)
{
    for (int i = 0; i < MAX_LINKS; i++)
        if (adapters[a].links[i].used && adapters[a].links[i].peer == b)
            break_link(a, &adapters[a].links[i]);
}

static void answer_request(void)
{
    char request[256], word[32] = "", rest, answer[32768];
    struct sockaddr_un from;
    socklen_t size = sizeof from;
    ssize_t length = recvfrom(control, request, sizeof request - 1, MSG_DONTWAIT, (struct sockaddr *)&from, &size);
    long long a = -1, b = -1;

    if (length < 0)
        return;
    request[length] = 0;
    const char *result = "error no such request, or wrong numbers";
    int words = sscanf(request, "%31s %lli %lli %c", word, &a, &b, &rest);
    bool one = words == 2 && a >= 0, adapter = words >= 2 && a >= 0 && a < adapter_count;
    bool two = words == 3 && adapter && b >= 0 && b < adapter_count && a != b;

    if (two && (strcmp(word, "mute") == 0 || strcmp(word, "unmute") == 0)) {
        muted[a][b] = muted[b][a] = word[0] == 'm';
        result = "ok";
    } else if (two && strcmp(word, "cut") == 0) {
        cut((int)a, (int)b);
        result = "ok";
    } else if (one && a <= 60000 && strcmp(word, "delay") == 0) {
        delay = a * 1000;
        result = "ok";
    } else if (one && a <= 1000000000 && strcmp(word, "rate") == 0) {
        rate = a;
        result = "ok";
    } else if (one && a <= 3600000 && strcmp(word, "supervision") == 0) {
        supervision = a * 1000;
        result = "ok";
    } else if (one && a >= 1 && a <= 60000 && strcmp(word, "paging") == 0) {
        page_timeout = a * 1000;
        result = "ok";
    } else if (one && a <= 60000 && strcmp(word, "page") == 0) {
        page_time = a * 1000;
        result = "ok";
    } else if (words == 3 && adapter && b > 0 && b < 256 && strcmp(word, "refuse") == 0) {
        adapters[a].refusal = (uint8_t)b;
        result = "ok";
    } else if (words == 2 && adapter && strcmp(word, "accept") == 0) {
        adapters[a].refusal = 0;
        result = "ok";
    } else if (words == 2 && adapter && strcmp(word, "gone") == 0) {
        result = go((int)a);
    } else if (words == 2 && adapter && strcmp(word, "back") == 0) {
        result = come_back((int)a);
    } else if (words == 1 && strcmp(word, "count") == 0) {
        count_out(answer, sizeof answer);
        result = answer;
    }
    if (size > sizeof from.sun_family)
        sendto(control, result, strlen(result), MSG_DONTWAIT, (struct sockaddr *)&from, size);
}

// MARK: Time

static void watch_links(int a, int64_t time, int64_t *next)
{
    for (int i = 0; i < MAX_LINKS; i++) {
        struct link *link = &adapters[a].links[i], *other = link->used ? other_end(a, link) : NULL;
        if (!other || (link->ended && other->ended && adapters[a].vhci >= 0))
            continue;
        if (in_reach(a, link->peer) && !link->ended && !other->ended) {
            link->lost_at = 0;
            continue;
        }
        if (link->lost_at == 0)
            link->lost_at = time;
        if (supervision == 0 || other->ended)
            continue;
        if (time < link->lost_at + supervision) {
            sooner(next, link->lost_at + supervision);
            continue;
        }
        break_link(a, link);
    }
}

static void watch_attempts(int a, int64_t time, int64_t *next)
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

// Does what is due, and says when there is more to do; 0: never.
static int64_t pass_time(void)
{
    int64_t time = now(), next = 0;
    for (int a = 0; a < adapter_count; a++) {
        deliver_due(a, time);
        for (int i = 0; i < adapters[a].packet_count; i++)
            if (adapters[a].packets[i].due > time)
                sooner(&next, adapters[a].packets[i].due);
        if (adapters[a].encrypting_until > time)
            sooner(&next, adapters[a].encrypting_until);
        watch_links(a, time, &next);
        watch_attempts(a, time, &next);
        watch_initiating(a);
        watch_paging(a, time, &next);
    }
    return next;
}

static void *run(void *unused)
{
    struct pollfd polls[2 + 2 * MAX_ADAPTERS];

    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        int64_t next = pass_time();
        int count = adapter_count;
        polls[0] = (struct pollfd){ .fd = wake[0], .events = POLLIN };
        polls[1] = (struct pollfd){ .fd = control, .events = POLLIN };
        for (int a = 0; a < count; a++) {
            polls[2 + 2 * a] = (struct pollfd){ .fd = adapters[a].vhci, .events = POLLIN };
            polls[3 + 2 * a] = (struct pollfd){ .fd = adapters[a].emulator, .events = POLLIN };
        }
        pthread_mutex_unlock(&lock);

        int64_t left = next ? next - now() : 0;
        struct timespec limit = { .tv_sec = left > 0 ? left / 1000000 : 0, .tv_nsec = left > 0 ? left % 1000000 * 1000 : 0 };
        if (ppoll(polls, (nfds_t)(2 + 2 * count), next ? &limit : NULL, NULL) < 0 && errno != EINTR)
            abort();

        pthread_mutex_lock(&lock);
        if (polls[0].revents) {
            uint8_t bytes[64];
            while (read(wake[0], bytes, sizeof bytes) > 0) { }
        }
        for (int a = 0; a < count; a++) {
            if (polls[2 + 2 * a].revents && adapters[a].vhci == polls[2 + 2 * a].fd)
                from_host(a);
            if (polls[3 + 2 * a].revents)
                from_emulator(a);
        }
        // Last: a request may close what was just read from.
        if (polls[1].revents)
            answer_request();
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

// MARK: In btvirt's place

static void start(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const char *path = getenv("PICONET_FAULTS");
    sigset_t all, before;
    pthread_t thread;

    // A page that is read from the host's disk only now may be late for the first command, for which the kernel waits two seconds.
    mlockall(MCL_CURRENT);
    if (!path || strlen(path) >= sizeof address.sun_path || pipe2(wake, O_NONBLOCK | O_CLOEXEC) < 0)
        abort();
    strcpy(address.sun_path, path);
    unlink(path);
    control = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    // Whoever tests may ask, root or not.
    if (control < 0 || bind(control, (struct sockaddr *)&address, sizeof address) < 0 || chmod(path, 0666) < 0)
        abort();
    // btvirt takes its signals from a descriptor.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, run, NULL) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int open_adapter(void)
{
    int pair[2] = { -1, -1 }, vhci;

    if (adapter_count == MAX_ADAPTERS) {
        errno = ENFILE;
        return -1;
    }
    vhci = real_open("/dev/vhci", O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
    if (vhci < 0)
        return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        close(vhci);
        return -1;
    }
    if (adapter_count == 0)
        start();
    pthread_mutex_lock(&lock);
    adapters[adapter_count] = (struct adapter){ .vhci = vhci, .emulator = pair[0], .pages = -1,
                                                 .accept_timeout = ACCEPT_TIMEOUT_AT_START };
    adapter_count++;
    pthread_mutex_unlock(&lock);
    if (write(wake[1], "", 1) < 0 && errno != EAGAIN)
        abort();
    return pair[1];
}

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    return strcmp(path, "/dev/vhci") == 0 ? open_adapter() : real_open(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
