// Requests for bad weather: see `fault` for what they mean.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "air.h"

enum { PATIENCE = 4000000, PAUSE = 20000 };  // microseconds

// Whether something still holds what was hciA, so that the kernel would give another number: bluetoothd's channels over
// an LE link do, until it gets to close them.
static bool is_held(int a)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/kernel/debug/bluetooth/hci%d", a);
    return access(path, F_OK) == 0;
}

static const char *come_back(int a)
{
    if (adapters[a].vhci >= 0)
        return "error it is not gone";
    if (is_held(a))
        return NULL;
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

static void sizes_out(int a, int b, char *answer, size_t size)
{
    size_t used = 0;
    for (int bytes = 0; bytes <= LARGEST_DATA + 1; bytes++)
        if (sent_sizes[a][b][bytes] && used < size)
            used += (size_t)snprintf(answer + used, size - used, "%d %u\n", bytes, sent_sizes[a][b][bytes]);
    if (used == 0)
        snprintf(answer, size, "ok");
    memset(sent_sizes[a][b], 0, sizeof sent_sizes[a][b]);
}

static void cut(int a, int b)
{
    for (int i = 0; i < MAX_LINKS; i++)
        if (adapters[a].links[i].used && adapters[a].links[i].peer == b)
            break_link(a, &adapters[a].links[i]);
}

static void answer(const struct sockaddr_un *to, socklen_t size, const char *text)
{
    if (size > sizeof to->sun_family)
        sendto(control, text, strlen(text), MSG_DONTWAIT, (const struct sockaddr *)to, size);
}

// An adapter that waits for its number.
void watch_returning(int a, int64_t time, int64_t *next)
{
    struct returning *returning = &adapters[a].waits;
    if (returning->until == 0)
        return;
    const char *result = come_back(a);
    if (!result && time < returning->until) {
        sooner(next, time + PAUSE);
        return;
    }
    returning->until = 0;
    answer(&returning->asker, returning->asker_size, result ? result : "error somebody still holds what it was");
}

void answer_request(void)
{
    char request[256], word[32] = "", rest, lines[32768];
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
    } else if (one && a <= 1 && strcmp(word, "slots") == 0) {
        in_slots = a == 1;
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
        result = adapters[a].waits.until ? "error it is about to come" : come_back((int)a);
        if (!result) {
            adapters[a].waits = (struct returning){ .until = now() + PATIENCE, .asker = from, .asker_size = size };
            return;
        }
    } else if (words == 1 && strcmp(word, "count") == 0) {
        count_out(lines, sizeof lines);
        result = lines;
    } else if (two && strcmp(word, "sizes") == 0) {
        sizes_out((int)a, (int)b, lines, sizeof lines);
        result = lines;
    }
    answer(&from, size, result);
}
