import Piconet

/// `piconet ping`: asks, or answers.
struct PingProgram: Sendable {
  let arguments: PingArguments
  let environment: ProgramEnvironment
  let console: Console

  static let usualSession = "piconet-ping"

  private var link: PeerLink {
    PeerLink(
      arguments: arguments.link, environment: environment, console: console, usualSession: Self.usualSession,
      program: "ping",
      purpose: "ping this device")
  }

  func run() async {
    if arguments.link.listens {
      await link.run(capacity: CommandLineLimits.senders + 1) { await answer($0) }
    } else {
      await link.run(capacity: 2) { node in if let member = await link.reach(node) { await ask(member, node) } }
    }
  }

  // MARK: Answering

  private func answer(_ node: Node) async {
    guard await link.listen(node) else { return }
    await withDiscardingTaskGroup { group in
      group.addTask {
        // The node's end ends the messages, and with them the program.
        if await link.answer(node) { await node.stop() }
      }
      group.addTask {
        let reach = ReachNotes(console: console, side: .receiver)
        let arrivals = ArrivalNotes()
        for await change in node.session.membership {
          reach.tell(change)
          switch change {
          case .joined(let member):
            await link.welcome(member, in: node, suppressed: arrivals.joined(member.proven))
          case .suspended, .moved, .resumed: break
          case .left(let member, let error):
            guard arrivals.left(member.id) else { continue }
            console.note("\(console.describe(member.proven)) has left: \(console.safe(error.description))", detail: 1)
          }
        }
      }
      var answers: [NodeID: [MessageChannel: PingAnswers]] = [:]
      for await message in node.session.messages {
        guard var ping = PingMessage(message.bytes), ping.kind == .request else { continue }
        ping.kind = .reply
        if answers[message.sender]?[message.channel]?.take(ping.bytes) == true { continue }
        let members = node.session.members
        for (id, old) in answers where !members.contains(where: { $0.id == id }) {
          for one in old.values { one.end() }
          answers[id] = nil
        }
        answers[message.sender]?.removeValue(forKey: message.channel)?.end()
        guard let member = members.first(where: { $0.id == message.sender }) else { continue }
        let new = PingAnswers(to: member, in: message.channel)
        answers[message.sender, default: [:]][message.channel] = new
        _ = new.take(ping.bytes)
        group.addTask { await new.run() }
      }
      group.cancelAll()
    }
    if Task.isCancelled { console.interrupted() }
  }

  // MARK: Asking

  private func ask(_ member: Member, _ node: Node) async {
    let statistics = Guarded(PingStatistics())
    let loss = Guarded<PiconetError?>(nil)
    let (completion, complete) = AsyncStream<Never>.makeStream()
    let name = console.name(member.proven)
    console.result(
      "PING \(name) (\(member.proven.fingerprint.shortDescription)) over \(member.proven.transport), "
        + "\(console.safe(member.proven.remoteAddress)): \(arguments.size ?? PingArguments.usualSize) bytes of data")
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await message in node.session.messages {
          let now = ContinuousClock.now
          guard message.sender == member.id, let ping = PingMessage(message.bytes), ping.kind == .reply else {
            continue
          }
          let (time, isComplete) = statistics.change { ($0.receive(ping.number, at: now), $0.isComplete) }
          if let time {
            console.result(
              "\(message.bytes.count) bytes from \(name): seq=\(ping.number) time=\(PingStatistics.text(time)) ms")
          }
          if isComplete { complete.finish() }
        }
      }
      // A ping by the node itself, so that the figures include what the connection alone takes.
      group.addTask { _ = try? await node.session.ping(member, timeout: .seconds(1)) }
      group.addTask {
        let reach = ReachNotes(console: console, side: .sender)
        for await change in node.session.membership {
          reach.tell(change)
          guard case .left(member, let error) = change else { continue }
          loss.change { $0 = $0 ?? error }
          complete.finish()
        }
      }
      await send(to: member, statistics, loss)
      let hasAll = statistics.change { pings in
        pings.sendNoMore()
        return pings.isComplete
      }
      if !hasAll, loss.value == nil {
        let _: Void? = await limited(to: arguments.link.timeout) { for await _ in completion {} }
      }
      group.cancelAll()
    }
    let end = statistics.value
    let figures = await node.session.statistics(for: member)
    let lines = end.summary(name: name, transport: "\(figures?.transport ?? member.proven.transport)")
    for line in lines + (figures.map { ConnectionFigures($0).lines } ?? []) { console.result(line, evenIfQuiet: true) }
    if let error = loss.value {
      link.fail(TransferFailure(error, on: .sender))
    } else if end.received == 0 {
      link.fail(
        TransferFailure(
          word: "timed-out", message: "no ping came back: is 'piconet ping --listen' running there?",
          exitCode: .linkLost))
    }
    await member.disconnect()
  }

  private func send(
    to member: Member, _ statistics: Guarded<PingStatistics>, _ loss: Guarded<PiconetError?>
  ) async {
    let payload = (0..<(arguments.size ?? PingArguments.usualSize)).map { UInt8(truncatingIfNeeded: $0) }[...]
    var due = ContinuousClock.now
    var left = arguments.count
    while left != 0, !Task.isCancelled, loss.value == nil {
      let number = statistics.change { $0.send(at: .now) }
      do throws(PiconetError) {
        try await member.send(PingMessage(kind: .request, number: number, payload: payload).bytes)
      } catch {
        if !Task.isCancelled { loss.change { $0 = $0 ?? error } }
        return
      }
      left = left.map { $0 - 1 }
      if left == 0 { return }
      // A sender that was held up does not catch up with a burst.
      due = max(due + arguments.interval, .now)
      try? await ContinuousClock().sleep(until: due)
    }
  }
}
