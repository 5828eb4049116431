/// A D-Bus value (D-Bus Specification, "Type System"), limited to what the daemons that we speak to use.
public indirect enum DBusValue: Sendable, Hashable {
  case byte(UInt8)
  case bool(Bool)
  case int16(Int16)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  /// An object path. Only a valid one can be sent.
  case path(String)
  case signature(String)
  /// An array of bytes.
  case bytes([UInt8])
  /// An array with the signature of its elements, which an empty one needs too.
  case array(of: String, [DBusValue])
  /// A dictionary with the signatures of its keys and values.
  case dictionary(key: String, value: String, [DBusEntry])
  case structure([DBusValue])
  case variant(DBusValue)
  /// An open file, which the other side gets as a descriptor of its own; to be sent only.
  case descriptor(Int32)

  /// A dictionary from names to variants, `a{sv}`, in the order of the names.
  public static func properties(_ values: [String: DBusValue]) -> DBusValue {
    .dictionary(
      key: "s", value: "v",
      values.sorted { $0.key < $1.key }.map { DBusEntry(key: .string($0.key), value: .variant($0.value)) })
  }

  /// An array of strings, `as`.
  public static func strings(_ values: [String]) -> DBusValue { .array(of: "s", values.map(DBusValue.string)) }

  /// The signature of this value.
  public var typeSignature: String {
    switch self {
    case .byte: "y"
    case .bool: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .path: "o"
    case .signature: "g"
    case .descriptor: "h"
    case .bytes: "ay"
    case .array(let element, _): "a\(element)"
    case .dictionary(let key, let value, _): "a{\(key)\(value)}"
    case .structure(let fields): "(\(fields.map(\.typeSignature).joined()))"
    case .variant: "v"
    }
  }
}

/// One entry of a dictionary.
public struct DBusEntry: Sendable, Hashable {
  public var key: DBusValue
  public var value: DBusValue

  public init(key: DBusValue, value: DBusValue) {
    self.key = key
    self.value = value
  }
}

// MARK: reading

extension DBusValue {
  /// The value without enclosing variants.
  public var plain: DBusValue {
    if case .variant(let inner) = self { return inner.plain }
    return self
  }

  /// The text of a string or path.
  public var text: String? {
    switch plain {
    case .string(let text), .path(let text): text
    default: nil
    }
  }

  public var boolean: Bool? { if case .bool(let value) = plain { value } else { nil } }

  /// Any integer.
  public var integer: Int64? {
    switch plain {
    case .byte(let value): Int64(value)
    case .int16(let value): Int64(value)
    case .uint16(let value): Int64(value)
    case .int32(let value): Int64(value)
    case .uint32(let value): Int64(value)
    case .int64(let value): value
    case .uint64(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The elements of an array.
  public var elements: [DBusValue] { if case .array(_, let elements) = plain { elements } else { [] } }

  /// The texts among the elements of an array.
  public var texts: [String] { elements.compactMap(\.text) }

  /// The entries of a dictionary.
  public var entries: [DBusEntry] {
    if case .dictionary(_, _, let entries) = plain { entries } else { [] }
  }

  /// A dictionary with texts as keys; values without their variants. If keys are equal the last one counts.
  public var properties: [String: DBusValue] {
    var result: [String: DBusValue] = [:]
    for entry in entries { if let key = entry.key.text { result[key] = entry.value.plain } }
    return result
  }
}
