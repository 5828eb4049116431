/// The command line of imagesend.
let imagesendOptions = OptionTable<ImageSendArguments>(
  program: "imagesend",
  usage: "[OPTION]... FILE|DIRECTORY|URL|-...",
  summary: """
    Send photos and videos to a device nearby that runs imagerecv: found by name, encrypted, verified. A DIRECTORY stands for all \
    photos and videos in it and below, which are stored below folders of the same names; what a http or https URL gives is passed on while it arrives; - is standard input.
    """,
  options: [
    Option(
      "to", repeatable: true,
      help: """
        send to the peer that is called NAME or has the fingerprint PEER, or to all in sight; may be given several \
        times; without it, to the only peer in sight, or to those you pick
        """,
      .value(name: "NAME|PEER|all") { (arguments, value) throws(UnacceptableValue) in
        let recipient = try Recipient(value)
        if !arguments.recipients.contains(recipient) { arguments.recipients.append(recipient) }
      }),
    Option(
      "address",
      help: """
        connect to this address instead of searching, as in 192.0.2.7:4000, [::1]:4000 or, over Bluetooth, \
        00:11:22:33:44:55; a known device that answers is sent to; with --to only that one
        """,
      .value(name: "ADDRESS") { (arguments, value) throws(UnacceptableValue) in
        arguments.address = try DialPlace(value)
      }),
    Option(
      "fingerprint",
      help: """
        the key that has to answer, as 'imagerecv --fingerprint' shows it there; its device is known once it has accepted
        """,
      .value(name: "F") { (arguments, value) throws(UnacceptableValue) in
        arguments.fingerprint = try OptionText.fingerprint(value)
      }),
  ]
    + codeOptions(
      """
      prove to the peer that you know its code, which 'imagerecv --code' shows; its device is known from then on. Without \
      DIGITS you are asked
      """, file: "the same with the code in the first line of FILE, so that nobody sees it among the processes")
    + [
      Option(
        "yes", short: "y",
        help: """
          ask nothing, as without a terminal: then only known devices are sent to, and others with --fingerprint or --code
          """,
        .flag { $0.yes = true }),
      Option(
        "name", help: "call this device so (default: the host's name)",
        .value(name: "N") { (arguments, value) throws(UnacceptableValue) in
          arguments.name = try OptionText.text(value, atMost: CommandLineLimits.nameBytes)
        }),
      Option(
        "session", help: "only peers of the session called ID",
        .value(name: "ID") { (arguments, value) throws(UnacceptableValue) in
          arguments.session = try OptionText.text(value, atMost: CommandLineLimits.sessionBytes)
        }),
      Option(
        "timeout",
        help: """
          give up when no peer is found, or it does not answer, take data or store it, for this long (default 30); 1.5, 2m
          """,
        .value(name: "SECONDS") { (arguments, value) throws(UnacceptableValue) in
          arguments.timeout = try OptionNumbers.seconds(value)
        }),
      Option(
        "wait",
        help: """
          wait for a receiver that is not there yet, and for one that is gone, as long as it takes or for TIME, such as \
          90s, 30m or 8h
          """,
        .optional(name: "TIME", isValue: { OptionNumbers.isTime($0) }) { (arguments, value) throws(UnacceptableValue) in
          arguments.wait =
            try value.map { (value) throws(UnacceptableValue) in try OptionNumbers.seconds(value) }
            ?? CommandLineLimits.longestWait
        }),
    ] + transportOptions("what to send over") + [
      relayOption(
        """
        also reach receivers that no network leads to from here, over a device that runs 'piconet relay': it sees how much \
        goes when, and nothing of what it is; the receiver needs --relay as \
        well. Of several, given one by one, another takes over when one goes
        """),
      Option(
        "any", help: "send other files too, not only photos and videos; imagerecv needs --any as well",
        .flag { $0.any = true }),
      Option(
        "hidden",
        help:
          "also send hidden files and folders of a DIRECTORY: those whose names begin with a dot. They get names without it",
        .flag { $0.takesHidden = true }),
      Option(
        "flat", help: "store all files beside one another, without the folders that a DIRECTORY has",
        .flag { $0.isFlat = true }),
      Option(
        "alone", help: "send a photo without the files that belong to it: photo.xmp, and the film of a live photo",
        .flag { $0.isAlone = true }),
      Option(
        "location",
        help: """
          what photos and videos say of the place where they were taken (GPS position, city): keep it (default); strip it, \
          with Debian's libimage-exiftool-perl, and send nothing that it can't be taken out of; or ask once, before the first such file
          """,
        .value(name: LocationChoice.choices) { (arguments, value) throws(UnacceptableValue) in
          arguments.location = try LocationChoice(value)
        }),
      Option(
        "as",
        help: "call the file that is read from standard input so (default: stdin, with the extension of its kind)",
        .value(name: "NAME") { (arguments, value) throws(UnacceptableValue) in
          let name = try OptionText.text(value, atMost: CommandLineLimits.nameBytes)
          guard !name.contains("/") else { throw .because("a name, without folders") }
          arguments.inputName = LocalPath(name)
        }),
      Option(
        "no-thumbnails", help: "do not show the person there what the first photos look like before they are accepted",
        .flag { $0.hasThumbnails = false }),
      Option("follow-links", help: "follow links to directories", .flag { $0.followsLinks = true }),
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
  operands: .required(word: "file") { $0.operands.append($1) },
  sections: [
    exitStatusSection(),
    environmentSection(hasFile: true),
    .init(
      title: "Examples",
      rows: [
        ("imagesend sunset.jpg", ""),
        ("imagesend --to 'Living room' holiday/", ""),
        ("imagesend --to all --timeout 2m *.jpg", ""),
        ("imagesend --to Kitchen --location strip holiday/", ""),
        ("scanimage --format=png | imagesend --to Kitchen --as letter.png -", ""),
        ("imagesend --address [::1]:4000 --fingerprint 9f86... --json sunset.jpg", ""),
        ("imagesend --transport bluetooth --to Kitchen sunset.jpg", ""),
      ]),
  ],
  operandWords: .files,
  onlyOnCommandLine: ["as", "help", "version", "no-config", "to", "address", "fingerprint", "code", "code-file"],
  check: { (arguments) throws(UsageError) in try arguments.check() })

/// `--no-config`, which `ProgramStart` looks for before anything else.
func noConfigurationOption<Arguments>() -> Option<Arguments> {
  Option("no-config", help: "pass over the configuration file", .flag { _ in })
}

/// `--no-cache`, for a person who does not trust the disk.
func noCacheOption<Arguments>(_ set: @escaping @Sendable (inout Arguments) -> Void) -> Option<Arguments> {
  Option(
    "no-cache", help: "read all files again to compare them, also those that were read before and have not changed",
    .flag(set))
}

/// The exit codes, for either tool's help.
func exitStatusSection() -> CommandDescription.Section {
  .init(
    title: "Exit status (of several files the worst)",
    rows: ExitCode.allCases.map { ("\($0.rawValue)", $0.summary) })
}

/// The environment, for each tool's help.
/// - Parameter hasFile: whether the tool has a configuration file.
func environmentSection(hasFile: Bool = false) -> CommandDescription.Section {
  let file: CommandDescription.Section.Row = (
    "XDG_CONFIG_HOME",
    "piconet/ in it may hold imagerecv.conf and imagesend.conf (default ~/.config): options as 'name = value', a line each, which count before the command line"
  )
  let cache: CommandDescription.Section.Row = (
    "XDG_CACHE_HOME",
    "piconet/ in it keeps the digests of files that were read, so that unchanged ones are not read again (default ~/.cache)"
  )
  return .init(
    title: "Environment",
    rows: [
      (
        "PICONET_INTERFACES",
        "use these network interfaces only, as in eth0,wlan0; lo keeps to this machine, without Bluetooth unless --transport asks for it"
      ),
      (
        "PICONET_TRACE",
        "record this run in that file, all contents included, for 'piconet replay'; redacted:FILE records zeros for them"
      ),
    ] + (hasFile ? [file, cache] : []) + [
      ("XDG_STATE_HOME", "piconet/ in it keeps this device's key and the peers it knows (default ~/.local/state)"),
      ("POSIXLY_CORRECT", "if set, options end at the first operand"),
    ])
}
