#include "CPiconetOpenSSL.h"

#include <openssl/core_names.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

int piconet_hkdf_sha256(
    const unsigned char *key, size_t key_count, const unsigned char *info, size_t info_count, unsigned char *output,
    size_t output_count) {
  EVP_KDF *kdf = EVP_KDF_fetch(NULL, OSSL_KDF_NAME_HKDF, NULL);
  EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
  // OpenSSL only reads what a parameter for setting points to. Without a salt HKDF takes zeros (RFC 5869, section 2.2).
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, key_count),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count),
      OSSL_PARAM_construct_end(),
  };
  int done = context && EVP_KDF_derive(context, output, output_count, parameters) == 1;
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kdf);
  return done;
}

int piconet_hmac_sha256(
    const unsigned char *key, size_t key_count, const unsigned char *message, size_t message_count,
    unsigned char *output) {
  unsigned int written = 0;
  return HMAC(EVP_sha256(), key, (int)key_count, message, message_count, output, &written) != NULL &&
         written == PICONET_SHA256;
}
