import Foundation
import PiconetCalls
import Testing

/// The vectors of Documentation/remote-objects.md, the only place where they are written down.
@Suite("The document of the format of calls")
struct DocumentTests {
  private static let frames: [(name: String, frame: CallFrame)] = [
    (
      "hello",
      .hello(
        .init(
          instance: 0x0102_0304_0506_0708, limits: CallLimits(frame: 4_194_304, calls: 256), asks: true,
          about: [.init("model", "lamp")]))
    ),
    ("goodbye", .goodbye(.shuttingDown, "bye")),
    (
      "call",
      .call(
        .init(
          number: 1_000, path: "/sample", interface: "org.example.sample", version: 1, method: "concatenate",
          milliseconds: 25_000,
          arguments: CBORValue.array([.text("Code "), .text("Monkies!!!!!!!")]).encoded[...]))
    ),
    ("result", .result(number: 1_000, value: CBORValue.text("Code Monkies!!!!!!!").encoded[...])),
    ("failure", .failure(number: 1_000, CallFailure(.notAllowed, "no"))),
    (
      "failure-thrown",
      .failure(
        number: 1_000,
        CallFailure(.thrown, "", name: "full", error: CBORValue.map([.init(.text("by"), .text("Ada"))]).encoded))
    ),
    ("cancel", .cancel(number: 1_000)),
    ("begin", .begin(id: 7, total: 70_000, [1, 2, 3])),
    ("next", .next(id: 7, [4, 5])),
    (
      "signal",
      .signal(.init(path: "/sample", interface: "org.example.sample", name: "changed", value: [0xF5], isKept: true))
    ),
    ("claim", .claim(NameClaim("org.example.lamp", time: 9, .queues))), ("release", .release(name: "org.example.lamp")),
    ("heard", .heard(name: "org.example.lamp", time: 9)),
    ("refused", .refused(name: "org.example.lamp", time: 9)),
  ]

  private static func vectors() throws -> [String: [UInt8]] {
    let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Documentation/remote-objects.md")
    let parts = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "```frames\n")
    try #require(parts.count == 2)
    let lines = parts[1].components(separatedBy: "```")[0].split(separator: "\n")
    return Dictionary(
      uniqueKeysWithValues: lines.map { line in
        let words = line.split(separator: " ")
        return (String(words[0]), octets(words.dropFirst().joined()))
      })
  }

  @Test("every vector is read as what it is called, and written the same")
  func vectorsAreRight() throws {
    let vectors = try Self.vectors()
    #expect(Set(vectors.keys) == Set(Self.frames.map(\.name)))
    for (name, frame) in Self.frames {
      let digits = frame.encoded.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      #expect(vectors[name] == frame.encoded, "\(name) \(digits)")
      let vector = try #require(vectors[name])
      #expect(try CallFrame(decoding: vector[...]) == frame, "\(name)")
    }
  }

  @Test("codes of failures are those of the table")
  func codes() {
    let codes: [(CallFailure.Code, UInt64)] = [
      (.noSuchObject, 1), (.unknownInterface, 2), (.wrongVersion, 3), (.unknownMethod, 4), (.wrongArguments, 5),
      (.notAllowed, 6),
      (.tooManyCalls, 7), (.tooLarge, 8), (.cancelled, 9), (.timedOut, 10), (.thrown, 11), (.shuttingDown, 12),
      (.protocolBroken, 13), (.unusableResult, 15), (.refused, 16),
    ]
    for (code, number) in codes { #expect(code.rawValue == number) }
  }
}
