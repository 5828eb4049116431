import Foundation

/// The objects that are told what happens in a session. It keeps none of them alive.
struct Receivers: Sendable {
  enum Handler: Sendable {
    /// None was set yet.
    case notYet
    case nobody
    /// The context is a pointer of the program's, which only goes through here.
    case object(WeakHandler, context: UInt)
    case closure(@MainActor (Data, String, GKSession, UnsafeMutableRawPointer?) -> Void, context: UInt)
  }

  var session = WeakSession(nil)
  var delegate = WeakDelegate(nil)
  var handler = Handler.notYet
  /// Takes the delegate's place while a picker is shown; called on the main queue.
  var picker: (@Sendable (SessionCall, GKSession) -> Void)?
}

struct WeakSession: Sendable {
  private(set) weak var session: GKSession?

  init(_ session: GKSession?) { self.session = session }
}

// Unchecked: the object is only used on the main thread, and the reference itself is counted atomically.
struct WeakDelegate: @unchecked Sendable {
  private(set) weak var delegate: (any GKSessionDelegate)?

  init(_ delegate: (any GKSessionDelegate)?) { self.delegate = delegate }
}

// Unchecked: the object is only used on the main thread, and the reference itself is counted atomically.
struct WeakHandler: @unchecked Sendable {
  private(set) weak var handler: (any GKSessionDataReceiveHandler)?

  init(_ handler: (any GKSessionDataReceiveHandler)?) { self.handler = handler }
}
