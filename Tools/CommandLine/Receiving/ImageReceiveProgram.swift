import Glibc
import Piconet
import PiconetTerminal

/// imagerecv: waits for senders and stores what they send.
public struct ImageReceiveProgram: Sendable {
  let arguments: ImageReceiveArguments
  let environment: ProgramEnvironment
  let console: Console
  /// nil: files are read anew.
  private let digests: DigestCacheFile?

  init(arguments: ImageReceiveArguments, environment: ProgramEnvironment, console: Console) {
    self.arguments = arguments
    self.environment = environment
    self.console = console
    digests = arguments.usesCache ? environment.digests : nil
  }

  /// Does everything and reports it; cancelling the task ends it in good order.
  func run() async {
    if arguments.fingerprint { return tellFingerprint() }
    if let count = arguments.history { return tellHistory(count) }
    guard console.accepts(arguments.transport) else { return }
    do throws(PiconetError) {
      var configuration = try environment.configuration(
        session: arguments.session, name: arguments.name, mode: .server, transport: arguments.transport)
      configuration.program = ProgramEnvironment.imagesProgram
      if arguments.visible == .known {
        configuration.visibility = .knownPeers
        configuration.transports = [.tcp]
      }
      configuration.capacity = CommandLineLimits.senders + 1
      configuration.idleMemberTimeout = arguments.timeout
      if arguments.accept == .ask { configuration.openInvitations = CommandLineLimits.questions }
      configuration.listen = listen
      if !arguments.relays.isEmpty {
        RelayMembership.prepare(&configuration)
        configuration.greeting = RelayMark.receiverGreeting
        configuration.capacity += arguments.relays.count
        if arguments.searchesForRelay { configuration.mode = .peer }
      }
      let node = try await Node(configuration)
      await run(node, configuration)
      if Task.isCancelled {
        let isDone = await node.stop(waitingForDisks: CommandLineLimits.writingAtEnd)
        if !isDone { console.problem("warning: a disk does not answer: ending without it") }
      } else {
        await node.stop()
      }
    } catch {
      let failure = TransferFailure(error, on: .receiver)
      console.fail(failure.word, failure.message, failure.exitCode)
    }
  }

  /// Gives up writing anywhere but where this run has to.
  func confine() {
    // Made before it is confined, since it can't be made afterwards.
    var state = arguments.history == nil ? environment.writtenFolders : []
    if arguments.receives, let digests {
      digests.makeFolder()
      state.append(digests.folder)
    }
    let places = WritablePlaces(
      of: arguments, directory: folder, state: state, trace: environment.trace.map { LocalPath($0.path) })
    switch Confinement.begin(places) {
    case .confined: break
    case .unavailable(let reason):
      console.note("The kernel can't keep this program from writing anywhere else: \(reason)", detail: 1)
    case .failed(let reason):
      console.problem("warning: this program could not be kept from writing anywhere else: \(reason)")
    }
  }

  /// Shows what a sender has to give as its own `--fingerprint`.
  private func tellFingerprint() {
    do throws(PiconetError) {
      let digits = try environment.identity.fingerprint().description
      console.result(digits, evenIfQuiet: true)
      console.tell(.identity(ProgramEvent.Identity(peer: digits)))
      if arguments.qr { tellQRCode(digits) }
    } catch {
      let failure = TransferFailure(error, on: .receiver)
      console.fail(failure.word, console.safe(failure.message), failure.exitCode)
    }
  }

  private func tellHistory(_ count: Int) {
    guard let history = console.history else {
      return console.fail("state", "there is no place for a history: HOME and XDG_STATE_HOME are not set", .localFile)
    }
    do throws(SystemFailure) {
      let entries = try history.last(count)
      for entry in entries { console.result(entry.text(safe: console.safe)) }
      if entries.isEmpty { console.note("Nothing has been received so far") }
    } catch {
      console.fail("history", "the history: \(ErrorNumber.text(error.number))", .localFile)
    }
  }

  private func tellQRCode(_ digits: String) {
    do throws(QRCodeFailure) {
      let terminal = STDOUT_FILENO
      let lines = try QRCodeDrawing.lines(
        of: digits, on: TerminalTraits(descriptor: terminal), columns: TerminalSize.of(descriptor: terminal).columns)
      for line in lines { console.result(line, evenIfQuiet: true) }
    } catch {
      console.fail("qr-code", "\(error)", .usage)
    }
  }

