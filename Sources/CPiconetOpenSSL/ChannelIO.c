// The BIO of a TLS channel (BIO_meth_new(3)): bytes in from the caller's buffer, bytes out to a buffer that grows.
#include "CPiconetOpenSSL.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int piconet_channel_io_reserve(struct piconet_channel_io *io, size_t count) {
  size_t waiting = io->output_end - io->output_start;
  if (count > io->output_limit || waiting > io->output_limit - count) return 0;
  if (count <= io->output_capacity - io->output_end) return 1;

  // Moving the waiting bytes to the front is paid for by at least as many bytes that were drained before.
  if (io->output_start >= waiting && waiting + count <= io->output_capacity) {
    memcpy(io->output, io->output + io->output_start, waiting);
    io->output_start = 0;
    io->output_end = waiting;
    return 1;
  }

  size_t capacity = io->output_capacity ? io->output_capacity * 2 : PICONET_OUTPUT_LEAST;
  if (capacity < waiting + count) capacity = waiting + count;
  // Not realloc, which would also copy what is already drained.
  unsigned char *output = malloc(capacity);
  if (!output) return 0;
  if (waiting) memcpy(output, io->output + io->output_start, waiting);
  free(io->output);
  io->output = output;
  io->output_start = 0;
  io->output_end = waiting;
  io->output_capacity = capacity;
  return 1;
}

// Called when the output is empty. A buffer that bulk made large shrinks once only small flushes (heartbeats) follow;
// bulk itself never waits for malloc.
static void consider_shrinking(struct piconet_channel_io *io) {
  size_t peak = io->output_peak;
  io->output_peak = 0;
  if (io->output_capacity <= PICONET_OUTPUT_LEAST || peak >= io->output_capacity / 4) {
    io->output_small_flushes = 0;
    io->output_small_peak = 0;
    return;
  }
  if (peak > io->output_small_peak) io->output_small_peak = peak;
  if (++io->output_small_flushes < PICONET_OUTPUT_SMALL_FLUSHES) return;
  size_t capacity = io->output_small_peak < PICONET_OUTPUT_LEAST ? PICONET_OUTPUT_LEAST : io->output_small_peak;
  unsigned char *output = malloc(capacity);
  if (!output) return;
  free(io->output);
  io->output = output;
  io->output_capacity = capacity;
  io->output_small_flushes = 0;
  io->output_small_peak = 0;
}

void piconet_channel_io_drained(struct piconet_channel_io *io, size_t count) {
  size_t waiting = io->output_end - io->output_start;
  if (waiting > io->output_peak) io->output_peak = waiting;
  if (count < waiting) {
    io->output_start += count;
    return;
  }
  io->output_start = 0;
  io->output_end = 0;
  if (waiting) consider_shrinking(io);
}

void piconet_channel_io_free(struct piconet_channel_io *io) {
  free(io->output);
  memset(io, 0, sizeof *io);
}

// RFC 8446, section 5.2: the bytes before the length of every protected record.
static const unsigned char protected_record[] = {SSL3_RT_APPLICATION_DATA, 3, 3};

// A compact header is two bytes: the length, with the high bit set, which no TLS content type has.
enum { COMPACT = 0x80 };

static size_t least(size_t one, size_t other) { return one < other ? one : other; }

// Puts `count` bytes of records into the output, which has room for them, with compact headers where possible.
static void put_compact(struct piconet_channel_io *io, const unsigned char *bytes, size_t count) {
  struct piconet_record_place *place = &io->writing;
  unsigned char *output = io->output + io->output_end;

  while (count > 0) {
    if (place->body_left > 0) {
      size_t length = least(count, place->body_left);
      memcpy(output, bytes, length);
      output += length, bytes += length, count -= length;
      place->body_left -= (uint16_t)length;
      continue;
    }
    // OpenSSL writes whole records, or, during a key update, pieces of them as its buffers fill.
    place->header[place->header_count++] = *bytes;
    bytes++, count--;
    if (place->header_count < PICONET_RECORD_HEADER) continue;
    place->header_count = 0;
    place->body_left = (uint16_t)(place->header[3] << 8 | place->header[4]);
    int is_long = memcmp(place->header, protected_record, sizeof protected_record) != 0 || place->header[3] >= COMPACT;
    if (!is_long) place->header[3] |= COMPACT;
    size_t skipped = is_long ? 0 : sizeof protected_record;
    memcpy(output, place->header + skipped, PICONET_RECORD_HEADER - skipped);
    output += PICONET_RECORD_HEADER - skipped;
  }
  io->output_end = (size_t)(output - io->output);
}

