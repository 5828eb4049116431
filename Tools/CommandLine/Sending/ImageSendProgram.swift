import Piconet

/// imagesend: gathers files, finds peers, sends.
public struct ImageSendProgram: Sendable {
  let arguments: ImageSendArguments
  let environment: ProgramEnvironment
  let console: Console
  /// What `-` stands for.
  private var input: FileWalk.Input?
  private var location: LocationRule
  /// nil: files are read anew.
  private let digests: DigestCacheFile?

  init(arguments: ImageSendArguments, environment: ProgramEnvironment, console: Console) {
    self.arguments = arguments
    self.environment = environment
    self.console = console
    location = LocationRule(console: console)
    digests = arguments.usesCache ? environment.digests : nil
  }

  /// - Parameter hidden: what becomes of hidden files if they are not asked for: it is enough to count them once.
  private func walk(hidden: FileWalk.Hidden = .passedOver) -> FileWalk {
    FileWalk(
      arguments.operands,
      FileWalk.Options(
        any: arguments.any, isFlat: arguments.isFlat, followsLinks: arguments.followsLinks,
        takesCompanions: !arguments.isAlone, hidden: arguments.takesHidden ? .sent : hidden, input: input))
  }

  private var session: String { arguments.session ?? ProgramEnvironment.usualSession }

  /// Does everything and reports it; cancelling the task ends it in good order.
  func run() async {
    do throws(TransferFailure) {
      var program = self
      program.location = try LocationRule(arguments, environment, console)
      guard arguments.readsInput else { return await program.sendAll() }
      let spooled = try await SpooledInput.read(console)
      program.input = FileWalk.Input(content: spooled.path, name: arguments.inputName)
      await program.sendAll()
      withExtendedLifetime(spooled) {}
    } catch {
      console.fail(error.word, error.message, error.exitCode)
    }
  }

  private func sendAll() async {
    let gathering = GatheringNotes(console: console)
    // Before looking for a receiver: is there anything to send?
    let feed = FileFeed(walk(hidden: .counted), gathering)
    guard await feed.next() != nil else {
      if Task.isCancelled { console.interrupted() }
      console.leftOut(await feed.leftOut)
      return console.tellSum()
    }
    guard console.accepts(arguments.transport, address: arguments.address) else { return }
    var code: TypedCode?
    do throws(TransferFailure) {
      // Before anything else: the person is looking at the other device anyway.
      code = try await arguments.code?.wanted(console)
    } catch {
      return console.fail(error.word, console.safe(error.message), error.exitCode)
    }
    do throws(PiconetError) {
      var configuration = try environment.configuration(
        session: session, name: arguments.name, mode: .client, transport: arguments.transport,
        address: arguments.address)
      let naming = environment.naming
      let contact = FirstContact(arguments, naming, console)
      contact.prepare(&configuration, relays: arguments.relays)
      configuration.program = ProgramEnvironment.imagesProgram
      configuration.disconnectTimeout = max(arguments.timeout, .seconds(2))
      configuration.capacity = CommandLineLimits.peersAtOnce + 1
      configuration.discovers = arguments.searches
      if !arguments.relays.isEmpty {
        RelayMembership.prepare(&configuration)
        configuration.capacity += arguments.relays.count
      }
      console.open(digests)
      defer { console.save(digests) }
      let node = try await Node(configuration)
      await console.tellDamage(node)
      await run(node, gathering, contact, naming, code)
      // A read that hangs ends with the process.
      _ = await node.stop(waitingForDisks: CommandLineLimits.readingAtEnd)
    } catch {
      let failure = TransferFailure(error, on: .sender)
      console.fail(failure.word, failure.message, failure.exitCode)
    }
  }

  private func run(
    _ node: Node, _ gathering: GatheringNotes, _ contact: FirstContact, _ naming: PeerNaming, _ code: TypedCode?
  ) async {
    let board = TransferBoard(console: console, isCounting: true) { await CutLinks.peers(of: node.session) }
    let announcement = Announcement(decoder: arguments.hasThumbnails ? .installed() : nil)
    let counting = Task { await count(into: board, announcement) }
    let search = PeerSearch(node: node, console: console, session: session, naming: naming)
    let relays = RelayMemberships(
      all: arguments.relays.map { target in
        RelayMembership(
          target, node: node, console: console, transport: arguments.transport, environment: environment,
          session: session, searchTime: arguments.searchTime, timeout: arguments.timeout, contact: contact,
          givesUp: true)
      })
    await withTaskCancellationHandler {
      await serve(node, gathering, board, contact, naming, code, announcement, search, relays)
    } onCancel: {
      counting.cancel()
    }
    // The count is complete, since it runs ahead of all others, or it is no longer waited for.
    await counting.value
    console.clearBars()
    console.tellSum()
  }

