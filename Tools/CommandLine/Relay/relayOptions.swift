import Piconet

/// What `piconet relay` was asked to do.
struct RelayArguments: Hashable, LinkCommandArguments {
  var link = LinkArguments(listens: true)
  /// Members at once.
  var members = 16
  /// Bytes a second that are passed on in all; nil: as many as `RelayQuotas` says.
  var rate: Int?

  static let mostMembers: Int64 = 255
  static let rates: ClosedRange<Int64> = (16 << 10)...(1 << 30)
}

/// The command line of `piconet relay`.
let relayOptions = OptionTable<RelayArguments>(
  program: "piconet relay",
  usage: "[OPTION]...",
  summary: """
    Let 'imagesend --relay' and 'imagerecv --relay' reach one another over this device where no network leads from one to the \
    other: it has a network, or Bluetooth, in common with both. It introduces senders and receivers to each other, sees how much \
    goes when between whom, and can neither read nor change what it passes on. It connects nobody but its members.
    """,
  options: [
    Option(
      "accept",
      help:
        """
        ask: ask about each member, but not about known devices that may push (see piconet trust); known: accept only such \
        devices; all: everybody (default ask)
        """,
      .value(name: AcceptPolicy.choices) { (arguments, value) throws(UnacceptableValue) in
        arguments.link.accept = try AcceptPolicy(value)
      }),
    Option(
      "members", help: "accept at most N at once (default 16, at most 255)",
      .value(name: "N") { (arguments, value) throws(UnacceptableValue) in
        let count = try OptionNumbers.count(value)
        guard count <= RelayArguments.mostMembers else {
          throw .because("a relay has at most \(RelayArguments.mostMembers) members")
        }
        arguments.members = count
      }),
    Option(
      "rate", help: "pass on at most so much a second, as in 500K or 2M (default 32M, of which one member has 8M)",
      .value(name: "BYTES") { (arguments, value) throws(UnacceptableValue) in
        let rate = try OptionNumbers.byteCount(value)
        guard RelayArguments.rates.contains(rate) else {
          throw .because("a relay passes on 16 KiB to 1 GiB a second")
        }
        arguments.rate = Int(rate)
      }),
    Option(
      "listen", help: "listen there (default: on every address, any free port), as in [::1]:4000 or :4000",
      .value(name: "HOST:PORT") { (arguments, value) throws(UnacceptableValue) in
        arguments.link.listen = try HostAndPort(whereToListen: value)
      }),
  ]
    + reachOptions(
      sessionHelp: "be a relay for the session called ID (default: that of imagesend and imagerecv)",
      codeHelp: """
        let in those on whose device this code is typed, 6 to 16 digits; without DIGITS a new one is made and shown. Three wrong \
        tries end a code
        """
    ).filter { $0.long != "timeout" },
  operands: .none,
  sections: [
    .init(
      title: "Exit status",
      rows: [
        ("2 to 7", "as imagesend: wrong command line, local"),
        ("130", "interrupted by a signal; 143 by SIGTERM, 129 by SIGHUP"),
      ]),
    environmentSection(),
    .init(
      title: "Examples",
      rows: [
        ("piconet relay --name Hall", ""), ("imagerecv --relay Hall --name Kitchen", ""),
        ("imagesend --relay Hall --to Kitchen sunset.jpg", ""),
      ]),
  ],
  check: { (arguments) throws(UsageError) in try arguments.link.check() })
