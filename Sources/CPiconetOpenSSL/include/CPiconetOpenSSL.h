#ifndef CPICONET_OPENSSL_H
#define CPICONET_OPENSSL_H
#include <openssl/ssl.h>
#endif
