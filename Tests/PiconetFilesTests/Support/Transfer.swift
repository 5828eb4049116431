import Testing

@testable import PiconetFiles

func digest(_ bytes: [UInt8]) -> SHA256Digest { bytes.withUnsafeBytes { RunningSHA256.digest(of: $0)! } }

func name(_ text: String) throws -> SafeFileName { try SafeFileName(text) }

/// Bytes that differ from place to place, so that a lost or swapped piece shows.
func pattern(_ count: Int, seed: UInt8 = 0) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8)) &+ seed }
}

extension IncomingFile {
  func write(_ bytes: [UInt8]) throws(FileFailure) {
    // withUnsafeBytes rethrows without the error's type.
    let result = bytes.withUnsafeBytes { buffer in Result { () throws(FileFailure) in try write(buffer) } }
    try result.get()
  }
}

extension IncomingDirectory.Settings {
  /// Settings that hold nothing back, with unnamed partial files or hidden ones.
  static func test(unnamed: Bool = true) -> Self {
    var settings = Self()
    settings.spaceReserve = 0
    settings.usesUnnamedFiles = unnamed
    return settings
  }
}

/// Receives a whole file.
@discardableResult
func receive(
  _ text: String, _ bytes: [UInt8], in directory: IncomingDirectory, policy: ConflictPolicy = .rename
) throws -> IncomingOutcome {
  let file = try IncomingFile(
    in: directory, name: try name(text), offeredSize: UInt64(bytes.count), policy: policy)
  try file.write(bytes)
  return try file.commit(expectedDigest: digest(bytes))
}

extension IncomingOutcome {
  var stored: StoredFile? { if case .stored(let file) = self { file } else { nil } }
  var present: StoredFile? { if case .present(let file) = self { file } else { nil } }
}

/// The code with which `body` fails; nil if it does not, or fails with another error.
func failureCode(_ body: () throws -> Void) -> FileFailure.Code? {
  do {
    try body()
    return nil
  } catch { return (error as? FileFailure)?.code }
}
