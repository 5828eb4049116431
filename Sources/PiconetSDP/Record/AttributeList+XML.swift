import PiconetWire

extension AttributeList {
  /// The list as the text that bluetoothd takes for the option `ServiceRecord` of `RegisterProfile` (BlueZ 5,
  /// doc/profile-api.txt; it is the format that `sdptool browse --xml` prints).
  ///
  /// Text that is not plain ASCII is written as hexadecimal digits, so no name or id can end an attribute or start an
  /// element.
  public var xml: String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<record>\n"
    for (number, element) in attributes.sorted(by: { $0.key < $1.key }) {
      text += "  <attribute id=\"\(Self.hexadecimal(UInt64(number), bytes: 2))\">\n"
      Self.write(element, indentation: "    ", to: &text)
      text += "  </attribute>\n"
    }
    return text + "</record>\n"
  }

  private static func write(_ element: DataElement, indentation: String, to text: inout String) {
    switch element {
    case .null: text += "\(indentation)<nil/>\n"
    case .unsigned(let value, let width):
      let digits = hexadecimal(value, bytes: Int(width.rawValue))
      text += "\(indentation)<uint\(width.rawValue * 8) value=\"\(digits)\"/>\n"
    case .signed(let value, let width):
      text += "\(indentation)<int\(width.rawValue * 8) value=\"\(value)\"/>\n"
    case .wide(let isSigned, let bytes):
      text += "\(indentation)<\(isSigned ? "" : "u")int128 value=\"\(bytes.hexadecimal)\"/>\n"
    case .uuid(let uuid):
      let value = uuid.short.map { hexadecimal(UInt64($0), bytes: $0 <= 0xFFFF ? 2 : 4) } ?? uuid.description
      text += "\(indentation)<uuid value=\"\(value)\"/>\n"
    case .text(let bytes):
      if bytes.allSatisfy(isPlain) {
        text += "\(indentation)<text value=\"\(String(decoding: bytes, as: UTF8.self))\"/>\n"
      } else {
        text += "\(indentation)<text encoding=\"hex\" value=\"\(bytes.hexadecimal)\"/>\n"
      }
    case .boolean(let value): text += "\(indentation)<boolean value=\"\(value)\"/>\n"
    case .sequence(let members): write(members, as: "sequence", indentation: indentation, to: &text)
    case .alternative(let members): write(members, as: "alternate", indentation: indentation, to: &text)
    case .url(let bytes):
      // bluetoothd has no other encoding for a URL; a URL's own is that of RFC 3986.
      let escaped = bytes.map { isPlain($0) ? String(decoding: [$0], as: UTF8.self) : "%" + [$0].hexadecimal }
      text += "\(indentation)<url value=\"\(escaped.joined())\"/>\n"
    }
  }

  private static func write(
    _ members: [DataElement], as name: String, indentation: String, to text: inout String
  ) {
    text += "\(indentation)<\(name)>\n"
    for member in members { write(member, indentation: indentation + "  ", to: &text) }
    text += "\(indentation)</\(name)>\n"
  }

  /// Printable ASCII without the characters that mean something in XML.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x20...0x7E).contains(byte) && ![0x22, 0x26, 0x27, 0x3C, 0x3E].contains(byte)
  }

  private static func hexadecimal(_ value: UInt64, bytes count: Int) -> String {
    let digits = String(value, radix: 16)
    return "0x" + String(repeating: "0", count: max(0, 2 * count - digits.count)) + digits
  }
}
