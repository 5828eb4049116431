#include "CPiconetOpenSSL.h"

EVP_PKEY *piconet_generate_p256(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); }
