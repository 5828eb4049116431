import PiconetSDP
import PiconetWire
import Testing

@Suite("Records as bluetoothd takes them")
struct RecordXMLTests {
  @Test func everyKindOfElementHasItsTag() {
    let list = AttributeList([
      0x0001: .sequence([.uuid(BluetoothUUID(short: 0x1002)), .uuid(NodeRecordTests.service)]),
      0x0100: .text(Array("plain text".utf8)),
      0x8000: .uint8(1), 0x8002: .uint64(0x10), 0x8010: .signed(-5, .two), 0x8011: .boolean(true), 0x8012: .null,
      0x8013: .alternative([.url(Array("http://x/\"".utf8))]), 0x8014: .wide(isSigned: false, Array(0..<16)),
    ])
    #expect(
      list.xml == """
        <?xml version="1.0" encoding="UTF-8" ?>
        <record>
          <attribute id="0x0001">
            <sequence>
              <uuid value="0x1002"/>
              <uuid value="6f9619ff-8b86-5011-b42d-00cf4fc964ff"/>
            </sequence>
          </attribute>
          <attribute id="0x0100">
            <text value="plain text"/>
          </attribute>
          <attribute id="0x8000">
            <uint8 value="0x01"/>
          </attribute>
          <attribute id="0x8002">
            <uint64 value="0x0000000000000010"/>
          </attribute>
          <attribute id="0x8010">
            <int16 value="-5"/>
          </attribute>
          <attribute id="0x8011">
            <boolean value="true"/>
          </attribute>
          <attribute id="0x8012">
            <nil/>
          </attribute>
          <attribute id="0x8013">
            <alternate>
              <url value="http://x/%22"/>
            </alternate>
          </attribute>
          <attribute id="0x8014">
            <uint128 value="000102030405060708090a0b0c0d0e0f"/>
          </attribute>
        </record>

        """)
  }

  @Test(arguments: ["\"/><nil/>", "a & b", "it's", "<record>", "]]>", "é", "\u{202E}evil", "tab\there"])
  func noTextGetsOutOfItsAttribute(text: String) {
    let xml = AttributeList([0x0100: .text(Array(text.utf8))]).xml
    #expect(xml.contains("<text encoding=\"hex\" value=\"\(text.utf8.hexadecimal)\"/>"))
    #expect(xml.utf8.allSatisfy { $0 == 0x0A || (0x20...0x7E).contains($0) })
  }

  @Test func bytesThatAreNoTextGoAsDigits() {
    let xml = AttributeList([0x8001: .text([0, 1, 0xFF])]).xml
    #expect(xml.contains("<text encoding=\"hex\" value=\"0001ff\"/>"))
  }
}
