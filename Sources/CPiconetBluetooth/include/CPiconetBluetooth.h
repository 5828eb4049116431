#pragma once

// Makes the C library's structures belong to SwiftGlibc, whichever module of a file is loaded first. Otherwise, under
// MemberImportVisibility, their members belong to this module in some orders of compiling, and a file that imports only
// Glibc does not build.
#ifdef __swift__
#pragma clang module import SwiftGlibc
#endif

// What Swift can't import from libbluetooth, sd-bus and the kernel's Bluetooth sockets: one header per topic.
#include "adapters.h"
#include "diagnosis.h"
#include "hci.h"
#include "sdp.h"
#include "sockets.h"
