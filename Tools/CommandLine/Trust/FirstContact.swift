import Piconet
import PiconetTerminal

/// The steps before an unconfirmed key gets files: a person at the terminal compares the codes, a code is typed, or the
/// fingerprint is given. If no one can be asked, a stranger gets nothing.
final class FirstContact: Sendable {
  /// The key that must answer, as the person gave it.
  let fingerprint: PeerID?
  /// The name under which that peer will be known; nil: its own.
  let petname: String?
  /// The peer that has to answer at the address of `--address`; nil: any peer.
  private let meant: (place: String, recipient: Recipient)?
  /// Whether there is someone to ask. With a code no one is asked: typing it is the answer.
  let asks: Bool
  /// Whether the peer has to prove a code that a person has typed.
  private let hasCode: Bool
  /// As it was when the program began.
  private let naming: PeerNaming
  private let console: Console
  /// One question at a time.
  private let gate = TaskGate(1)
  private let state = Guarded(State())

  struct State: Sendable {
    var answers: [NodeID: AcceptQuestion.Answer] = [:]
    /// Those that wait for an answer.
    var questions: [NodeID: AcceptQuestion] = [:]
    /// Those that are under way.
    var attempts: [Int: Attempt] = [:]
    var nextAttempt = 0
    /// Peers whose attempts have ended: no one is asked about them any more, even if their turn comes only now.
    var ended: Set<PeerID> = []
    /// Whether it has been said how a stranger's key is confirmed: once is enough if many are in sight.
    var hasToldWays = false
    /// The fate of the question that was last on the screen.
    private var former = AcceptQuestion.Former.none

    /// A question comes on the screen.
    /// - Returns: what became of the one before it; nil: the attempt has ended, and no one is asked.
    mutating func begin(_ question: AcceptQuestion, about peer: NodeID) -> AcceptQuestion.Former? {
      if ended.contains(peer.peer) { return nil }
      questions[peer] = question
      return former
    }

    mutating func end(about peer: NodeID, with answer: AcceptQuestion.Answer) {
      questions[peer] = nil
      answers[peer] = answer
      former = answer == .none || answer == .hungUp ? .takenBack : .answered
    }
  }

  /// An attempt that must know about the questions to the person here.
  struct Attempt: Sendable {
    let place: PeerConnection.Place
    let purpose: PeerConnection.Purpose
    /// Whose key is proven there; nil: none yet.
    let proven: @Sendable () -> NodeID?
    let asked: @Sendable () -> Void
    /// Called with whether the person wants to send.
    let answered: @Sendable (ProvenMember, Bool) -> Void
  }

  /// How long an invitation stands on the other side at most, and so how long a person may take.
  static let longestThought = Duration.seconds(300)

  static let prompt = "Send? [y]es / [o]nce / [n]o / codes [d]iffer: "
  private static let wording = AcceptQuestion.Wording(prompt: prompt, answers: [.yes, .once, .no, .codesDiffer])
  private static let wordingOfRelays = AcceptQuestion.Wording(
    prompt: "Reach others over it? [y]es / [o]nce / [n]o / codes [d]iffer: ", answers: [.yes, .once, .no, .codesDiffer])
  private static let wordingWithoutCodes = AcceptQuestion.Wording(
    prompt: "Send? [y]es / [o]nce / [n]o: ", answers: [.yes, .once, .no])

  init(_ arguments: ImageSendArguments, _ naming: PeerNaming, _ console: Console) {
    fingerprint = arguments.fingerprint
    if case .named(let name) = arguments.recipients.first { petname = name } else { petname = nil }
    if let address = arguments.address, let recipient = arguments.recipients.first {
      meant = (address.description, recipient)
    } else {
      meant = nil
    }
    hasCode = arguments.code != nil
    asks = !hasCode && !arguments.yes && !console.verbosity.isQuiet && AcceptQuestion.isPossible
    self.naming = naming
    self.console = console
  }

  private var known: KnownPeers { naming.known }

  /// Whether a person can confirm a stranger's key while the program runs.
  var confirmsByHand: Bool { asks || hasCode }

