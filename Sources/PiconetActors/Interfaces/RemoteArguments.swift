import Distributed
import PiconetCalls

/// The arguments of an incoming call, read one after the other.
struct RemoteArguments {
  private var reader: CBORReader
  private let count: Int
  private var read = 0
  private let system: PiconetActorSystem

  /// - Parameter encoded: one array.
  init(_ encoded: ArraySlice<UInt8>, for system: PiconetActorSystem) throws {
    let value = encoded
    reader = CBORReader(value)
    do {
      count = try reader.array()
    } catch {
      throw WrongArguments(detail: "they are in no array whose length is written")
    }
    self.system = system
  }

  mutating func next<Argument: Decodable>(_ type: Argument.Type) throws -> Argument {
    guard read < count else { throw WrongArguments(detail: "there are only \(count)") }
    read += 1
    var decoder = CBORDecoder()
    // Few arguments need it, and it takes a dictionary.
    if !CBORDecoder.isPlain(type) { decoder.userInfo[.actorSystemKey] = system }
    do {
      return try decoder.decode(type, from: &reader)
    } catch {
      throw WrongArguments(
        detail: "number \(read) is not of its type, \(RemoteType.name(of: type)): \(Self.words(error))")
    }
  }

  /// Checks that every argument has been read.
  func finish() throws {
    if read < count { throw WrongArguments(detail: "there are \(count), and the method takes \(read)") }
  }

  static func words(_ error: any Error) -> String {
    switch error {
    case let error as CBORError: error.detail
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
      context.debugDescription
    default: "it can't be read"
    }
  }

  static func encoded<Result: Encodable>(_ value: Result) throws -> [UInt8] {
    var writer = CBORWriter(reserving: 64)
    do {
      try CBOREncoder().encode(value, into: &writer)
    } catch {
      throw UnusableResult()
    }
    return writer.bytes
  }

  static let nothing: [UInt8] = CBORValue.null.encoded
}

/// The arguments of a call do not match the parameters of the method.
struct WrongArguments: Error {
  let detail: String
}

/// The method's result can't be encoded.
struct UnusableResult: Error {}
