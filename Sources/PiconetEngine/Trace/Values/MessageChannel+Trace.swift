import PiconetWire

extension MessageChannel: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(number) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> MessageChannel {
    let number = try reader.byte()
    guard let channel = MessageChannel(Int(number)) else { throw TraceError.malformed("there is no channel \(number)") }
    return channel
  }
}

extension ChannelPriority: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(rawValue) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> ChannelPriority {
    let number = try reader.byte()
    guard let priority = ChannelPriority(rawValue: number) else {
      throw TraceError.malformed("there is no priority \(number)")
    }
    return priority
  }
}

/// Written in the order of the channels.
extension ChannelPriorities: TraceCoded {
  func write(to bytes: inout TraceBytes) {
    bytes.append(UInt64(others.count))
    for (channel, priority) in others.sorted(by: { $0.key < $1.key }) { bytes(channel, priority) }
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> ChannelPriorities {
    var priorities = ChannelPriorities()
    for _ in 0..<(try reader.count()) {
      let channel: MessageChannel = try reader()
      priorities[channel] = try reader()
    }
    return priorities
  }
}
