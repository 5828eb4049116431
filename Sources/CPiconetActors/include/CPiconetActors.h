#pragma once

#ifdef __swift__
#pragma clang module import SwiftGlibc
#endif

/// How many functions the compiler has listed in this program or library as callable by name: every distributed method
/// of every type that is linked into it.
long piconet_distributed_method_count(void);

/// The mangled name of one of them; null if the list is not as it is expected to be.
const char *_Nullable piconet_distributed_method_name(long index);
