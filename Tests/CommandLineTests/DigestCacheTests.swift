import Glibc
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

private let second: Int64 = 1_000_000_000

/// A file that is looked at, written and replaced.
private struct Photo {
  let path: String

  init(_ folder: TemporaryFolder, _ name: String = "a.jpg", _ bytes: [UInt8] = [1, 2, 3]) throws {
    path = try folder.write(name, bytes)
  }

  init(path: String) { self.path = path }

  var status: stat {
    get throws {
      var status = stat()
      try #require(lstat(path, &status) == 0)
      return status
    }
  }

  /// When the kernel last changed it, in nanoseconds since 1970.
  var changed: Int64 {
    get throws {
      let time = try status.st_ctim
      return Int64(time.tv_sec) * second + Int64(time.tv_nsec)
    }
  }

  /// Writes over it, as long as the kernel's clock stands still, and sets its modification time back.
  func rewrite(_ bytes: [UInt8]) throws {
    let before = try status
    repeat {
      let descriptor = open(path, O_WRONLY | O_CLOEXEC)
      try #require(descriptor >= 0 && write(descriptor, bytes, bytes.count) == bytes.count)
      close(descriptor)
      var times = [before.st_mtim, before.st_mtim]
      try #require(utimensat(AT_FDCWD, path, &times, 0) == 0)
    } while try status.st_ctim.tv_nsec == before.st_ctim.tv_nsec && status.st_ctim.tv_sec == before.st_ctim.tv_sec
    #expect(try status.st_mtim.tv_nsec == before.st_mtim.tv_nsec && status.st_size == before.st_size)
  }

  func note(_ digest: SHA256Digest, in cache: SHA256Digest.Cache, lookedAt: Int64? = nil) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    cache.note(digest, of: try status, lookedAt: try lookedAt ?? changed + 2 * second, in: descriptor)
  }

  func digest(in cache: SHA256Digest.Cache) throws -> SHA256Digest? {
    cache.digest(of: try status, at: try changed + 2 * second)
  }
}

private func digest(_ byte: UInt8) throws -> SHA256Digest {
  try #require(SHA256Digest(bytes: [UInt8](repeating: byte, count: 32)))
}

private func encoded(_ cache: SHA256Digest.Cache) -> [UInt8] {
  var bytes: [UInt8] = []
  let isWhole = cache.encode { piece in
    bytes += piece
    return true
  }
  return isWhole ? bytes : []
}

extension SHA256Digest.Cache {
  fileprivate func merge(_ bytes: [UInt8]) -> Bool {
    merge(byteCount: bytes.count) { buffer, offset in
      buffer.copyBytes(from: bytes[offset...].prefix(buffer.count))
      return true
    }
  }
}

@Suite("What is known of files that have not changed")
struct DigestCacheTests {
  private let cache = SHA256Digest.Cache()

