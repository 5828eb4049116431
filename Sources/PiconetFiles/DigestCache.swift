import CPiconetSystem
import Glibc
import Synchronization

extension SHA256Digest {
  /// Digests of files, kept from one run of a program to the next, so that large unchanged files are not read again. A
  /// table with a limit, in memory: the program keeps it in a file (`encode`, `merge`).
  ///
  /// A file is identified by device, inode, size and both times of change in nanoseconds. The kernel sets the second
  /// one (`st_ctim`) whenever content, links or rights change, and no program can set it back. So the cache mistakes
  /// neither a rewrite whose modification time was restored nor another file under the same name for the one that was
  /// read.
  ///
  /// A file that was changed within two seconds before the look at it is not noted: it may change again within the same
  /// tick of the kernel's clock. A file whose times are in the future, because the clock was set back, is neither noted
  /// nor found.
  ///
  /// Only files on file systems that store inode numbers and the kernel's time of change count: on FAT and exFAT, over
  /// FUSE or over a network, another file may look the same. Any thread may use it.
  package final class Cache: Sendable {
    /// The number of files that are remembered. Those that were not seen for the most runs make room.
    package static let limit = 131_072
    /// The age of the youngest noted change, in nanoseconds.
    static let youngest: Int64 = 2_000_000_000

    struct Entry: Hashable, Sendable {
      let stamp: FileStamp
      let digest: SHA256Digest
      /// The run in which it was last used: no clock can make that wrong.
      var run: UInt32
    }

    struct State {
      var entries: [Entry] = []
      /// The places in `entries`, by hash values of stamps: of two stamps with one value the newer counts.
      var places: [Int: Int32] = [:]
      var run: UInt32 = 1
      /// The place where the search for the next entry to replace begins.
      var next = 0
      /// The number of entries passed over since one made room: once all were, all have been used in this run.
      var passed = 0
      var unsaved = 0
    }

    let limit: Int
    let state = Mutex(State())

    /// - Parameter limit: another limit, for tests.
    package init(limit: Int = Cache.limit) { self.limit = max(1, limit) }

    private static let current = Mutex<Cache?>(nil)

    /// The cache of this process, used for files that are sent, or compared with an offer. A program sets it before it
    /// reads any file; nil: every file is read.
    package static var ofProcess: Cache? {
      get { current.withLock { $0 } }
      set { current.withLock { $0 = newValue } }
    }

    /// The number of digests noted since it was last saved.
    package var unsavedCount: Int { state.withLock { $0.unsaved } }
    package var count: Int { state.withLock { $0.entries.count } }

    /// Returns the digest of a file, as long as the file system says that it has not changed.
    /// - Parameter now: nanoseconds since 1970.
    package func digest(of status: stat, at now: Int64 = Cache.now) -> SHA256Digest? {
      digest(of: FileStamp(status), at: now)
    }

    /// Notes the digest of a file that was read.
    /// - Parameters:
    ///   - status: the file's status both before it was read and after.
    ///   - lookedAt: when the status was first read, in nanoseconds since 1970.
    ///   - descriptor: the file's descriptor.
    package func note(_ digest: SHA256Digest, of status: stat, lookedAt: Int64, in descriptor: Int32) {
      note(digest, of: FileStamp(status), lookedAt: lookedAt, in: descriptor)
    }

    /// Nanoseconds since 1970.
    package static var now: Int64 { FileDigests.now }

    func digest(of stamp: FileStamp, at now: Int64 = Cache.now) -> SHA256Digest? {
      guard stamp.age(at: now) >= Self.youngest else { return nil }
      return state.withLock { state in
        guard let place = state.places[stamp.hashValue].map(Int.init), state.entries[place].stamp == stamp else {
          return nil
        }
        state.entries[place].run = state.run
        return state.entries[place].digest
      }
    }

    func note(_ digest: SHA256Digest, of stamp: FileStamp, lookedAt: Int64, in descriptor: Int32) {
      guard stamp.age(at: lookedAt) >= Self.youngest, Self.keepsIdentity(descriptor) else { return }
      state.withLock { state in
        state.put(Entry(stamp: stamp, digest: digest, run: state.run), limit: limit)
        state.unsaved += 1
      }
    }

    /// Returns whether the file system of a file stores the properties that identify it. The numbers are those of
    /// statfs(2).
    static func keepsIdentity(_ descriptor: Int32) -> Bool {
      var status = statfs()
      guard fstatfs(descriptor, &status) == 0 else { return false }
      return kept.contains(UInt32(truncatingIfNeeded: status.f_type))
    }

    /// ext2 to ext4, XFS, Btrfs, F2FS, bcachefs, ZFS, JFS, NILFS, tmpfs and overlayfs.
    private static let kept: Set<UInt32> = [
      0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0xCA45_1A4E, 0x2FC1_2FC1, 0x3153_464A, 0x3434, 0x0102_1994,
      0x794C_7630,
    ]
  }
}

extension SHA256Digest.Cache.State {
  /// Adds an entry; the oldest makes room.
  mutating func put(_ entry: SHA256Digest.Cache.Entry, limit: Int) {
    let key = entry.stamp.hashValue
    if let place = places[key] {
      entries[Int(place)] = entry
    } else if entries.count < limit {
      places[key] = Int32(entries.count)
      entries.append(entry)
    } else {
      let place = placeToGiveAway()
      places[entries[place].stamp.hashValue] = nil
      places[key] = Int32(place)
      entries[place] = entry
    }
  }

  /// Entries are in the order of their last use, except those of this run.
  private mutating func placeToGiveAway() -> Int {
    while passed < entries.count, entries[next].run == run {
      passed += 1
      next = (next + 1) % entries.count
    }
    if passed < entries.count { passed = 0 }
    defer { next = (next + 1) % entries.count }
    return next
  }
}
