import Piconet
import Testing

@testable import PiconetCommandLine

@Suite("Why a stranger is not listened to")
struct LockoutTests {
  @Test("a stranger whose codes were wrong is named with what lifts that, an address without digits")
  func lifting() throws {
    let key = try #require(PeerID(hexadecimal: String(repeating: "ab", count: 32)))
    for reason in [
      "3 codes were wrong or broke off: it is not listened to for 1 hour",
      "limit exceeded: too many codes were wrong or broke off: it is listened to again in 1 hour",
    ] {
      #expect(
        TransferFailure.lifting(reason, of: key)
          == "; to lift it, say 'piconet trust forgive abababababab', or start this program again")
    }
    #expect(
      TransferFailure.lifting("too many codes from its address were wrong: it is listened to again in 1 hour", of: key)
        == "; to lift it, say 'piconet trust forgive', or start this program again")
  }
}
