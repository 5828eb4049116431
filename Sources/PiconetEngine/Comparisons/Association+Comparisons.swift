import PiconetWire

extension Association {
  /// Why codes can't be compared with this node; nil if they can. It must be a member that we are not leaving, and both
  /// sides must support comparisons.
  var refusalOfComparison: Ending? {
    guard isStaying else { return Self.notConnected }
    if !configuration.comparesCodes { return Ending(.notSupported, .us, "this node compares no codes with members") }
    if !capabilities.contains(.comparisons) {
      return Ending(.notSupported, .peer, "its program compares no codes with members")
    }
    return nil
  }

  /// Takes a frame of the remote side about a comparison.
  /// - Returns: what is left for the engine to do; nil if the frame does not count.
  func received(_ word: Comparison) throws(Breach) -> FrameRequest? {
    guard try speaksAsMember() else { return nil }
    guard configuration.comparesCodes, capabilities.contains(.comparisons) else {
      throw Breach("compares codes, which its hello or ours does not say")
    }
    return .comparison(word, self)
  }

  /// Carries out a command of the application about comparing codes with this member.
  func take(_ command: ComparisonCommand, _ id: CommandID, _ turn: Turn) -> ComparisonRequest? {
    switch command {
    case .compare(let timeout):
      if let refusal = refusalOfComparison {
        turn.reply(id, .failed(refusal))
        return nil
      }
      return compare(.wanted(id, timeout), turn)
    case .answer(let isSame, let reason): return compare(.answered(id, isSame: isSame, reason), turn)
    }
  }
}

/// A command of the application about comparing codes with one peer.
enum ComparisonCommand {
  case compare(timeout: Duration)
  case answer(isSame: Bool, Reason)
}
