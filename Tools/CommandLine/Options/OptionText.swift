import Piconet

/// Texts that peers are shown: names and session ids.
enum OptionText {
  /// Not empty, valid UTF-8, no control character, at most `limit` bytes.
  static func text(_ argument: OptionArgument, atMost limit: Int) throws(UnacceptableValue) -> String {
    guard let text = String(validating: argument.bytes, as: UTF8.self) else { throw .because("not valid UTF-8") }
    guard !text.isEmpty else { throw .because("must not be empty") }
    guard argument.bytes.count <= limit else { throw .because("longer than \(limit) bytes") }
    guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw .because("has a control character")
    }
    return text
  }

  /// 64 hexadecimal digits; spaces and colons between them are ignored.
  static func fingerprint(_ argument: OptionArgument) throws(UnacceptableValue) -> PeerID {
    guard let peer = PeerID(hexadecimal: argument.text.filter { $0 != " " && $0 != ":" }) else {
      throw .because("a fingerprint has 64 hexadecimal digits")
    }
    return peer
  }

  static func path(_ argument: OptionArgument) throws(UnacceptableValue) -> LocalPath {
    guard !argument.bytes.isEmpty else { throw .because("must not be empty") }
    return LocalPath(bytes: argument.bytes)
  }
}
