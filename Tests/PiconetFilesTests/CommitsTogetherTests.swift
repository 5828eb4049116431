import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PiconetFiles

@Suite("Files that are committed beside one another", .timeLimit(.minutes(15)))
struct CommitsTogetherTests {
  private static let threads = 8
  private static let filesOfThread = 8

  /// Receives one file on the calling thread.
  private static func receive(
    _ text: String, _ bytes: [UInt8], in directory: IncomingDirectory, below folder: String = "",
    policy: ConflictPolicy = .rename, of files: (any FilesOfSender)? = nil
  ) -> Result<IncomingOutcome, FileFailure> {
    Result { () throws(FileFailure) in
      do {
        let file = try IncomingFile(
          in: directory, folder: try SafeFolder(bytes: Array(folder.utf8)), name: try name(text),
          offeredSize: UInt64(bytes.count), policy: policy, of: files)
        try file.write(bytes)
        return try file.commit(expectedDigest: digest(bytes))
      } catch let failure as FileFailure {
        throw failure
      } catch {
        throw FileFailure(.ioError(0), path: text)
      }
    }
  }

  /// Runs `body` on so many threads, and returns once all have ended.
  private static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread {
        body(number)
        group.leave()
      }.start()
    }
    group.wait()
  }

  private static func inode(_ path: String) -> UInt64 { (try? status(path)).map { UInt64($0.st_ino) } ?? 0 }

  @Test(
    "each is stored only when its content, then its name and then its folder's entry of it are on the disk; one name gives each a number",
    arguments: [1, threads])
  func durable(threads: Int) throws {
    let folder = try TemporaryDirectory()
    let log = DiskLog()
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: false), calls: log.calls())
    let top = Self.inode(folder.path)
    let wrong = Mutex<[String]>([])
    Self.onThreads(threads) { thread in
      for number in 0..<Self.filesOfThread {
        let bytes = pattern(100 + thread * Self.filesOfThread + number)
        switch Self.receive("photo.jpg", bytes, in: directory) {
        case .success(.stored(let file)):
          let isThere = log.isDurable(file.name.text, inode: Self.inode(file.path), inFolder: top)
          if !isThere { wrong.withLock { $0.append(file.name.text) } }
        case let other: wrong.withLock { $0.append("\(other)") }
        }
      }
    }
    let count = threads * Self.filesOfThread
    #expect(wrong.withLock { $0 } == [])
    #expect(try entries(folder.path).count == count)
    // Two synchronizations for each file, never more.
    #expect(log.entries.count { if case .content = $0 { true } else { false } } == count)
    #expect(log.entries.count { if case .beganEntries = $0 { true } else { false } } == count)
  }

  @Test("a file whose content the disk doesn't take fails alone, and leaves nothing")
  func content() throws {
    let folder = try TemporaryDirectory()
    let calls = DiskLog().calls(content: { file in
      var byte: UInt8 = 0
      return pread(file, &byte, 1, 0) == 1 && byte == 0xBD ? EIO : 0
    })
    let directory = try IncomingDirectory(path: folder.path, settings: .test(), calls: calls)
    let failures = Mutex<[Int: FileFailure.Code]>([:])
    Self.onThreads(Self.threads) { thread in
      let bytes = [thread == 3 ? 0xBD : 0x01] + pattern(5000)
      if case .failure(let failure) = Self.receive("\(thread).jpg", bytes, in: directory) {
        failures.withLock { $0[thread] = failure.code }
      }
    }
    #expect(failures.withLock { $0 } == [3: .ioError(EIO)])
    #expect(try entries(folder.path) == (0..<Self.threads).filter { $0 != 3 }.map { "\($0).jpg" })
  }

  @Test("a file whose entry the disk doesn't take fails alone")
  func entry() throws {
    let folder = try TemporaryDirectory()
    let isFirst = Mutex(true)
    let calls = DiskLog().calls(beforeEntries: { _ in
      isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst ? EIO : 0
      }
    })
    let directory = try IncomingDirectory(path: folder.path, settings: .test(), calls: calls)
    let failures = Mutex<[FileFailure.Code]>([])
    Self.onThreads(Self.threads) { thread in
      if case .failure(let failure) = Self.receive("\(thread).jpg", pattern(5000), in: directory) {
        failures.withLock { $0.append(failure.code) }
      }
    }
    #expect(failures.withLock { $0 } == [.ioError(EIO)])
  }

  @Test("a folder that another is just making is on the disk before a file in it is stored")
  func folder() throws {
    let folder = try TemporaryDirectory()
    let top = Self.inode(folder.path)
    let log = DiskLog()
    let isFirst = Mutex(true)
    let isMaking = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)
    let calls = log.calls(beforeEntries: { inode in
      let waits = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if waits, inode == top {
        isMaking.signal()
        mayGoOn.wait()
      }
      return 0
    })
    let directory = try IncomingDirectory(path: folder.path, settings: .test(unnamed: false), calls: calls)
    let made = Mutex<IncomingOutcome?>(nil)
    let ended = DispatchSemaphore(value: 0)
    Thread {
      made.withLock { $0 = try? Self.receive("one.jpg", [1], in: directory, below: "trip").get() }
      ended.signal()
    }.start()
    isMaking.wait()
    let outcome = Self.receive("two.jpg", [2], in: directory, below: "trip")
    let seen = log.entries
    mayGoOn.signal()
    ended.wait()
    #expect(try outcome.get().stored?.relativePath == "trip/two.jpg")
    #expect(made.withLock { $0 }?.stored?.relativePath == "trip/one.jpg")
    // The folder that still waits would not be enough.
    let finished = seen.filter { entry in
      if case .beganEntries(let number, top) = entry { seen.contains(.endedEntries(number)) } else { false }
    }
    #expect(finished.count == 1)
    #expect(!directory.foldersBeingMade.contains([try name("trip")]))
  }

  @Test("of files of one name that may replace what was there, none takes the place of another")
  func replacing() throws {
    for _ in 0..<20 {
      let folder = try TemporaryDirectory(inMemory: true)
      let directory = try IncomingDirectory(path: folder.path, settings: .test())
      let files = UsedFiles()
      Self.onThreads(Self.threads) { thread in
        _ = Self.receive("photo.jpg", [UInt8(thread)], in: directory, policy: .overwrite, of: files)
      }
      #expect(try entries(folder.path).count == Self.threads)
    }
  }

  @Test("existing files are read while others may take names, whatever comes of it")
  func readsAside() throws {
    let folder = try TemporaryDirectory(inMemory: true)
    let opened = Mutex<[String]>([])
    let held = Mutex<[String]>([])
    let own = Mutex<IncomingDirectory?>(nil)
    var calls = FileSystemCalls()
    let real = calls
    calls.open = { folder, name, flags in
      opened.withLock { $0.append(name) }
      Self.onThreads(1) { _ in
        let isFree = own.withLock { $0 }?.replacing.withLockIfAvailable { _ in true } ?? false
        if !isFree { held.withLock { $0.append(name) } }
      }
      return real.open(folder, name, flags)
    }
    let directory = try IncomingDirectory(path: folder.path, settings: .test(), calls: calls)
    own.withLock { $0 = directory }
    defer { own.withLock { $0 = nil } }
    let names = ["a.jpg"] + (2...20).map { "a (\($0)).jpg" }
    for (number, name) in names.enumerated() { try folder.file(name, pattern(100, seed: UInt8(number))) }
    for (text, seed, files, expected) in [
      // Under another number; a number behind all; the place of the one that has the name; behind its own numbers.
      ("a (30).jpg", 19, UsedFiles(), "present a (20).jpg"), ("a.jpg", 40, UsedFiles("a.jpg"), "stored a (21).jpg"),
      ("a.jpg", 41, UsedFiles(), "stored a.jpg"), ("a (2).jpg", 42, UsedFiles(), "stored a (2).jpg"),
      ("a.jpg", 41, UsedFiles("a.jpg"), "present a.jpg"),
    ] {
      let outcome = Self.receive(text, pattern(100, seed: UInt8(seed)), in: directory, policy: .overwrite, of: files)
      switch try outcome.get() {
      case .stored(let file): #expect("stored \(file.name.text)" == expected)
      case .present(let file): #expect("present \(file.name.text)" == expected)
      case .skipped: Issue.record("skipped")
      }
      #expect(held.withLock { $0 } == [], "\(text) \(seed)")
      #expect(files.paths.contains(text))
    }
    // Later ones may be remembered.
    #expect(opened.withLock { $0.count } >= names.count)
  }
}
