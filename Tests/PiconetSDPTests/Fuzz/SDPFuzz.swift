import PiconetSDP

/// Everything that is read from a Bluetooth device's bytes: service records, responses, advertising data, events.
enum SDPFuzz {
  /// - Returns: what was not as it should be, or nil.
  static func run(_ bytes: some Collection<UInt8>) -> String? {
    let kind = bytes.first ?? 0
    let rest = Array(bytes.dropFirst())
    switch kind % 5 {
    case 0: return element(rest)
    case 1: return record(rest)
    case 2: return responses(rest)
    case 3: return advertising(rest)
    default:
      _ = HCIEvent(rest)
      return nil
    }
  }

  private static func element(_ bytes: [UInt8]) -> String? {
    guard let element = try? DataElement(decoding: bytes) else { return nil }
    guard let again = try? DataElement(decoding: element.encoded) else { return "\(element) can't be read again" }
    return again == element ? nil : "\(element) is read again as \(again)"
  }

  private static func record(_ bytes: [UInt8]) -> String? {
    guard let lists = try? AttributeList.lists(decoding: bytes) else { return nil }
    for list in lists {
      _ = list.xml
      if let record = try? NodeRecord(list), let refusal = record.refusal { return "\(record) was read: \(refusal)" }
    }
    return lists.count > AttributeList.recordLimit ? "\(lists.count) records" : nil
  }

  /// Packets of one transaction, each after its length.
  private static func responses(_ bytes: [UInt8]) -> String? {
    var collection = RecordCollection()
    var rest = bytes[...]
    var packets = 0
    while let count = rest.popFirst() {
      let packet = Array(rest.prefix(Int(count)))
      rest = rest.dropFirst(Int(count))
      _ = try? SDPResponse(decoding: packet, transaction: 1)
      _ = collection.received(packet, transaction: 1)
      packets += 1
    }
    return nil
  }

  private static func advertising(_ bytes: [UInt8]) -> String? {
    guard let data = try? AdvertisingData(decoding: bytes) else { return nil }
    _ = data.services
    _ = data.name
    _ = data.flags
    for service in data.services {
      if let pointed = data.serviceData(of: service) { _ = RecordPointer(pointed) }
    }
    guard let encoded = try? data.encoded(limit: AdvertisingData.Capacity.extendedAdvertisement) else { return nil }
    guard let again = try? AdvertisingData(decoding: encoded) else { return "\(data) can't be read again" }
    return again == data ? nil : "\(data) is read again as \(again)"
  }
}
