import Glibc
import Synchronization

/// The properties of a file that stay unchanged as long as its content does: device, inode, size, times of change.
struct FileStamp: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
  let size: UInt64
  let modified: ModificationTime
  let changed: ModificationTime

  /// Whether the file system's times are whole seconds.
  var isCoarse: Bool { modified.nanoseconds == 0 && changed.nanoseconds == 0 }

  /// Nanoseconds since the last change; 0 for a time in the future.
  func age(at now: Int64) -> Int64 {
    let last = max(modified.seconds, changed.seconds)
    let (product, overflow) = last.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow, product < now else { return 0 }
    let latest = max(
      modified.seconds == last ? Int64(modified.nanoseconds) : 0,
      changed.seconds == last ? Int64(changed.nanoseconds) : 0)
    return max(0, now.subtractingReportingOverflow(product).partialValue - latest)
  }

  init(device: UInt64, inode: UInt64, size: UInt64, modified: ModificationTime, changed: ModificationTime) {
    (self.device, self.inode, self.size, self.modified, self.changed) = (device, inode, size, modified, changed)
  }

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = UInt64(clamping: status.st_size)
    modified = ModificationTime(status.st_mtim)
    changed = ModificationTime(status.st_ctim)
  }
}

/// Digests of files that were read for a comparison, so that no peer can make this device read the same files over and
/// over. If the process has a `SHA256Digest.Cache`, also those that the cache remembers. Any thread may use it.
final class FileDigests: Sendable {
  struct Key: Hashable, Sendable {
    /// On some file systems (FAT) inode numbers are only momentary.
    let path: String
    let stamp: FileStamp
  }

  static let limit = 1_024
  /// In nanoseconds: a file that was changed more recently may change again without a change of its times. The kernel
  /// takes those from its last tick; FAT counts in steps of two seconds.
  static let youngest: Int64 = 100_000_000
  static let youngestWhereCoarse: Int64 = 4_000_000_000

  private struct State {
    var digests: [Key: SHA256Digest] = [:]
    var order: [Key] = []
    var next = 0
  }

  private let state = Mutex(State())

  func digest(of key: Key) -> SHA256Digest? {
    state.withLock { $0.digests[key] } ?? SHA256Digest.Cache.ofProcess?.digest(of: key.stamp)
  }

  /// Notes a digest; the oldest makes room.
  /// - Parameter now: when the file was looked at, before it was read.
  func note(_ digest: SHA256Digest, of key: Key, at now: Int64 = FileDigests.now) {
    guard key.stamp.age(at: now) >= (key.stamp.isCoarse ? Self.youngestWhereCoarse : Self.youngest) else { return }
    state.withLock { state in
      guard state.digests.updateValue(digest, forKey: key) == nil else { return }
      if state.order.count < Self.limit {
        state.order.append(key)
      } else {
        state.digests[state.order[state.next]] = nil
        state.order[state.next] = key
        state.next = (state.next + 1) % Self.limit
      }
    }
  }

  /// Nanoseconds since 1970.
  static var now: Int64 {
    var time = timespec()
    guard clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
    // A clock beyond the year 2262.
    let (nanoseconds, isBeyond) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    return isBeyond ? (time.tv_sec < 0 ? .min : .max) : nanoseconds &+ Int64(time.tv_nsec)
  }
}
