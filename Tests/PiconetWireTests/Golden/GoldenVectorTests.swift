import PiconetWire
import Testing

@Suite("Golden vectors of Documentation/wire-format.md")
struct GoldenVectorTests {
  @Test("every vector is read as the frame that its name stands for")
  func decode() throws {
    for vector in WireDocument.golden {
      let expected = GoldenFrames.exact[vector.name] ?? GoldenFrames.readOnly[vector.name]
      #expect(try decodeAll(vector.bytes) == [try #require(expected, "\(vector.name)")], "\(vector.name)")
    }
  }

  @Test("every frame is written as its vector")
  func encode() {
    for vector in WireDocument.golden {
      guard let frame = GoldenFrames.exact[vector.name] else { continue }
      #expect(FrameEncoder.encode(frame).hexadecimal == vector.bytes.hexadecimal, "\(vector.name)")
    }
  }

  @Test("the document and the table name the same vectors, each once, and every kind of frame has one")
  func coverage() {
    let names = WireDocument.golden.map(\.name)
    #expect(names.count == Set(names).count)
    #expect(Set(names) == Set(GoldenFrames.exact.keys).union(GoldenFrames.readOnly.keys))
    #expect(Set(GoldenFrames.exact.keys).isDisjoint(with: GoldenFrames.readOnly.keys))
    let cases = Set(GoldenFrames.exact.values.map(FrameCase.init))
    #expect(cases == Set(FrameCase.allCases))
  }

  @Test("every vector that the document refuses is refused with a typed error, and in no other way than the table says")
  func refused() throws {
    let unknown: [String: UInt8] = [
      "unknown-required": 0x3F, "unknown-required-sequenced": 0x7F, "reserved-for-streams": 0x21,
      "reserved-for-relay": 0x31, "type-zero": 0x00,
      "code-at-link-time": 0x02,
    ]
    #expect(WireDocument.refused.count >= 30)
    for vector in WireDocument.refused {
      let type = try #require(vector.bytes.first, "\(vector.name)")
      let error = #expect(throws: WireError.self, "\(vector.name)") { try decodeAll(vector.bytes) }
      switch error {
      case .unknownRequiredFrame(let found): #expect(unknown[vector.name] == found)
      case .frameTooLarge(_, let size, _): #expect(vector.name == "too-long" && size == 0xFFFF_FFFF)
      case .malformed(let found, _):
        #expect(found == type && unknown[vector.name] == nil && vector.name != "too-long", "\(vector.name)")
      case nil: break
      }
    }
  }

  @Test("the document lists every reason with its number")
  func reasons() {
    for number in UInt16(0)...100 where Reason(rawValue: number).description != "reason \(number)" {
      #expect(WireDocument.text.contains("| \(number) | "), "\(Reason(rawValue: number))")
    }
  }

  @Test("the limits in the document are those of the code")
  func limits() {
    let text = WireDocument.text
    for limit in [
      WireLimits.context, WireLimits.resourceName, WireLimits.streamName, Int(WireLimits.streamNumbers) - 1,
      WireLimits.metadata, WireLimits.smallestFrame,
      WireLimits.controlFrame,
      WireLimits.largestFrame, Int(WireLimits.transferNumbers) - 1, Int(WireLimits.silence.upperBound),
      Int(PeerLimits().message), Int(PeerLimits().frame), Int(PeerLimits().messageWindow), Int(PeerLimits().silence),
      Int(PeerLimits().streamWindow),
    ] {
      #expect(text.contains(grouped(limit)), "\(limit)")
    }
  }

  /// A number as the document writes it: 16,384 for 16384.
  private func grouped(_ number: Int) -> String {
    let digits = Array(String(number))
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }
}
