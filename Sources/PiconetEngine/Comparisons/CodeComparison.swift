import PiconetWire

/// One comparison of a short code between two members, as one side sees it. Each side says exactly one word in it: that
/// its user sees the same code as the other user, or why there is no such code. The comparison succeeds if both sides
/// say the former. It is over when both have spoken, so the two sides never disagree.
struct CodeComparison: Sendable {
  enum Phase: Sendable {
    /// Our application wants the comparison. The driver draws our nonce, and the remote side knows nothing yet.
    case drawing(CodeID)
    /// We have asked, and have committed ourselves to this nonce. The remote side owes its own nonce.
    case asked(CodeNonce)
    /// The remote side has asked, and its question waits in the queue.
    case waiting
    /// Nonces are being exchanged, or the code is on the screen.
    case exchanging(CodeExchange)
  }

  enum Word: Sendable { case same, ended }

  var phase: Phase
  /// The command that wants the comparison and has no reply yet; nil if only the remote side wants it.
  var command: CommandID?
  /// When our user's time is up.
  var expires: Instant
  /// The remote side's commitment to its nonce, if it is the one that has asked.
  var commitment: [UInt8] = []
  var ours: Word?
  var theirs: Word?
  /// The code, once it is on our screen. It stays when the exchange is over, because the remote side's word may come
  /// late.
  var code: String?
  /// Whether the remote side may send the nonce that answers our question.
  var isNonceDue = false
  /// Whether the remote side may reveal the nonce that it has committed itself to.
  var isRevealDue = false
  /// Whether both sides have asked at once.
  var hasCrossed = false

  var exchange: CodeExchange? { if case .exchanging(let exchange) = phase { exchange } else { nil } }

  /// Returns whether the driver was asked for something under this number.
  func awaits(_ id: CodeID) -> Bool {
    if case .drawing(let drawing) = phase { return drawing == id }
    return exchange?.id == id
  }

  /// Whether the code was on the remote side's screen, as far as we can know, when the remote side says that it is the
  /// same.
  var isRevealed: Bool {
    switch exchange?.phase {
    case .deriving, .shown: true
    case .drawing, .awaitingReveal, nil: false
    }
  }

  /// The longest time that users get.
  static let longestTime = Duration.seconds(300)
}
