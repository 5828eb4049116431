/// Records of several nodes that one record channel sends at once: a sequence of attribute lists, as an SDP server
/// answers.
public struct RecordBundle: Sendable, Hashable {
  /// The bytes to send: one SDU.
  public let bytes: [UInt8]
  /// The number of records in it.
  public let count: Int

  /// Returns as few bundles as possible, in the order of the records.
  /// - Parameters:
  ///   - records: each within the limits of a record.
  ///   - limit: the most bytes of a bundle. A record that is longer by itself has its own bundle.
  public static func bundles(of records: [AttributeList], limit: Int) -> [RecordBundle] {
    var bundles: [RecordBundle] = []
    var elements: [DataElement] = []
    var bytes: [UInt8] = []
    for record in records {
      let longer = DataElement.sequence(elements + [record.element]).encoded
      // A reader also has limits on records and elements.
      if elements.isEmpty || longer.count <= limit && (try? AttributeList.lists(decoding: longer)) != nil {
        elements.append(record.element)
        bytes = longer
      } else {
        bundles.append(RecordBundle(bytes: bytes, count: elements.count))
        elements = [record.element]
        bytes = DataElement.sequence(elements).encoded
      }
    }
    if !elements.isEmpty { bundles.append(RecordBundle(bytes: bytes, count: elements.count)) }
    return bundles
  }
}
