import Glibc
import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

@Suite("QR codes")
struct QRCodeTests {
  private static let fingerprint = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

  /// Debian's libqrencode4, which Tools/set-up --test installs.
  static let needsLibrary: ConditionTrait = .enabled(
    if: dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL) != nil, "libqrencode4 is not installed")

  /// The seven by seven modules in three of the corners (ISO/IEC 18004, section 6.3.3).
  private static func isFinder(_ code: QRCode, _ row: Int, _ column: Int) -> Bool {
    (0..<7).allSatisfy { vertical in
      (0..<7).allSatisfy { horizontal in
        let ring = max(abs(vertical - 3), abs(horizontal - 3))
        return code.modules[row + vertical][column + horizontal] == (ring != 2)
      }
    }
  }

  @Test("a fingerprint takes the 29 modules that capital digits take, and other ones give another code", needsLibrary)
  func fingerprints() throws {
    let code = try QRCode(Self.fingerprint)
    #expect(code.modules.count == 29 && code.modules.allSatisfy { $0.count == 29 })
    #expect(Self.isFinder(code, 0, 0) && Self.isFinder(code, 0, 22) && Self.isFinder(code, 22, 0))
    #expect(!Self.isFinder(code, 22, 22))
    #expect(try QRCode(Self.fingerprint.uppercased()) == code)
    #expect(try QRCode(String(Self.fingerprint.reversed())) != code)
  }

  @Test("what is too long for any code is an error", needsLibrary)
  func tooLong() { #expect(throws: QRCodeFailure.tooLong) { try QRCode(String(repeating: "A", count: 5_000)) } }

  @Test("a terminal that is too narrow, or shows no UTF-8, gets the reason in place of a QR code", needsLibrary)
  func terminals() throws {
    let unicode = TerminalTraits(isTerminal: true) { ["TERM": "xterm", "LANG": "C.UTF-8"][$0] }
    let ascii = TerminalTraits(isTerminal: true) { ["TERM": "xterm", "LANG": "C"][$0] }
    #expect(try QRCodeDrawing.lines(of: Self.fingerprint, on: unicode, columns: 37).count == 19)
    #expect(throws: QRCodeFailure.tooNarrow(36, needed: 37)) {
      try QRCodeDrawing.lines(of: Self.fingerprint, on: unicode, columns: 36)
    }
    #expect(throws: QRCodeFailure.notUnicode) {
      try QRCodeDrawing.lines(of: Self.fingerprint, on: ascii, columns: 80)
    }
  }

  @Test("the drawing has two rows a line, with four light modules around, in colours of its own on a terminal")
  func drawing() {
    let code = QRCode(modules: [[true, false, true], [false, false, true], [true, true, false]])
    let side = "████"
    let around = "███████████"
    let plain = QRCodeDrawing(code: code, hasColours: false).lines
    #expect(plain == [around, around, side + "▄█ " + side, side + "▄▄█" + side, around, around])
    #expect(QRCodeDrawing(code: code, hasColours: true).lines == plain.map { "\u{1B}[97;40m\($0)\u{1B}[0m" })
  }
}
