import Piconet
import Synchronization
import Testing

/// What the screens of a test's nodes show when members compare codes, and what the people before them say.
final class Screens: Sendable {
  typealias Change = @Sendable (inout NodeConfiguration) -> Void

  private let shown = Mutex<[String: [String]]>([:])
  private let showing = AsyncStream.makeStream(of: String.self)

  private func show(_ code: String, on name: String) {
    shown.withLock { $0[name, default: []].append(code) }
    showing.continuation.yield(name)
  }

  /// The user at this screen says that the codes are the same.
  func agree(_ name: String) -> Change {
    { configuration in
      configuration.compare = { [self] _, code in
        show(code, on: name)
        return true
      }
    }
  }

  /// The user at this screen does not answer before the question has ended.
  func leaveOpen(_ name: String) -> Change {
    { configuration in
      configuration.compare = { [self] _, code in
        show(code, on: name)
        for await _ in AsyncStream<Void>.makeStream().stream {}
        return true
      }
    }
  }

  /// The user at this screen says that the codes differ, once the other screen shows its own.
  func refuse(_ name: String, once other: String) -> Change {
    { configuration in
      configuration.compare = { [self] _, code in
        shown.withLock { $0[name, default: []].append(code) }
        for await name in showing.stream where name == other { break }
        return false
      }
    }
  }

  /// Both have shown equally many codes, the same ones, and at least one.
  func expectSame(on one: String, _ other: String) throws {
    let all = shown.withLock { $0 }
    let codes = try #require(all[one])
    #expect(codes == all[other] && codes.allSatisfy { $0.count == 7 }, "\(all)")
  }
}
