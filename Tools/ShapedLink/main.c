// A slow, long, lossy or broken cable between two network namespaces, for tests and benchmarks: packets go from one TUN
// device to the other through a queue with a rate, a delay and an end. Kernels without netem offer nothing of the kind.
//
//   shaped-link NAMESPACE ADDRESS NAMESPACE ADDRESS [rate=KBIT] [delay=MS] [loss=PERMILLE] [queue=BYTES]
//
// A namespace is a file such as /run/netns/a. Each end is a device `shaped` with its address (a /30). rate=0: as fast as
// it goes. Prints READY, and obeys lines on standard input until it ends: the same settings, `cut` (nothing passes),
// `join`. Each obeyed line is answered by `ok`. The end prints what passed and what was dropped.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { largest_packet = 2048, ring_slots = 8192, packets_a_turn = 32 };

struct packet {
  int64_t due;
  int count;
  unsigned char bytes[largest_packet];
};

struct direction {
  int from, to;
  struct packet *ring;
  unsigned head, waiting;
  long queued;
  // When the last byte put into the queue will have left it.
  int64_t free_at;
  unsigned long passed, dropped, lost;
};

static struct {
  double rate_kbit, delay_ms;
  long loss_permille, queue_bytes;
  bool is_cut;
} settings = {.queue_bytes = 64 * 1024};

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "shaped-link: %s: %s\n", what, strerror(errno));
  exit(1);
}

// A TUN device belongs to the namespace in which it was made; its descriptor works from anywhere.
static int end_of_cable(const char *network, const char *address) {
  int file = open(network, O_RDONLY | O_CLOEXEC);
  if (file < 0 || setns(file, CLONE_NEWNET) != 0) fail(network);
  close(file);
  int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (device < 0) fail("/dev/net/tun");
  struct ifreq request = {.ifr_name = "shaped"};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(device, TUNSETIFF, &request) != 0) fail("TUNSETIFF");

  int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in *socket_address = (struct sockaddr_in *)&request.ifr_addr;
  *socket_address = (struct sockaddr_in){.sin_family = AF_INET};
  if (inet_pton(AF_INET, address, &socket_address->sin_addr) != 1) errno = EINVAL, fail(address);
  if (ioctl(control, SIOCSIFADDR, &request) != 0) fail("SIOCSIFADDR");
  socket_address->sin_addr.s_addr = htonl(0xFFFFFFFC);
  if (ioctl(control, SIOCSIFNETMASK, &request) != 0) fail("SIOCSIFNETMASK");
  request.ifr_flags = IFF_UP | IFF_RUNNING | IFF_MULTICAST;
  if (ioctl(control, SIOCSIFFLAGS, &request) != 0) fail("SIOCSIFFLAGS");
  close(control);
  return device;
}

static bool set(const char *word) {
  char name[16];
  double value;
  if (strcmp(word, "cut") == 0 || strcmp(word, "join") == 0) {
    settings.is_cut = word[0] == 'c';
    return true;
  }
  if (sscanf(word, "%15[a-z]=%lf", name, &value) != 2 || value < 0) return false;
  if (strcmp(name, "rate") == 0) settings.rate_kbit = value;
  else if (strcmp(name, "delay") == 0) settings.delay_ms = value;
  else if (strcmp(name, "loss") == 0) settings.loss_permille = (long)value;
  else if (strcmp(name, "queue") == 0) settings.queue_bytes = (long)value;
  else return false;
  return true;
}

static void take_in(struct direction *way, int64_t time) {
  for (int turn = 0; turn < packets_a_turn; turn++) {
    unsigned slot = (way->head + way->waiting) % ring_slots;
    struct packet *packet = &way->ring[slot];
    unsigned char spare[largest_packet];
    bool is_full = way->waiting == ring_slots;
    ssize_t count = read(way->from, is_full ? spare : packet->bytes, largest_packet);
    if (count <= 0) return;
    if (settings.is_cut || lrand48() % 1000 < settings.loss_permille) {
      way->lost++;
    } else if (is_full || way->queued + count > settings.queue_bytes) {
      way->dropped++;
    } else {
      if (way->free_at < time) way->free_at = time;
      if (settings.rate_kbit > 0) way->free_at += (int64_t)((double)count * 8e6 / settings.rate_kbit);
      packet->due = way->free_at + (int64_t)(settings.delay_ms * 1e6);
      packet->count = (int)count;
      way->queued += count;
      way->waiting++;
    }
  }
}

static void let_out(struct direction *way, int64_t time) {
  while (way->waiting > 0 && way->ring[way->head].due <= time) {
    struct packet *packet = &way->ring[way->head];
    if (settings.is_cut) way->lost++;
    else if (write(way->to, packet->bytes, (size_t)packet->count) == packet->count) way->passed++;
    way->queued -= packet->count;
    way->head = (way->head + 1) % ring_slots;
    way->waiting--;
  }
}

// Obeys lines of standard input; false at its end.
static bool obey(void) {
  static char line[256];
  static size_t length;
  ssize_t count = read(STDIN_FILENO, line + length, sizeof line - 1 - length);
  if (count <= 0) return false;
  length += (size_t)count;
  line[length] = 0;
  for (char *end; (end = strchr(line, '\n')) != NULL;) {
    *end = 0;
    bool is_known = true;
    for (char *rest, *word = strtok_r(line, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
      is_known = set(word) && is_known;
    puts(is_known ? "ok" : "unknown");
    fflush(stdout);
    length -= (size_t)(end + 1 - line);
    memmove(line, end + 1, length + 1);
  }
  return length < sizeof line - 1;
}

int main(int count, char **arguments) {
  if (count < 5) {
    fprintf(stderr, "usage: shaped-link NAMESPACE ADDRESS NAMESPACE ADDRESS [rate=KBIT] [delay=MS] [loss=PERMILLE] [queue=BYTES]\n");
    return 2;
  }
  for (int i = 5; i < count; i++)
    if (!set(arguments[i])) errno = EINVAL, fail(arguments[i]);
  srand48(1);
  prctl(PR_SET_TIMERSLACK, 1000);
  int ends[2] = {end_of_cable(arguments[1], arguments[2]), end_of_cable(arguments[3], arguments[4])};
  struct direction ways[2] = {{.from = ends[0], .to = ends[1]}, {.from = ends[1], .to = ends[0]}};
  for (int i = 0; i < 2; i++)
    if ((ways[i].ring = calloc(ring_slots, sizeof(struct packet))) == NULL) fail("memory");
  puts("READY");
  fflush(stdout);
  for (;;) {
    int64_t time = now(), next = INT64_MAX;
    for (int i = 0; i < 2; i++) {
      let_out(&ways[i], time);
      if (ways[i].waiting > 0 && ways[i].ring[ways[i].head].due < next) next = ways[i].ring[ways[i].head].due;
    }
    struct pollfd watched[3] = {{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    struct timespec left = {.tv_nsec = 0};
    if (next > time && next != INT64_MAX) left = (struct timespec){(next - time) / 1000000000, (next - time) % 1000000000};
    if (ppoll(watched, 3, next == INT64_MAX ? NULL : &left, NULL) < 0 && errno != EINTR) fail("poll");
    time = now();
    for (int i = 0; i < 2; i++)
      if (watched[i].revents & POLLIN) take_in(&ways[i], time);
    if (watched[2].revents != 0 && !obey()) break;
  }
  for (int i = 0; i < 2; i++)
    printf("%s: passed %lu, queue full %lu, lost %lu\n", i == 0 ? "there" : "back", ways[i].passed, ways[i].dropped, ways[i].lost);
  return 0;
}
