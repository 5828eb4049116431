#pragma once

// Makes the C library's structures belong to SwiftGlibc, whichever module of a file is loaded first. Otherwise, under
// MemberImportVisibility, their members belong to this module in some orders of compiling, and a file that imports only
// Glibc does not build.
#ifdef __swift__
#pragma clang module import SwiftGlibc
#endif

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stddef.h>
#include <stdint.h>

enum { PICONET_RECORD_HEADER = 5, PICONET_COMPACT_HEADER = 2 };

// How far one direction is within its records, if their headers are compact.
struct piconet_record_place {
  unsigned char header[PICONET_RECORD_HEADER];
  // Bytes of the header that are here, and how many of those have been passed on (when reading).
  unsigned char header_count;
  unsigned char header_done;
  // Bytes of the body still to come.
  uint16_t body_left;
};

// What one TLS channel reads from and writes to instead of a socket. Records are read straight from the caller's
// buffer, so that ciphertext is copied once (into the record layer), and written to one buffer that grows.
struct piconet_channel_io {
  // Whether records have compact headers both ways (Documentation/wire-format.md, section 1).
  int is_compact;
  struct piconet_record_place reading;
  struct piconet_record_place writing;

  // The caller's ciphertext that has not been read yet; borrowed for the length of one call.
  const unsigned char *input;
  size_t input_count;

  // Waiting output: [output + output_start, output + output_end).
  unsigned char *output;
  size_t output_start;
  size_t output_end;
  size_t output_capacity;
  // More waiting output than this is refused.
  size_t output_limit;

  // For the decision to shrink: the most that waited since it was last empty; how many times in a row little of the
  // buffer was used; the most that was used in those times.
  size_t output_peak;
  size_t output_small_flushes;
  size_t output_small_peak;
};

// The least size to which the output buffer is allocated or shrunk.
enum { PICONET_OUTPUT_LEAST = 2048 };
// After this many flushes in a row that used less than a quarter of the output buffer, it is shrunk.
enum { PICONET_OUTPUT_SMALL_FLUSHES = 16 };

// Makes room for `count` more bytes of output. Returns 0 if the limit or the memory does not allow it.
int piconet_channel_io_reserve(struct piconet_channel_io *io, size_t count);
// The link has taken `count` bytes of the waiting output.
void piconet_channel_io_drained(struct piconet_channel_io *io, size_t count);
void piconet_channel_io_free(struct piconet_channel_io *io);

// A BIO over `io`, which must outlive it; NULL if out of memory.
BIO *piconet_channel_bio_new(struct piconet_channel_io *io);

// Of a client: the name of the server that it wants (SNI, RFC 6066, section 3). Returns 1, or 0 if it can't be one.
static inline int piconet_ssl_set_server_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

// What the bytes that a client has sent so far say about that name.
enum { PICONET_CLIENT_HELLO_INCOMPLETE, PICONET_CLIENT_HELLO_NAMED, PICONET_CLIENT_HELLO_OTHER };
// For `piconet_client_hello_name`, on any thread; NULL if out of memory.
SSL_CTX *piconet_client_hello_context(void);
// Writes the name, without a zero at its end; one that is longer than `capacity` counts as none.
int piconet_client_hello_name(
    SSL_CTX *context, const unsigned char *bytes, size_t count, char *name, size_t capacity, size_t *name_count);

// A P-256 key; NULL on failure (EVP_PKEY_Q_keygen is variadic).
EVP_PKEY *piconet_generate_p256(void);

enum { PICONET_SHA256 = 32 };

// HKDF (RFC 5869) with SHA-256 and no salt. Returns 1, or 0 if OpenSSL failed.
int piconet_hkdf_sha256(
    const unsigned char *key, size_t key_count, const unsigned char *info, size_t info_count, unsigned char *output,
    size_t output_count);
// HMAC (RFC 2104) with SHA-256, 32 bytes. Returns 1, or 0 if OpenSSL failed.
int piconet_hmac_sha256(
    const unsigned char *key, size_t key_count, const unsigned char *message, size_t message_count,
    unsigned char *output);

// SPAKE2 (RFC 9382) over P-256. Scalars are big-endian, points in uncompressed form.
enum { PICONET_SPAKE2_SCALAR = 32, PICONET_SPAKE2_POINT = 65, PICONET_SPAKE2_BAD_SHARE = -1 };

// w*M + x*P for A, w*N + y*P for B. Returns 1, or 0 if OpenSSL failed.
int piconet_spake2_share(
    int is_a, const unsigned char *password, const unsigned char *secret, unsigned char *share);
// K: x*(pB - w*N) for A, y*(pA - w*M) for B. Returns 1, PICONET_SPAKE2_BAD_SHARE for a share that is not a point of the
// group or gives the identity, or 0 if OpenSSL failed.
int piconet_spake2_group_element(
    int is_a, const unsigned char *password, const unsigned char *secret, const unsigned char *far_share,
    unsigned char *element);
