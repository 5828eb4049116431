extension CallFrame {
  /// The frame as bytes.
  public var encoded: [UInt8] {
    switch self {
    case .hello(let hello): return hello.encoded
    case .goodbye(let code, let text):
      return Self.frame(Kind.goodbye, 2, text.utf8.count) { writer in
        writer.unsigned(code.rawValue)
        writer.text(CallLimits.shortened(text))
      }
    case .call(let call): return call.encoded
    case .result(let number, let value):
      return Self.frame(Kind.result, 2, value.count) { writer in
        writer.unsigned(number)
        writer.encoded(value)
      }
    case .failure(let number, let failure):
      return Self.frame(Kind.failure, 5, failure.text.utf8.count + (failure.error?.count ?? 0)) { writer in
        writer.unsigned(number)
        writer.unsigned(failure.code.rawValue)
        writer.text(failure.text)
        if let name = failure.name { writer.text(name) } else { writer.null() }
        if let error = failure.error { writer.encoded(error) } else { writer.null() }
      }
    case .cancel(let number): return Self.frame(Kind.cancel, 1, 0) { $0.unsigned(number) }
    case .begin(let id, let total, let part):
      return Self.frame(Kind.begin, 3, part.count) { writer in
        writer.unsigned(id)
        writer.unsigned(total)
        writer.byteString(part)
      }
    case .next(let id, let part):
      return Self.frame(Kind.next, 2, part.count) { writer in
        writer.unsigned(id)
        writer.byteString(part)
      }
    case .signal(let signal):
      return Self.frame(Kind.signal, 5, signal.value.count + 64) { writer in
        writer.text(signal.path)
        writer.text(signal.interface)
        writer.text(signal.name)
        writer.encoded(signal.value)
        writer.bool(signal.isKept)
      }
    case .claim(let claim):
      return Self.frame(Kind.claim, 3, 64) { writer in
        writer.text(claim.name)
        writer.unsigned(claim.time)
        writer.unsigned(claim.options.rawValue)
      }
    case .release(let name): return Self.frame(Kind.release, 1, 64) { $0.text(name) }
    case .heard(let name, let time):
      return Self.frame(Kind.heard, 2, 64) { writer in
        writer.text(name)
        writer.unsigned(time)
      }
    case .refused(let name, let time):
      return Self.frame(Kind.refused, 2, 64) { writer in
        writer.text(name)
        writer.unsigned(time)
      }
    case .unknown(let kind): return Self.frame(kind, 0, 0) { _ in }
    }
  }

  /// Returns an array of the kind and this many fields.
  static func frame(_ kind: UInt64, _ fields: Int, _ size: Int, _ write: (inout CBORWriter) -> Void) -> [UInt8] {
    var writer = CBORWriter(reserving: size + 32)
    writer.array(fields + 1)
    writer.unsigned(kind)
    write(&writer)
    return writer.bytes
  }
}

extension CallFrame.Hello {
  fileprivate var encoded: [UInt8] {
    CallFrame.frame(CallFrame.Kind.hello, 6, 64) { writer in
      writer.unsigned(version)
      writer.unsigned(instance)
      writer.unsigned(UInt64(limits.frame))
      writer.unsigned(UInt64(limits.calls))
      writer.bool(asks)
      writer.map(about.count)
      for entry in about {
        writer.text(entry.key)
        writer.text(entry.value)
      }
    }
  }
}

extension CallFrame.Call {
  fileprivate var encoded: [UInt8] {
    Self.encoded(
      number: number, path: path, interface: interface, version: version, method: method, milliseconds: milliseconds,
      size: arguments.count
    ) { $0.encoded(arguments) }
  }

  /// Returns a call as a frame, with arguments that were written one behind the other: nothing is made or copied in
  /// between.
  /// - Parameters:
  ///   - arguments: holds the arguments, and nothing else.
  ///   - count: how many there are.
  public static func encoded(
    number: UInt64, path: String, interface: String, version: UInt64, method: String, milliseconds: UInt64,
    arguments: CBORWriter, count: Int
  ) -> [UInt8] {
    encoded(
      number: number, path: path, interface: interface, version: version, method: method, milliseconds: milliseconds,
      size: arguments.bytes.count + 9
    ) { writer in
      writer.array(count)
      writer.encoded(arguments.bytes)
    }
  }

  @inline(__always)
  private static func encoded(
    number: UInt64, path: String, interface: String, version: UInt64, method: String, milliseconds: UInt64,
    size: Int, _ arguments: (inout CBORWriter) -> Void
  ) -> [UInt8] {
    let size = size + path.utf8.count + interface.utf8.count + method.utf8.count
    return CallFrame.frame(CallFrame.Kind.call, 7, size) { writer in
      writer.unsigned(number)
      writer.text(path)
      writer.text(interface)
      writer.unsigned(version)
      writer.text(method)
      writer.unsigned(milliseconds)
      arguments(&writer)
    }
  }
}
