import Testing

@testable import PiconetCommandLine

@Suite("The help texts of piconet, word for word")
struct PiconetHelpTests {
  @Test("piconet --help") func piconet() { #expect(PiconetProgram.help == piconetHelp) }

  @Test("piconet doctor --help") func doctor() { #expect(doctorOptions.helpText() == doctorHelp) }

  @Test("piconet scan --help") func scan() { #expect(scanOptions.helpText() == scanHelp) }

  @Test("piconet ping --help") func ping() { #expect(pingOptions.helpText() == pingHelp) }

  @Test("piconet cat --help") func cat() { #expect(catOptions.helpText() == catHelp) }
}

private let piconetHelp = """
  Usage: piconet COMMAND [OPTION]...
  See, measure and try what devices nearby are reached by. 'piconet COMMAND
  --help' lists a command's options.

  Options:
    -h, --help                show this help and exit
        --version             show the version and exit

  Commands:
    doctor                    say what keeps this machine from reaching others
    scan                      show the peers nearby as they come and go
    ping                      measure the round trip to a peer, or answer others
    cat                       carry bytes between two terminals, files or pipes
    relay                     let others reach one another over this device
    browse                    show the names and interfaces that programs nearby
                              advertise
    introspect                show the objects of a program, and what can be
                              called
    call                      call a method of an object
    trust                     show and change whom this device knows, and its own
                              key
    replay                    run a recorded trace again and compare
    manual                    write a manual page, as man reads it
    completion                write what a shell completes command lines by

  """

private let doctorHelp = """
  Usage: piconet doctor [OPTION]...
  Look what keeps this machine from reaching others over Bluetooth and TCP, and
  what to do about it. Nothing is changed, nothing is sent, and no privilege is
  needed.

  Options:
        --json                write one finding a line to standard output, as
                              JSON
    -q, --quiet               show problems and warnings only
    -h, --help                show this help and exit
        --version             show the version and exit

  Exit status:
    0                         no problem, though there may be warnings
    1                         a problem was found
    2                         the command line was wrong

  Environment:
    PICONET_INTERFACES        use these network interfaces only, as in
                              eth0,wlan0; lo keeps to this machine, without
                              Bluetooth unless --transport asks for it
    PICONET_TRACE             record this run in that file, all contents
                              included, for 'piconet replay'; redacted:FILE
                              records zeros for them
    XDG_STATE_HOME            piconet/ in it keeps this device's key and the
                              peers it knows (default ~/.local/state)
    POSIXLY_CORRECT           if set, options end at the first operand

  """

private let scanHelp = """
  Usage: piconet scan [OPTION]...
  Show the peers nearby as they come and go, with their addresses. What is seen
  is what they say of themselves; nothing of it is proven, and nobody is
  connected to.

  Options:
        --session=ID...       peers of the session called ID (default: those of
                              imagerecv, piconet ping and piconet cat)
        --timeout=SECONDS     end after this long (default: go on until
                              interrupted); 1.5, 2m
        --transport=auto|bluetooth|l2cap|rfcomm|le|tcp
                              what to look over (default auto: a common IP
                              network, then Bluetooth; what this machine lacks is
                              left out by itself)
        --adapter=hciN        use this Bluetooth adapter (default: whichever
                              there is); hci0, or its address
        --json                write one event a line to standard output, as JSON
    -q, --quiet               no notes, only peers and errors
    -h, --help                show this help and exit
        --version             show the version and exit

  Exit status:
    0                         a peer was seen, or the scan was interrupted
    2                         the command line was wrong
    3                         no peer was seen within --timeout
    6                         a local file: the key can't be read or made

  Environment:
    PICONET_INTERFACES        use these network interfaces only, as in
                              eth0,wlan0; lo keeps to this machine, without
                              Bluetooth unless --transport asks for it
    PICONET_TRACE             record this run in that file, all contents
                              included, for 'piconet replay'; redacted:FILE
                              records zeros for them
    XDG_STATE_HOME            piconet/ in it keeps this device's key and the
                              peers it knows (default ~/.local/state)
    POSIXLY_CORRECT           if set, options end at the first operand

  Examples:
    piconet scan
    piconet scan --timeout 5 --transport bluetooth --json

  """

private let pingHelp = """
  Usage: piconet ping [OPTION]... [PEER|ADDRESS]
    or:  piconet ping --session ID [OPTION]... PEER|ADDRESS PATH
    or:  piconet ping --listen [OPTION]...
  Measure the round trip to a peer that runs 'piconet ping --listen', over the
  encrypted session that files would go over. PEER is a name or a fingerprint;
  ADDRESS is HOST:PORT or, over Bluetooth, 00:11:22:33:44:55; without either it
  is the only peer in sight, or the one you pick. With PATH ask an object of a
  program that uses PiconetActors whether it is there; / is the program itself,
  and PEER may be a name that it has claimed and advertises. 'piconet introspect'
  shows paths.

  Options:
    -c, --count=N             send N pings (default: go on until interrupted)
    -i, --interval=SECONDS    wait so long between two pings (default 1); 0.2,
                              10ms
    -s, --size=BYTES          send so many bytes with each (default 56, at most
                              90000)
    -l, --listen[=HOST:PORT]  answer the pings of others until interrupted; over
                              TCP there (default: on every address, any free
                              port), as in [::1]:4000 or :4000
        --accept=ask|known|all
                              with --listen, ask: ask about each peer, but not
                              about known devices that may push (see piconet
                              trust); known: accept only such devices; all:
                              everybody (default ask)
        --name=N              call this device so (default: the host's name)
        --session=ID          only peers of the session called ID (default: this
                              command's own)
        --timeout=SECONDS     give up when no peer is found, or it does not
                              answer, for this long (default 30); 1.5, 2m
        --code[=DIGITS]       prove to the peer that you know its code, 6 to 16
                              digits, which its --listen --code shows; without
                              DIGITS you are asked for it. With --listen: let in
                              those on whose device this code is typed; without
                              DIGITS a new one is made and shown. Three wrong
                              tries end a code. Both devices know each other from
                              then on
        --code-file=FILE      the same with the code in the first line of FILE,
                              so that nobody sees it among the processes
        --transport=auto|bluetooth|l2cap|rfcomm|le|tcp
                              what to go over (default auto: a common IP network,
                              then Bluetooth; what this machine lacks is left out
                              by itself)
        --adapter=hciN        use this Bluetooth adapter (default: whichever
                              there is); hci0, or its address
    -q, --quiet               say nothing but errors
    -v, --verbose...          say more
    -h, --help                show this help and exit
        --version             show the version and exit

  Exit status:
    0                         a ping came back; without --count it goes on until
                              interrupted, and ends as its pings did
    2 to 7                    as imagesend: wrong command line, no such peer,
                              refused, lost, local, identity
    130                       interrupted by a signal before a peer was reached,
                              or with --listen: 143 by SIGTERM, 129 by SIGHUP

  Environment:
    PICONET_INTERFACES        use these network interfaces only, as in
                              eth0,wlan0; lo keeps to this machine, without
                              Bluetooth unless --transport asks for it
    PICONET_TRACE             record this run in that file, all contents
                              included, for 'piconet replay'; redacted:FILE
                              records zeros for them
    XDG_STATE_HOME            piconet/ in it keeps this device's key and the
                              peers it knows (default ~/.local/state)
    POSIXLY_CORRECT           if set, options end at the first operand

  Examples:
    piconet ping --listen --name Kitchen --accept all
    piconet ping --count 5 Kitchen
    piconet ping --transport rfcomm 00:11:22:33:44:55
    piconet ping --session lamps --count 1 --timeout 5 Kitchen /lamp
    piconet ping --session lamps org.example.ceiling /

  """

private let catHelp = """
  Usage: piconet cat [OPTION]... [PEER|ADDRESS]
    or:  piconet cat --listen [OPTION]...
  Carry bytes: what is read here from standard input is written there to standard
  output, and the other way round, over an encrypted session. PEER is a name or a
  fingerprint; ADDRESS is HOST:PORT or, over Bluetooth, 00:11:22:33:44:55;
  without either it is the only peer in sight, or the one you pick.

  Options:
    -l, --listen[=HOST:PORT]  wait for one peer; over TCP there (default: on
                              every address, any free port), as in [::1]:4000 or
                              :4000
        --accept=ask|known|all
                              with --listen, ask: ask about each peer, but not
                              about known devices that may push (see piconet
                              trust); known: accept only such devices; all:
                              everybody (default ask)
        --name=N              call this device so (default: the host's name)
        --session=ID          only peers of the session called ID (default: this
                              command's own)
        --timeout=SECONDS     give up when no peer is found, or it does not
                              answer, for this long (default 30); 1.5, 2m
        --code[=DIGITS]       prove to the peer that you know its code, 6 to 16
                              digits, which its --listen --code shows; without
                              DIGITS you are asked for it. With --listen: let in
                              those on whose device this code is typed; without
                              DIGITS a new one is made and shown. Three wrong
                              tries end a code. Both devices know each other from
                              then on
        --code-file=FILE      the same with the code in the first line of FILE,
                              so that nobody sees it among the processes
        --transport=auto|bluetooth|l2cap|rfcomm|le|tcp
                              what to go over (default auto: a common IP network,
                              then Bluetooth; what this machine lacks is left out
                              by itself)
        --adapter=hciN        use this Bluetooth adapter (default: whichever
                              there is); hci0, or its address
    -q, --quiet               say nothing but errors
    -v, --verbose...          say more
    -h, --help                show this help and exit
        --version             show the version and exit

  Ends:
                              When both sides have read the end of their input. A
                              terminal need not be ended by Ctrl-D: the end of
                              the other side's input is enough there. Where
                              nothing is to be sent, give </dev/null.

  Exit status:
    0                         everything was carried, and both ends of input told
    2 to 7                    as imagesend: wrong command line, no such peer,
                              refused, lost, local, identity
    130                       interrupted by a signal: 143 by SIGTERM, 129 by
                              SIGHUP

  Environment:
    PICONET_INTERFACES        use these network interfaces only, as in
                              eth0,wlan0; lo keeps to this machine, without
                              Bluetooth unless --transport asks for it
    PICONET_TRACE             record this run in that file, all contents
                              included, for 'piconet replay'; redacted:FILE
                              records zeros for them
    XDG_STATE_HOME            piconet/ in it keeps this device's key and the
                              peers it knows (default ~/.local/state)
    POSIXLY_CORRECT           if set, options end at the first operand

  Examples:
    piconet cat --listen --accept all </dev/null >backup.tar
    tar c photos | piconet cat Kitchen

  """
