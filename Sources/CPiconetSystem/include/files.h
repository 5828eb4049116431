#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <sys/xattr.h>

// glibc declares these only under _GNU_SOURCE, which an imported header must not define. The asm labels bind the
// declarations to glibc's own functions; the 64 in a name is the variant whose offsets are 64 bits on every machine.
extern int piconet_renameat2(int from_directory, const char *_Nonnull from, int to_directory,
                             const char *_Nonnull to, unsigned int flags) __asm__("renameat2");
extern int piconet_fallocate(int descriptor, int mode, int64_t offset, int64_t count) __asm__("fallocate64");
extern int piconet_sync_file_range(int descriptor, int64_t offset, int64_t count, unsigned int flags)
    __asm__("sync_file_range");
extern ssize_t piconet_copy_file_range(int from, int64_t *_Nullable from_offset, int to, int64_t *_Nullable to_offset,
                                       size_t count, unsigned int flags) __asm__("copy_file_range");

// From linux/fs.h and linux/falloc.h, whose other definitions collide with glibc's.
static const unsigned int PICONET_RENAME_NOREPLACE = 1;
static const int PICONET_FALLOC_FL_KEEP_SIZE = 1;
static const unsigned int PICONET_SYNC_FILE_RANGE_WRITE = 2;

// The value differs between architectures; __O_TMPFILE is glibc's, defined without _GNU_SOURCE.
static const int PICONET_O_TMPFILE = __O_TMPFILE;

// Makes the kernel ask a network or FUSE file system for what it remembers of a file; without effect on others, and if
// there is no such file.
extern void piconet_refresh_status(int directory, const char *_Nonnull name);

// A function, because in Swift the structure and the call share a name. The number is TMPFS_MAGIC of linux/magic.h.
static inline bool piconet_is_tmpfs(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 && status.f_type == 0x01021994;
}
