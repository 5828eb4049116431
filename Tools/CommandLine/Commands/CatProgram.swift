import Glibc
import Piconet

/// `piconet cat`: standard input to the far side's standard output, both ways, with the ends told.
///
/// Each message begins with a byte: 0 with bytes of the input behind it, 1 for its end. The session's message window holds back
/// who is too fast.
struct CatProgram: Sendable {
  let arguments: CatArguments
  let environment: ProgramEnvironment
  let console: Console

  static let usualSession = "piconet-cat"
  private static let data: UInt8 = 0
  private static let end: UInt8 = 1
  /// As much as a pipe holds, in one message with its first byte.
  private static let pieceSize = 65_535

  private enum Failure: Error {
    /// The far side's, or ours.
    case link(PiconetError)
    case input(Int32)
    case output(Int32)
    /// Nobody reads our output any more: no failure of ours.
    case readerGone
    case malformed
    case interrupted
  }

  private struct Progress {
    var failure: Failure?
    var gotEnd = false
    var sentEnd = false
  }

  private var link: PeerLink {
    PeerLink(
      arguments: arguments.link, environment: environment, console: console, usualSession: Self.usualSession,
      purpose: "exchange bytes")
  }

  func run() async {
    guard let input = StandardInput() else {
      return console.fail("input", "standard input can't be watched", .internalError, event: false)
    }
    await link.run(capacity: 2) { node in
      guard let member = arguments.link.listens ? await wait(node) : await link.reach(node) else { return }
      await carry(member, node, input)
    }
  }

  /// The first who is accepted; others find nobody here then.
  private func wait(_ node: Node) async -> Member? {
    guard await link.listen(node) else { return nil }
    let policy = arguments.link.accept.possible(console)
    let member = await withTaskGroup(of: Member?.self) { group in
      group.addTask {
        await link.answer(node, policy: policy)
        return nil
      }
      group.addTask {
        for await change in node.session.membership { if case .joined(let member) = change { return member } }
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      for await other in group { if first == nil, let other { return Optional(other) } }
      return first
    }
    guard let member else {
      link.fail(Delivery.interrupted)
      return nil
    }
    link.tell(joined: member)
    try? await node.setAvailable(false)
    return member
  }

  private func carry(_ member: Member, _ node: Node, _ input: StandardInput) async {
    let progress = Guarded(Progress())
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await change in node.session.membership {
          guard case .left(member.id, let error) = change else { continue }
          progress.change { if !$0.gotEnd || !$0.sentEnd { $0.failure = $0.failure ?? .link(error) } }
          // What came before is still read; then the messages end.
          await node.stop()
        }
      }
      await withTaskGroup(of: Void.self) { both in
        both.addTask {
          let failure = await send(input, to: member)
          progress.change { $0.sentEnd = failure == nil }
          if let failure { progress.change { $0.failure = $0.failure ?? failure } }
          // What fails here ends the other direction too, but for a link that is down: what has come is still written.
          if let failure, case .link = failure { return }
          if failure != nil { await node.stop() }
        }
        both.addTask {
          let failure = await receive(from: member, node)
          progress.change { progress in
            progress.gotEnd = failure == nil
            if let failure { progress.failure = progress.failure ?? failure }
          }
          // Nobody types for who has gone, and a person need not type Ctrl-D for who has finished.
          if failure != nil || input.isTerminal { input.end() }
          if failure != nil { await node.stop() }
        }
      }
      await member.disconnect()
      group.cancelAll()
    }
    let outcome = progress.value
    if outcome.gotEnd, outcome.sentEnd { return }
    if Task.isCancelled { return link.fail(Delivery.interrupted) }
    tell(outcome.failure)
  }

  private func tell(_ failure: Failure?) {
    switch failure {
    case .readerGone, nil: break
    case .interrupted: link.fail(Delivery.interrupted)
    case .link(let error): link.fail(TransferFailure(error, on: .sender))
    case .input(let code): console.fail("input", "standard input: \(SystemError.text(code))", .localFile, event: false)
    case .output(let code):
      console.fail("output", "standard output: \(SystemError.text(code))", .localFile, event: false)
    case .malformed:
      console.fail("protocol-broken", "the other side is no 'piconet cat'", .linkLost, event: false)
    }
  }

  /// How much of the input one message carries; nil where the far side takes no message with a byte in it.
  static func pieceSize(messageLimit: Int) -> Int? { messageLimit > 1 ? min(pieceSize, messageLimit - 1) : nil }

  /// nil when the end of the input was sent.
  private func send(_ input: StandardInput, to member: Member) async -> Failure? {
    guard let size = Self.pieceSize(messageLimit: member.proven.messageLimit) else { return .malformed }
    do throws(PiconetError) {
      while true {
        switch await input.read(atMost: size) {
        case .bytes(let bytes): try await member.send([Self.data] + bytes)
        case .end:
          if Task.isCancelled { return .interrupted }
          try await member.send([Self.end])
          return nil
        case .failed(let code): return .input(code)
        }
      }
    } catch {
      return .link(error)
    }
  }

  /// nil when the far side's end has come and everything is written.
  private func receive(from member: Member, _ node: Node) async -> Failure? {
    for await message in node.session.messages where message.sender == member.id {
      guard let kind = message.bytes.first else { return .malformed }
      switch kind {
      case Self.end where message.bytes.count == 1: return nil
      case Self.data:
        let bytes = message.bytes.dropFirst()
        let failure = await onItsOwnThread { () -> StandardStream.Failure? in
          var output = StandardStream.output
          output.write(bytes)
          return output.failure
        }
        switch failure {
        case .some(.none): continue
        case .some(.readerGone): return .readerGone
        case .some(.system(let code)): return .output(code)
        case nil: return .output(EAGAIN)
        }
      default: return .malformed
      }
    }
    return .interrupted
  }
}
