import TestSupport
import Testing

@testable import Piconet

@Suite("Names as long as a directory takes them", .timeLimit(.minutes(15)))
struct LongNameTests {
  @Test(
    "a number shortens the stem by whole characters, and what is stored so is found again",
    arguments: [
      (String(repeating: "\u{E9}", count: 125) + "e", String(repeating: "\u{E9}", count: 123)),
      // The last character has eleven bytes.
      (
        String(repeating: "a", count: 240) + "\u{1F468}\u{200D}\u{1F469}", String(repeating: "a", count: 240)
      ),
    ])
  func numbered(stem: String, shortened: String) async throws {
    let name = stem + ".jpg"
    #expect(name.utf8.count == 255)
    try await Host.run { host in
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        for (number, expected) in [(1, stem), (2, shortened + " (2)"), (3, shortened + " (3)")] {
          for isThere in [false, true] {
            let sent = try await member.send(.bytes([UInt8(number)], named: name))
            #expect(sent.storedName == expected + ".jpg" && sent.wasAlreadyPresent == isThere)
          }
          #expect(try TemporaryFolder.bytes("\(host.directory)/\(expected).jpg") == [UInt8(number)])
        }
        #expect(host.entries().count == 3)
      }
    }
  }
}
