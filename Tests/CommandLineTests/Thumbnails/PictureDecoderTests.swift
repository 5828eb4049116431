import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PiconetCommandLine

/// The decoder that was built, with all the time that a busy machine needs.
private func decoder() -> PictureDecoder {
  PictureDecoder(program: ToolProcess.path(of: "piconet-thumbnail"), time: .seconds(60))
}

private let red = Picture.Pixel(red: 250, green: 10, blue: 10)
private let blue = Picture.Pixel(red: 10, green: 10, blue: 250)

/// The left half is red, the right one blue.
private func halves(width: Int, height: Int) -> Picture {
  var picture = Picture(width: width, height: height, filledWith: red)
  picture.place(Picture(width: width / 2, height: height, filledWith: blue), x: width - width / 2, y: 0)
  return picture
}

extension Picture.Pixel {
  fileprivate func isLike(_ other: Picture.Pixel) -> Bool {
    zip([red, green, blue], [other.red, other.green, other.blue]).allSatisfy { abs(Int($0) - Int($1)) < 40 }
  }
}

@Suite("Pictures are decoded elsewhere")
struct PictureDecoderTests {
  /// A JPEG of a picture, as a person's file would be.
  private func jpeg(_ picture: Picture) throws -> [UInt8] {
    try #require(decoder().jpeg(picture, atMost: 65_536))
  }

  private func picture(_ bytes: [UInt8], side: Int = 64) throws -> Picture? {
    let folder = try TemporaryFolder()
    try folder.write("picture", bytes)
    return decoder().picture(of: LocalPath(folder.path + "/picture"), side: side)
  }

  @Test("a photo becomes small, and is turned as its EXIF data says")
  func photo() throws {
    let file = try jpeg(halves(width: 200, height: 100))
    let small = try #require(try picture(file))
    #expect(small.width == 64 && small.height == 32)
    #expect(small[5, 16].isLike(red) && small[58, 16].isLike(blue))
    // EXIF 2.32, 4.6.4: what is at the left of the file is then on this side.
    typealias Place = (x: Int, y: Int)
    let places: [UInt8: (width: Int, red: Place, blue: Place)] = [
      1: (64, (5, 16), (58, 16)), 2: (64, (58, 16), (5, 16)), 3: (64, (58, 16), (5, 16)), 4: (64, (5, 16), (58, 16)),
      5: (32, (16, 5), (16, 58)), 6: (32, (16, 5), (16, 58)), 7: (32, (16, 58), (16, 5)), 8: (32, (16, 58), (16, 5)),
    ]
    for (orientation, place) in places {
      let turned = try #require(try picture(HostilePictures.turned(file, orientation: orientation)))
      #expect(turned.width == place.width, "\(orientation)")
      #expect(turned[place.red.x, place.red.y].isLike(red), "\(orientation)")
      #expect(turned[place.blue.x, place.blue.y].isLike(blue), "\(orientation)")
    }
  }

  @Test("a PNG is decoded, with lines in any order, and what has no colours is grey")
  func portable() throws {
    for isInterlaced in [false, true] {
      let file = HostilePictures.png(
        width: 100, height: 50, isInterlaced: isInterlaced, data: HostilePictures.zeros(101 * 50 + 200))
      let small = try #require(try picture(file))
      #expect(small.width == 64 && small.height == 32 && small[10, 10] == .black)
    }
    let grey = try #require(try picture(HostilePictures.jpeg(width: 16, height: 16)))
    #expect(grey.width == 16 && grey[3, 3] == Picture.Pixel(red: 128, green: 128, blue: 128))
  }

