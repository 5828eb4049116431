import Glibc
import PiconetTerminal

/// Pictures are decoded, and written, by `piconet-thumbnail`: a process without rights, which may fail or be taken over
/// by what it reads without harm. It has a limit of time here, and limits of memory and of the processor there.
struct PictureDecoder: Sendable {
  let program: String
  /// For each picture.
  var time = Duration.seconds(2)
  /// For tests.
  var began: @Sendable (pid_t) -> Void = { _ in }

  /// Returns the program beside this one, or where packages install it; nil: it is not installed.
  static func installed(besides own: String? = programDirectory) -> PictureDecoder? {
    guard let own else { return nil }
    let places = ["\(own)/piconet-thumbnail", "\(own)/../libexec/piconet/piconet-thumbnail"]
    return places.first { access($0, X_OK) == 0 }.map { PictureDecoder(program: $0) }
  }

  /// Where the file is that this process runs.
  static var programDirectory: String? {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    let bytes = path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    return String(validating: bytes[..<slash], as: UTF8.self)
  }

  /// A picture of a file, at most `side` pixels each way; nil if it shows none. Blocks the calling thread.
  func picture(of path: LocalPath, side: Int) -> Picture? {
    let file = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return pixels(["picture", "\(side)"], .descriptor(file), atMost: side, side)
  }

  /// What a peer's JPEG shows; nil if it is not as it has to be. Blocks the calling thread.
  func picture(of jpeg: [UInt8], atMost width: Int, _ height: Int) -> Picture? {
    pixels(["sheet", "\(width)", "\(height)"], .bytes(jpeg), atMost: width, height)
  }

  /// Returns the picture as a JPEG of at most so many bytes; nil if that is not possible. Blocks the calling thread.
  func jpeg(_ picture: Picture, atMost limit: Int) -> [UInt8]? {
    let output = run(["write", "\(limit)"], .bytes(picture.encoded), atMost: limit + 4) { start in
      start.count < 4 ? nil : 4 + start[..<4].reduce(0) { $0 << 8 | Int($1) }
    }
    guard let output, output.count > 4 else { return nil }
    return Array(output[4...])
  }

  private func pixels(
    _ arguments: [String], _ input: ChildProcess.Input, atMost width: Int, _ height: Int
  ) -> Picture? {
    let output = run(arguments, input, atMost: 4 + width * height * 3) {
      Picture.encodedLength($0, atMost: width, height)
    }
    return output.flatMap { Picture($0, atMost: width, height) }
  }

  private func run(
    _ arguments: [String], _ input: ChildProcess.Input, atMost limit: Int, length: ([UInt8]) -> Int?
  ) -> [UInt8]? {
    ChildProcess(path: program, arguments: arguments, began: began).output(
      for: input, atMost: limit, within: time, length: length)
  }
}

extension PictureDecoder {
  /// What a sheet shows; nil if it is not as it has to be.
  func squares(of sheet: ContactSheet) async -> [Picture]? {
    await onItsOwnThread {
      picture(of: sheet.jpeg, atMost: ContactSheet.pictureLimit * ContactSheet.side, ContactSheet.side)
        .flatMap(sheet.squares)
    } ?? nil
  }

  /// The sheet of some files; nil if none of them shows anything.
  /// - Parameter files: with their places among those that are named.
  func sheet(of files: [(place: Int, path: LocalPath)]) async -> ContactSheet? {
    await onItsOwnThread { () -> ContactSheet? in
      // One after the other: a picture may take some of the machine's memory.
      let shown = files.prefix(ContactSheet.pictureLimit).compactMap { file in
        picture(of: file.path, side: ContactSheet.side * 2).map { (file.place, $0) }
      }
      guard !shown.isEmpty else { return nil }
      return jpeg(ContactSheet.joined(shown.map(\.1)), atMost: ContactSheet.byteLimit).flatMap {
        ContactSheet(places: shown.map(\.0), jpeg: $0)
      }
    } ?? nil
  }
}
