import Piconet
import Testing

@testable import PiconetCommandLine

private func send(_ words: String...) throws -> ImageSendArguments {
  let invocation = try OptionParser.parse(
    words.map { Array($0.utf8) }, table: imagesendOptions, initial: ImageSendArguments(), posixlyCorrect: false)
  guard case .run(let arguments) = invocation else {
    Issue.record("asked for output")
    return ImageSendArguments()
  }
  return arguments
}

private func receive(_ words: String...) throws -> ImageReceiveArguments {
  let invocation = try OptionParser.parse(
    words.map { Array($0.utf8) }, table: imagerecvOptions, initial: ImageReceiveArguments(), posixlyCorrect: false)
  guard case .run(let arguments) = invocation else {
    Issue.record("asked for output")
    return ImageReceiveArguments()
  }
  return arguments
}

@Suite("The options of imagesend and imagerecv")
struct ToolOptionsTests {
  @Test("every option of imagesend reaches its argument")
  func imagesend() throws {
    let arguments = try send(
      "--to=Kitchen", "a.jpg", "--to", "all", "--to=Kitchen", "--session", "s1", "--timeout=2m", "--name=Küche",
      "--transport=tcp", "--any", "--json", "-qvv", "b")
    #expect(
      arguments
        == ImageSendArguments(
          recipients: [.named("Kitchen"), .all], name: "Küche", session: "s1", timeout: .seconds(120),
          transport: TransportOptions(choice: .tcp), any: true, json: true,
          verbosity: Verbosity(isQuiet: true, detail: 2), operands: ["a.jpg", "b"]))
    let there = try send("--to=Kitchen", "--address=[::1]:4000", "a.jpg")
    #expect(there.recipients == [.named("Kitchen")])
    #expect(there.address == .network(HostAndPort(host: "::1", port: 4000)))
  }

  @Test("every option of imagerecv reaches its argument")
  func imagerecv() throws {
    let arguments = try receive(
      "--name=Küche", "--session=s1", "--directory=/tmp/x", "--accept=known", "--count=3", "--on-conflict=skip",
      "--transport=auto", "--adapter=hci1", "--listen=:0", "--max-size=10M", "--timeout=2m", "--any", "--json", "-q",
      "-v")
    #expect(
      arguments
        == ImageReceiveArguments(
          name: "Küche", session: "s1", directory: "/tmp/x", accept: .known, count: 3, timeout: .seconds(120),
          onConflict: .skip,
          transport: TransportOptions(choice: .auto, adapter: "hci1"), listen: HostAndPort(host: "", port: 0),
          maxSize: 10_485_760, any: true, json: true,
          verbosity: Verbosity(isQuiet: true, detail: 1)))
  }

  @Test("up to four relays are named, each of them once")
  func relays() throws {
    let words = ["--relay=Hall", "--relay=[::1]:4000", "--relay=Hall", "--relay=Porch", "--relay=Attic"]
    let relays: [DialTarget] = [
      .peer(.named("Hall")), .place(.network(HostAndPort(host: "::1", port: 4000))), .peer(.named("Porch")),
      .peer(.named("Attic")),
    ]
    #expect(try send(words[0], words[1], words[2], words[3], words[4], "a").relays == relays)
    #expect(try receive(words[0], words[1], words[2], words[3], words[4]).relays == relays)
    let error = #expect(throws: UsageError.self) {
      try receive(words[0], words[1], words[3], words[4], "--relay=Cellar")
    }
    #expect(error?.message.contains("at most 4 relays") == true, "\(error?.message ?? "")")
  }

  @Test(
    "a relay's address with a number that is no port is no name", arguments: ["10.0.0.7:99999", "[::1]:0", "hall:0"])
  func relayWithoutPort(text: String) throws {
    for error in [
      #expect(throws: UsageError.self) { try receive("--relay=\(text)") },
      #expect(throws: UsageError.self) { try send("--relay=\(text)", "a") },
    ] {
      #expect(error?.message.contains("a port from 1 to 65535") == true, "\(error?.message ?? "")")
    }
    #expect(try receive("--relay=Hall:").relays == [.peer(.named("Hall:"))])
  }

  @Test("without options the defaults hold")
  func defaults() throws {
    #expect(try send("a") == ImageSendArguments(operands: ["a"]))
    #expect(try receive() == ImageReceiveArguments())
  }

  @Test("imagesend needs a file, imagerecv takes no operand")
  func operands() {
    #expect(throws: UsageError("missing file operand")) { try send("-q") }
    #expect(throws: UsageError("extra operand 'a.jpg'")) { try receive("a.jpg") }
  }

  @Test("a value that is refused says why")
  func refusals() {
    #expect(throws: UsageError("invalid argument 'x' for '--timeout': not a time")) { try send("--timeout=x", "a") }
    #expect(
      throws: UsageError(
        """
        invalid argument 'udp' for '--transport'
        Valid arguments are:
          - 'auto'
          - 'bluetooth'
          - 'l2cap'
          - 'rfcomm'
          - 'le'
          - 'tcp'
        """)
    ) { try send("--transport=udp", "a") }
    #expect(throws: UsageError("invalid argument '' for '--directory': must not be empty")) {
      try receive("--directory=")
    }
  }

  @Test("nothing is too large for --max-size 0, so it is refused with the way to say so")
  func maxSize() {
    #expect(
      throws: UsageError(
        "invalid argument '0' for '--max-size': must be at least 1; without --max-size files of any size are taken")
    ) { try receive("--max-size=0") }
    #expect(throws: Never.self) { try receive("--max-size=1") }
  }

  @Test("no line of the help is wider than 79 columns, and none ends in a blank")
  func width() {
    for text in [imagesendOptions.helpText(), imagerecvOptions.helpText()] {
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        #expect(line.count < 80, "\(line)")
        #expect(line.last != " ", "\(line)")
      }
    }
  }

  @Test("every program has -h beside --help")
  func shortHelp() {
    let letters = [
      imagesendOptions.letterOfHelp, imagerecvOptions.letterOfHelp, doctorOptions.letterOfHelp,
      scanOptions.letterOfHelp,
      pingOptions.letterOfHelp, catOptions.letterOfHelp, trustOptions.letterOfHelp, replayOptions.letterOfHelp,
    ]
    #expect(letters == Array(repeating: "h", count: 8))
  }

  @Test("long names are unique and letters too")
  func unique() {
    let sendNames = imagesendOptions.options.map(\.long)
    let receiveNames = imagerecvOptions.options.map(\.long)
    #expect(Set(sendNames).count == sendNames.count)
    #expect(Set(receiveNames).count == receiveNames.count)
    let letters = imagesendOptions.options.compactMap(\.short)
    #expect(Set(letters).count == letters.count)
  }
}

@Suite("Exit codes")
struct ExitCodeTests {
  @Test("the numbers are the promised ones")
  func numbers() {
    let codes: [ExitCode] = [
      .stored, .internalError, .usage, .noSuchPeer, .refused, .linkLost, .localFile, .identity, .interrupted,
    ]
    #expect(codes.map(\.rawValue) == Array(0...7) + [130])
  }

  @Test("the worst counts, in an order that every code has its place in")
  func worst() {
    #expect(Set(ExitCode.allCases.map(\.badness)) == Set(0..<ExitCode.allCases.count))
    #expect(ExitCode.worst([]) == .stored)
    #expect(ExitCode.worst([.stored, .refused, .localFile]) == .localFile)
    #expect(ExitCode.worst([.linkLost, .localFile, .refused]) == .linkLost)
    #expect(ExitCode.worst([.identity, .linkLost]) == .identity)
    #expect(ExitCode.worst([.identity, .internalError, .stored]) == .internalError)
  }
}

extension OptionTable {
  fileprivate var letterOfHelp: Character? { options.first { $0.long == "help" }?.short }
}
