import Glibc
import Piconet
import PiconetTerminal

/// `piconet cat`: standard input to the remote side's standard output, both ways, including the ends of input.
///
/// Each side opens one stream, which holds back a side that is too fast, and ends it with its input: it is done when
/// the other side has read all of it.
struct CatProgram: Sendable {
  let arguments: CatArguments
  let environment: ProgramEnvironment
  let console: Console

  static let usualSession = "piconet-cat"
  private static let streamName = "piconet cat"
  /// As much as a pipe holds.
  private static let pieceSize = 65_536

  private enum Failure: Error {
    /// The remote side's, or ours.
    case link(PiconetError)
    case input(Int32)
    case output(Int32)
    /// Our output no longer has a reader: not a failure of this program.
    case readerGone
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
      program: "cat",
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

  /// Waits for the first accepted peer; others are told that the session is full. It goes on listening: a link may be
  /// lost, and come back.
  private func wait(_ node: Node) async -> Member? {
    guard await link.listen(node) else { return nil }
    let isOver = Guarded(false)
    let member = await withTaskGroup(of: Member?.self) { group in
      group.addTask {
        if await link.answer(node) { isOver.change { $0 = true } }
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
      if !isOver.value { link.fail(Delivery.interrupted) }
      return nil
    }
    await link.welcome(member, in: node)
    return member
  }

  private func carry(_ member: Member, _ node: Node, _ input: StandardInput) async {
    let progress = Guarded(Progress())
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        let reach = ReachNotes(console: console, side: .sender)
        for await change in node.session.membership {
          reach.tell(change)
          guard case .left(member, let error) = change else { continue }
          progress.change { if !$0.gotEnd || !$0.sentEnd { $0.failure = $0.failure ?? .link(error) } }
          // Messages that came before are still read; then the messages end.
          await node.stop()
        }
      }
      await withTaskGroup(of: Void.self) { both in
        both.addTask {
          let failure = await send(input, to: member)
          progress.change { $0.sentEnd = failure == nil }
          if let failure { progress.change { $0.failure = $0.failure ?? failure } }
          // A failure here ends the other direction too, unless the link is down: the bytes that have come are then
          // still written.
          if let failure, case .link = failure { return }
          if failure != nil { await node.stop() }
        }
        both.addTask {
          let failure = await receive(from: member, node)
          progress.change { progress in
            progress.gotEnd = failure == nil
            if let failure { progress.failure = progress.failure ?? failure }
          }
          // There is no point in typing to a peer that has gone, and no one should have to type Ctrl-D for one that has
          // finished.
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
    case .input(let code): console.fail("input", "standard input: \(ErrorNumber.text(code))", .localFile, event: false)
    case .output(let code):
      console.fail("output", "standard output: \(ErrorNumber.text(code))", .localFile, event: false)
    }
  }

  /// nil when the remote side has read all of the input.
  private func send(_ input: StandardInput, to member: Member) async -> Failure? {
    do throws(PiconetError) {
      let stream = try await member.openStream(named: Self.streamName)
      while true {
        switch await input.read(atMost: Self.pieceSize) {
        case .bytes(let bytes): try await stream.write(bytes)
        case .end:
          if Task.isCancelled { return .interrupted }
          try await stream.finish()
          return nil
        case .failed(let code): return .input(code)
        }
      }
    } catch {
      return .link(error)
    }
  }

  /// nil when the remote side's end has come and everything is written.
  private func receive(from member: Member, _ node: Node) async -> Failure? {
    for await stream in node.session.streams where stream.sender.id == member.id {
      do throws(PiconetError) {
        for try await bytes in stream { if let failure = await write(bytes) { return failure } }
        return nil
      } catch {
        return .link(error)
      }
    }
    return .interrupted
  }

  private func write(_ bytes: ArraySlice<UInt8>) async -> Failure? {
    let failure = await onItsOwnThread { () -> StandardStream.Failure? in
      var output = StandardStream.output
      output.write(bytes)
      return output.failure
    }
    switch failure {
    case .some(.none): return nil
    case .some(.readerGone): return .readerGone
    case .some(.system(let code)): return .output(code)
    case nil: return .output(EAGAIN)
    }
  }
}
