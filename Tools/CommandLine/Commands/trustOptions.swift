import Piconet

/// What `piconet trust` was asked to do.
struct TrustArguments: Hashable, Sendable {
  var words: [LocalPath] = []
  /// For `export` and `restore`; nil: the key is not encrypted.
  var passphraseFile: LocalPath?
  /// Whether an identity or a file may be lost for good.
  var force = false
  var json = false
  var verbosity = Verbosity()
}

/// What `piconet trust` does, each with its arguments.
let trustCommands: [CommandDescription.Section.Row] = [
  ("list", "show the known peers (the default)"),
  ("add NAME FINGERPRINT", "take this key for a device that you call NAME; it may be sent to"),
  ("confirm PEER FINGERPRINT", "say that this is the fingerprint which that device shows"),
  ("rename PEER NAME", "call it NAME from now on"),
  ("allow PEER RIGHT...", "let it be sent to (send), let it send to us (push)"),
  ("deny PEER RIGHT...", "take these rights away"),
  ("block PEER|FINGERPRINT", "refuse the key before anybody is asked about it"),
  ("unblock PEER", "do not; its rights do not come back"),
  ("forget PEER", "make a stranger of it again"),
  (
    "forgive [PEER|DIGITS]",
    "listen again to a stranger whose codes were wrong or broke off, or to all of them; DIGITS are those behind its name"
  ),
  ("names", "show the names alone, one a line, as for a shell's completion"),
  ("identity", "show the fingerprint of this device"),
  ("export FILE", "write this device's key to FILE: whoever has it is this device"),
  ("restore FILE", "make this device the one whose key was exported"),
  ("renew", "make a new key: others have to get to know this device anew"),
]

/// The command line of `piconet trust`.
let trustOptions = OptionTable<TrustArguments>(
  program: "piconet trust",
  usage: "[OPTION]... [COMMAND [ARGUMENT]...]",
  summary: """
    Show and change which keys this device takes for whose, and what they may. Trust belongs to keys; the names are yours, and nothing \
    that another device does changes anything here. What is changed holds at once, for programs that run, too.
    """,
  options: [
    Option(
      "passphrase-file", help: "with export and restore: the first line of FILE encrypts the key; - is standard input",
      .value(name: "FILE") { (arguments, value) throws(UnacceptableValue) in
        arguments.passphraseFile = try OptionText.path(value)
      }),
    Option(
      "force", help: "with export, restore and renew: let the file or the key go that is there",
      .flag { $0.force = true }),
    Option("json", help: "write one peer a line to standard output, as JSON", .flag { $0.json = true }),
    Option(
      "quiet", short: "q", help: "no notes, only what was asked for and errors", .flag { $0.verbosity.isQuiet = true }),
    Option("help", short: "h", help: "show this help and exit", .help),
    Option("version", help: "show the version and exit", .version),
  ],
  operands: .any { $0.words.append($1) },
  sections: [
    .init(title: "Commands", rows: trustCommands),
    .init(
      title: "Words",
      rows: [
        ("PEER", "a name from the list, in any letter case, or at least 12 digits of the fingerprint"),
        ("RIGHT", "send or push for imagesend and imagerecv; push:cat, push:ping, push:* for another program, or any"),
      ]),
    .init(
      title: "Exit status",
      rows: [
        ("0", "it is done, and on the disk"), ("2", "the command line was wrong, or means several peers"),
        ("3", "no such peer is known"), ("6", "a local file can't be read or written, or there is no room"),
        ("7", "the fingerprint is another one"),
      ]),
    environmentSection(),
    .init(
      title: "Examples",
      rows: [
        ("piconet trust", ""), ("piconet trust allow Mum push", ""),
        ("piconet trust export --passphrase-file secret.txt key.pem", ""),
      ]),
  ],
  operandWords: .peerCommands(
    trustCommands.map { row in
      let words = row.term.split(separator: " ")
      let takesPeer = words.dropFirst().first.map { $0.contains("PEER") } ?? false
      return (String(words.first ?? ""), row.text, takesPeer)
    }),
  check: { (arguments) throws(UsageError) in _ = try TrustCommand(arguments.words) })
