// The air between the emulated adapters, preloaded into btvirt.
//
// btvirt emulates controllers, each behind a descriptor of /dev/vhci. When it opens that path, it gets one end of a
// socket pair; a thread of ours holds the other end and the real descriptor, and passes HCI packets between the two:
//
//     kernel's hciA <-- /dev/vhci --> this thread <-- socket pair --> btvirt's controller A
//
// Commands and events go through, data does not: a packet from A goes from here to B's kernel, with B's handle. (btvirt
// would pass it on with A's, which is wrong as soon as one adapter has two links, in packets of 192 bytes, one at a
// time. Here they are 1021 bytes, a 3-DH5 packet's payload, eight buffered, as in common controllers.) So the air can
// be slow, lossless but silent like a radio out of range, or gone; and what passes is counted.
//
// A host sees what a controller would show it: an adapter out of reach isn't found by inquiry or scan, paging it takes
// the page timeout, and a link to it ends by the supervision timeout. Adapters are found by inquiry only while inquiry
// scan is on, which btvirt ignores.
//
// Every attempt to connect ends with an event to its host, which waits for one with all other commands to that adapter:
// an LE connection waits until its peer advertises or it is cancelled, if two page each other one gets through, and
// what was cancelled, rejected or never answered ends for both. btvirt forgets all of this.
//
// An adapter has at most seven active links over BR/EDR, as many as a piconet's central has addresses for; btvirt has
// no limit. Links over LE don't count.
//
// A host that scans over LE hears an advertising set at its next advertising event, which the set's interval
// determines, and so after the answer to the command to scan; if duplicates are filtered, once per scan, and again when
// there is something new to hear. btvirt reports each set at once, and only once, often before the host has the answer.
//
// Requests come as datagrams to the socket $PICONET_FAULTS; see `fault` for what they mean.

#ifndef AIR_H
#define AIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

enum {
    MAX_ADAPTERS = 16, MAX_LINKS = 16, MAX_PACKETS = 32, MAX_PACKET = 4096, MAX_COMMAND = 260, MAX_SETS = 8, NAME_SIZE = 248,
    MAX_ACTIVE_LINKS = 7,  // over BR/EDR
    LARGEST_DATA = 1021,   // a 3-DH5 packet's payload
    MAX_ADVERTISED = 229,  // what one report has room for
    FIRST_HANDLE = 42      // of btvirt
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
    REJECT_CONNECTION = 0x040a, REPLY_LINK_KEY = 0x040b, AUTHENTICATE = 0x0411, REMOTE_NAME = 0x0419,
    CANCEL_REMOTE_NAME = 0x041a, REPLY_CAPABILITIES = 0x042b, RESET = 0x0c03, WRITE_LOCAL_NAME = 0x0c13,
    WRITE_ACCEPT_TIMEOUT = 0x0c16, WRITE_SCAN_ENABLE = 0x0c1a, READ_BUFFER_SIZE = 0x1005, READ_ADDRESS = 0x1009,
    READ_KEY_SIZE = 0x1408, LE_READ_BUFFER_SIZE = 0x2002, LE_SET_RANDOM_ADDRESS = 0x2005,
    LE_ENABLE_ADVERTISING = 0x200a, LE_CREATE_CONNECTION = 0x200d, LE_CANCEL_CONNECTION = 0x200e,
    LE_SET_SET_RANDOM_ADDRESS = 0x2035, LE_SET_SET_PARAMETERS = 0x2036, LE_SET_SET_DATA = 0x2037, LE_SET_SET_RESPONSE = 0x2038,
    LE_ENABLE_SETS = 0x2039, LE_REMOVE_SET = 0x203c, LE_CLEAR_SETS = 0x203d, LE_SET_SCAN_PARAMETERS = 0x2041,
    LE_ENABLE_SCAN = 0x2042, LE_EXTENDED_CREATE_CONNECTION = 0x2043, LE_READ_BUFFER_SIZE_2 = 0x2060
};
enum { INQUIRY_SCAN = 1, PAGE_SCAN = 2 };
enum { SLOT = 625, ACCEPT_TIMEOUT_AT_START = 0x1fa0 * SLOT };  // microseconds
enum {
    UNKNOWN_CONNECTION = 0x02, PAGE_TIMEOUT = 0x04, CONNECTION_TIMEOUT = 0x08, CONNECTION_LIMIT = 0x09,
    CONNECTION_EXISTS = 0x0b, COMMAND_DISALLOWED = 0x0c, LIMITED_RESOURCES = 0x0d, ACCEPT_TIMEOUT = 0x10, ENDED_BY_REMOTE_USER = 0x13, ENDED_BY_LOCAL_HOST = 0x16
};

// One end of a link. It stays until btvirt has forgotten its own, so that its handle isn't given out meanwhile.
struct link {
    bool used, le;
    bool central;        // LE: it asked for the link
    bool authenticates;  // its host has asked for authentication, and waits
    bool has_told;    // its host has told its input and output capabilities, and the other one has not yet
    bool ended;       // the host has been told that it ended
    uint16_t handle;
    int peer;
    int64_t lost_at;  // since when there was no contact; 0: there is
};

struct packet {
    int64_t come;     // from the host
    int64_t takes;    // of the air's time
    int64_t due;      // 0: it waits for the air
    size_t length;
    uint8_t bytes[MAX_PACKET];
};

// A command that waits for another adapter, which is out of reach or doesn't advertise yet.
struct attempt {
    uint16_t opcode;  // 0: none
    uint8_t address[6], address_type, status;
    int64_t due;      // 0: until it is cancelled
    uint8_t packet[MAX_COMMAND];  // as it came, where btvirt gets it later; else empty
    size_t length;
};