  /// Makes the node ask, or let in only the key that was given, or those that may be sent to. Beside a key that was
  /// given, it asks about relays. A code is proven after the handshake, so with one any device gets that far.
  /// - Parameter relays: names of relays to search for. Known relays with these names are accepted in addition to the
  ///   pinned key.
  func prepare(_ configuration: inout NodeConfiguration, relays: [DialTarget] = []) {
    if let fingerprint, relays.isEmpty || !asks {
      configuration.trust = .pinned(relays.reduce(into: [fingerprint]) { $0.formUnion(keys(of: $1)) })
    } else if asks {
      configuration.trust = .ask
      configuration.confirm = { [self] peer, code in await isConfirmed(peer, code) }
      configuration.isPlainNo = { [state] node in state.value.answers[node] == .no }
    } else if !hasCode {
      // Refusals before dialling go by the table as it was when the program began, and by advertised keys.
      configuration.trust = .remembered
    }
  }

  /// The known keys, that may be sent to, of the relay that the person means.
  private func keys(of relay: DialTarget) -> Set<PeerID> {
    switch relay {
    case .peer(.named(let name)): keys { $0.name == name }
    case .peer(.peer(let digits)): keys { $0.id.description == digits }
    case .place(let address): keys { [key = known.entry(at: address.description)?.id] in $0.id == key }
    case .peer(.all): []
    }
  }

  private func keys(where isMeant: (KnownPeer) -> Bool) -> Set<PeerID> {
    Set(known.entries.filter { isMeant($0) && isReachable($0) }.map(\.id))
  }

  private func isReachable(_ peer: KnownPeer) -> Bool { peer.may(.send, in: ProgramEnvironment.imagesProgram) }

  /// The key that must answer at an address: the given one, the one of the device that was named, or the one that was
  /// confirmed there.
  func expected(at address: String) -> PeerID? {
    if let fingerprint { return fingerprint }
    if let meant, meant.place == address {
      switch meant.recipient {
      case .all: break
      case .peer(let digits): return PeerID(hexadecimal: digits)
      case .named(let name):
        let keys = RememberedName(name, in: naming.fingerprints).keys
        if let key = keys.first { return keys.count == 1 ? PeerID(hexadecimal: key) : nil }
      }
    }
    return known.entry(at: address)?.id
  }

  /// Why the peer at an address is not the one that was named, asked before a person is: its key has been looked at
  /// where the name stands for one. Nil: it is the one, or none was named.
  func mismatch(_ peer: ProvenMember, _ place: PeerConnection.Place) -> TransferFailure? {
    guard fingerprint == nil, case .address(let address, _) = place, let meant, meant.place == address.description
    else { return nil }
    let sighted = SightedPeer(fingerprint: peer.fingerprint.description, name: peer.name, id: "")
    let known = naming.fingerprints
    if !meant.recipient.matches(in: [sighted], known: known).isEmpty { return nil }
    return TransferFailure(
      word: "identity",
      message: "expected '\(meant.recipient.text)', but \(console.describe(peer)) answers there", exitCode: .identity)
  }

  /// Whether the person may be asked before the peer there is a member.
  func mayAsk(_ place: PeerConnection.Place) -> Bool { asks && !isConfirmed(place) }

  /// Whether only a key can answer there that a person has confirmed: the given one, or one that may be sent to.
  func isConfirmed(_ place: PeerConnection.Place) -> Bool {
    if fingerprint != nil { return true }
    let key: PeerID? =
      switch place {
      case .peer(let peer): peer.id.peer
      case .address(let address, _): expected(at: address.description)
      }
    return key.flatMap { known[$0] }?.may(.send, in: ProgramEnvironment.imagesProgram) == true
  }

  /// - Returns: a number for `ended`.
  func began(_ attempt: Attempt) -> Int {
    state.change { state in
      state.nextAttempt += 1
      state.attempts[state.nextAttempt] = attempt
      return state.nextAttempt
    }
  }

  func ended(_ attempt: Int) { state.change { $0.attempts[attempt] = nil } }

  /// The attempts for which this peer's answer may be.
  private func attempts(of peer: ProvenMember) -> [Attempt] {
    state.value.attempts.values.filter { attempt in
      if let proven = attempt.proven() { return proven == peer.id }
      return switch attempt.place {
      case .peer(let wanted): wanted.id == peer.id
      case .address: attempt.purpose == .itself
      }
    }
  }

  /// Why nothing may go to this place, asked before anything does; nil: nothing is in the way.
  /// - Parameter own: this device's key, which its other programs share.
  func refusal(
    _ place: PeerConnection.Place, _ purpose: PeerConnection.Purpose = .itself, own: PeerID
  ) -> TransferFailure? {
    // The code is the receiver's, and so is the fingerprint: a relay has to be known, or asked about.
    let isFree = asks || (hasCode && purpose == .itself)
    switch place {
    case .peer(let peer):
      return peer.id.peer == own ? nil : refusal(peer.id.peer, calledItself: peer.name, isFree)
    case .address(let address, _):
      let key = purpose == .itself ? expected(at: address.description) : known.entry(at: address.description)?.id
      if let key { return refusal(key, calledItself: "", isFree) }
      // The key that answers decides: the node lets in those that may be sent to, and no others.
      let mayBeKnown = fingerprint == nil && !hasCode && known.entries.contains(where: isReachable)
      return isFree || mayBeKnown ? nil : Self.unknownAddress(purpose)
    }
  }