  private var folder: LocalPath {
    if let directory = arguments.directory { return directory }
    guard arguments.isService, let home = environment.variable("HOME") else { return "." }
    return LocalPath(
      UserDirectories.pictures(home: home, configurationHome: environment.variable("XDG_CONFIG_HOME")))
  }

  private var listen: String? {
    if let place = arguments.listen { return place.host.isEmpty ? "*:\(place.port)" : place.description }
    return environment.isLoopbackOnly ? "127.0.0.1:0" : nil
  }

  private func run(_ node: Node, _ configuration: NodeConfiguration) async {
    guard let directory = await openDirectory(node) else { return }
    directory.whenReplaced { [console, folder] in
      console.warn(
        of: "\(console.safe(folder.readable)) is another folder than before: what comes is stored there from now on",
        reason: "directory")
    }
    console.open(digests)
    defer { console.save(digests) }
    let codes = arguments.code.map {
      CodeDesk(node: node, console: console, option: $0, typedInto: "imagesend --code FILE...")
    }
    if let codes, await !codes.begin() { return }
    do throws(PiconetError) {
      try await node.setAvailable(true)
    } catch {
      // Only the detail: where to listen is the user's choice, so the code's words, "internal error", would mislead.
      let message = error.detail.isEmpty ? TransferFailure(error, on: .receiver).message : error.detail
      return console.fail("can-not-listen", message, .usage)
    }
    let desktop =
      arguments.mayAskDesktop && !AcceptQuestion.isPossible ? await Desktop.connect(program: console.program) : nil
    // With a code, only known peers get in without it; no one is asked.
    let policy =
      arguments.code == nil
      ? arguments.accept.possible(console, right: ProgramEnvironment.imagesRight, hasDesktop: desktop != nil) : .known
    await console.tellDamage(node)
    await tellListening(node, configuration, directory)
    if arguments.isService { ServiceNotice(environment.variable)?.ready("Receiving as \(configuration.name)") }
    let board = TransferBoard(console: console) { await CutLinks.peers(of: node.session) }
    let notes = ConnectionNotes(node: node, console: console)
    let relays = RelayMemberships(
      all: arguments.relays.map { target in
        RelayMembership(
          target, node: node, console: console, transport: arguments.transport, environment: environment,
          session: arguments.session ?? ProgramEnvironment.usualSession, searchTime: CommandLineLimits.longestWait,
          timeout: Self.relayTime, givesUp: false, isForOthers: true)
      })
    let consents = Consents(hasRelay: !relays.isEmpty)
    let notices = desktop.map { StoredNotices(desktop: $0, console: console) }
    let desk = OfferDesk(
      node: node, console: console, board: board, notes: notes, directory: directory, consents: consents,
      notices: notices, arguments: arguments)
    let path = folder
    let thumbnails = ThumbnailDisplay(arguments.thumbnails, variable: environment.variable)
    if thumbnails == nil, arguments.thumbnails != .off {
      console.note(
        "There are no thumbnails: piconet-thumbnail is not beside this program",
        detail: arguments.thumbnails == .auto ? 1 : 0)
    }
    let invitations = InvitationDesk(
      node: node, console: console, policy: policy, consents: consents, freeSpace: { FreeSpace.bytes(at: path) },
      desktop: desktop, thumbnails: thumbnails
    ) { environment.naming }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await board.show() }
      group.addTask { await invitations.run() }
      group.addTask { await notes.watch() }
      group.addTask { await notices?.run() }
      group.addTask { await follow(node, desk, notes, relays) }
      group.addTask { await relays.keep() }
      // Senders invite us.
      group.addTask { for await _ in node.session.introductions {} }
      let look = BluetoothLook(options: arguments.transport, environment: environment)
      let network = NetworkNotes(console: console, look: look, isFound: true)
      group.addTask { await network.follow(node) }
      group.addTask { await network.tellLack() }
      group.addTask {
        await look.follow(from: node.listeningAddresses) { obstacle in
          if let obstacle { console.warn(of: obstacle) } else { await tellListening(node, configuration, directory) }
        }
      }
      group.addTask {
        await ManifestDesk(node: node, directory: directory, desk: desk) {
          console.save(digests, ifNew: DigestCacheFile.batch)
        }.run()
      }
      await withTaskGroup(of: Void.self) { ends in
        ends.addTask { await desk.run() }
        if let codes { ends.addTask { await codes.run() } }
        if let time = arguments.visibleTime { ends.addTask { await hide(node, after: time, relays) } }
        await ends.next()
        ends.cancelAll()
      }
      group.cancelAll()
    }
    await desktop?.close()
    console.clearBars()
    notes.tellAll()
    desk.tellSums()
    desk.tellParts()
    if Task.isCancelled, !desk.isFull { console.interrupted() }
  }

  /// Returns when this device can no longer be found, and the peers that found it are done.
  private func hide(_ node: Node, after time: Duration, _ relays: RelayMemberships) async {
    try? await ContinuousClock().sleep(for: time)
    if Task.isCancelled { return }
    // Hiding can't fail: it listens to no new peer.
    try? await node.setAvailable(false)
    console.note("Others can't find this device any more, after \(HumanFigures.elapsed(time))")
    while !Task.isCancelled, node.session.members.contains(where: { !relays.contains($0.id) }) {
      try? await ContinuousClock().sleep(for: Self.lastLook)
    }
  }

  /// How often it is looked whether the last sender has left.
  private static let lastLook = Duration.seconds(1)
  /// How long a relay has for its answer: a person there may be asked.
  private static let relayTime = Duration.seconds(120)

  private func openDirectory(_ node: Node) async -> ReceivingDirectory? {
    let folder = folder
    let name = console.safe(folder.readable)
    do throws(TransferFailure) {
      // Stored files are reported by their paths.
      guard folder.lastComponent.text != nil else {
        throw TransferFailure(word: "directory", message: "the name is not UTF-8", exitCode: .localFile)
      }
      let path = try OpenablePath(folder)
      defer { withExtendedLifetime(path) {} }
      do throws(PiconetError) {
        return try await node.receivingDirectory(at: path.text, maximumFileSize: arguments.maxSize.map { UInt64($0) })
      } catch {
        throw TransferFailure(error, on: .receiver)
      }
    } catch {
      // Not created here: the name may be mistyped, or what belongs there not be mounted.
      let isMissing = folder.withCString { access($0, F_OK) } != 0 && errno == ENOENT
      let advice = isMissing ? "; imagerecv does not create it, mkdir does" : ""
      // The library's sentence names the path, too.
      let message = error.message.hasPrefix("\(name): ") ? error.message : "\(name): \(error.message)"
      console.fail("directory", message + advice, .localFile)
      return nil
    }
  }

  private func tellListening(
    _ node: Node, _ configuration: NodeConfiguration, _ directory: ReceivingDirectory
  ) async {
    let addresses = await node.listeningAddresses
    let transports = configuration.transports.filter { kind in addresses.contains { $0.kind == kind } }
    console.tell(
      .listening(
        ProgramEvent.Listening(
          peer: node.id.peer.description, name: configuration.name, session: configuration.sessionID,
          addresses: addresses.map(\.text), transports: transports.map { "\($0)" },
          directory: folder.readable)))
    console.note(
      "Receiving as '\(console.safe(configuration.name))' into \(console.safe(folder.readable)), listening on "
        + (addresses.isEmpty ? "no address" : addresses.map { "\($0.kind) \($0.text)" }.joined(separator: ", ")))
  }

  private func tell(joined peer: ProvenMember, suppressed: Int) {
    let fingerprint = peer.fingerprint.description
    let transport = "\(peer.transport)"
    console.tell(
      .connected(
        ProgramEvent.Connected(
          peer: fingerprint, name: peer.petname, transport: transport, relays: peer.route.relayFingerprints,
          fingerprint: fingerprint, code: peer.shortCode, suppressed: NoticeBudget.figure(suppressed))))
    console.noteConnected(peer, environment.naming, suppressed: suppressed)
  }

  private func follow(
    _ node: Node, _ desk: OfferDesk, _ notes: ConnectionNotes, _ relays: RelayMemberships
  ) async {
    let reach = ReachNotes(console: console, side: .receiver, relays: relays)
    let arrivals = ArrivalNotes()
    for await change in node.session.membership {
      relays.tell(change)
      switch change {
      case .joined(let member):
        if relays.contains(member.id) { continue }
        let peer = member.proven
        if let suppressed = arrivals.joined(peer) {
          tell(joined: peer, suppressed: suppressed)
          if let route = relays.route(to: member) { console.note(route) }
        }
        if peer.hasProvenCode { await console.remember(peer, in: node, rights: [.push, .send]) }
      case .suspended, .moved, .resumed: reach.tell(change)
      case .left(let member, let error):
        reach.tell(change)
        desk.left(member.proven)
        console.save(digests)
        let isTold = arrivals.left(member.id)
        notes.over(member.id, isTold: isTold)
        guard isTold else { continue }
        console.note("\(console.describe(member.proven)) has left: \(console.safe(error.description))", detail: 1)
      }
    }
  }
}
