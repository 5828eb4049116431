/// A domain name: labels of 1 to 63 bytes, 255 in all (RFC 1035, section 2.3.4), compared ignoring ASCII case.
///
/// Labels are bytes; in Multicast DNS they are UTF-8 by agreement (RFC 6762, section 16), which is not relied on.
public struct DomainName: Sendable {
  /// A length byte and a label, repeated, without the root.
  let wire: [UInt8]
  /// The name in lower case.
  let folded: [UInt8]

  /// The root.
  public init() {
    wire = []
    folded = []
  }

  /// Nil if a label is empty or too long, or the name is too long.
  public init?(labels: some Sequence<[UInt8]>) {
    var wire: [UInt8] = []
    for label in labels {
      guard (1...MulticastDNS.labelLength).contains(label.count) else { return nil }
      wire.append(UInt8(label.count))
      wire += label
      guard wire.count < MulticastDNS.nameLength else { return nil }
    }
    self.init(checkedWire: wire)
  }

  /// Reads a dotted name; a label cannot contain a dot here.
  public init?(_ dotted: String) {
    self.init(labels: dotted.utf8.split(separator: UInt8(ascii: ".")).map { Array($0) })
  }

  init(checkedWire: [UInt8]) {
    wire = checkedWire
    folded = checkedWire.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }

  /// This name with a label in front; nil if that is too long.
  public func prepending(_ label: [UInt8]) -> DomainName? { DomainName(labels: [label] + labels) }

  public var labels: [[UInt8]] {
    var result: [[UInt8]] = []
    var index = 0
    while index < wire.count {
      let end = index + 1 + Int(wire[index])
      result.append(Array(wire[index + 1..<end]))
      index = end
    }
    return result
  }

  /// The name without its first label; the root of the root is the root.
  public var parent: DomainName {
    guard let first = wire.first else { return self }
    return DomainName(checkedWire: Array(wire[(1 + Int(first))...]))
  }

  public var firstLabel: [UInt8] { wire.first.map { Array(wire[1..<1 + Int($0)]) } ?? [] }

  public var isRoot: Bool { wire.isEmpty }
}

extension DomainName: Hashable, Comparable {
  public static func == (left: DomainName, right: DomainName) -> Bool { left.folded == right.folded }
  public static func < (left: DomainName, right: DomainName) -> Bool {
    left.folded.lexicographicallyPrecedes(right.folded)
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}

extension DomainName: CustomStringConvertible {
  /// Dots within labels and backslashes get a backslash, control bytes become `\ddd` (RFC 1035, section 5.1).
  public var description: String {
    if isRoot { return "." }
    return labels.map { label in
      String(decoding: label, as: UTF8.self).unicodeScalars.map { scalar in
        switch scalar {
        case ".", "\\": "\\" + String(scalar)
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
          "\\" + String(repeating: "0", count: scalar.value < 10 ? 2 : scalar.value < 100 ? 1 : 0)
            + String(scalar.value)
        default: String(scalar)
        }
      }.joined()
    }.joined(separator: ".")
  }
}