  /// Sends, and says meanwhile how that goes.
  private func serve(
    _ node: Node, _ gathering: GatheringNotes, _ board: TransferBoard, _ contact: FirstContact, _ naming: PeerNaming,
    _ code: TypedCode?, _ announcement: Announcement, _ search: PeerSearch, _ relays: RelayMemberships
  ) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await board.show() }
      group.addTask {
        while (try? await ContinuousClock().sleep(for: Self.pauseOfDigests)) != nil {
          console.save(digests, ifNew: DigestCacheFile.batch)
        }
      }
      group.addTask {
        let reach = ReachNotes(console: console, side: .sender, relays: relays)
        for await change in node.session.membership {
          reach.tell(change)
          relays.tell(change)
          if case .joined(let member) = change, let route = relays.route(to: member) { console.note(route) }
          if case .left(let member, _) = change { search.relayIsGone(member.id) }
        }
      }
      if !relays.isEmpty { group.addTask { await search.takeIntroductions() } }
      if arguments.searches {
        let look = BluetoothLook(options: arguments.transport, environment: environment)
        group.addTask { await NetworkNotes(console: console, look: look, isFound: false).follow(node) }
      }
      await send(gathering, node, board, contact, naming, code, announcement, search, relays)
      group.cancelAll()
    }
  }

  /// How often it is looked whether there are digests to be kept.
  private static let pauseOfDigests = Duration.seconds(15)

  /// Goes through all files ahead of the receivers' feeds, to find out how many there are and which files in
  /// directories are left out.
  private func count(into board: TransferBoard, _ announcement: Announcement) async {
    var walk = walk(hidden: .counted)
    var gathered = TransferBoard.Gathered()
    while !Task.isCancelled, let step = walk.next() {
      guard case .file(let file) = step else { continue }
      announcement.add(file)
      gathered.files += 1
      gathered.bytes.add(bytes: file.size)
      // There may be only one processor.
      if gathered.files.isMultiple(of: 64) {
        board.count(gathered)
        await Task.yield()
      }
    }
    gathered.isWhole = !Task.isCancelled
    // What a server has is not known before it is asked.
    announcement.finish(isWhole: gathered.isWhole && !arguments.operands.contains(where: \.isURL))
    board.count(gathered)
    console.leftOut(walk.leftOut)
  }

  private func send(
    _ gathering: GatheringNotes, _ node: Node, _ board: TransferBoard, _ contact: FirstContact, _ naming: PeerNaming,
    _ code: TypedCode?, _ announcement: Announcement, _ search: PeerSearch, _ relays: RelayMemberships
  ) async {
    let gate = TaskGate(CommandLineLimits.peersAtOnce)
    let choice = PeerChoice(
      search: search, console: console, timeout: arguments.searchTime, session: session,
      bluetooth: BluetoothLook(options: arguments.transport, environment: environment),
      known: naming.fingerprints, asks: !arguments.yes, wanted: arguments.fingerprint,
      wantedName: arguments.recipients.first, confirmsByHand: contact.confirmsByHand, hasRelays: !relays.isEmpty)
    if arguments.searches {
      do throws(PiconetError) {
        try await node.setAvailable(true)
      } catch {
        let failure = TransferFailure(error, on: .sender)
        return console.fail(failure.word, failure.message, failure.exitCode)
      }
    }
    let joining = Task { await relays.keep() }
    defer { joining.cancel() }
    await withTaskGroup(of: Void.self) { group in
      if let address = arguments.address {
        let connection = PeerConnection(
          node: node, place: .address(address, address.kinds(arguments.transport.choice)), console: console,
          contact: contact, naming: naming, code: code, announcement: announcement)
        // Before looking for others: only the peer that answers there shows whether `--to` means the same one.
        _ = await gate.enter()
        let opened = await open(connection, gathering, search, board)
        if let opened { _ = search.claim(opened.id) }
        group.addTask {
          if let opened { await deliver(gathering, to: opened, over: connection, search, board) }
          gate.leave()
        }
      }
      var wishes: [Recipient?] = arguments.wanted
      if wishes.isEmpty, arguments.address == nil { wishes = [nil] }
      for recipient in wishes {
        group.addTask {
          do throws(NoChoice) {
            let peers =
              if let recipient { try await choice.peers(for: recipient) } else {
                try await choice.chosen(takesSeveral: arguments.code == nil)
              }
            await withTaskGroup(of: Void.self) { inner in
              for peers in byKey(peers.filter { search.claim($0.id) }) {
                let connections = peers.map { peer in
                  var connection = PeerConnection(
                    node: node, place: .peer(peer), console: console, contact: contact, naming: naming, code: code,
                    announcement: announcement)
                  connection.leavesOutRelays = recipient == .all
                  return connection
                }
                inner.addTask { await deliver(gathering, overEachOf: connections, search, gate, board) }
              }
            }
          } catch {
            await notSent(gathering, to: nil, Task.isCancelled ? Delivery.interrupted : TransferFailure(error), board)
          }
        }
      }
    }
  }

  /// Those of one key together, in their order.
  private func byKey(_ peers: [Peer]) -> [[Peer]] {
    var groups: [[Peer]] = []
    for peer in peers {
      if let index = groups.firstIndex(where: { $0[0].id.peer == peer.id.peer }) {
        groups[index].append(peer)
      } else {
        groups.append([peer])
      }
    }
    return groups
  }

  /// Sends to each program of one device, once. Any device can advertise that it has further ones, so once one of them
  /// has answered only a few more are tried, and it is no failure that one does not answer.
  private func deliver(
    _ gathering: GatheringNotes, overEachOf connections: [PeerConnection], _ search: PeerSearch, _ gate: TaskGate,
    _ board: TransferBoard
  ) async {
    var reached: Set<NodeID> = []
    for var connection in connections.prefix(CommandLineLimits.programsOfDevice) {
      if case .peer(let peer) = connection.place, reached.contains(peer.id) { continue }
      connection.reached = reached
      let isFirst = reached.isEmpty
      let isDone: NodeID?? = await gate.run { [connection] in
        let member = await open(connection, gathering, search, board, isNeeded: isFirst)
        if let member { await deliver(gathering, to: member, over: connection, search, board) }
        return member?.id
      }
      guard let node = isDone else { return await notSent(gathering, to: connection, Delivery.interrupted, board) }
      guard let node else { continue }
      reached.insert(node)
      _ = search.claim(node)
    }
  }

  /// - Parameter isNeeded: whether it is a failure if it does not succeed.
  /// - Returns: nil if it failed, which has been reported.
  private func open(
    _ connection: PeerConnection, _ gathering: GatheringNotes, _ search: PeerSearch, _ board: TransferBoard,
    isNeeded: Bool = true
  ) async -> Member? {
    let failure: TransferFailure
    do throws(TransferFailure) {
      return try await connection.open(timeout: arguments.timeout)
    } catch {
      failure = error
    }
    if failure.word == PeerConnection.leftOut.word { return nil }
    if !isNeeded {
      console.note("\(connection.sentence(failure)): another program of that device was advertised, and not found")
      return nil
    }
    let mayCome = ReceiverReturn.isPossible(after: failure) || failure.exitCode == .noSuchPeer
    if arguments.wait != nil, mayCome, !Task.isCancelled,
      let member = await comeBack(connection, search).member(connection.key, but: nil)
    {
      return member
    }
    await notSent(gathering, to: connection, Task.isCancelled ? Delivery.interrupted : failure, board)
    return nil
  }

  private func comeBack(_ connection: PeerConnection, _ search: PeerSearch) -> ReceiverReturn {
    let timeout = arguments.timeout
    return ReceiverReturn(search: search, console: console, patience: arguments.searchTime, connection: connection) {
      (next) async throws(TransferFailure) in try await next.open(timeout: timeout)
    }
  }

  /// Sends all files; to a receiver that is gone and comes back, the rest.
  private func deliver(
    _ gathering: GatheringNotes, to first: Member, over connection: PeerConnection, _ search: PeerSearch,
    _ board: TransferBoard
  ) async {
    let feed = FileFeed(walk(), gathering)
    var member = first
    // One that comes back again and again and takes nothing is given up, unless the person wants to wait.
    var fruitless = 0
    // Asked once more a receiver either has the file or never says so.
    var mayAskAgain = true
    while true {
      let before = console.counts
      let mayGoOn = arguments.wait != nil || fruitless < CommandLineLimits.fruitlessReturns
      guard
        let end = await deliver(
          feed, gathering, to: member, connection.node, board, mayGoOn: mayGoOn, mayAskAgain: mayAskAgain)
      else { return await leaveUntried(feed, board) }
      if end.word == "timed-out" {
        mayAskAgain = false
        console.note("\(console.name(member.proven)): \(end.message): asking once more")
      }
      fruitless = console.counts == before ? fruitless + 1 : 0
      let former = member
      guard let next = await comeBack(connection, search).member(former.proven.fingerprint, but: former.id) else {
        await notSent(gathering, to: connection, Task.isCancelled ? Delivery.interrupted : end, board, feed)
        return console.note(Delivery.howToGoOn)
      }
      _ = search.claim(next.id)
      board.goOn(TransferPeer(former.proven), as: TransferPeer(next.proven))
      member = next
    }
  }

  /// - Returns: why the receiver is gone, if it may come back.
  private func deliver(
    _ feed: FileFeed, _ gathering: GatheringNotes, to member: Member, _ node: Node, _ board: TransferBoard,
    mayGoOn: Bool, mayAskAgain: Bool
  ) async -> TransferFailure? {
    let notes = ConnectionNotes(node: node, console: console)
    let watching = Task { await notes.watch() }
    let manifests = ManifestExchange(member)
    let following = Task { await manifests.follow(node.session) }
    let end = await Delivery(
      member: member, files: feed, console: console, gathering: gathering, location: location, board: board,
      notes: notes, manifests: manifests, patience: arguments.timeout, mayGoOn: mayGoOn,
      mayAskAgain: mayAskAgain
    ).run()
    following.cancel()
    watching.cancel()
    await following.value
    await watching.value
    if member.transport != nil { await notes.look(at: member.proven) }
    notes.tellAll()
    await member.disconnect()
    return end
  }

  /// Says how many files had no turn before an interruption: to name each of many would take longer than a person waits
  /// for the end.
  private func leaveUntried(_ feed: FileFeed, _ board: TransferBoard) async {
    guard Task.isCancelled else { return }
    let gathered = board.gathered
    console.untried(max(0, gathered.files - (await feed.taken)), isWhole: gathered.isWhole)
  }

  /// None of these files has an outcome.
  /// - Parameter rest: those that are left; nil: all.
  private func notSent(
    _ gathering: GatheringNotes, to connection: PeerConnection?, _ failure: TransferFailure, _ board: TransferBoard,
    _ rest: FileFeed? = nil
  ) async {
    // A person here who ends it has nothing to do with the receiver.
    let place = failure.exitCode == .interrupted ? nil : connection
    console.problem(place.map { $0.sentence(failure) } ?? failure.message)
    let feed = rest ?? FileFeed(walk(), gathering)
    let limit = console.listsFailures ? CommandLineLimits.untriedTold : CommandLineLimits.fewFiles
    var count = 0
    var names: [String] = []
    while let file = await feed.next() {
      count += 1
      console.tell(
        .failed(
          ProgramEvent.Failed(
            peer: connection?.fingerprint, file: file.path.readable, reason: failure.word, message: failure.message,
            exitCode: failure.exitCode, transferred: file.former.transferred, wasOffered: file.former.wasOffered)))
      if names.count < limit { names.append(file.path.readable) }
    }
    await leaveUntried(feed, board)
    // If there are many, the sum has the reason and the first ones.
    guard console.listsFailures || count <= limit else { return }
    for name in names { console.note("\(console.safe(name)): not sent") }
    if count > limit { console.note("not sent either, of files that are not named here: \(count - limit)") }
  }
}

extension TransferFailure {
  init(_ choice: NoChoice) {
    self.init(word: choice.word, message: choice.message, exitCode: choice.exitCode)
  }
}
