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
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
