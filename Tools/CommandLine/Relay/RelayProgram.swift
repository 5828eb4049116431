import Piconet

/// `piconet relay`: members that no network brings together reach one another over this device.
struct RelayProgram: Sendable {
  let arguments: RelayArguments
  let environment: ProgramEnvironment
  let console: Console

  static let purpose = "reach others over this device"

  private var link: PeerLink {
    var link = PeerLink(
      arguments: arguments.link, environment: environment, console: console,
      usualSession: ProgramEnvironment.usualSession, program: "relay", purpose: Self.purpose)
    link.relaying = quotas
    return link
  }

  private var quotas: RelayQuotas {
    var quotas = RelayQuotas()
    if let rate = arguments.rate {
      quotas.rate = rate
      quotas.memberRate = min(quotas.memberRate, rate)
    }
    return quotas
  }

  func run() async { await link.run(capacity: arguments.members + 1) { await serve($0) } }

  private func serve(_ node: Node) async {
    guard await link.listen(node) else { return }
    await withDiscardingTaskGroup { group in
      group.addTask {
        // The node's end ends the membership, and with it the program.
        if await link.answer(node) { await node.stop() }
      }
      // Nothing is meant for this device itself.
      group.addTask { for await _ in node.session.messages {} }
      group.addTask { for await offer in node.session.offers { await offer.decline(.declined) } }
      let reach = ReachNotes(console: console, side: .receiver)
      let arrivals = ArrivalNotes()
      let introducing = Guarded(Introducing())
      for await change in node.session.membership {
        reach.tell(change)
        switch change {
        case .joined(let member):
          await link.welcome(member, in: node, suppressed: arrivals.joined(member.proven))
          let isReceiver = RelayMark.isReceiver(member.proven)
          for pair in introducing.change({ $0.joined(member.id, isReceiver: isReceiver) }) {
            group.addTask { await introduce(pair, introducing, node) }
          }
        case .suspended, .moved, .resumed: break
        case .left(let member, let error):
          introducing.change { $0.left(member.id) }
          guard arrivals.left(member.id) else { continue }
          console.note("\(console.describe(member.proven)) has left: \(console.safe(error.description))")
        }
      }
      group.cancelAll()
    }
    if Task.isCancelled { console.interrupted() }
  }

  private func tell(_ error: PiconetError, _ sender: ProvenMember, _ receiver: ProvenMember) {
    let who = [sender, receiver].first { $0.id == error.peer }.map { "\(console.name($0)): " } ?? ""
    console.note(
      "\(console.name(sender)) can't send to \(console.name(receiver)) over this device: "
        + who + console.safe(error.description))
  }

  /// Introduces the two to one another while both are members.
  private func introduce(_ pair: Introducing.Pair, _ introducing: Guarded<Introducing>, _ node: Node) async {
    var told: PiconetError.Code?
    while !Task.isCancelled, introducing.change({ $0.goesOn(pair) }) {
      let start = ContinuousClock.now
      var failure: PiconetError?
      if let sender = node.session[pair.sender], let receiver = node.session[pair.receiver] {
        do throws(PiconetError) {
          try await node.session.introduce(sender, to: receiver, timeout: Introducing.time)
        } catch {
          failure = error
          // Said once, however often it is tried.
          if Introducing.isWorthTelling(error), told != error.code {
            told = error.code
            tell(error, sender.proven, receiver.proven)
          }
        }
      }
      try? await ContinuousClock().sleep(for: Introducing.pause(after: failure, standing: .now - start))
    }
  }
}