  @Test("a sheet fits into its bytes, however lively the pictures are, and is read as it was written")
  func sheet() async throws {
    var random = SeededGenerator(7)
    let noise = (0..<5).map { _ in
      var picture = Picture(width: 64, height: 64)
      for y in 0..<64 {
        for x in 0..<64 {
          picture[x, y] = Picture.Pixel(red: random.byte(), green: random.byte(), blue: random.byte())
        }
      }
      return picture
    }
    let jpeg = try #require(decoder().jpeg(ContactSheet.joined(noise), atMost: ContactSheet.byteLimit))
    let sheet = try #require(ContactSheet(places: [0, 1, 2, 3, 4], jpeg: jpeg))
    #expect(await decoder().squares(of: sheet)?.count == 5)
    #expect(decoder().jpeg(ContactSheet.joined(noise), atMost: 100) == nil)
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", try self.jpeg(halves(width: 300, height: 300)))
    try folder.write("b.jpg", [0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3])
    try folder.write("c.png", HostilePictures.png(width: 64, height: 64, data: HostilePictures.zeros(65 * 64)))
    let made = try #require(
      await decoder().sheet(
        of: ["a.jpg", "b.jpg", "none", "c.png"].enumerated().map { ($0, LocalPath("\(folder.path)/\($1)")) }))
    #expect(made.places == [0, 3])
    let squares = try #require(await decoder().squares(of: made))
    #expect(squares[0][10, 30].isLike(red) && squares[0][54, 30].isLike(blue) && squares[1][30, 30].isLike(.black))
  }

  @Test("bombs of pixels, of scans and of what goes with them give no picture, or a small one")
  func bombs() throws {
    typealias Bomb = (name: String, bytes: [UInt8], isShown: Bool)
    let photo = try jpeg(halves(width: 200, height: 100))
    let bomb = HostilePictures.zeros(100 << 20)
    let bombs: [Bomb] = [
      ("JPEG of 65,500 x 65,500", HostilePictures.jpeg(width: 65_500, height: 65_500), false),
      ("JPEG of 65,535 x 65,535", HostilePictures.jpeg(width: 65_535, height: 65_535), false),
      ("JPEG of 65 scans", HostilePictures.jpeg(width: 64, height: 64, frame: 0xC2, scans: 65), false),
      ("JPEG of 60 scans", HostilePictures.jpeg(width: 64, height: 64, frame: 0xC2, scans: 60), true),
      ("JPEG of 20,000 scans", HostilePictures.jpeg(width: 4_000, height: 4_000, frame: 0xC2, scans: 20_000), false),
      ("JPEG that needs more memory", HostilePictures.jpeg(width: 8_000, height: 8_000, frame: 0xC2, scans: 2), false),
      ("JPEG with 20 MB of EXIF", HostilePictures.stuffed(photo, marker: 0xE1, count: 300), true),
      ("JPEG with 72 MB of profiles", HostilePictures.stuffed(photo, marker: 0xE2, count: 1_100), false),
      ("JPEG without an end", Array(photo.dropLast(photo.count / 3)), true),
      ("PNG of 2^31 - 1", HostilePictures.png(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF, data: bomb), false),
      ("PNG of 60,000 x 60,000", HostilePictures.png(width: 60_000, height: 60_000, depth: 1, data: bomb), false),
      (
        "interlaced PNG of 8,000 x 8,000",
        HostilePictures.png(width: 8_000, height: 8_000, isInterlaced: true, data: bomb), false
      ),
      (
        "PNG with a profile of 100 MB",
        HostilePictures.png(
          width: 64, height: 64,
          extra: HostilePictures.chunk("iCCP", Array("x\0\0".utf8) + bomb)
            + HostilePictures.chunk("zTXt", Array("x\0\0".utf8) + bomb), data: HostilePictures.zeros(65 * 64)), true
      ),
      ("PNG that ends early", Array(HostilePictures.png(width: 64, height: 64, data: bomb).prefix(60)), false),
    ]
    for bomb in bombs {
      let shown = try picture(bomb.bytes)
      #expect((shown != nil) == bomb.isShown, "\(bomb.name)")
      #expect(shown.map { $0.width <= 64 && $0.height <= 64 } ?? true, "\(bomb.name)")
    }
  }

  @Test("of a peer only a JPEG of one scan, without a fault and of the right size, is taken")
  func peers() throws {
    let (width, height) = (320, 64)
    let good = try jpeg(ContactSheet.joined(Array(repeating: halves(width: 64, height: 64), count: 5)))
    #expect(decoder().picture(of: good, atMost: width, height) != nil)
    let bad: [String: [UInt8]] = [
      "larger": try jpeg(Picture(width: 321, height: 64)), "higher": try jpeg(Picture(width: 64, height: 65)),
      "cut off": good.dropLast(40),
      "of several scans": HostilePictures.jpeg(width: 64, height: 64, frame: 0xC2, scans: 2),
      "a PNG": HostilePictures.png(width: 64, height: 64, data: HostilePictures.zeros(65 * 64)), "nothing": [],
      "more than is read": HostilePictures.stuffed(good, marker: 0xE1, count: 2), "a text": Array("hello".utf8),
      "65,535 x 65,535": HostilePictures.jpeg(width: 65_535, height: 65_535),
    ]
    for (name, bytes) in bad { #expect(decoder().picture(of: bytes, atMost: width, height) == nil, "\(name)") }
  }

  @Test("thousands of changed and of random JPEGs give a picture of the right size, or none", arguments: 0..<4)
  func seeds(_ quarter: Int) throws {
    let good = try jpeg(ContactSheet.joined(Array(repeating: halves(width: 64, height: 64), count: 5)))
    var outcomes = (shown: 0, none: 0)
    for seed in 0..<250 {
      var random = SeededGenerator(UInt64(quarter * 1_000 + seed))
      var bytes = good
      switch seed % 4 {
      case 0: bytes = [0xFF, 0xD8, 0xFF] + (0..<(1 + Int(random.byte()) * 12)).map { _ in random.byte() }
      case 1: bytes = Array(good.prefix(Int(random.next() % UInt64(good.count))))
      default:
        for _ in 0...(seed % 7) { bytes[2 + Int(random.next() % UInt64(bytes.count - 2))] = random.byte() }
      }
      let picture = decoder().picture(of: bytes, atMost: 320, 64)
      if picture == nil { outcomes.none += 1 } else { outcomes.shown += 1 }
    }
    // Both happen: what changes a pixel does no harm.
    #expect(outcomes.none > 100 && outcomes.shown > 0, "\(outcomes)")
  }

  @Test("a decoder that hangs, is killed or is not there gives no picture, and leaves no process")
  func broken() throws {
    let good = try jpeg(halves(width: 64, height: 64))
    // The last one is the filter's. One that the runtime reports, such as SIGSEGV, ends a process only if it is a
    // fault's.
    for signal in [SIGSTOP, SIGKILL, SIGSYS] {
      let child = Mutex<pid_t>(0)
      var decoder = decoder()
      if signal == SIGSTOP { decoder.time = .milliseconds(200) }
      decoder.began = { pid in
        child.withLock { $0 = pid }
        kill(pid, signal)
      }
      #expect(decoder.picture(of: good, atMost: 64, 64) == nil, "\(signal)")
      #expect(kill(child.withLock { $0 }, 0) == -1 && errno == ESRCH, "\(signal)")
    }
    #expect(PictureDecoder(program: "/nowhere/piconet-thumbnail").picture(of: good, atMost: 64, 64) == nil)
    #expect(PictureDecoder.installed(besides: "/nowhere") == nil)
  }

  @Test("a decoder's output that is no picture is refused, however much it writes")
  func garbage() throws {
    let folder = try TemporaryFolder()
    let scripts = [
      "exit 0", "exit 4", "printf x", "printf '\\000\\001\\000\\001abcdef'",
      "printf '\\377\\377\\377\\377'; cat /dev/zero",
      "cat /dev/zero", "printf '\\000\\001\\000\\002abc'", "cat", "kill -9 $$",
    ]
    for (number, script) in scripts.enumerated() {
      let path = "\(folder.path)/decoder-\(number)"
      try folder.write("decoder-\(number)", Array("#!/bin/sh\nPATH=/usr/bin:/bin\n\(script)\n".utf8))
      chmod(path, 0o700)
      let broken = PictureDecoder(program: path, time: .seconds(20))
      #expect(broken.picture(of: Array("hello, decoder".utf8), atMost: 2, 2) == nil, "\(script)")
      #expect(broken.jpeg(Picture(width: 2, height: 2), atMost: 8) == nil, "\(script)")
    }
  }

  @Test("for another program that draws it is a PNG, whose pixels are the same")
  func uncompressed() throws {
    let picture = halves(width: 60, height: 33)
    #expect(try self.picture(UncompressedPNG.bytes(of: picture)) == picture)
  }

  @Test("a program that draws gets a PNG, and its lines are taken; if it fails, no lines are")
  func drawn() throws {
    let folder = try TemporaryFolder()
    let bin = try folder.folder("bin")
    let script =
      "#!/bin/sh\n/usr/bin/head -c 4 | /usr/bin/tail -c 3\n/usr/bin/printf '\\n%s\\n' \"$*\"\n/usr/bin/cat >/dev/null\n"
    try folder.write("script", Array(script.utf8))
    // Another process writes what is run: a child that another test starts has what is open here open, too, for a
    // moment, and nothing runs what is open for writing (ETXTBSY).
    let copying = Process()
    copying.executableURL = URL(filePath: "/usr/bin/install")
    copying.arguments = ["-m", "700", folder.path + "/script", bin + "/chafa"]
    try copying.run()
    copying.waitUntilExit()
    var chafa = try #require(ChafaProgram.installed(searchPath: "relative:/nowhere:\(bin)"))
    // A script of four programs may be late on a busy machine.
    chafa.time = .seconds(60)
    let picture = Picture(width: 336, height: 64)
    let lines = try #require(chafa.lines(of: picture, .symbols(isFull: true), columns: 74, rows: 7))
    #expect(lines.first == "PNG")
    #expect(lines.last == "--format symbols --colors full --animate off --polite on --size 74x7 -")
    #expect(chafa.lines(of: picture, .kitty, columns: 74, rows: 7) == nil)
    #expect(ChafaProgram(path: "/bin/false").lines(of: picture, .sixel, columns: 74, rows: 7) == nil)
    #expect(ChafaProgram.installed(searchPath: nil) == nil)
  }

  @Test("what is no file is not opened for it: a FIFO, a device, a folder")
  func notFiles() throws {
    let folder = try TemporaryFolder()
    #expect(mkfifo(folder.path + "/fifo", 0o600) == 0)
    for path in [folder.path + "/fifo", "/dev/zero", folder.path, folder.path + "/none"] {
      #expect(decoder().picture(of: LocalPath(path), side: 64) == nil, "\(path)")
    }
  }
}

