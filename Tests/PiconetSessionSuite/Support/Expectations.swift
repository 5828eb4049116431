import Foundation
import PiconetEngine
import Testing

@testable import Piconet

/// The error that `body` throws.
func failure<Value>(_ body: () async throws -> Value) async -> PiconetError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? PiconetError
  }
}

extension AsyncSequence where Failure == Never {
  /// The next element of a sequence that others may go on with.
  func first() async -> Element? {
    for await element in self { return element }
    return nil
  }
}

extension Session {
  /// Why the next member that leaves has left.
  func nextDeparture() async -> PiconetError? {
    for await change in membership {
      if case .left(_, let error) = change { return error }
    }
    return nil
  }

  /// The next messages.
  func take(_ count: Int) async -> [Message] {
    var all: [Message] = []
    for await message in messages {
      all.append(message)
      if all.count == count { break }
    }
    return all
  }
}

/// A folder for one test, removed with it.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("piconet-suite-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = path + "/" + name
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    return file
  }

  func folder(_ name: String) throws -> String {
    let folder = path + "/" + name
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  /// What is in a folder, hidden files too, sorted.
  static func entries(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  static func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
}

/// Bytes that no compression and no repetition hides an error in.
func randomBytes(_ count: Int, seed: UInt64 = 7) -> [UInt8] {
  var random = SeededRandom(seed: seed)
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + 8)
  while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
  return Array(bytes.prefix(count))
}
