import Piconet

extension TransferFailure {
  /// With what makes this program listen again to a stranger whose codes were wrong; as it is for any other reason.
  func withLifting(of refused: RefusedPeer) -> TransferFailure {
    guard refused.error.code == .limitExceeded else { return self }
    // What an address or all strangers have used up is not lifted for one key.
    let isOfKey = message.contains(": it is not listened to")
    let digits = isOfKey ? " \(refused.fingerprint.shortDescription)" : ""
    return TransferFailure(
      word: word, message: "\(message); to lift it, say 'piconet trust forgive\(digits)', or start this program again",
      exitCode: exitCode)
  }
}
