import PiconetWire

// A new case needs a tag at the end, a line in `write` and a line in `read`; the compiler asks for each.
extension Effect: TraceCoded {
  private enum Tag: UInt8 {
    case dial, cancelDial, transmit, closeLink, judgeTrust, deriveCode, readChunks, finishSource
    case closeSource, storeChunk, commitStore, discardStore, messagesTaken, deliver, reply, finished
    case keepStore, streamTaken, drawNonce, proveCode
    case tunnelOpened, tunnelOffered, tunnelReceived, tunnelTaken, tunnelPassedOn, tunnelEnded
    case chunkRepeated
  }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .dial(let dial, let kind, let addresses): bytes(Tag.dial, dial, kind, addresses)
    case .cancelDial(let dial): bytes(Tag.cancelDial, dial)
    case .transmit(let link, let frames): bytes(Tag.transmit, link, frames)
    case .closeLink(let link, let flush): bytes(Tag.closeLink, link, flush)
    case .judgeTrust(let link, let node, let name, let isDialled): bytes(Tag.judgeTrust, link, node, name, isDialled)
    case .drawNonce(let id): bytes(Tag.drawNonce, id)
    case .deriveCode(let id, let link, let inputs): bytes(Tag.deriveCode, id, link, inputs)
    case .proveCode(let id, let step): bytes(Tag.proveCode, id, step)
    case .readChunks(let id, let transfer, let offset, let count, let frameCount):
      bytes(Tag.readChunks, id, transfer, offset, count, frameCount)
    case .finishSource(let id): bytes(Tag.finishSource, id)
    case .closeSource(let id): bytes(Tag.closeSource, id)
    case .storeChunk(let id, let chunk): bytes(Tag.storeChunk, id, chunk)
    case .chunkRepeated(let id, let count): bytes(Tag.chunkRepeated, id, count)
    case .commitStore(let id, let size, let digest): bytes(Tag.commitStore, id, size, digest)
    case .discardStore(let id): bytes(Tag.discardStore, id)
    case .messagesTaken(let node, let count, let channel): bytes(Tag.messagesTaken, node, count, channel)
    case .deliver(let event): bytes(Tag.deliver, event)
    case .reply(let command, let reply): bytes(Tag.reply, command, reply)
    case .finished: bytes(Tag.finished)
    case .keepStore(let id): bytes(Tag.keepStore, id)
    case .streamTaken(let id, let count): bytes(Tag.streamTaken, id, count)
    case .tunnelOpened(let id, let route): bytes(Tag.tunnelOpened, id, route)
    case .tunnelOffered(let id, let route): bytes(Tag.tunnelOffered, id, route)
    case .tunnelReceived(let id, let received): bytes(Tag.tunnelReceived, id, received)
    case .tunnelTaken(let id, let count): bytes(Tag.tunnelTaken, id, count)
    case .tunnelPassedOn(let id, let count): bytes(Tag.tunnelPassedOn, id, count)
    case .tunnelEnded(let id, let failure): bytes(Tag.tunnelEnded, id, failure)
    }
  }

  static func read(from reader: inout TraceReader) throws(TraceError) -> Effect {
    switch try reader.tag(Tag.self) {
    case .dial: .dial(try reader(), try reader(), try reader())
    case .cancelDial: .cancelDial(try reader())
    case .transmit: .transmit(try reader(), try reader())
    case .closeLink: .closeLink(try reader(), flush: try reader())
    case .judgeTrust: .judgeTrust(try reader(), try reader(), name: try reader(), isDialled: try reader())
    case .drawNonce: .drawNonce(try reader())
    case .deriveCode: .deriveCode(try reader(), try reader(), try reader())
    case .proveCode: .proveCode(try reader(), try reader())
    case .readChunks:
      .readChunks(
        try reader(), transfer: try reader(), offset: try reader(), payloadCount: try reader(),
        chunkFrameCount: try reader())
    case .finishSource: .finishSource(try reader())
    case .closeSource: .closeSource(try reader())
    case .storeChunk: .storeChunk(try reader(), try reader())
    case .chunkRepeated: .chunkRepeated(try reader(), byteCount: try reader())
    case .commitStore: .commitStore(try reader(), size: try reader(), try reader())
    case .discardStore: .discardStore(try reader())
    case .messagesTaken: .messagesTaken(try reader(), byteCount: try reader(), in: try reader())
    case .deliver: .deliver(try reader())
    case .reply: .reply(try reader(), try reader())
    case .finished: .finished
    case .keepStore: .keepStore(try reader())
    case .streamTaken: .streamTaken(try reader(), byteCount: try reader())
    case .tunnelOpened: .tunnelOpened(try reader(), try reader())
    case .tunnelOffered: .tunnelOffered(try reader(), try reader())
    case .tunnelReceived: .tunnelReceived(try reader(), try reader())
    case .tunnelTaken: .tunnelTaken(try reader(), byteCount: try reader())
    case .tunnelPassedOn: .tunnelPassedOn(try reader(), byteCount: try reader())
    case .tunnelEnded: .tunnelEnded(try reader(), try reader())
    }
  }
}