// A wide number modulo the order of the group. Returns 1, or 0 if OpenSSL failed.
int piconet_spake2_reduce(const unsigned char *wide, size_t count, unsigned char *scalar);
// A scalar from 1 to the order less 1, all equally likely. Returns 1, or 0 if OpenSSL failed.
int piconet_spake2_random(unsigned char *scalar);

// For macros that Swift does not import.
static inline int piconet_ssl_ctx_set_protocol(SSL_CTX *context, int least, int most) {
  return SSL_CTX_set_min_proto_version(context, least) && SSL_CTX_set_max_proto_version(context, most);
}
static inline void piconet_ssl_ctx_set_mode(SSL_CTX *context, long mode) { SSL_CTX_set_mode(context, mode); }
static inline void piconet_ssl_set_mode(SSL *ssl, long mode) { SSL_set_mode(ssl, mode); }
static inline void piconet_ssl_clear_mode(SSL *ssl, long mode) { SSL_clear_mode(ssl, mode); }
static inline void piconet_ssl_ctx_no_session_cache(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
static inline void piconet_ssl_ctx_set_max_cert_list(SSL_CTX *context, long bytes) {
  SSL_CTX_set_max_cert_list(context, bytes);
}
static inline int piconet_ssl_ctx_set_groups(SSL_CTX *context, const char *list) {
  return (int)SSL_CTX_set1_groups_list(context, list);
}
static inline int piconet_ssl_ctx_set_signature_algorithms(SSL_CTX *context, const char *list) {
  return (int)SSL_CTX_set1_sigalgs_list(context, list);
}
static inline uint64_t piconet_ssl_options(void) {
  return SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE;
}
static inline void piconet_ssl_ctx_set_options(SSL_CTX *context) {
  SSL_CTX_set_options(context, piconet_ssl_options());
  // No ChangeCipherSpec for middleboxes (RFC 8446, appendix D.4): there are none on our links.
  SSL_CTX_clear_options(context, SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
}
static inline SSL *piconet_store_context_ssl(X509_STORE_CTX *context) {
  return (SSL *)X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx());
}
static inline int piconet_store_context_chain_count(X509_STORE_CTX *context) {
  return sk_X509_num(X509_STORE_CTX_get0_untrusted(context));
}
// Stacks of certificates and of names.
static inline STACK_OF(X509) *piconet_certificates_new(void) { return sk_X509_new_null(); }
// Takes over the reference.
static inline void piconet_certificates_push(STACK_OF(X509) *certificates, X509 *certificate) {
  if (sk_X509_push(certificates, certificate) == 0) X509_free(certificate);
}
// 0 for NULL.
static inline int piconet_certificates_count(const STACK_OF(X509) *certificates) {
  return certificates ? sk_X509_num(certificates) : 0;
}
static inline X509 *piconet_certificates_at(const STACK_OF(X509) *certificates, int index) {
  return sk_X509_value(certificates, index);
}
static inline void piconet_certificates_free(STACK_OF(X509) *certificates) { sk_X509_pop_free(certificates, X509_free); }
static inline STACK_OF(X509_NAME) *piconet_names_new(void) { return sk_X509_NAME_new_null(); }
// Adds the certificate's subject. Returns 1, or 0 if out of memory.
static inline int piconet_names_add(STACK_OF(X509_NAME) *names, X509 *certificate) {
  X509_NAME *name = X509_NAME_dup(X509_get_subject_name(certificate));
  if (name && sk_X509_NAME_push(names, name) > 0) return 1;
  X509_NAME_free(name);
  return 0;
}
static inline void piconet_names_free(STACK_OF(X509_NAME) *names) { sk_X509_NAME_pop_free(names, X509_NAME_free); }
// Sets a copy of the names. Returns 1, or 0 if out of memory.
static inline int piconet_ssl_ctx_set_authorities(SSL_CTX *context, const STACK_OF(X509_NAME) *names) {
  STACK_OF(X509_NAME) *copy = SSL_dup_CA_list(names);
  if (!copy) return 0;
  SSL_CTX_set0_CA_list(context, copy);
  return 1;
}
// How many authorities the other side has named.
static inline int piconet_ssl_named_authorities(const SSL *ssl) {
  const STACK_OF(X509_NAME) *names = SSL_get0_peer_CA_list(ssl);
  return names ? sk_X509_NAME_num(names) : 0;
}
static inline size_t piconet_memory_bio_bytes(BIO *bio, const unsigned char **bytes) {
  char *start = NULL;
  long count = BIO_get_mem_data(bio, &start);
  *bytes = (const unsigned char *)start;
  return count < 0 ? 0 : (size_t)count;
}
