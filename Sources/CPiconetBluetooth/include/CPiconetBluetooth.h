#pragma once

// The C library's structures are SwiftGlibc's, whichever of the modules of a file is loaded first: else their members belong, under
// MemberImportVisibility, to this module in some orders of compiling, and a file that imports Glibc alone does not build.
#ifdef __swift__
#pragma clang module import SwiftGlibc
#endif

// What Swift can't import of libbluetooth, sd-bus and the kernel's Bluetooth sockets: one header a topic.
#include "adapters.h"
#include "diagnosis.h"
#include "hci.h"
#include "sdp.h"
#include "sockets.h"
