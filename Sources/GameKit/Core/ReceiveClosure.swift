import Foundation

/// A closure or a function that gets data, out of an `Any`: the compiler passes variables with closures as `Any`,
/// although the class has methods for closures.
///
/// Unchecked: only the main thread calls it.
struct ReceiveClosure: @unchecked Sendable {
  typealias Plain = (Data, String, GKSession) -> Void
  typealias WithContext = (Data, String, GKSession, UnsafeMutableRawPointer?) -> Void
  typealias OnMain = @MainActor (Data, String, GKSession) -> Void
  typealias OnMainWithContext = @MainActor (Data, String, GKSession, UnsafeMutableRawPointer?) -> Void

  let call: @MainActor (Data, String, GKSession, UnsafeMutableRawPointer?) -> Void

  /// - Returns: nil if the handler is not a closure of a known type.
  init?(_ handler: Any) {
    switch handler {
    case let closure as OnMainWithContext: call = closure
    case let closure as OnMain: call = { data, peer, session, _ in closure(data, peer, session) }
    case let closure as @Sendable (Data, String, GKSession, UnsafeMutableRawPointer?) -> Void:
      call = { closure($0, $1, $2, $3) }
    case let closure as @Sendable (Data, String, GKSession) -> Void:
      call = { data, peer, session, _ in closure(data, peer, session) }
    case let closure as WithContext:
      // Unsafe: only the main thread calls it.
      nonisolated(unsafe) let closure = closure
      call = { closure($0, $1, $2, $3) }
    case let closure as Plain:
      // Unsafe: only the main thread calls it.
      nonisolated(unsafe) let closure = closure
      call = { data, peer, session, _ in closure(data, peer, session) }
    default: return nil
    }
  }
}