// Takes what there is of the next record's header from the input. Returns 1 once it is whole, in TLS's form.
static int take_header(struct piconet_channel_io *io) {
  struct piconet_record_place *place = &io->reading;

  while (io->input_count > 0) {
    place->header[place->header_count++] = *io->input++;
    io->input_count--;
    int is_compact = place->header[0] >= COMPACT;
    if (place->header_count < (is_compact ? PICONET_COMPACT_HEADER : PICONET_RECORD_HEADER)) continue;
    if (is_compact) {
      place->header[3] = place->header[0] & (COMPACT - 1);
      place->header[4] = place->header[1];
      memcpy(place->header, protected_record, sizeof protected_record);
      place->header_count = PICONET_RECORD_HEADER;
    }
    // OpenSSL refuses a length that a record can't have.
    place->body_left = (uint16_t)(place->header[3] << 8 | place->header[4]);
    return 1;
  }
  return 0;
}

// Gives as many of the wanted bytes as there are, up to the end of a header or a body; 0: none yet.
static size_t get_compact(struct piconet_channel_io *io, char *bytes, size_t count) {
  struct piconet_record_place *place = &io->reading;

  if (place->header_count == 0 && place->body_left > 0) {
    count = least(count, least(place->body_left, io->input_count));
    if (count > 0) memcpy(bytes, io->input, count);
    io->input += count;
    io->input_count -= count;
    place->body_left -= (uint16_t)count;
    return count;
  }
  if (place->header_done == 0 && place->header_count < PICONET_RECORD_HEADER && !take_header(io)) return 0;
  count = least(count, (size_t)(place->header_count - place->header_done));
  memcpy(bytes, place->header + place->header_done, count);
  place->header_done += (unsigned char)count;
  if (place->header_done == place->header_count) place->header_done = place->header_count = 0;
  return count;
}

static int channel_write(BIO *bio, const char *bytes, size_t count, size_t *written) {
  struct piconet_channel_io *io = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (io->is_compact) {
    // Including the part of a header that an earlier write left.
    if (!piconet_channel_io_reserve(io, count + io->writing.header_count)) return -1;
    put_compact(io, (const unsigned char *)bytes, count);
  } else {
    if (!piconet_channel_io_reserve(io, count)) return -1;
    memcpy(io->output + io->output_end, bytes, count);
    io->output_end += count;
  }
  *written = count;
  return 1;
}

static int channel_read(BIO *bio, char *bytes, size_t count, size_t *read) {
  struct piconet_channel_io *io = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (io->is_compact) {
    count = get_compact(io, bytes, count);
  } else if (io->input_count > 0) {
    count = least(count, io->input_count);
    memcpy(bytes, io->input, count);
    io->input += count;
    io->input_count -= count;
  } else {
    count = 0;
  }
  *read = count;
  if (count > 0) return 1;
  BIO_set_retry_read(bio);
  return -1;
}

static long channel_control(BIO *bio, int command, long number, void *pointer) {
  (void)bio, (void)number, (void)pointer;
  return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *channel_method;
static pthread_once_t channel_method_once = PTHREAD_ONCE_INIT;

// Lives as long as the process.
static void make_channel_method(void) {
  BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "piconet channel");
  if (!method) return;
  if (!BIO_meth_set_write_ex(method, channel_write) || !BIO_meth_set_read_ex(method, channel_read) ||
      !BIO_meth_set_ctrl(method, channel_control)) {
    BIO_meth_free(method);
    return;
  }
  channel_method = method;
}

BIO *piconet_channel_bio_new(struct piconet_channel_io *io) {
  pthread_once(&channel_method_once, make_channel_method);
  if (!channel_method) return NULL;
  BIO *bio = BIO_new(channel_method);
  if (!bio) return NULL;
  BIO_set_data(bio, io);
  BIO_set_init(bio, 1);
  return bio;
}
