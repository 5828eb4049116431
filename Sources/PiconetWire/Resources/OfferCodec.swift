/// The body of an offer: transfer, size, counted name, then fields in ascending order of their ids. Each field is an
/// id, a length and a value. Unknown fields are skipped.
enum OfferCodec {
  enum Field {
    static let mediaType: UInt64 = 1
    static let modified: UInt64 = 2
    static let metadata: UInt64 = 3
    static let identity: UInt64 = 4
    static let folder: UInt64 = 5
    static let distantModified: UInt64 = 6
    static let group: UInt64 = 7
  }

  static func append(transfer: UInt64, _ offer: ResourceOffer, to body: inout [UInt8]) {
    VariableInteger.append(transfer, to: &body)
    VariableInteger.append(offer.size, to: &body)
    VariableInteger.append(UInt64(offer.name.count), to: &body)
    body.append(contentsOf: offer.name)
    if !offer.mediaType.isEmpty {
      appendField(Field.mediaType, Array(offer.mediaType.prefix(utf8: WireLimits.mediaType).utf8), to: &body)
    }
    if let modified = offer.modified?.nanosecondsSince1970 {
      var value: [UInt8] = []
      FrameEncoder.appendWord(UInt64(bitPattern: modified), to: &value)
      appendField(Field.modified, value, to: &body)
    }
    if !offer.metadata.isEmpty { appendField(Field.metadata, offer.metadata, to: &body) }
    if !offer.identity.isEmpty { appendField(Field.identity, offer.identity, to: &body) }
    if !offer.folder.isEmpty { appendField(Field.folder, offer.folder, to: &body) }
    if let modified = offer.modified, modified.nanosecondsSince1970 == nil {
      var value: [UInt8] = []
      FrameEncoder.appendWord(UInt64(bitPattern: modified.seconds), to: &value)
      VariableInteger.append(UInt64(modified.nanoseconds), to: &value)
      appendField(Field.distantModified, value, to: &body)
    }
    if !offer.group.isEmpty { appendField(Field.group, offer.group, to: &body) }
  }

  private static func appendField(_ id: UInt64, _ value: [UInt8], to body: inout [UInt8]) {
    VariableInteger.append(id, to: &body)
    VariableInteger.append(UInt64(value.count), to: &body)
    body.append(contentsOf: value)
  }

  static func decode(_ body: Bytes) throws(WireError) -> (transfer: UInt64, offer: ResourceOffer) {
    var reader = ByteReader(body, type: FrameType.offer)
    let transfer = try reader.integer("transfer", atMost: WireLimits.transferNumbers - 1)
    let size = try reader.integer("size")
    let name = Array(try reader.counted("name", atMost: WireLimits.resourceName))
    var offer = ResourceOffer(name: name, size: size)
    var fields = FieldReader(reader, kind: "field")
    while let field = try fields.next() {
      var value = field.value
      switch field.id {
      case Field.mediaType: offer.mediaType = try value.remainingText("media type", atMost: WireLimits.mediaType)
      case Field.modified:
        offer.modified = ResourceTime(
          nanosecondsSince1970: Int64(bitPattern: try HelloCodec.word(&value, "modification time")))
        try value.end()
      case Field.metadata:
        guard value.rest.count <= WireLimits.metadata else { throw value.malformed("metadata above its limit") }
        offer.metadata = Array(value.rest)
      case Field.identity:
        guard value.rest.count <= WireLimits.contentIdentity else {
          throw value.malformed("content identity above its limit")
        }
        offer.identity = Array(value.rest)
      case Field.folder:
        guard value.rest.count <= WireLimits.resourceFolder else { throw value.malformed("folder above its limit") }
        offer.folder = Array(value.rest)
      case Field.distantModified:
        let seconds = Int64(bitPattern: try HelloCodec.word(&value, "modification time"))
        let nanoseconds = try value.integer("nanoseconds", atMost: UInt64(ResourceTime.nanosecondsOfSecond) - 1)
        offer.modified = ResourceTime(seconds: seconds, nanoseconds: UInt32(nanoseconds))
        try value.end()
      case Field.group:
        guard value.rest.count <= WireLimits.resourceGroup else { throw value.malformed("group above its limit") }
        offer.group = Array(value.rest)
      default: break
      }
    }
    return (transfer, offer)
  }
}
