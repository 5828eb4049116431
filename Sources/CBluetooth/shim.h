// Makes the C library's structures belong to SwiftGlibc, whichever module of a file is loaded first. Otherwise, under
// MemberImportVisibility, their members belong to this module in some orders of compiling, and a file that imports only
// Glibc does not build.
#ifdef __swift__
#pragma clang module import SwiftGlibc
#endif

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <bluetooth/l2cap.h>
#include <bluetooth/rfcomm.h>
#include <bluetooth/sdp.h>
#include <bluetooth/sdp_lib.h>