  private static func unknownAddress(_ purpose: PeerConnection.Purpose) -> TransferFailure {
    unconfirmed(
      "nobody has confirmed whose key this address has: "
        + (purpose == .relay
          ? "join it once from a terminal, which asks, or make it known by 'piconet trust add NAME F' (see "
            + "'imagerecv --fingerprint' there) and give --relay NAME"
          : "give it with --fingerprint, as 'imagerecv --fingerprint' shows it there, or its code with --code, or send "
            + "from a terminal"))
  }

  // As the node's trust policy words its refusals.
  private static let notRemembered = "this device is not among the remembered ones"
  private static let noRight = "this device has no right to do this"

  /// What to say of a device that has answered at an address, and was refused since it may not be sent to; nil: the
  /// error says it itself.
  func refused(
    _ place: PeerConnection.Place, _ purpose: PeerConnection.Purpose, _ error: PiconetError
  ) -> TransferFailure? {
    guard case .address(let address, _) = place, !asks, !hasCode, expected(at: address.description) == nil else {
      return nil
    }
    switch error.detail {
    case Self.notRemembered: return Self.unknownAddress(purpose)
    case Self.noRight:
      return Self.unconfirmed("it is known, and may not be sent to: piconet trust allow NAME send")
    default: return nil
    }
  }

  private func refusal(_ key: PeerID, calledItself name: String, _ isFree: Bool) -> TransferFailure? {
    if let blockade = naming.blockade([key]) { return Self.unconfirmed(blockade) }
    guard fingerprint != key, !isFree else { return nil }
    guard let entry = known[key] else { return stranger(key, calledItself: name) }
    return entry.may(.send, in: ProgramEnvironment.imagesProgram)
      ? nil : Self.unconfirmed("it is known, and may not be sent to: piconet trust allow \(key.shortDescription) send")
  }

  /// The digits shown are too few to be given as a fingerprint: that must come from the other device.
  private func stranger(_ key: PeerID, calledItself name: String) -> TransferFailure {
    let remark = naming.imitated(key, calledItself: name).map { ", not the known '\($0)'" } ?? ""
    let isFirst = state.change { state in
      defer { state.hasToldWays = true }
      return !state.hasToldWays
    }
    let who = "the device of this name in sight (\(key.shortDescription)\(remark)) is not known here"
    return Self.unconfirmed(
      isFirst ? "\(who) and gets nothing; \(Self.waysToMakeKnown)" : "\(who) either, and gets nothing")
  }

  private static let waysToMakeKnown =
    "make it known by --fingerprint F (see 'imagerecv --fingerprint' there), --code, 'piconet trust add NAME F' "
    + "or once on a terminal"

  private static func unconfirmed(_ message: String) -> TransferFailure {
    TransferFailure(word: "not-confirmed", message: message, exitCode: .identity)
  }

  /// Asks about an unconfirmed key.
  private func isConfirmed(_ peer: ProvenMember, _ code: String) async -> Bool {
    let what = "\(console.describe(peer)) is \(words(peer))."
    let screens = "Code: \(code)   The other screen must show the same."
    let attempts = attempts(of: peer)
    let isRelay = attempts.contains { $0.purpose == .relay } && !attempts.contains { $0.purpose == .itself }
    // The receiver was given by its key, so no person is waited for; no person has said anything about the relays.
    if let fingerprint, !isRelay { return peer.fingerprint == fingerprint }
    // From now on, even if others are asked about first.
    for attempt in attempts { attempt.asked() }
    let remembers = peer.known == nil ? "remembers it" : "remembers that"
    let yes = isRelay ? "'yes' \(remembers), as a device that may be sent to as well" : "'yes' \(remembers)"
    let wants =
      await ask(
        peer, "\(what)\n\(screens) \(yes), 'once' does not.", isRelay ? Self.wordingOfRelays : Self.wording) != nil
    for attempt in attempts { attempt.answered(peer, wants) }
    return wants
  }

