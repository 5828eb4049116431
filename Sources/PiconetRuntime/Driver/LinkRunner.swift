import PiconetEngine
import PiconetWire

/// One link from its first byte to its last: TLS first, then frames between the engine and the endpoint. Confined to the
/// loop.
final class LinkRunner: LinkEndpointHandler {
  enum Phase {
    case securing
    case open
    /// What is left to write goes out, then the endpoint is closed.
    case closing
    case closed
  }

  let id: LinkID
  let dial: DialID?
  let endpoint: any LinkEndpoint
  let channel: any SecureChannel
  let startedAt: Instant
  /// Who is told of bytes and waits; nil where no discovery shares the radio with this link.
  let radio: RadioWatch?
  private(set) var phase = Phase.securing
  private unowned let driver: NodeDriver

  /// What was sealed: where its ciphertext ends in all that the link carries, and how many plaintext bytes it was.
  private var sealed: [(end: UInt64, plaintextCount: Int)] = []
  private var sealedStart = 0
  private var written: UInt64 = 0
  private var wantsWrite = false
  /// What the engine was last told.
  private var toldPace: BulkPace?
  /// It waits for its turn to write in this round.
  var mustWrite = false

  /// Reads in a row before other links have their turn: of a byte stream, which fill the buffer; and of packets, which don't.
  private static let readsPerRound = 4
  private static let packetsPerRound = 64

  init(
    id: LinkID, dial: DialID?, endpoint: any LinkEndpoint, channel: any SecureChannel, at now: Instant,
    driver: NodeDriver
  ) {
    self.id = id
    self.dial = dial
    self.endpoint = endpoint
    self.channel = channel
    startedAt = now
    radio = endpoint.traits.kind.usesRadio ? driver.radio : nil
    self.driver = driver
  }

  func start() {
    endpoint.setHandler(self)
    endpoint.setReadiness(read: true, write: false)
    channel.start()
    driver.mustWrite(self)
  }

  func linkIsReady(read: Bool, write: Bool) {
    if read { readAll() }
    if write, phase != .closed { driver.mustWrite(self) }
  }

  // MARK: In

  private func readAll() {
    let isPacket = endpoint.traits.isPacket
    for _ in 0..<(isPacket ? Self.packetsPerRound : Self.readsPerRound) {
      guard phase != .closed else { return }
      switch endpoint.read(into: driver.readBuffer) {
      case .bytes(let count):
        radio?.moved(count)
        open(UnsafeRawBufferPointer(rebasing: driver.readBuffer[..<count]))
        // A short read has emptied the socket, if it is no packet of many; what comes later makes it readable again.
        if count < driver.readBuffer.count, !isPacket { return }
      case .wouldBlock: return
      case .end: return ended(.ended)
      case .failed(let failure): return ended(.failed(failure))
      }
    }
  }

  private func open(_ ciphertext: UnsafeRawBufferPointer) {
    var rest = ciphertext
    while phase != .closed {
      // Plaintext is shorter than what it was sealed in, but for a record that an earlier read began. Slices of it are
      // kept while the application has them, so a small read gets a small array.
      let capacity = rest.count < 4096 ? rest.count + 16 : rest.count + 16_384
      var taken = 0
      var produced = 0
      let plaintext = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        (taken, produced) = channel.open(rest, into: UnsafeMutableRawBufferPointer(buffer))
        count = produced
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
      if channel.outputCount > 0 { driver.mustWrite(self) }
      if phase == .securing, case .secured(let peer) = channel.state {
        phase = .open
        driver.secured(self, peer: peer)
      }
      if produced > 0, phase == .open { driver.received(plaintext[...], on: self) }
      switch channel.state {
      case .handshaking, .secured: break
      case .ended: return ended(.ended)
      case .failed(let failure): return ended(.insecure(failure))
      }
      // A full buffer may have left plaintext behind; otherwise all was taken.
      if rest.isEmpty, produced < capacity { return }
    }
  }

  /// The far side, the wire or TLS ended the link.
  private func ended(_ end: LinkEnd) {
    switch phase {
    case .closed: return
    case .closing: finish(abort: true)
    case .securing, .open:
      let wasOpen = phase == .open
      // An alert may wait to tell the far side what was wrong. Where it can't be written any more, the first reason counts.
      phase = .closing
      writeOut()
      finish(abort: false)
      driver.linkEnded(self, end, wasOpen: wasOpen)
    }
  }

  // MARK: Out

  func seal(_ bytes: Bytes) {
    guard phase == .open else { return }
    bytes.withUnsafeBytes { channel.seal($0) }
    sealed.append((written + UInt64(channel.outputCount), bytes.count))
    driver.mustWrite(self)
  }

  /// Writes what the endpoint takes.
  /// - Returns: how many plaintext bytes are with the kernel now that were not before.
  @discardableResult
  func writeOut() -> Int {
    guard phase != .closed else { return 0 }
    var failure: LinkFailure?
    var isBlocked = false
    let largest = endpoint.traits.largestWrite
    while channel.outputCount > 0, failure == nil, !isBlocked {
      channel.drainOutput { output in
        let part = UnsafeRawBufferPointer(rebasing: output.prefix(largest))
        switch endpoint.write(part) {
        case .bytes(let count):
          written += UInt64(count)
          radio?.moved(count)
          // A short write has filled the socket.
          isBlocked = count < part.count
          return count
        case .wouldBlock:
          isBlocked = true
          return 0
        case .failed(let error):
          failure = error
          return 0
        }
      }
    }
    if let failure {
      let wasOpen = phase == .open
      let wasClosing = phase == .closing
      finish(abort: true)
      if !wasClosing { driver.linkEnded(self, .failed(failure), wasOpen: wasOpen) }
      return 0
    }
    if isBlocked != wantsWrite {
      wantsWrite = isBlocked
      if isBlocked { radio?.linkBegins(id) } else { radio?.linkEnds(id) }
      endpoint.setReadiness(read: phase != .closing, write: isBlocked)
    }
    if phase == .closing, channel.outputCount == 0 { finish(abort: false) }
    return takeWritten()
  }

  /// The endpoint's pace, if the engine should know of it. What is above every window says no more than that.
  func newPace() -> BulkPace? {
    guard phase == .open, var pace = endpoint.bulkPace else { return nil }
    pace.room = min(pace.room, Self.fastest)
    pace.bound = min(pace.bound, Self.fastest)
    if pace == toldPace { return nil }
    toldPace = pace
    return pace
  }

  private static let fastest = 1 << 20

  private func takeWritten() -> Int {
    var count = 0
    while sealedStart < sealed.count, sealed[sealedStart].end <= written {
      count += sealed[sealedStart].plaintextCount
      sealedStart += 1
    }
    if sealedStart == sealed.count {
      sealed.removeAll(keepingCapacity: true)
      sealedStart = 0
    } else if sealedStart >= 64 {
      sealed.removeFirst(sealedStart)
      sealedStart = 0
    }
    return count
  }

  // MARK: The end

  /// Closes after what was sealed has gone out, or at once.
  func close(flush: Bool) {
    guard phase != .closed, phase != .closing else { return }
    guard flush else { return finish(abort: true) }
    channel.close()
    phase = .closing
    endpoint.setReadiness(read: false, write: wantsWrite)
    driver.mustWrite(self)
  }

  func abort() { finish(abort: true) }

  private func finish(abort: Bool) {
    guard phase != .closed else { return }
    phase = .closed
    endpoint.close(abort: abort)
    driver.runnerClosed(self)
  }
}
