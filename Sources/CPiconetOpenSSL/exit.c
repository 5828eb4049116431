#include <openssl/crypto.h>

// A program may exit while nodes run, and OpenSSL would then take its tables away under their threads. The system takes
// back all of it with the process.
__attribute__((constructor)) static void piconet_keep_openssl_at_exit(void) {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
