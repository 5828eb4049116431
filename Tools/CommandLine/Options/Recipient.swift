import Piconet

/// A recipient of imagesend: an argument of `--to`.
enum Recipient: Hashable, Sendable {
  /// Every peer in sight.
  case all
  /// The peer with this fingerprint: 64 hexadecimal digits, in lower case.
  case peer(fingerprint: String)
  /// The peer that the person, or the peer itself, calls by this name.
  case named(String)

  init(_ argument: OptionArgument) throws(UnacceptableValue) {
    let text = try OptionText.text(argument, atMost: KnownPeers.nameByteLimit)
    if text == "all" {
      self = .all
    } else if text.utf8.count == 64, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
      self = .peer(fingerprint: text.lowercased())
    } else {
      self = .named(text)
    }
  }
}
