import Foundation
import Testing

@testable import PiconetCommandLine

@Suite("The help texts, word for word")
struct HelpTextTests {
  @Test("imagesend --help") func imagesend() { #expect(imagesendOptions.helpText() == imagesendHelp) }

  @Test("imagerecv --help") func imagerecv() { #expect(imagerecvOptions.helpText() == imagerecvHelp) }

  @Test("the exit statuses of scripts.md are those of --help, word for word")
  func exitStatuses() throws {
    let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let document = try String(
      contentsOf: repository.appending(path: "Documentation/programs/scripts.md"), encoding: .utf8)
    let table = try #require(document.components(separatedBy: "| exit status | |\n|---|---|\n").last)
    let rows = table.components(separatedBy: "\n").prefix { $0.hasPrefix("|") }
    #expect(
      rows.map { $0.replacing("`", with: "") } == ExitCode.allCases.map { "| \($0.rawValue) | \($0.summary) |" })
  }

  @Test("--version") func version() {
    let text = ProgramVersion.text(program: "imagesend")
    #expect(text.hasPrefix("imagesend (Piconet) 0.1.0\n"))
    // BlueZ's library, libbluetooth, makes the whole GPL.
    let binary = try? Data(contentsOf: URL(filePath: ToolProcess.path(of: "piconet")))
    let hasLibrary = binary?.range(of: Data("libbluetooth.so".utf8)) != nil
    #expect(binary != nil && text.contains("License GPL-3.0-or-later: ") == hasLibrary)
    #expect(text.contains("License Apache-2.0: ") != hasLibrary)
  }
}

private let imagesendHelp = """
  Usage: imagesend [OPTION]... FILE|DIRECTORY|URL|-...
  Send photos and videos to a device nearby that runs imagerecv: found by name,
  encrypted, verified. A DIRECTORY stands for all photos and videos in it and
  below, which are stored below folders of the same names; what a http or https
  URL gives is passed on while it arrives; - is standard input.

  Options:
        --to=NAME|PEER|all...
                              send to the peer that is called NAME or has the
                              fingerprint PEER, or to all in sight; may be given
                              several times; without it, to the only peer in
                              sight, or to those you pick
        --address=ADDRESS     connect to this address instead of searching, as in
                              192.0.2.7:4000, [::1]:4000 or, over Bluetooth,
                              00:11:22:33:44:55; a known device that answers is
                              sent to; with --to only that one
        --fingerprint=F       the key that has to answer, as 'imagerecv
                              --fingerprint' shows it there; its device is known
                              once it has accepted
        --code[=DIGITS]       prove to the peer that you know its code, which
                              'imagerecv --code' shows; its device is known from
                              then on. Without DIGITS you are asked
        --code-file=FILE      the same with the code in the first line of FILE,
                              so that nobody sees it among the processes
    -y, --yes                 ask nothing, as without a terminal: then only known
                              devices are sent to, and others with --fingerprint
                              or --code
        --name=N              call this device so (default: the host's name)
        --session=ID          only peers of the session called ID
        --timeout=SECONDS     give up when no peer is found, or it does not
                              answer, take data or store it, for this long
                              (default 30); 1.5, 2m
        --wait[=TIME]         wait for a receiver that is not there yet, and for
                              one that is gone, as long as it takes or for TIME,
                              such as 90s, 30m or 8h
        --transport=auto|bluetooth|l2cap|rfcomm|le|tcp
                              what to send over (default auto: a common IP
                              network, then Bluetooth; what this machine lacks is
                              left out by itself)
        --adapter=hciN        use this Bluetooth adapter (default: whichever
                              there is); hci0, or its address
        --relay=NAME|PEER|ADDRESS
                              also reach receivers that no network leads to from
                              here, over a device that runs 'piconet relay': it
                              sees how much goes when, and nothing of what it is;
                              the receiver needs --relay as well. Of several,
                              given one by one, another takes over when one goes
        --any                 send other files too, not only photos and videos;
                              imagerecv needs --any as well
        --hidden              also send hidden files and folders of a DIRECTORY:
                              those whose names begin with a dot. They get names
                              without it
        --flat                store all files beside one another, without the
                              folders that a DIRECTORY has
        --alone               send a photo without the files that belong to it:
                              photo.xmp, and the film of a live photo
        --location=keep|strip|ask
                              what photos and videos say of the place where they
                              were taken (GPS position, city): keep it (default);
                              strip it, with Debian's libimage-exiftool-perl, and
                              send nothing that it can't be taken out of; or ask
                              once, before the first such file
        --as=NAME             call the file that is read from standard input so
                              (default: stdin, with the extension of its kind)
        --no-thumbnails       do not show the person there what the first photos
                              look like before they are accepted
        --follow-links        follow links to directories
        --no-cache            read all files again to compare them, also those
                              that were read before and have not changed
        --no-config           pass over the configuration file
        --json                write one event a line to standard output, as JSON
    -q, --quiet               say nothing but errors
    -v, --verbose...          say more, and name each file, however many
    -h, --help                show this help and exit
        --version             show the version and exit

  Exit status (of several files the worst):
    0                         every file was stored, or was there already
    1                         internal error
    2                         the command line was wrong, or left a choice open
    3                         no such peer was found
    4                         the other side refused, or too many codes were
                              wrong
    5                         the link was lost, or timed out; or what arrived is
                              not what was sent
    6                         a local file: unreadable, no space, no permission;
                              or a file was skipped for another of its name; or
                              the table of known peers can't be read
    7                         a peer's key changed or is not confirmed, or the
                              codes did not match
    130                       interrupted by a signal before the end, as
                              imagerecv without --count always is: 143 by
                              SIGTERM, 129 by SIGHUP

  Environment:
    PICONET_INTERFACES        use these network interfaces only, as in
                              eth0,wlan0; lo keeps to this machine, without
                              Bluetooth unless --transport asks for it
    PICONET_TRACE             record this run in that file, all contents
                              included, for 'piconet replay'; redacted:FILE
                              records zeros for them
    XDG_CONFIG_HOME           piconet/ in it may hold imagerecv.conf and
                              imagesend.conf (default ~/.config): options as
                              'name = value', a line each, which count before the
                              command line
    XDG_CACHE_HOME            piconet/ in it keeps the digests of files that were
                              read, so that unchanged ones are not read again
                              (default ~/.cache)
    XDG_STATE_HOME            piconet/ in it keeps this device's key and the
                              peers it knows (default ~/.local/state)
    POSIXLY_CORRECT           if set, options end at the first operand

  Examples:
    imagesend sunset.jpg
    imagesend --to 'Living room' holiday/
    imagesend --to all --timeout 2m *.jpg
    imagesend --to Kitchen --location strip holiday/
    scanimage --format=png | imagesend --to Kitchen --as letter.png -
    imagesend --address [::1]:4000 --fingerprint 9f86... --json sunset.jpg
    imagesend --transport bluetooth --to Kitchen sunset.jpg

  """

private let imagerecvHelp = """
  Usage: imagerecv [OPTION]...
  Receive photos and videos from devices nearby that run imagesend, and store
  them once they are verified.

  Options:
        --name=N              be found under this name (default: the host's name)
        --session=ID          only peers of the session called ID
        --directory=DIR       store files there (default: the current directory;
                              with --service, that for pictures)
        --accept=ask|known|all
                              ask: ask about each sender, but not about known
                              devices that may push (see piconet trust); known:
                              take files only of such devices; all: of everybody
                              (default ask)
        --thumbnails=auto|kitty|sixel|symbols|off
                              how the question shows what the first photos look
                              like: by kitty's or sixel graphics, in coloured
                              characters, or not (default: as the terminal can,
                              and not with NO_COLOR)
        --code[=DIGITS]       take files of senders on which this code is typed,
                              6 to 16 digits, and know them from then on; without
                              DIGITS a new one is made and shown. Three wrong
                              tries end a code
        --code-file=FILE      the same with the code in the first line of FILE,
                              so that nobody sees it among the processes
        --visible=all|known|TIME
                              who finds this device: all, or known devices that
                              know it (over TCP only, without name or key in the
                              air); or all, for a TIME such as 10m, after which
                              it ends when nobody sends any more (default all)
        --service             run as a service of the session (see systemd's
                              imagerecv.service)
        --no-notify           without a terminal, do not ask by notifications of
                              the desktop either
        --history[=N]         show what was received, the last N files (default
                              20), and exit
        --fingerprint         show the fingerprint of this device, for imagesend
                              --fingerprint, and exit
        --qr                  with --fingerprint, show it as a QR code as well
        --count=N             exit after N files were stored (default: go on
                              until interrupted)
        --on-conflict=rename|skip|overwrite
                              what to do when another file has that name: store
                              it as 'photo (2).jpg' (default), leave it out,
                              which ends with 6, or replace it, unless the same
                              command has stored it or found it there
        --transport=auto|bluetooth|l2cap|rfcomm|le|tcp
                              what to receive over (default auto: a common IP
                              network, then Bluetooth; what this machine lacks is
                              left out by itself)
        --adapter=hciN        use this Bluetooth adapter (default: whichever
                              there is); hci0, or its address
        --relay=NAME|PEER|ADDRESS
                              also be reached by senders from where no network
                              leads here, over a device that runs 'piconet
                              relay': it sees how much comes when, and nothing of
                              what it is; the sender needs --relay as well. Of
                              several, given one by one, another takes over when
                              one goes
        --listen=HOST:PORT    listen there (default: on every address, any free
                              port), as in [::1]:4000 or :4000
        --max-size=BYTES      refuse files that are larger, as in 500000, 10M or
                              1GiB
        --daily=BYTES         take at most so much a day of a device that is not
                              known, and four times as much of all of them, since
                              this program began (default: no limit)
        --timeout=SECONDS     let a sender that sends nothing for this long, or a
                              file of --count that stands still or drips, give
                              way to another (default 10); 1.5, 2m
        --any                 take other files too, not only photos and videos
        --no-cache            read all files again to compare them, also those
                              that were read before and have not changed
        --no-config           pass over the configuration file
        --json                write one event a line to standard output, as JSON
    -q, --quiet               say nothing but errors
    -v, --verbose...          say more, and name each file, however many
    -h, --help                show this help and exit
        --version             show the version and exit

  Exit status (of several files the worst):
    0                         every file was stored, or was there already
    1                         internal error
    2                         the command line was wrong, or left a choice open
    3                         no such peer was found
    4                         the other side refused, or too many codes were
                              wrong
    5                         the link was lost, or timed out; or what arrived is
                              not what was sent
    6                         a local file: unreadable, no space, no permission;
                              or a file was skipped for another of its name; or
                              the table of known peers can't be read
    7                         a peer's key changed or is not confirmed, or the
                              codes did not match
    130                       interrupted by a signal before the end, as
                              imagerecv without --count always is: 143 by
                              SIGTERM, 129 by SIGHUP

  Environment:
    PICONET_INTERFACES        use these network interfaces only, as in
                              eth0,wlan0; lo keeps to this machine, without
                              Bluetooth unless --transport asks for it
    PICONET_TRACE             record this run in that file, all contents
                              included, for 'piconet replay'; redacted:FILE
                              records zeros for them
    XDG_CONFIG_HOME           piconet/ in it may hold imagerecv.conf and
                              imagesend.conf (default ~/.config): options as
                              'name = value', a line each, which count before the
                              command line
    XDG_CACHE_HOME            piconet/ in it keeps the digests of files that were
                              read, so that unchanged ones are not read again
                              (default ~/.cache)
    XDG_STATE_HOME            piconet/ in it keeps this device's key and the
                              peers it knows (default ~/.local/state)
    POSIXLY_CORRECT           if set, options end at the first operand

  Examples:
    imagerecv --directory ~/Pictures
    imagerecv --name 'Living room' --accept known
    imagerecv --code --count 10
    imagerecv --accept all --count 1 --max-size 20M --json

  """
