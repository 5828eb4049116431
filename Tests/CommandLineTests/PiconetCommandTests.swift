import Testing

@testable import PiconetCommandLine

private func parse<Arguments>(
  _ table: OptionTable<Arguments>, _ initial: Arguments, _ words: [String]
) throws -> Arguments? {
  let invocation = try OptionParser.parse(
    words.map { Array($0.utf8) }, table: table, initial: initial, posixlyCorrect: false)
  if case .run(let arguments) = invocation { return arguments }
  return nil
}

private func ping(_ words: String...) throws -> PingArguments? { try parse(pingOptions, PingArguments(), words) }
private func cat(_ words: String...) throws -> CatArguments? { try parse(catOptions, CatArguments(), words) }
private func scan(_ words: String...) throws -> ScanArguments? { try parse(scanOptions, ScanArguments(), words) }

@Suite("The command line of piconet")
struct PiconetCommandTests {
  @Test("the first word is the command")
  func commands() {
    for command in PiconetProgram.Command.allCases {
      #expect(PiconetProgram.start(Array(command.rawValue.utf8)) == .command(command))
      #expect(PiconetProgram.help.contains("  \(command.rawValue) "))
    }
    for word in ["-h", "--help", "help"] {
      #expect(PiconetProgram.start(Array(word.utf8)) == .print(PiconetProgram.help))
    }
    #expect(PiconetProgram.start(nil) == .wrong(UsageError("missing command")))
    let list =
      "\nCommands are:\n  - 'doctor'\n  - 'scan'\n  - 'ping'\n  - 'cat'\n  - 'relay'\n  - 'browse'"
      + "\n  - 'introspect'\n  - 'call'\n  - 'trust'\n  - 'replay'\n  - 'manual'\n  - 'completion'"
    #expect(PiconetProgram.start(Array("pang!".utf8)) == .wrong(UsageError("unknown command 'pang!'" + list)))
    for (wrong, right) in [
      ("pong", "ping"), ("pnig", "ping"), ("Scan", "scan"), ("trsut", "trust"), ("repaly", "replay"),
    ] {
      let message = "unknown command '\(wrong)'; did you mean '\(right)'?" + list
      #expect(PiconetProgram.start(Array(wrong.utf8)) == .wrong(UsageError(message)))
    }
    let message = "unrecognized option '--hlep'; did you mean '--help'?" + list
    #expect(PiconetProgram.start(Array("--hlep".utf8)) == .wrong(UsageError(message)))
    #expect(
      PiconetProgram.start(Array("--x\u{1B}".utf8)) == .wrong(UsageError("unrecognized option '--x\\u{1b}'" + list)))
  }

  @Test("every option of ping reaches its argument")
  func pingOptions() throws {
    var link = LinkArguments(target: .peer(.named("Kitchen")))
    link.name = "Küche"
    link.session = "s1"
    link.timeout = .seconds(5)
    link.transport = TransportOptions(choice: .bluetooth, adapter: "hci1")
    link.verbosity = Verbosity(isQuiet: true, detail: 1)
    #expect(
      try ping(
        "-c3", "-i", "0.2", "-s1k", "Kitchen", "--name=Küche", "--session=s1", "--timeout=5",
        "--transport=bluetooth", "--adapter=hci1", "-qv")
        == PingArguments(link: link, count: 3, interval: .milliseconds(200), size: 1024))
    var listener = LinkArguments()
    listener.listens = true
    listener.accept = .all
    #expect(try ping("-l", "--accept=all") == PingArguments(link: listener))
    listener.listen = HostAndPort(host: "", port: 4000)
    for words in [
      ["--listen=:4000"], ["--listen", ":4000"], ["-l:4000"], ["-l", ":4000"], ["-l", ":4000", "--listen"],
    ] {
      let table = PiconetCommandLine.pingOptions
      #expect(try parse(table, PingArguments(), words + ["--accept=all"]) == PingArguments(link: listener), "\(words)")
    }
    #expect(try ping("-lq")?.link.verbosity.isQuiet == true)
    #expect(try ping("--code")?.link.code == .open)
    #expect(try ping() == PingArguments())
    #expect(try ping("--size=0")?.size == 0)
    let object = try ping("--session=lamps", "Kitchen", "/lamp")
    #expect(object?.path == "/lamp" && object?.link.target == .peer(.named("Kitchen")))
  }

  @Test("a ping of an object needs a session and a path, and takes no size")
  func objectPings() throws {
    let cases: [([String], String)] = [
      (["Kitchen", "/lamp"], "missing --session ID: the session that the program with the objects is in"),
      (["--session=lamps", "Kitchen", "lamp"], "'lamp' is no path"),
      (["--session=lamps", "--size=5", "Kitchen", "/"], "--size is for pings without PATH"),
      (["--session=lamps", "Kitchen", "/", "x"], "extra operand 'x'"),
      (["--listen", "Kitchen", "/"], "--listen waits"),
    ]
    for (words, message) in cases {
      let error = #expect(throws: UsageError.self) {
        try parse(PiconetCommandLine.pingOptions, PingArguments(), words)
      }
      #expect(error?.message.contains(message) == true, "\(words): \(error?.message ?? "")")
    }
  }

  @Test("the operand is an address if it looks like one, or else a name or a fingerprint")
  func targets() throws {
    #expect(try cat("[::1]:4000")?.link.target == .place(.network(HostAndPort(host: "::1", port: 4000))))
    #expect(try cat("00:11:22:33:44:55/7")?.link.target == .place(.bluetooth("00:11:22:33:44:55/7")))
    #expect(try cat("Kitchen")?.link.target == .peer(.named("Kitchen")))
    let key = String(repeating: "ab", count: 32)
    #expect(try cat(key)?.link.target == .peer(.peer(fingerprint: key)))
    #expect(throws: UsageError("invalid peer 'all': one peer is meant, not all")) { try cat("all") }
    #expect(throws: UsageError("invalid peer '': must not be empty")) { try cat("") }
    #expect(throws: UsageError("extra operand 'b'")) { try cat("a", "b") }
  }

  @Test("what contradicts itself is refused")
  func contradictions() throws {
    for words in [["--listen", "Kitchen"], ["Kitchen", "-l"], ["--listen", "4000"], ["-l", "00:11:22:33:44:55"]] {
      #expect(
        throws: UsageError(
          "--listen waits for a peer and takes none to reach; where to listen is given as in --listen=:4000")
      ) { try parse(PiconetCommandLine.pingOptions, PingArguments(), words) }
    }
    #expect(throws: UsageError("invalid argument 'Kitchen' for '--listen': expected HOST:PORT")) {
      try cat("--listen=Kitchen")
    }
    #expect(throws: UsageError("--code lets in who knows the code, and --accept all everybody: choose one")) {
      try cat("--listen", "--code", "--accept=all")
    }
    #expect(throws: UsageError("'--listen=:4000' is for TCP and contradicts '--transport rfcomm'")) {
      try cat("--listen=:4000", "--transport=rfcomm")
    }
    #expect(try cat("--listen", "--transport=rfcomm")?.link.listens == true)
    #expect(
      throws: UsageError(
        "'--transport tcp' does not lead to 00:11:22:33:44:55, which is reached over: l2cap, rfcomm, le")
    ) { try ping("--transport=tcp", "00:11:22:33:44:55") }
    #expect(throws: UsageError("'--adapter hci0' and '--transport tcp' contradict: TCP uses no Bluetooth adapter")) {
      try scan("--transport=tcp", "--adapter=hci0")
    }
  }

  @Test("the commands of trust are those of its help, and a typing error gets a suggestion")
  func trustCommands() {
    for word in TrustCommand.words {
      #expect(trustOptions.helpText().contains("\n  \(word)"))
      do throws(UsageError) {
        _ = try TrustCommand([LocalPath(word)])
      } catch {
        #expect(error.message.hasPrefix("usage: piconet trust \(word)"), "\(error.message)")
      }
    }
    #expect(throws: UsageError("unknown command 'trust unblok'; did you mean 'unblock'?")) {
      try TrustCommand(["unblok"])
    }
    #expect(throws: UsageError("unknown command 'trust everybody'")) { try TrustCommand(["everybody"]) }
  }

  @Test("values out of their limits are refused with the limit")
  func limits() {
    #expect(
      throws: UsageError(
        "invalid argument '90001' for '--size': must be at most 90000 bytes, so that it is one message")
    ) { try ping("--size=90001") }
    #expect(throws: UsageError("invalid argument '0' for '--count': must be at least 1")) { try ping("--count=0") }
    #expect(throws: UsageError("invalid argument '0' for '--interval': must be more than 0")) {
      try ping("--interval=0")
    }
    #expect(throws: UsageError("invalid argument 'i' for '--session': at most 8 sessions at once")) {
      try parse(PiconetCommandLine.scanOptions, ScanArguments(), "abcdefghi".map { "--session=\($0)" })
    }
  }

  @Test("every option of scan reaches its argument")
  func scanOptions() throws {
    #expect(
      try scan("--session=a", "--session=b", "--session=a", "--timeout=1.5", "--transport=le", "--json", "-q")
        == ScanArguments(
          sessions: ["a", "b"], timeout: .milliseconds(1500), transport: TransportOptions(choice: .le), json: true,
          verbosity: Verbosity(isQuiet: true)))
  }

  @Test("no line of any help is wider than 79 columns, and none ends in a blank")
  func width() {
    let texts = [
      PiconetProgram.help, PiconetCommandLine.pingOptions.helpText(), catOptions.helpText(),
      PiconetCommandLine.scanOptions.helpText(), doctorOptions.helpText(), manualOptions.helpText(),
      completionOptions.helpText(),
    ]
    for line in texts.joined(separator: "\n").split(separator: "\n", omittingEmptySubsequences: false) {
      #expect(line.count < 80, "\(line)")
      #expect(line.last != " ", "\(line)")
    }
  }
}

