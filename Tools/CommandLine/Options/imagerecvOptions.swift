import Piconet

/// The command line of imagerecv.
let imagerecvOptions = OptionTable<ImageReceiveArguments>(
  program: "imagerecv",
  usage: "[OPTION]...",
  summary: "Receive photos and videos from devices nearby that run imagesend, and store them once they are verified.",
  options: [
    Option(
      "name", help: "be found under this name (default: the host's name)",
      .value(name: "N") { (arguments, value) throws(UnacceptableValue) in
        arguments.name = try OptionText.text(value, atMost: CommandLineLimits.nameBytes)
      }),
    Option(
      "session", help: "only peers of the session called ID",
      .value(name: "ID") { (arguments, value) throws(UnacceptableValue) in
        arguments.session = try OptionText.text(value, atMost: CommandLineLimits.sessionBytes)
      }),
    Option(
      "directory", help: "store files there (default: the current directory; with --service, that for pictures)",
      .value(name: "DIR") { (arguments, value) throws(UnacceptableValue) in
        arguments.directory = try OptionText.path(value)
      }),
    Option(
      "accept",
      help:
        """
        ask: ask about each sender, but not about known devices that may push (see piconet trust); known: take files only \
        of such devices; all: of everybody (default ask)
        """,
      .value(name: AcceptPolicy.choices) { (arguments, value) throws(UnacceptableValue) in
        arguments.accept = try AcceptPolicy(value)
      }),
    Option(
      "thumbnails",
      help: """
        how the question shows what the first photos look like: by kitty's or sixel graphics, in coloured characters, or \
        not (default: as the terminal can, and not with NO_COLOR)
        """,
      .value(name: ThumbnailChoice.choices) { (arguments, value) throws(UnacceptableValue) in
        arguments.thumbnails = try ThumbnailChoice(value)
      }),
  ]
    + codeOptions(
      """
      take files of senders on which this code is typed, 6 to 16 digits, and know them from then on; without DIGITS a new \
      one is made and shown. Three wrong tries end a code
      """, file: "the same with the code in the first line of FILE, so that nobody sees it among the processes")
    + [
      Option(
        "visible",
        help: """
          who finds this device: all, or known devices that know it (over TCP only, without name or key in the air); or all, \
          for a TIME such as 10m, after which it ends when nobody sends any more (default all)
          """,
        .value(name: "\(Visibility.choices)|TIME") { (arguments, value) throws(UnacceptableValue) in
          arguments.visibleTime = OptionNumbers.isTime(value.bytes) ? try OptionNumbers.seconds(value) : nil
          if arguments.visibleTime != nil {
            arguments.visible = .all
          } else if let word = Visibility(rawValue: value.text) {
            arguments.visible = word
          } else {
            let words = Visibility.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw .because("expected \(words) or a TIME greater than 0 with its unit, such as 90s, 10m or 2h")
          }
        }),
      Option(
        "service", help: "run as a service of the session (see systemd's imagerecv.service)",
        .flag { $0.isService = true }),
      Option(
        "no-notify", help: "without a terminal, do not ask by notifications of the desktop either",
        .flag { $0.notifies = false }),
      Option(
        "history", help: "show what was received, the last N files (default 20), and exit",
        .optional(name: "N", isValue: { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }) {
          (arguments, value) throws(UnacceptableValue) in
          arguments.history =
            try value.map { (value) throws(UnacceptableValue) in try OptionNumbers.count(value) } ?? 20
        }),
      Option(
        "fingerprint", help: "show the fingerprint of this device, for imagesend --fingerprint, and exit",
        .flag { $0.fingerprint = true }),
      Option("qr", help: "with --fingerprint, show it as a QR code as well", .flag { $0.qr = true }),
      Option(
        "count", help: "exit after N files were stored (default: go on until interrupted)",
        .value(name: "N") { (arguments, value) throws(UnacceptableValue) in
          arguments.count = try OptionNumbers.count(value)
        }),
      Option(
        "on-conflict",
        help: """
          what to do when another file has that name: store it as 'photo (2).jpg' (default), leave it out, which ends with 6, \
          or replace it, unless the same command has stored it or found it there
          """,
        .value(name: ConflictPolicy.choices) { (arguments, value) throws(UnacceptableValue) in
          arguments.onConflict = try ConflictPolicy(value)
        }),
    ] + transportOptions("what to receive over") + [
      relayOption(
        """
        also be reached by senders from where no network leads here, over a device that runs 'piconet relay': it sees how \
        much comes when, and nothing of what it is; the sender needs --relay as well. \
        Of several, given one by one, another takes over when one goes
        """),
      Option(
        "listen", help: "listen there (default: on every address, any free port), as in [::1]:4000 or :4000",
        .value(name: "HOST:PORT") { (arguments, value) throws(UnacceptableValue) in
          arguments.listen = try HostAndPort(whereToListen: value)
        }),
      Option(
        "max-size", help: "refuse files that are larger, as in 500000, 10M or 1GiB",
        .value(name: "BYTES") { (arguments, value) throws(UnacceptableValue) in
          let size = try OptionNumbers.byteCount(value)
          guard size > 0 else { throw .because("must be at least 1; without --max-size files of any size are taken") }
          arguments.maxSize = size
        }),
      Option(
        "daily",
        help: """
          take at most so much a day of a device that is not known, and four times as much of all of them, since this program \
          began (default: no limit)
          """,
        .value(name: "BYTES") { (arguments, value) throws(UnacceptableValue) in
          let daily = try OptionNumbers.byteCount(value)
          guard daily >= DailyShare.Content.blockByteCount else {
            throw .because("must be at least 4096, which the smallest file counts; without --daily there is no limit")
          }
          arguments.daily = daily
        }),
      Option(
        "timeout",
        help: """
          let a sender that sends nothing for this long, or a file of --count that stands still or drips, give way to \
          another (default 10); 1.5, 2m
          """,
        .value(name: "SECONDS") { (arguments, value) throws(UnacceptableValue) in
          arguments.timeout = try OptionNumbers.seconds(value)
        }),
      Option("any", help: "take other files too, not only photos and videos", .flag { $0.any = true }),
      noCacheOption { $0.usesCache = false },
      noConfigurationOption(),
      Option("json", help: "write one event a line to standard output, as JSON", .flag { $0.json = true }),
      Option("quiet", short: "q", help: "say nothing but errors", .flag { $0.verbosity.isQuiet = true }),
      Option(
        "verbose", short: "v", repeatable: true, help: "say more, and name each file, however many",
        .flag { $0.verbosity.detail += 1 }),
      Option("help", short: "h", help: "show this help and exit", .help),
      Option("version", help: "show the version and exit", .version),
    ],
  operands: .none,
  sections: [
    exitStatusSection(),
    environmentSection(hasFile: true),
    .init(
      title: "Examples",
      rows: [
        ("imagerecv --directory ~/Pictures", ""),
        ("imagerecv --name 'Living room' --accept known", ""),
        ("imagerecv --code --count 10", ""),
        ("imagerecv --accept all --count 1 --max-size 20M --json", ""),
      ]),
  ],
  onlyOnCommandLine: ["help", "version", "no-config", "fingerprint", "qr", "history", "service", "count"],
  check: { (arguments) throws(UsageError) in try arguments.check() })
