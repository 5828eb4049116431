// What a ClientHello says about the server it is for, before anything is answered.
#include "CPiconetOpenSSL.h"

#include <string.h>

struct found_name {
  int is_seen;
  int is_named;
  char *name;
  size_t capacity;
  size_t count;
};

// Ends the handshake here: the one that counts is another server's.
static int keep_name(SSL *ssl, int *alert, void *argument) {
  (void)argument;
  struct found_name *found = SSL_get_app_data(ssl);
  const unsigned char *list;
  size_t count;
  found->is_seen = 1;
  *alert = SSL_AD_INTERNAL_ERROR;
  // RFC 6066, section 3: the length of the list, and one name of type 0 with its length.
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &list, &count) && count > 5 &&
      list[2] == TLSEXT_NAMETYPE_host_name) {
    size_t length = (size_t)list[3] << 8 | list[4];
    if (length > 0 && length <= count - 5 && length <= found->capacity) {
      memcpy(found->name, list + 5, length);
      found->count = length;
      found->is_named = 1;
    }
  }
  return SSL_CLIENT_HELLO_ERROR;
}

SSL_CTX *piconet_client_hello_context(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (context) SSL_CTX_set_client_hello_cb(context, keep_name, NULL);
  return context;
}

int piconet_client_hello_name(
    SSL_CTX *context, const unsigned char *bytes, size_t count, char *name, size_t capacity, size_t *name_count) {
  struct found_name found = {.name = name, .capacity = capacity};
  int status = PICONET_CLIENT_HELLO_OTHER;
  SSL *ssl = SSL_new(context);
  BIO *input = BIO_new_mem_buf(bytes, (int)count);
  BIO *output = BIO_new(BIO_s_null());
  if (ssl && input && output) {
    BIO_set_mem_eof_return(input, -1);
    SSL_set_bio(ssl, input, output);
    input = output = NULL;
    SSL_set_app_data(ssl, &found);
    SSL_set_accept_state(ssl);
    int result = SSL_do_handshake(ssl);
    if (found.is_seen) {
      *name_count = found.count;
      if (found.is_named) status = PICONET_CLIENT_HELLO_NAMED;
    } else if (SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ) {
      status = PICONET_CLIENT_HELLO_INCOMPLETE;
    }
  }
  BIO_free(input);
  BIO_free(output);
  SSL_free(ssl);
  ERR_clear_error();
  return status;
}