@Suite("Pings")
struct PingTests {
  @Test("a message has its kind, its number and what comes back")
  func message() throws {
    let message = PingMessage(kind: .request, number: 0x01_0203_0405_0607, payload: [9, 8])
    #expect(message.bytes == [0x70, 1, 2, 3, 4, 5, 6, 7, 9, 8])
    #expect(PingMessage(message.bytes[...]) == message)
    #expect(PingMessage([0x71, 0, 0, 0, 0, 0, 0, 1])?.kind == .reply)
    #expect(PingMessage(kind: .reply, number: .max, payload: []).number == 1 << 56 - 1)
  }

  @Test("other bytes are no ping", arguments: [[], [0x70], [0x72, 0, 0, 0, 0, 0, 0, 1], Array("GET / HTTP".utf8)])
  func noPing(bytes: [UInt8]) { #expect(PingMessage(bytes[...]) == nil) }

  @Test("unanswered pings are waited for up to a limit, and count as lost")
  func unansweredPings() {
    var statistics = PingStatistics()
    let start = ContinuousClock.now
    let count = PingStatistics.waitingLimit + 1
    for _ in 0..<count { _ = statistics.send(at: start) }
    #expect(statistics.receive(1, at: start) == nil)
    for number in 2...count { #expect(statistics.receive(number, at: start) != nil) }
    statistics.sendNoMore()
    #expect(statistics.isComplete)
    #expect((statistics.sent, statistics.received) == (count, count - 1))
  }

  @Test("the statistics are those of ping(8); what comes twice or was never asked does not count")
  func statistics() {
    var statistics = PingStatistics()
    let start = ContinuousClock.now
    #expect(statistics.summary(name: "K", transport: "tcp").last == "0 sent, 0 received, 0% lost, over tcp")
    for milliseconds in [0, 1000, 2000] { _ = statistics.send(at: start + .milliseconds(milliseconds)) }
    #expect(statistics.receive(1, at: start + .microseconds(1500)) == .microseconds(1500))
    #expect(statistics.receive(1, at: start + .microseconds(1600)) == nil)
    #expect(statistics.receive(7, at: start) == nil)
    #expect(statistics.receive(3, at: start + .milliseconds(2004)) == .milliseconds(4))
    #expect(!statistics.isComplete)
    #expect(
      statistics.summary(name: "Kitchen", transport: "rfcomm") == [
        "--- Kitchen ping statistics ---", "3 sent, 2 received, 33% lost, over rfcomm",
        "round trip min/avg/max = 1.500/2.750/4.000 ms",
      ])
    statistics.sendNoMore()
    #expect(!statistics.isComplete)
    #expect(statistics.receive(2, at: start + .milliseconds(2004)) != nil)
    #expect(statistics.isComplete)
  }

  @Test("a ping that was given up is not lost, if no other was sent behind it and it is not back")
  func givenUpPing() {
    var statistics = PingStatistics()
    let start = ContinuousClock.now
    for _ in 0..<2 { _ = statistics.send(at: start) }
    statistics.takeBack(1)
    #expect(statistics.sent == 2)
    statistics.takeBack(2)
    #expect(statistics.sent == 1)
    #expect(statistics.receive(2, at: start) == nil)
    #expect(statistics.receive(1, at: start) != nil)
    statistics.takeBack(1)
    #expect((statistics.sent, statistics.received) == (1, 1))
  }

  @Test("an answer to the last ping but one, looked at after the last was sent, does not end the wait for the last")
  func answerBetweenPings() {
    var statistics = PingStatistics()
    let start = ContinuousClock.now
    _ = statistics.send(at: start)
    #expect(statistics.receive(1, at: start) != nil)
    // All that were sent are back, but not all have been sent.
    #expect(!statistics.isComplete)
    _ = statistics.send(at: start)
    statistics.sendNoMore()
    #expect(!statistics.isComplete)
    #expect(statistics.receive(2, at: start) != nil)
    #expect(statistics.isComplete)
  }
}