  @Test("is not believed once the file was rewritten, although size and modification time are as before")
  func rewritten() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let photo = try Photo(folder)
    try photo.note(digest(1), in: cache)
    #expect(try photo.digest(in: cache) == digest(1))
    try photo.rewrite([4, 5, 6])
    #expect(try photo.digest(in: cache) == nil)
  }

  @Test("is not believed of a file that has taken the other's name, with its size and modification time")
  func replaced() throws {
    let folder = try TemporaryFolder()
    let photo = try Photo(folder)
    try photo.note(digest(1), in: cache)
    let other = try Photo(folder, "other", [4, 5, 6])
    var times = try [photo.status.st_mtim, photo.status.st_mtim]
    try #require(utimensat(AT_FDCWD, other.path, &times, 0) == 0)
    try #require(rename(other.path, photo.path) == 0)
    #expect(try photo.digest(in: cache) == nil)
  }

  @Test("is that of all hard links of a file, and of none once one of them was written to")
  func linked() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let photo = try Photo(folder)
    let other = Photo(path: photo.path + "-2")
    try #require(link(photo.path, other.path) == 0)
    try photo.note(digest(1), in: cache)
    #expect(try other.digest(in: cache) == digest(1))
    try other.rewrite([4, 5, 6])
    #expect(try photo.digest(in: cache) == nil && other.digest(in: cache) == nil)
  }

  @Test("is not noted, nor found, within two seconds of a change: it may change again without any trace")
  func racy() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let photo = try Photo(folder)
    let changed = try photo.changed
    try photo.note(digest(1), in: cache, lookedAt: changed + 2 * second - 1)
    #expect(cache.count == 0 && cache.unsavedCount == 0)
    try photo.note(digest(1), in: cache, lookedAt: changed + 2 * second)
    #expect(cache.count == 1 && cache.unsavedCount == 1)
    let status = try photo.status
    #expect(cache.digest(of: status, at: changed + 2 * second - 1) == nil)
    #expect(try cache.digest(of: status, at: changed + 2 * second) == digest(1))
  }

  @Test("is not believed while the clock, which was set back, is before the last change")
  func clockSetBack() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let photo = try Photo(folder)
    try photo.note(digest(1), in: cache)
    let changed = try photo.changed
    for now in [0, changed - 3600 * second, changed] {
      #expect(try cache.digest(of: photo.status, at: now) == nil)
      let empty = SHA256Digest.Cache()
      try photo.note(digest(1), in: empty, lookedAt: now)
      #expect(empty.count == 0)
    }
    // A program that sets a file's own time into the future can't hide a change either.
    var times = [timespec(tv_sec: 4_000_000_000, tv_nsec: 0), timespec(tv_sec: 4_000_000_000, tv_nsec: 0)]
    try #require(utimensat(AT_FDCWD, photo.path, &times, 0) == 0)
    #expect(try photo.digest(in: cache) == nil)
  }

  @Test("is not noted where the file system does not store what a file is known by")
  func otherFileSystem() throws {
    let photo = Photo(path: "/proc/self/maps")
    try photo.note(digest(1), in: cache)
    #expect(cache.count == 0)
  }

  @Test("has a limit, and what was out of use longest goes first")
  func bounded() throws {
    let folder = try TemporaryFolder()
    let photos = try (0..<6).map { try Photo(folder, "\($0)") }
    let first = SHA256Digest.Cache(limit: 4)
    for number in 0..<4 { try photos[number].note(digest(UInt8(number)), in: first) }
    let next = SHA256Digest.Cache(limit: 4)
    #expect(next.merge(encoded(first)))
    for number in [0, 2] { #expect(try photos[number].digest(in: next) == digest(UInt8(number))) }
    for number in [4, 5] { try photos[number].note(digest(UInt8(number)), in: next) }
    #expect(next.count == 4)
    for number in 0..<6 {
      let isThere = number != 1 && number != 3
      #expect(try photos[number].digest(in: next) == (isThere ? digest(UInt8(number)) : nil), "\(number)")
    }
    // When all are of this run, one of them has to go.
    try photos[1].note(digest(1), in: next)
    #expect(try next.count == 4 && photos[1].digest(in: next) == digest(1))
  }

  @Test("is taken from what was written, and from nothing that is not whole, of this version and unchanged")
  func damaged() throws {
    let folder = try TemporaryFolder()
    let photos = try (0..<3).map { try Photo(folder, "\($0)") }
    for number in 0..<3 { try photos[number].note(digest(UInt8(number)), in: cache) }
    let bytes = encoded(cache)
    #expect(cache.unsavedCount == 0)
    let again = SHA256Digest.Cache()
    #expect(again.merge(bytes))
    for number in 0..<3 { #expect(try photos[number].digest(in: again) == digest(UInt8(number))) }
    func isTaken(_ bytes: [UInt8]) -> Bool {
      let cache = SHA256Digest.Cache()
      let isTaken = cache.merge(bytes)
      #expect(isTaken || cache.count == 0)
      return isTaken
    }
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 1 << (index % 8)
      #expect(!isTaken(damaged), "\(index)")
      #expect(!isTaken(Array(bytes[..<index])), "\(index)")
    }
    #expect(!isTaken(bytes + [0]))
  }

  @Test("is read in pieces, and what can't be read any more does no harm")
  func pieces() throws {
    let folder = try TemporaryFolder()
    let photo = try Photo(folder)
    let descriptor = open(photo.path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var status = try photo.status
    let (count, lookedAt) = (2_000, try photo.changed + 2 * second)
    for number in 0..<count {
      status.st_ino = ino_t(number)
      try cache.note(digest(UInt8(number % 256)), of: status, lookedAt: lookedAt, in: descriptor)
    }
    let bytes = encoded(cache)
    var longest = 0
    func taken(until end: Int) -> SHA256Digest.Cache? {
      let (cache, size) = (SHA256Digest.Cache(), bytes.count)
      // All is read once, and then again.
      var read = 0
      let isTaken = cache.merge(byteCount: size) { buffer, offset in
        longest = max(longest, buffer.count)
        read += buffer.count
        guard read <= end else { return false }
        buffer.copyBytes(from: bytes[offset...].prefix(buffer.count))
        return true
      }
      return isTaken ? cache : nil
    }
    let again = try #require(taken(until: 2 * bytes.count))
    #expect(again.count == count && longest < bytes.count / 2)
    for number in 0..<count {
      status.st_ino = ino_t(number)
      #expect(try again.digest(of: status, at: lookedAt) == digest(UInt8(number % 256)))
    }
    for end in [0, 70_000, bytes.count - 1, bytes.count, bytes.count + 70_000] { #expect(taken(until: end) == nil) }
  }
}

@Suite("The file of what is known of files")
struct DigestCacheFileTests {
  private let folder: TemporaryFolder
  private let place: LocalPath

  init() throws {
    folder = try TemporaryFolder()
    place = LocalPath(folder.path + "/cache/piconet")
  }

  private var path: String { folder.path + "/cache/piconet/digests" }

  /// A program that has read the file and a photo.
  private func program(_ photo: Photo, _ byte: UInt8) throws -> DigestCacheFile {
    let cache = SHA256Digest.Cache()
    let file = DigestCacheFile(in: place, cache: cache)
    #expect(file.load() == nil)
    try photo.note(digest(byte), in: cache)
    return file
  }

  private func kept() -> (cache: SHA256Digest.Cache, problem: String?) {
    let cache = SHA256Digest.Cache()
    let problem = DigestCacheFile(in: place, cache: cache).load()
    return (cache, problem)
  }

  @Test("is this user's alone, and nothing stays beside it")
  func saved() throws {
    let photo = try Photo(folder)
    #expect(try program(photo, 1).save() == nil)
    #expect(try photo.digest(in: kept().cache) == digest(1))
    #expect(try Photo(path: path).status.st_mode & 0o7777 == 0o600)
    #expect(try Photo(path: folder.path + "/cache").status.st_mode & 0o7777 == 0o700)
    #expect(TemporaryFolder.entries(folder.path + "/cache/piconet") == ["digests"])
  }

  @Test("is not written without anything new")
  func nothingNew() throws {
    #expect(DigestCacheFile(in: place).save() == nil)
    #expect(access(folder.path + "/cache", F_OK) != 0)
    #expect(try program(Photo(folder), 1).save(ifNew: 2) == nil)
    #expect(access(path, F_OK) != 0)
  }

  @Test("of two programs at once the later one keeps what the other has found")
  func twoAtOnce() throws {
    let (first, second) = (try Photo(folder, "1"), try Photo(folder, "2"))
    let programs = [try program(first, 1), try program(second, 2)]
    for program in programs { #expect(program.save() == nil) }
    #expect(try first.digest(in: kept().cache) == digest(1) && second.digest(in: kept().cache) == digest(2))
  }

  @Test("while another program writes it, it is left alone; what a killed one has left is written over")
  func locked() throws {
    let photo = try Photo(folder)
    let program = try program(photo, 1)
    try folder.write("cache/piconet/digests.new", [UInt8](repeating: 7, count: 10_000))
    try #require(chmod(folder.path + "/cache/piconet", 0o700) == 0 && chmod(path + ".new", 0o600) == 0)
    let other = open(path + ".new", O_WRONLY | O_CLOEXEC)
    try #require(flock(other, LOCK_EX) == 0)
    #expect(program.save() == nil)
    #expect(access(path, F_OK) != 0)
    close(other)
    #expect(program.save() == nil)
    #expect(try photo.digest(in: kept().cache) == digest(1))
    #expect(TemporaryFolder.entries(folder.path + "/cache/piconet") == ["digests"])
  }

  @Test("is not believed if others may write it, or it is not a whole file, and then replaced")
  func notBelieved() throws {
    let photo = try Photo(folder)
    let whole = folder.path + "/whole"
    func begin() throws {
      unlink(path)
      #expect(try program(photo, 1).save() == nil)
    }
    for (words, spoil) in [
      ("others may write it", { chmod(path, 0o620) }), ("others may write it", { chmod(place.readable, 0o770) }),
      ("damaged, or of another version", { truncate(path, 100) }),
      ("damaged, or of another version", { truncate(path, 0) }),
      ("longer than it may be", { truncate(path, off_t(SHA256Digest.Cache.byteLimit) + 1) }),
      ("not a file", { unlink(path) + mkfifo(path, 0o600) }),
      ("Too many levels of symbolic links", { rename(path, whole) + symlink(whole, path) }),
    ] as [(String, () -> Int32)] {
      try begin()
      #expect(spoil() == 0)
      let (cache, problem) = kept()
      #expect(problem?.hasSuffix(": \(words)") == true, "\(problem ?? "")")
      #expect(cache.count == 0)
      chmod(place.readable, 0o700)
    }
    try begin()
    #expect(try photo.digest(in: kept().cache) == digest(1))
  }

  @Test("is below the cache folder of the environment, if that is absolute, or in the home; and nowhere without one")
  func places() {
    func place(_ variables: [String: String]) -> String? {
      DigestCacheFile { variables[$0] }?.folder.readable
    }
    #expect(place(["XDG_CACHE_HOME": "/c", "HOME": "/h"]) == "/c/piconet")
    #expect(place(["XDG_CACHE_HOME": "c", "HOME": "/h"]) == "/h/.cache/piconet")
    #expect(place(["HOME": "/h"]) == "/h/.cache/piconet")
    #expect(place(["HOME": ""]) == nil)
  }
}
