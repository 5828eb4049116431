/// The attributes of one service record (Core 5.4, Vol 3 Part B 2.3), each number once.
public struct AttributeList: Sendable, Hashable {
  /// By number.
  public var attributes: [UInt16: DataElement]

  public init(_ attributes: [UInt16: DataElement] = [:]) { self.attributes = attributes }

  /// The attribute with that number.
  public subscript(number: UInt16) -> DataElement? {
    get { attributes[number] }
    set { attributes[number] = newValue }
  }

  /// A sequence of numbers and values in ascending order, as in a server's answer.
  public var element: DataElement {
    .sequence(attributes.sorted { $0.key < $1.key }.flatMap { [.uint16($0.key), $0.value] })
  }

  /// Why an element is not a list of attributes.
  public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    case notASequence
    /// A number without a value after it.
    case valueMissing
    /// Instead of a number there is something other than an unsigned 16-bit integer.
    case badNumber
    case numberTwice(UInt16)
    /// More than `limit` records in one answer.
    case tooManyRecords(Int)
    case element(DataElementFailure)

    public var description: String {
      switch self {
      case .notASequence: "not a sequence"
      case .valueMissing: "an attribute has no value"
      case .badNumber: "an attribute's number is not of 16 bits"
      case .numberTwice(let number): "attribute \(number) stands there twice"
      case .tooManyRecords(let count): "\(count) records, above \(AttributeList.recordLimit)"
      case .element(let failure): failure.description
      }
    }
  }

  /// The most records that one answer may hold.
  public static let recordLimit = 64

  /// Reads a sequence of numbers and values.
  public init(_ element: DataElement) throws(Failure) {
    guard case .sequence(let members) = element else { throw .notASequence }
    guard members.count.isMultiple(of: 2) else { throw .valueMissing }
    self.init()
    for index in stride(from: 0, to: members.count, by: 2) {
      guard case .unsigned(let number, .two) = members[index] else { throw .badNumber }
      let key = UInt16(truncatingIfNeeded: number)
      guard attributes.updateValue(members[index + 1], forKey: key) == nil else { throw .numberTwice(key) }
    }
  }

  /// Reads one record's list.
  public init(decoding bytes: [UInt8]) throws(Failure) {
    try self.init(Self.element(bytes))
  }

  /// Reads the sequence of lists that answers a ServiceSearchAttributeRequest (4.7.2).
  public static func lists(decoding bytes: [UInt8]) throws(Failure) -> [AttributeList] {
    let element = try element(bytes)
    guard case .sequence(let members) = element else { throw .notASequence }
    guard members.count <= recordLimit else { throw .tooManyRecords(members.count) }
    var lists: [AttributeList] = []
    for member in members { lists.append(try AttributeList(member)) }
    return lists
  }

  private static func element(_ bytes: [UInt8]) throws(Failure) -> DataElement {
    do {
      return try DataElement(decoding: bytes)
    } catch {
      throw .element(error)
    }
  }
}
