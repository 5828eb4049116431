import PiconetWire

/// The caller that waits for the result of a command. Its one reply has this kind, or says why there is no result; the
/// compiler rejects replies of another kind. A caller is made where its command is taken. Commands without a result are
/// identified by their number alone.
struct Caller<Kind>: Hashable, Sendable {
  let command: CommandID

  init(_ command: CommandID) { self.command = command }
}

/// The kinds of results.
enum ResultKind {
  enum Connected {}
  enum Stored {}
  enum Code {}
  enum RoundTrip {}
}

/// A result of one kind, or the reason why there is no result.
struct Answer<Kind> {
  let reply: Reply

  private init(_ reply: Reply) { self.reply = reply }

  static func failed(_ ending: Ending) -> Self { Self(.failed(ending)) }
}

extension Answer where Kind == ResultKind.Connected {
  static func connected(_ node: NodeID) -> Self { Self(.connected(node)) }
}

extension Answer where Kind == ResultKind.Stored {
  static func stored(name: [UInt8], wasAlreadyPresent: Bool) -> Self {
    Self(.stored(name: name, wasAlreadyPresent: wasAlreadyPresent))
  }
}

extension Answer where Kind == ResultKind.Code {
  static func code(_ code: String) -> Self { Self(.code(code)) }
}

extension Answer where Kind == ResultKind.RoundTrip {
  static func roundTrip(_ duration: Duration) -> Self { Self(.roundTrip(duration)) }
}

/// How a command without a result has ended.
enum Completion {
  case done
  case failed(Ending)
}
