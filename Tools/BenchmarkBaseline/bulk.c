#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baseline.h"

enum { chunk = 64 << 10, digest_size = 32 };

/* What goes before the content: its length and whether a digest follows it, in this host's byte order. */
struct header {
  uint64_t length;
  uint64_t has_digest;
};

static EVP_MD_CTX *new_digest(bool wanted) {
  if (!wanted) return NULL;
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  if (!context || !EVP_DigestInit_ex(context, EVP_sha256(), NULL)) FAIL("SHA-256");
  return context;
}

static void finish(const struct options *options, struct span start, uint64_t length) {
  struct span used = since(start);
  report(options, used, peak_resident_kib());
  printf(",\"bytes\":%llu,\"sha256\":%s}\n", (unsigned long long)length, options->sha256 ? "true" : "false");
}

static void send_file(const struct options *options, unsigned char *buffer) {
  int file = open(options->file, O_RDONLY | O_CLOEXEC);
  struct stat state;
  if (file < 0 || fstat(file, &state)) FAIL(options->file);
  SSL *channel = open_channel(options);
  struct header header = {(uint64_t)state.st_size, options->sha256};
  struct span start = begin();
  EVP_MD_CTX *digest = new_digest(options->sha256);
  send_bytes(channel, &header, sizeof header);
  for (uint64_t left = header.length; left;) {
    ssize_t got = read(file, buffer, chunk);
    if (got <= 0) FAIL("read");
    if (digest && !EVP_DigestUpdate(digest, buffer, (size_t)got)) FAIL("SHA-256");
    send_bytes(channel, buffer, (size_t)got);
    left -= (uint64_t)got;
  }
  if (digest) {
    if (!EVP_DigestFinal_ex(digest, buffer, NULL)) FAIL("SHA-256");
    send_bytes(channel, buffer, digest_size);
  }
  /* The time ends when the remote side has all of it in its file. */
  receive_bytes(channel, buffer, 1);
  finish(options, start, header.length);
}

static void receive_file(struct options options, unsigned char *buffer) {
  SSL *channel = open_channel(&options);
  struct header header;
  receive_bytes(channel, &header, sizeof header);
  struct span start = begin();
  options.sha256 = header.has_digest != 0;
  EVP_MD_CTX *digest = new_digest(options.sha256);
  int file = open(options.out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) FAIL(options.out);
  for (uint64_t left = header.length; left;) {
    size_t got = receive_some(channel, buffer, left < chunk ? (size_t)left : chunk);
    if (digest && !EVP_DigestUpdate(digest, buffer, got)) FAIL("SHA-256");
    for (size_t done = 0; done < got;) {
      ssize_t written = write(file, buffer + done, got - done);
      if (written < 0 && errno != EINTR) FAIL("write");
      if (written > 0) done += (size_t)written;
    }
    left -= got;
  }
  if (digest) {
    unsigned char theirs[digest_size];
    receive_bytes(channel, theirs, digest_size);
    if (!EVP_DigestFinal_ex(digest, buffer, NULL)) FAIL("SHA-256");
    if (memcmp(theirs, buffer, digest_size)) FAIL("the digests differ");
  }
  if (fsync(file) || close(file)) FAIL("fsync, close");
  send_bytes(channel, "", 1);
  finish(&options, start, header.length);
}

/* One file from the client to the server. With --sha256 both ends hash it as it passes and compare, as Piconet does. */
void bulk(const struct options *options) {
  if (!options->server && !options->file) FAIL("--file is missing");
  if (options->server && !options->out) FAIL("--out is missing");
  unsigned char *buffer = aligned_alloc(4096, chunk);
  if (!buffer) FAIL("memory");
  if (options->server) receive_file(*options, buffer);
  else send_file(options, buffer);
}
