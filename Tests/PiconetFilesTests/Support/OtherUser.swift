import Glibc

/// setfsuid(2), which the Glibc module lacks: as which user the file system sees the calling thread, and no other.
@_silgen_name("setfsuid") private func setFileSystemUser(_ user: uid_t) -> CInt

/// Runs `body` as a user without privileges: as user 65534 if the tests run as root.
func asOtherUser<T>(_ body: () throws -> T) rethrows -> T {
  guard geteuid() == 0 else { return try body() }
  _ = setFileSystemUser(65534)
  defer { _ = setFileSystemUser(0) }
  return try body()
}