  private func words(_ peer: ProvenMember) -> String {
    if let entry = peer.known {
      return entry.may(.send, in: ProgramEnvironment.imagesProgram)
        ? entry.standing : "known, and may not be sent to so far"
    }
    return naming.imitated(peer.fingerprint, calledItself: peer.name)
      .map { "not known, and not the device that is known as '\(console.safe($0))'" } ?? "not known yet"
  }

  /// - Returns: nil unless the person wants to send.
  private func ask(
    _ peer: ProvenMember, _ what: String, _ wording: AcceptQuestion.Wording
  ) async -> AcceptQuestion.Answer? {
    guard await gate.enter() else { return nil }
    defer { gate.leave() }
    guard let question = AcceptQuestion() else { return nil }
    guard let former = state.change({ $0.begin(question, about: peer.id) }) else { return nil }
    console.note(what, isQuestion: true)
    let answer = await withTaskCancellationHandler {
      await onItsOwnThread { [console] in
        question.ask(console, wording, after: former)
      } ?? .none
    } onCancel: {
      question.cancel()
    }
    if answer == .hungUp { await Interruption.hangUp() }
    state.change { $0.end(about: peer.id, with: answer) }
    return answer == .yes || answer == .once ? answer : nil
  }

  /// The attempt has failed: a question about it is withdrawn.
  /// - Parameter proven: whose key was proven there.
  /// - Returns: the failure, in the light of the person's answer.
  func failed(
    _ place: PeerConnection.Place, _ purpose: PeerConnection.Purpose = .itself, _ proven: NodeID? = nil,
    _ failure: TransferFailure
  ) -> TransferFailure {
    let wanted: NodeID? = if case .peer(let peer) = place { peer.id } else { proven }
    // No one was asked about a relay of which nothing is proven.
    if purpose == .relay, wanted == nil { return failure }
    let (questions, answers) = state.change { state in
      if let wanted, purpose == .itself { state.ended.insert(wanted.peer) }
      func isMeant(_ node: NodeID) -> Bool {
        guard let wanted else { return true }
        return purpose == .relay ? node == wanted : node.peer == wanted.peer
      }
      return (
        state.questions.filter { isMeant($0.key) }.map(\.value), state.answers.filter { isMeant($0.key) }.map(\.value)
      )
    }
    for question in questions { question.cancel() }
    if answers.contains(.codesDiffer) {
      return TransferFailure(
        word: "code-mismatch", message: "the codes differ: somebody may be in between", exitCode: .identity)
    }
    return answers.contains(.no)
      ? TransferFailure(word: "not-confirmed", message: "you said no", exitCode: .usage) : failure
  }

  /// The peer has accepted, and has got nothing yet: asks what remains to be asked, and remembers what the person has
  /// said.
  func settle(_ member: Member, _ place: PeerConnection.Place, _ node: Node) async throws(TransferFailure) {
    let peer = member.proven
    var address: String?
    if case .address(let place, _) = place { address = place.description }
    var confirmation: PeerConfirmation?
    if peer.fingerprint == fingerprint {
      confirmation = .fingerprint
    } else if peer.hasProvenCode || state.change({ $0.answers[peer.id] }) == .yes {
      confirmation = .code
    } else if let address, asks, address != meant?.place, peer.known != nil,
      known.entry(at: address)?.id != peer.fingerprint
    {
      // We know this peer, but no one has confirmed that it is the one at this address.
      let what =
        "At \(console.safe(address)) answers \(console.describe(peer)), known, but not from this address. 'yes' remembers the address."
      switch await ask(peer, what, Self.wordingWithoutCodes) {
      // No codes were compared, so the key's confirmation stays as it was.
      case .yes: confirmation = .firstUse
      case .once: return
      default:
        await member.disconnect()
        throw failed(place, .itself, peer.id, Self.unconfirmed("it is another device than the one that you mean"))
      }
    }
    guard let confirmation else { return }
    do throws(PiconetError) {
      let entry = try await node.remember(
        peer, as: confirmation == .fingerprint ? petname : nil, confirmed: confirmation, rights: [.send],
        address: address)
      if peer.known == nil { console.note("Remembered as '\(console.safe(entry.name))'") }
    } catch {
      console.tellNotRemembered(peer, error)
    }
  }
}

extension Console {
  /// This run goes on, but the next one will not know the peer.
  func tellNotRemembered(_ peer: ProvenMember, _ error: PiconetError) {
    let message = "\(peer.name) (\(peer.fingerprint.shortDescription)) is not remembered: \(error.detail)"
    tell(.warning(ProgramEvent.Warning(reason: "not-remembered", message: message)))
    problem("warning: \(safe(message))")
  }
}