// What an advertising set says, or answers a scan with.
struct advertised {
    uint8_t bytes[MAX_ADVERTISED];
    uint8_t length;
};

// A set of extended advertising, the only kind that Linux uses if a controller has it.
struct advertising {
    bool used, enabled;
    uint8_t handle;
    uint16_t properties;
    int64_t interval;             // microseconds
    int64_t next;                 // advertising event
    bool awaited;                 // somebody is to hear it
    uint8_t address_type, address[6];
    uint8_t aim[6];               // whom directed advertising is for
    struct advertised data, response;
    uint32_t digest;              // of all that is heard of it
};

// How a host scans over LE.
struct scanning {
    bool enabled, active, repeats;
    uint32_t heard[MAX_ADAPTERS][MAX_SETS];  // digests of others' sets; 0: not yet
};

// A request to plug an adapter in again whose sender waits.
struct returning {
    int64_t until;  // 0: nobody
    struct sockaddr_un asker;
    socklen_t asker_size;
};

struct adapter {
    int vhci;         // -1: gone
    int emulator;
    struct returning waits;
    bool returning;   // the answer to the request for a new adapter is ours to read
    uint8_t address[6], random_address[6];
    uint8_t scan;
    uint8_t refusal;  // the status with which connecting to it fails; 0: it does not
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
    struct scanning scanning;
    uint8_t setting[MAX_COMMAND];  // the last command about advertising sets or the scan, until it is answered
    size_t setting_length;
    int64_t air_free;
    int served;       // the link whose packet went last
    int64_t encrypting_until;  // data for it waits until then; 0: not
    struct link links[MAX_LINKS];
    struct packet packets[MAX_PACKETS];
    int packet_count;
    struct attempt paging, naming, le_connecting;
};

#pragma GCC visibility push(hidden)

// All of this belongs to the thread, except `adapter_count` and a new adapter, which are changed with the lock held.
extern struct adapter adapters[MAX_ADAPTERS];
extern int adapter_count;
extern int control;                                       // the requests' socket
extern bool muted[MAX_ADAPTERS][MAX_ADAPTERS];
extern uint64_t sent_packets[MAX_ADAPTERS][MAX_ADAPTERS], sent_bytes[MAX_ADAPTERS][MAX_ADAPTERS];
extern uint32_t sent_sizes[MAX_ADAPTERS][MAX_ADAPTERS][LARGEST_DATA + 2];  // packets of each size; the last: larger ones
extern int64_t delay, supervision, page_timeout, page_time;  // microseconds
extern int64_t rate;                                         // bytes a second; 0: any
extern bool in_slots;                                        // BR/EDR's data goes in slots, whatever the rate

int64_t now(void);
void sooner(int64_t *next, int64_t time);
int real_open(const char *path, int flags, mode_t mode);

static inline uint16_t number(const uint8_t *bytes) { return bytes[0] | bytes[1] << 8; }

// told.c
void to_host(int a, const uint8_t *packet, size_t length);
void to_emulator(int a, const uint8_t *packet, size_t length);
void event(int a, uint8_t code, const uint8_t *parameters, uint8_t length);
void command_status(int a, uint16_t opcode, uint8_t status);
void command_complete(int a, uint16_t opcode, uint8_t status, const uint8_t *address);
void disconnection_complete(int a, uint16_t handle, uint8_t reason);
void no_connection(int a, const uint8_t *address, uint8_t status);
void authentication_complete(int a, struct link *link, uint8_t status);
void completed_packet(int a, uint16_t handle);

// links.c
int with_address(const uint8_t *address);
bool in_reach(int a, int b);
struct link *with_handle(int a, uint16_t handle);
struct link *other_end(int a, const struct link *link);
struct link *between(int a, int peer, bool le);
void add_link(int a, uint16_t handle, const uint8_t *address, bool le, bool central);
void end_link(int a, struct link *link, uint8_t reason);
void break_link(int a, struct link *link);
void leave_silent_link(int a, struct link *link);
void finish_half_links(int a, int b);
void watch_links(int a, int64_t time, int64_t *next);

// data.c
void drop_packets(int a, uint16_t handle);
void transmit(int a, const uint8_t *packet, size_t length);
void deliver_due(int a, int64_t time);

// attempts.c
void start_attempt(struct attempt *attempt, uint16_t opcode, const uint8_t *address, uint8_t type, uint8_t status,
                   int64_t after);
void end_attempt(int a, struct attempt *attempt, uint8_t status);
void watch_attempts(int a, int64_t time, int64_t *next);

// paging.c
void end_paging(int a, uint8_t own_status, uint8_t status);
bool pages(int a, const uint8_t *packet, size_t length);
void is_heard(int a);
void watch_paging(int a, int64_t time, int64_t *next);

// initiating.c
bool initiates(int a, const uint8_t *packet, size_t length);
void watch_initiating(int a);

// advertising.c
struct advertising *advertising(int a, uint8_t handle);
bool advertises(int a);
void advertising_is_set(int a);
void watch_advertising(int a, int64_t time, int64_t *next);

// scanning.c
void scanning_is_set(int a);
bool wants(int a, int advertiser, int set);
void hear(int a, int advertiser, int set);

// pairing.c
void tell_capabilities(int a, const uint8_t *parameters);
void authenticated(int a, struct link *link, uint8_t status);

// commands.c
void from_host(int a);

// events.c
void from_emulator(int a);

// requests.c
void answer_request(void);
void watch_returning(int a, int64_t time, int64_t *next);

#pragma GCC visibility pop

#endif
