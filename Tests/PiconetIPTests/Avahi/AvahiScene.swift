#if Bluetooth
  import PiconetDBusValues
  import PiconetDNSSD
  import Testing

  @testable import PiconetAvahi

  /// The machine, with a bus and an Avahi that a test plays.
  struct AvahiScene {
    var machine = AvahiMachine()
    var now = Duration.seconds(100)
    /// Calls that were not answered, oldest first.
    var calls: [AvahiCall] = []
    var reports: [ResponderDaemonReport] = []
    private(set) var connections = 0
    private(set) var isConnected = false
    /// How many resolvers Avahi has made, less those that were freed.
    private(set) var resolvers: Set<String> = []
    private var lastPath = 0

    /// Hands over a fact, and keeps what comes of it.
    mutating func tell(_ fact: AvahiFact) {
      for effect in machine.handle(fact, at: now) {
        switch effect {
        case .connect:
          connections += 1
          isConnected = true
        case .disconnect:
          isConnected = false
          calls = []
        case .call(let call):
          if call.member == "Free", call.interface == AvahiNames.resolver {
            resolvers.remove(call.path)
          } else {
            calls.append(call)
          }
        case .report(let report): reports.append(report)
        }
      }
    }

    /// Lets time pass, with the machine's deadlines.
    mutating func pass(_ duration: Duration) {
      let end = now + duration
      while let due = machine.nextDeadline, due <= end {
        now = max(now, due)
        tell(.time)
      }
      now = end
    }

    /// Lets time pass until the machine wants the bus.
    mutating func passUntilConnected() {
      while !isConnected, let due = machine.nextDeadline {
        now = max(now, due)
        tell(.time)
      }
    }

    /// Avahi is on the bus, and its server runs.
    mutating func avahiComes(_ owner: String = ":1.5") {
      tell(.owner(owner))
      calls.removeAll { $0.life != machine.life }
      answer("GetState", [.int32(2)])
    }

    /// Answers the oldest call of this method.
    mutating func answer(_ member: String, _ values: [DBusValue] = []) {
      guard let index = calls.firstIndex(where: { $0.member == member }) else {
        Issue.record("\(member) was not called")
        return
      }
      let call = calls.remove(at: index)
      if call.member == "ServiceResolverNew", let path = values.first?.text { resolvers.insert(path) }
      tell(.answer(call, .success(values)))
    }

    mutating func refuse(_ member: String, _ name: String, _ words: String = "") {
      guard let index = calls.firstIndex(where: { $0.member == member }) else {
        Issue.record("\(member) was not called")
        return
      }
      tell(.answer(calls.remove(at: index), .failure(DBusFailure(name, words))))
    }

    mutating func newPath() -> String {
      lastPath += 1
      return "/Client1/Object\(lastPath)"
    }

    /// Gives the group that was asked for, and takes its entries.
    /// - Returns: the path of the group.
    @discardableResult mutating func takeEntries(established: Bool = true) -> String {
      let path = newPath()
      answer("EntryGroupNew", [.path(path)])
      finishEntries(path, established: established)
      return path
    }

    mutating func finishEntries(_ path: String, established: Bool = true) {
      while calls.contains(where: { $0.member == "AddService" }) { answer("AddService") }
      answer("Commit")
      guard established else { return }
      groupState(2, path)
      while calls.contains(where: { $0.member == "ResolveService" }) { answer("ResolveService") }
    }

    mutating func groupState(_ state: Int32, _ path: String) {
      tell(
        .signal(
          path: path, interface: AvahiNames.entryGroup, member: "StateChanged",
          arguments: [.int32(state), .string("")]))
    }

    func members() -> [String] { calls.map(\.member) }

    var statuses: [ResponderDaemonStatus] {
      reports.compactMap { if case .status(let status) = $0 { status } else { nil } }
    }
    var found: [ResolvedInstance] {
      reports.compactMap {
        switch $0 {
        case .browsed(.resolved(let instance)), .browsed(.updated(let instance)): instance
        default: nil
        }
      }
    }
    var labels: [String?] {
      var labels: [String?] = []
      for case .published(_, let label) in reports { labels.append(label.map { String(decoding: $0, as: UTF8.self) }) }
      return labels
    }

    static func service(_ label: String = "Anna (3f2a9c)", port: UInt16 = 4000, text: String = "v=1")
      -> ServiceRegistration
    {
      ServiceRegistration(
        label: Array(label.utf8), host: Array("piconet".utf8), port: port, text: [Array(text.utf8), Array("n=A".utf8)])
    }

    // MARK: browsing

    mutating func item(
      _ name: String, on index: Int32 = 2, proto: Int32 = 0, type: String = "_piconet._tcp", domain: String = "local",
      isLocal: Bool = false, browser: String, member: String = "ItemNew"
    ) {
      tell(
        .signal(
          path: browser, interface: AvahiNames.browser, member: member,
          arguments: [
            .int32(index), .int32(proto), .string(name), .string(type), .string(domain), .uint32(isLocal ? 12 : 4),
          ]))
    }

    static func finding(
      _ address: String = "10.0.0.7", port: UInt16 = 4000, text: [[UInt8]] = [Array("n=B".utf8), Array("v=1".utf8)]
    ) -> [DBusValue] {
      [
        .int32(2), .int32(0), .string("x"), .string("_piconet._tcp"), .string("local"), .string("b.local"), .int32(0),
        .string(address), .uint16(port), .array(of: "ay", text.map(DBusValue.bytes)), .uint32(4),
      ]
    }

    mutating func resolved(_ path: String, _ arguments: [DBusValue] = Self.finding()) {
      tell(.signal(path: path, interface: AvahiNames.resolver, member: "Found", arguments: arguments))
    }

    /// Answers all questions for resolvers, each with what `finding` says of its name; nil: nothing is ever found.
    mutating func resolveAll(_ finding: (String) -> [DBusValue]?) {
      while let call = calls.first(where: { $0.member == "ServiceResolverNew" }) {
        let path = newPath()
        answer("ServiceResolverNew", [.path(path)])
        if let arguments = finding(call.arguments[2].text ?? "") { resolved(path, arguments) }
      }
    }
  }
#endif
