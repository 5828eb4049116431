/// What `piconet cat` was asked to do.
struct CatArguments: Hashable, LinkCommandArguments {
  var link = LinkArguments()
}

/// The command line of `piconet cat`.
let catOptions = OptionTable<CatArguments>(
  program: "piconet cat",
  usage: "[OPTION]... [PEER|ADDRESS]\n  or:  piconet cat --listen [OPTION]...",
  summary: """
    Carry bytes: what is read here from standard input is written there to standard output, and the other way round, \
    over an encrypted session. PEER is a name or a fingerprint; ADDRESS is HOST:PORT or, over Bluetooth, \
    00:11:22:33:44:55; without either it is the only peer in sight, or the one you pick.
    """,
  options: linkOptions(listenHelp: "wait for one peer"),
  operands: .optional { (arguments, value) throws(UsageError) in arguments.link.target = try DialTarget(value) },
  sections: [
    .init(
      title: "Ends",
      rows: [
        (
          "",
          """
          When both sides have read the end of their input. A terminal need not be ended by Ctrl-D: the end of the other \
          side's input is enough there. \
          Where nothing is to be sent, give </dev/null.
          """
        )
      ]),
    .init(
      title: "Exit status",
      rows: [
        ("0", "everything was carried, and both ends of input told"),
        ("2 to 7", "as imagesend: wrong command line, no such peer, refused, lost, local, identity"),
        ("130", "interrupted by a signal: 143 by SIGTERM, 129 by SIGHUP"),
      ]),
    environmentSection(),
    .init(
      title: "Examples",
      rows: [
        ("piconet cat --listen --accept all </dev/null >backup.tar", ""), ("tar c photos | piconet cat Kitchen", ""),
      ]),
  ],
  check: { (arguments) throws(UsageError) in try arguments.link.check() })
