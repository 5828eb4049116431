// What btvirt opens is replaced here, and here is the thread that does everything.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "air.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int wake[2] = { -1, -1 };
struct adapter adapters[MAX_ADAPTERS];
int adapter_count;
int control = -1;
bool muted[MAX_ADAPTERS][MAX_ADAPTERS];
uint64_t sent_packets[MAX_ADAPTERS][MAX_ADAPTERS], sent_bytes[MAX_ADAPTERS][MAX_ADAPTERS];
uint32_t sent_sizes[MAX_ADAPTERS][MAX_ADAPTERS][LARGEST_DATA + 2];
int64_t delay, supervision = 20000000, page_timeout = 5120000;
// On air nobody is heard at once. Besides, bluetoothd withdraws a passing pairing when it gets to read that the link
// has ended, and with it ends whatever link there is by then.
int64_t page_time = 200000;
int64_t rate;
bool in_slots;

int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * (int64_t)1000000 + time.tv_nsec / 1000;
}

// The earlier of two times; 0: none.
void sooner(int64_t *next, int64_t time)
{
    if (time > 0 && (*next == 0 || time < *next))
        *next = time;
}

int real_open(const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

// Does what is due, and says when there is more to do; 0: never.
static int64_t pass_time(void)
{
    int64_t time = now(), next = 0;
    for (int a = 0; a < adapter_count; a++) {
        deliver_due(a, time);
        for (int i = 0; i < adapters[a].packet_count; i++) {
            int64_t due = adapters[a].packets[i].due;
            if (due == 0)
                sooner(&next, adapters[a].air_free);
            else if (due > time)
                sooner(&next, due);
        }
        if (adapters[a].encrypting_until > time)
            sooner(&next, adapters[a].encrypting_until);
        watch_links(a, time, &next);
        watch_attempts(a, time, &next);
        watch_initiating(a);
        watch_advertising(a, time, &next);
        watch_paging(a, time, &next);
        watch_returning(a, time, &next);
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
        // Requests last: one may close what was just read from.
        if (polls[1].revents)
            answer_request();
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void start(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const char *path = getenv("PICONET_FAULTS");
    sigset_t all, before;
    pthread_t thread;

    // A memory page that has yet to be read from the host's disk might delay the first command, for which the kernel
    // waits two seconds.
    mlockall(MCL_CURRENT);
    if (!path || strlen(path) >= sizeof address.sun_path || pipe2(wake, O_NONBLOCK | O_CLOEXEC) < 0)
        abort();
    strcpy(address.sun_path, path);
    unlink(path);
    control = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    // Any user who tests may ask, root or not.
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
