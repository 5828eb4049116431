import Foundation
import Glibc
import Testing

/// unshare(2), which the Glibc module lacks.
@_silgen_name("unshare") private func unshare(_ flags: CInt) -> CInt

/// A disk of 64 KiB, seen by one thread only: a tmpfs in that thread's own mount namespace, gone when the thread ends.
enum SmallDisk {
  static let byteCount: UInt64 = 64 << 10

  private static let newMountNamespace: CInt = 0x0002_0000
  private static let ownDescriptors: CInt = 0x0000_0400

  /// Whether this process may mount. Prints the reason if not.
  static let isAvailable: Bool = {
    do {
      return try run { _ in true }
    } catch {
      print("no test of a full disk: \(error); it needs root")
      return false
    }
  }()

  struct Unavailable: Error, CustomStringConvertible {
    let step: String
    let number: CInt
    var description: String { "\(step): \(String(cString: strerror(number)))" }
  }

  /// Runs `body` with the path of the disk. Expectations belong outside: inside, this is not the test's task.
  static func run<T: Sendable>(
    readOnly: Bool = false, options: String = "size=64k", _ body: @escaping @Sendable (String) throws -> T
  ) throws -> T {
    let folder = try TemporaryDirectory()
    let box = Mailbox<T>()
    // The thread gets only the path: the folder can't be removed while something is mounted on it.
    let thread = Thread { [path = folder.path] in
      box.put(
        Result {
          try mountPrivately(at: path, readOnly: readOnly, options)
          return try body(path)
        })
    }
    thread.start()
    return try withExtendedLifetime(folder) { try box.take().get() }
  }

  private static func mountPrivately(at path: String, readOnly: Bool, _ options: String) throws {
    // It has descriptors of its own, too: a program that another test starts has copies of all others until its
    // execve(2), and space is not free while a file is open.
    guard unshare(newMountNamespace | ownDescriptors) == 0 else { throw Unavailable(step: "unshare", number: errno) }
    let privately = UInt(MS_REC) | UInt(MS_PRIVATE)
    guard mount(nil, "/", nil, privately, nil) == 0 else { throw Unavailable(step: "mount /", number: errno) }
    let flags = readOnly ? UInt(MS_RDONLY) : 0
    guard mount("piconet", path, "tmpfs", flags, options) == 0 else {
      throw Unavailable(step: "mount tmpfs", number: errno)
    }
  }

  private final class Mailbox<T: Sendable>: @unchecked Sendable {
    // The semaphore puts the one write before the one read.
    private var value: Result<T, any Error>?
    private let semaphore = DispatchSemaphore(value: 0)

    func put(_ result: Result<T, any Error>) {
      value = result
      semaphore.signal()
    }

    func take() throws -> Result<T, any Error> {
      semaphore.wait()
      return try #require(value)
    }
  }
}
