#include <openssl/evp.h>
#include <openssl/x509.h>

#include "baseline.h"

void use_new_certificate(SSL_CTX *context) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = X509_new();
  if (!key || !certificate) FAIL("key");
  X509_NAME *name = X509_get_subject_name(certificate);
  const unsigned char common_name[] = "tls-baseline";
  if (!X509_set_version(certificate, X509_VERSION_3) || !ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) ||
      !X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) ||
      !X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 3600) ||
      !X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common_name, -1, -1, 0) ||
      !X509_set_issuer_name(certificate, name) || !X509_set_pubkey(certificate, key) ||
      !X509_sign(certificate, key, EVP_sha256()))
    FAIL("certificate");
  if (SSL_CTX_use_certificate(context, certificate) != 1 || SSL_CTX_use_PrivateKey(context, key) != 1)
    FAIL("certificate's use");
  X509_free(certificate);
  EVP_PKEY_free(key);
}
