// unshare(2), O_PATH.
#define _GNU_SOURCE
#include "confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { longest_path = 512 };

/// Where the new root is put together: a directory that every system has. The mount is this process's alone.
static const char place[] = "/tmp";

static bool write_file(const char *path, const char *text, size_t count) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool is_written = write(file, text, count) == (ssize_t)count;
  close(file);
  return is_written;
}

/// Appends a number in digits.
static size_t append_number(char *text, size_t count, unsigned long number) {
  char digits[24];
  size_t length = 0;
  do {
    digits[length++] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (length > 0) text[count++] = digits[--length];
  return count;
}

/// Inside, the user has the number of "nobody": execve(2) leaves only number 0 its rights over the namespace.
static bool map_number(const char *path, unsigned long number) {
  char text[64] = "65534 ";
  size_t count = append_number(text, 6, number);
  memcpy(text + count, " 1\n", 3);
  return write_file(path, text, count + 3);
}

/// Root needs no namespace of users, in which it would lose its rights to the files of others.
static bool enter_namespace(void) {
  uid_t user = geteuid();
  gid_t group = getegid();
  if (user == 0) {
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
  }
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  write_file("/proc/self/setgroups", "deny", 4);
  return map_number("/proc/self/uid_map", user) && map_number("/proc/self/gid_map", group);
}

/// Makes the directories on the way to a path, and an empty file or directory at its end.
static bool make_place(char *path, size_t root, bool is_directory) {
  for (char *next = path + root + 1; *next; next++) {
    if (*next != '/') continue;
    *next = 0;
    bool is_made = mkdir(path, 0755) == 0 || errno == EEXIST;
    *next = '/';
    if (!is_made) return false;
  }
  if (is_directory) return mkdir(path, 0755) == 0 || errno == EEXIST;
  int file = open(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file >= 0) close(file);
  return file >= 0;
}

/// Shows what is at a path at another one below the new root. What is not there is passed over.
static bool show(const char *source, const char *path) {
  char target[longest_path];
  size_t root = strlen(place), length = strlen(path);
  if (path[0] != '/' || root + length + 1 > sizeof target) return false;
  memcpy(target, place, root);
  memcpy(target + root, path, length + 1);
  while (length > 1 && target[root + length - 1] == '/') target[root + --length] = 0;
  struct stat status;
  if (stat(source, &status) != 0) return true;
  if (!make_place(target, root, S_ISDIR(status.st_mode))) return false;
  return mount(source, target, NULL, MS_BIND | MS_REC, NULL) == 0;
}

/// The directory of this process's open files, which /proc/self leads to now and not in the new root.
static bool show_open_files(void) {
  char source[64] = "/proc/";
  size_t count = append_number(source, 6, (unsigned long)getpid());
  memcpy(source + count, "/fd", 4);
  return show(source, "/proc/self/fd");
}

static bool fill(const struct piconet_confined *program) {
  if (mount("none", place, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") != 0) return false;
  for (const char *const *path = program->readable; *path; path++) {
    if (!show(*path, *path)) return false;
  }
  return show_open_files();
}

void piconet_confined_leave_root(const struct piconet_confined *program) {
  // What the program reads could be at the place itself.
  for (const char *const *path = program->readable; *path; path++) {
    if (strncmp(*path, place, sizeof place - 1) == 0) return;
  }
  if (!enter_namespace() || !fill(program) || chdir(place) != 0) return;
  if (syscall(SYS_pivot_root, ".", ".") == 0) umount2(".", MNT_DETACH);
}
