import Piconet

extension TransferFailure {
  /// With what makes this program listen again to a stranger whose codes were wrong; as it is for any other reason.
  func withLifting(of refused: RefusedPeer) -> TransferFailure {
    guard refused.error.code == .limitExceeded else { return self }
    return TransferFailure(
      word: word, message: message + Self.lifting(message, of: refused.fingerprint), exitCode: exitCode)
  }

  /// What follows the reason why a stranger is not listened to.
  static func lifting(_ reason: String, of key: PeerID) -> String {
    // What an address or all strangers have used up is not lifted for one key.
    let isOfKey = reason.contains(": it is not listened to") || reason.contains("too many codes were wrong")
    let digits = isOfKey ? " \(key.shortDescription)" : ""
    return "; to lift it, say 'piconet trust forgive\(digits)', or start this program again"
  }
}
