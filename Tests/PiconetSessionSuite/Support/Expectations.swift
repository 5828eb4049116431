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
  /// The next element of a sequence that others may read on.
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

/// Bytes in which neither compression nor repetition can hide an error.
func randomBytes(_ count: Int, seed: UInt64 = 7) -> [UInt8] {
  var random = SeededRandom(seed: seed)
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + 8)
  while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
  return Array(bytes.prefix(count))
}
