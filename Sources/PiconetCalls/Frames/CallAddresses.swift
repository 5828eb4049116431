/// The addresses of the last calls of one member, by their bytes: equal bytes are equal items. A member calls the same
/// few again and again, and so their texts need not be checked and copied for each call.
struct CallAddresses: Sendable {
  /// The most addresses that are kept; a new one replaces the oldest.
  static let limit = 8

  private var known: [(encoded: [UInt8], address: CallAddress)] = []
  private var oldest = 0

  /// Reads the next address.
  mutating func next(_ reader: inout CBORReader) throws(CBORError) -> CallAddress {
    for entry in known where reader.passes(entry.encoded, items: 4) { return entry.address }
    let start = reader.position
    let address = CallAddress(
      path: try reader.path(), interface: try reader.name(), version: try reader.unsigned(),
      method: try reader.name())
    let encoded = Array(reader.bytes(since: start))
    if known.count < Self.limit {
      known.append((encoded, address))
    } else {
      known[oldest] = (encoded, address)
      oldest = (oldest + 1) % Self.limit
    }
    return address
  }

  var count: Int { known.count }
}
