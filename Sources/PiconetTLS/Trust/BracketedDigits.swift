import PiconetWire

/// Digits in brackets within a name, as programs show digits of a key behind the name: `Bob (8aa20a70d40b)`. Any device
/// can take such a name, so they say nothing about its key unless they are the key's own.
enum BracketedDigits {
  /// The fewest digits of a fingerprint that are shown; fewer do not count as digits of one.
  private static let fewest = 12

  /// Returns whether a text may be the beginning of a fingerprint: hexadecimal digits in either case, enough to be
  /// shown.
  static func areDigits(_ text: some StringProtocol) -> Bool {
    text.utf8.count >= fewest && text.allSatisfy { $0.isASCII && $0.isHexDigit }
  }

  /// Splits a name that ends as programs show one into the name and its digits, as they were written.
  /// - Returns: nil if it does not end so.
  static func split(_ name: String) -> (name: String, digits: Substring)? {
    guard name.last == ")", let open = name.lastIndex(of: "("), name[..<open].last == " " else { return nil }
    let digits = name[name.index(after: open)...].dropLast()
    return areDigits(digits) ? (String(name[..<open].dropLast()), digits) : nil
  }

  /// Returns the name before the first such digits; nil if it has none. Letters of the same shapes count as digits, and
  /// every opening bracket counts as a bracket.
  static func name(before name: String) -> String? {
    let scalars = Array(name.unicodeScalars)
    for (place, scalar) in scalars.enumerated() where scalar.properties.generalCategory == .openPunctuation {
      var count = 0
      for next in scalars[(place + 1)...] {
        if isDigit(next) { count += 1 } else if !isInvisible(next) { break }
        guard count == fewest else { continue }
        var before = String.UnicodeScalarView()
        before.append(contentsOf: scalars[..<place])
        return String(before)
      }
    }
    return nil
  }

  /// Returns the name without this key's own digits at its end, written as programs write them; nil if it does not end
  /// so.
  static func name(_ name: String, before peer: PeerID) -> String? { self.name(name, before: peer.description) }

  /// Returns the name without the own digits of the key that has this fingerprint; nil if it does not end so.
  static func name(_ name: String, before fingerprint: String) -> String? {
    guard let parts = split(name), fingerprint.hasPrefix(parts.digits) else { return nil }
    return parts.name
  }

  /// Returns whether the name has digits that are not this key's, without the key's own behind them.
  static func misleads(_ name: String, of peer: PeerID) -> Bool {
    self.name(name, before: peer) == nil && self.name(before: name) != nil
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
    guard let shape = NameSkeleton.shape(of: scalar) else { return false }
    return shape.utf8.count == 1 && shape.allSatisfy { $0.isHexDigit || $0 == "o" || $0 == "l" }
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    return switch properties.generalCategory {
    case .spaceSeparator, .format, .control, .nonspacingMark, .enclosingMark: true
    default: properties.isDefaultIgnorableCodePoint
    }
  }
}

extension KnownPeer {
  /// The petname without the digits of the peer's own key at its end, which distinguish it from another. For use where
  /// digits follow anyway.
  public var nameBeforeDigits: String { Self.withoutDigits(name, of: id.description) }

  /// Returns any name without the digits of this key at its end.
  package static func withoutDigits(_ name: String, of fingerprint: String) -> String {
    BracketedDigits.name(name, before: fingerprint) ?? name
  }

  /// Splits a name that has digits in brackets as programs show them; the digits are as they were written. Nil for any
  /// other name.
  package static func partDigits(of name: String) -> (name: String, digits: Substring)? { BracketedDigits.split(name) }

  /// Returns whether a text may be the beginning of a fingerprint.
  package static func areDigits(_ text: String) -> Bool { BracketedDigits.areDigits(text) }

  /// Whether the petname has digits in brackets, other than its own key's at its end: they look like another key's.
  public var hasOtherDigits: Bool { Self.hasOtherDigits(name, of: id) }

  /// Returns whether any name of a key has digits in brackets other than the key's at its end.
  public static func hasOtherDigits(_ name: String, of peer: PeerID) -> Bool {
    BracketedDigits.name(before: BracketedDigits.name(name, before: peer) ?? name) != nil
  }
}

extension NameSkeleton {
  /// Returns the skeletons of all parts that a reader may take for the name: the whole, and the parts before digits in
  /// brackets.
  public static func all(of name: String) -> Set<NameSkeleton> {
    let whole = NameSkeleton(name)
    guard let before = BracketedDigits.name(before: name), KnownPeers.isVisible(name: before) else { return [whole] }
    return [whole, NameSkeleton(before)]
  }
}
