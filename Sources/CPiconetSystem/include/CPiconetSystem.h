#pragma once

// Makes the C library's structures belong to SwiftGlibc, whichever module of a file is loaded first. Otherwise, under
// MemberImportVisibility, their members belong to this module in some orders of compiling, and a file that imports only
// Glibc does not build.
#ifdef __swift__
#pragma clang module import SwiftGlibc
#endif

#include "PiconetErrors.h"
#include "PiconetEventLoop.h"
#include "PiconetProcess.h"
#include "PiconetSockets.h"
#include "files.h"
#include "confined.h"
#include "landlock.h"
#include "process-limits.h"
#include "multicast.h"
#include "terminal.h"
