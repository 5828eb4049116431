import PiconetEngine
import PiconetRuntime
import PiconetWire

extension Member {
  /// Compares short codes with this member. Both screens show the same six digits, this one through
  /// `NodeConfiguration.compare`. Returns once both users have said that they are the same. From then on `confirmation`
  /// says so on both sides, until the member leaves. The member does not become a known peer: that is up to
  /// `Node.remember`.
  ///
  /// The digits follow from the keys, the connection and a random number of each side, as those of an invitation do,
  /// and go over any link to the member. They show, over a relay, too, that no man in the middle has taken the place of
  /// one of the two. If the member asks at the same time, it is one comparison. A code that is not confirmed by both
  /// counts as a wrong one, of which a key has three in an hour.
  ///
  /// Cancelling the task ends the comparison on both sides, until this side's user has said yes. After that this call
  /// no longer waits, and the comparison counts if the member's user says yes, too.
  /// - Parameter timeout: how long the users have; more than 0 and at most 300 s.
  /// - Throws: `codeMismatch` if one of the two has said that the codes differ, or the attempt broke off; `timedOut`;
  ///   `linkFailed` if the connection was lost meanwhile, the member has moved to another one, or is not connected at
  ///   the moment; `limitExceeded` after too many wrong codes, and for another time; `inProgress` if one is under way
  ///   with this member already; `notSupported` if this node has no `compare`, or the member's program has none;
  ///   `cancelled`; why the member has left.
  public func compareCodes(timeout: Duration = .seconds(60)) async throws(PiconetError) {
    if let ending = budgets.ending { throw ending }
    if case .failure(let ending) = await core.answer(to: .compareCodes(id, timeout: timeout), of: self) {
      throw PiconetError(ending, peer: id)
    }
  }
}

/// Comparisons, as the loop reports them.
extension NodeCore {
  func comparing(_ node: NodeID, _ code: String) {
    guard let member = member(node), let ask = configuration.compare else {
      return tell(.answerComparison(node, false, .notSupported))
    }
    withState { state in
      // Started under the lock, so that the task is noted before it can answer.
      state.comparisons[node] = Task { [self] in
        let isSame = await ask(member, code)
        if !Task.isCancelled { tell(.answerComparison(node, isSame, .codeMismatch)) }
      }
    }
  }

  func comparisonEnded(_ node: NodeID, _ ending: Ending) {
    let (question, member) = (withState { $0.comparisons.removeValue(forKey: node) }, member(node))
    question?.cancel()
    if let member { comparisons.push(CodeComparison(member: member, failure: PiconetError(ending, peer: node))) }
  }

  func compared(_ node: NodeID) {
    withState { $0.comparisons[node] = nil }
    guard let member = member(node) else { return }
    member.membership.codeWasCompared()
    comparisons.push(CodeComparison(member: member, failure: nil))
  }
}