/// The same bytes for the same seed.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next() -> UInt64 {
    // xorshift64.
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }

  mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next() >> 24) }
}

@Suite("The decoder has no rights")
struct DecoderConfinementTests {
  private static let refused = [
    "open", "create", "stat", "unlink", "socket", "unix-socket", "exec", "fork", "ptrace", "kill", "signal-thread",
    "other-memory", "io-uring", "bpf", "memory-file", "duplicate", "limits", "control", "other-input", "other-output",
    "executable-memory",
  ]

  private func probe(_ mode: String) async throws -> [String: String] {
    let probe = try ToolProcess("thumbnail-probe", [mode], environment: [:])
    #expect(await probe.end() == 0, "\(probe.output)")
    return Dictionary(
      probe.output.split(separator: "\n").map { line in
        let words = line.split(separator: " ")
        return (words.dropLast().joined(separator: " "), String(words.last ?? ""))
      }, uniquingKeysWith: { $0 + $1 })
  }

  @Test("on every thread that it might make, and on the first, everything is refused but memory")
  func threads() async throws {
    let told = try await probe("threads")
    let threads = ["main", "first", "second", "third", "fourth", "fifth", "nested"]
    #expect(told.count == threads.count * (Self.refused.count + 1), "\(told)")
    for thread in threads {
      for act in Self.refused { #expect(told["\(thread) \(act)"] == "EPERM", "\(thread): \(act)") }
      #expect(told["\(thread) memory"] == "ok")
    }
  }

  @Test("as it is it can make no thread")
  func alone() async throws {
    let told = try await probe("alone")
    for act in Self.refused { #expect(told["main \(act)"] == "EPERM", "\(act)") }
    #expect(told["main thread"] == "EPERM" && told["main memory"] == "ok")
  }

  @Test("a process that has another thread is not confined, and says so")
  func late() async throws {
    let told = try await probe("late")
    #expect(told.keys.contains { $0.hasPrefix("main there is another thread") }, "\(told)")
  }

  @Test("before it has read a byte it has one thread, no privileges to gain, the filter, and its limits")
  func asItRuns() async throws {
    let seen = Mutex<(status: String, limits: String)>(("", ""))
    var decoder = decoder()
    decoder.began = { pid in
      func text(_ file: String) -> String {
        (try? String(contentsOfFile: "/proc/\(pid)/\(file)", encoding: .utf8)) ?? ""
      }
      // Nothing has been sent to it so far. A program that is not confined is not waited for long.
      for _ in 0..<2_000 where !text("status").contains("Seccomp:\t2") { usleep(1_000) }
      seen.withLock { $0 = (text("status"), text("limits")) }
    }
    let jpeg = try #require(PictureDecoderTests.plain)
    #expect(decoder.picture(of: jpeg, atMost: 64, 64) != nil)
    let (status, limits) = seen.withLock { $0 }
    for line in ["Threads:\t1", "NoNewPrivs:\t1", "Seccomp:\t2"] {
      #expect(status.contains(line), "\(line): \(status)")
    }
    func limit(_ name: String) -> String? {
      limits.split(separator: "\n").first { $0.hasPrefix(name) }?.dropFirst(name.count).split(separator: " ").first.map(
        String.init)
    }
    #expect(limit("Max open files") == "0" && limit("Max file size") == "0" && limit("Max core file size") == "0")
    #expect(limit("Max cpu time") == "1" && limit("Max address space") == "\(64 << 20)", "\(limits)")
  }
}

extension PictureDecoderTests {
  /// A small JPEG.
  fileprivate static let plain = decoder().jpeg(Picture(width: 64, height: 64), atMost: 3_072)
}
