/// The type of a record or question.
public struct RecordType: RawRepresentable, Sendable, Hashable, Comparable {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let a = RecordType(rawValue: 1)
  public static let ptr = RecordType(rawValue: 12)
  public static let txt = RecordType(rawValue: 16)
  public static let aaaa = RecordType(rawValue: 28)
  public static let srv = RecordType(rawValue: 33)
  public static let opt = RecordType(rawValue: 41)
  public static let nsec = RecordType(rawValue: 47)
  /// In questions: every type.
  public static let any = RecordType(rawValue: 255)

  public static func < (left: RecordType, right: RecordType) -> Bool { left.rawValue < right.rawValue }
}

/// The data of a record.
public enum RecordData: Sendable, Hashable {
  /// An A or AAAA record, by the family.
  case address(IPAddress)
  case pointer(DomainName)
  case service(priority: UInt16, weight: UInt16, port: UInt16, target: DomainName)
  /// The strings of a TXT record, each of at most 255 bytes.
  case text([[UInt8]])
  /// "Of this name I have these types and no others" (RFC 6762, section 6.1).
  case nextSecure(DomainName, types: [RecordType])
  /// Any other type, OPT included, as it came. Compressed names in it are not expanded.
  case raw([UInt8])
}

public struct ResourceRecord: Sendable, Hashable {
  public var name: DomainName
  public var type: RecordType
  /// Without the top bit, which is `cacheFlush`. 1 is the Internet class.
  public var recordClass: UInt16
  /// Whether this record is the whole set of its name and type, so that older ones must be forgotten (RFC 6762, section
  /// 10.2).
  public var cacheFlush: Bool
  /// In seconds.
  public var timeToLive: UInt32
  public var data: RecordData

  public init(
    name: DomainName, type: RecordType, recordClass: UInt16 = 1, cacheFlush: Bool, timeToLive: UInt32, data: RecordData
  ) {
    self.name = name
    self.type = type
    self.recordClass = recordClass
    self.cacheFlush = cacheFlush
    self.timeToLive = timeToLive
    self.data = data
  }

  /// Whether name, type, class and data are equal: then the two are one record, whatever their times to live.
  public func isSame(as other: ResourceRecord) -> Bool {
    type == other.type && recordClass == other.recordClass && name == other.name && data == other.data
  }

  func with(timeToLive: UInt32) -> ResourceRecord {
    var copy = self
    copy.timeToLive = timeToLive
    return copy
  }
}

public struct Question: Sendable, Hashable {
  public var name: DomainName
  public var type: RecordType
  public var questionClass: UInt16
  /// The QU bit: whether an answer by unicast is welcome (RFC 6762, section 5.4).
  public var wantsUnicast: Bool

  public init(name: DomainName, type: RecordType, questionClass: UInt16 = 1, wantsUnicast: Bool = false) {
    self.name = name
    self.type = type
    self.questionClass = questionClass
    self.wantsUnicast = wantsUnicast
  }

  func isAnswered(by record: ResourceRecord) -> Bool {
    (type == record.type || type == .any) && (questionClass == record.recordClass || questionClass == 255)
      && name == record.name
  }
}
