import PiconetEngine
import PiconetWire

/// One link from its first byte to its last: TLS first, then frames between the engine and the endpoint. Confined to
/// the loop.
final class LinkRunner: LinkEndpointHandler {
  enum Phase {
    case securing
    case open
    /// The remaining bytes are written, then the endpoint is closed.
    case closing
    case closed
  }

  let id: LinkID
  let dial: DialID?
  let endpoint: any LinkEndpoint
  let channel: any SecureChannel
  /// When its handshake fails, by the loop's `awakeTime`.
  let securingDeadline: Instant
  /// Copied from the endpoint's traits: copying those each time costs more.
  private let largestWrite: Int
  /// Whether it writes over another link of this node.
  let isTunnelled: Bool
  /// Told of bytes and waits; nil if no discovery shares the radio with this link.
  let radio: RadioWatch?
  private(set) var phase = Phase.securing
  /// The driver releases its runners when they close, and all of them when it closes. So a plain reference is enough,
  /// and an unowned one would cost at each use.
  private let driver: NodeDriver

  // Not checked for overlapping accesses: a value that calls nothing, used only on the loop's thread.
  @exclusivity(unchecked) private var unwritten = UnwrittenRecords()
  private var wantsWrite = false
  private var paceNews = PaceNews()
  private var bufferUse = BufferUse()
  /// Whether it waits for its turn to write in this round.
  var mustWrite = false

  /// How many reads in a row may each fill the buffer before other links have their turn.
  private static let readsPerRound = 4

  init(
    id: LinkID, dial: DialID?, endpoint: any LinkEndpoint, channel: any SecureChannel, at now: Instant,
    securingTime: Duration, driver: NodeDriver
  ) {
    self.id = id
    self.dial = dial
    self.endpoint = endpoint
    self.channel = channel
    securingDeadline = now + securingTime
    largestWrite = endpoint.traits.largestWrite
    isTunnelled = endpoint.traits.kind == .relay
    radio = endpoint.traits.kind.usesBluetooth ? driver.radio : nil
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
    for _ in 0..<Self.readsPerRound {
      guard phase != .closed else { return }
      switch endpoint.read(into: driver.buffers.reading) {
      case .bytes(let count):
        radio?.moved(count)
        open(UnsafeRawBufferPointer(rebasing: driver.buffers.reading[..<count]))
        // A short read has emptied the socket; if not, the link is ready again in the next round.
        if count < driver.buffers.reading.count { return }
      case .wouldBlock: return
      case .end: return ended(.ended)
      case .failed(let failure): return ended(.failed(failure))
      }
    }
  }

  /// Called every few seconds: an idle link releases its channel's memory.
  func lookIfResting() {
    if bufferUse.timePassed() { channel.keepBuffers(false) }
  }

  private func open(_ ciphertext: UnsafeRawBufferPointer) {
    if bufferUse.read() { channel.keepBuffers(true) }
    var rest = ciphertext
    while phase != .closed {
      let (capacity, taken, plaintext) = rest.count < Self.smallRead ? openSmall(rest) : openLarge(rest)
      rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
      if channel.outputCount > 0 { driver.mustWrite(self) }
      if phase == .securing, case .secured(let peer) = channel.state {
        phase = .open
        driver.secured(self, peer: peer)
      }
      if !plaintext.isEmpty, phase == .open { driver.received(plaintext[...], on: self) }
      switch channel.state {
      case .handshaking, .secured: break
      case .ended: return ended(.ended)
      case .failed(let failure): return ended(.insecure(failure))
      }
      // A full buffer may have left plaintext behind; otherwise everything was taken.
      if rest.isEmpty, plaintext.count < capacity { return }
    }
  }

  private static let smallRead = 4096
  private static let longestRecord = 16_384

  /// More room than a small read can fill: with its own plaintext, and all of a record that earlier reads began.
  static let openBufferSize = smallRead + longestRecord

  /// Opens a small read. The application may keep slices of plaintext, so the plaintext of a small read gets an array
  /// of exactly its size. The size is known only afterwards, since the read may be the last part of a long record. It
  /// is one piece, since every piece is a fact for the engine.
  private func openSmall(_ ciphertext: UnsafeRawBufferPointer) -> (capacity: Int, taken: Int, plaintext: [UInt8]) {
    let buffer = driver.buffers.opening
    let (taken, produced) = channel.open(ciphertext, into: buffer)
    return (buffer.count, taken, [UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<produced])))
  }

  /// Opens a large read without a copy: plaintext is shorter than the ciphertext, except for a record that an earlier
  /// read began.
  private func openLarge(_ ciphertext: UnsafeRawBufferPointer) -> (capacity: Int, taken: Int, plaintext: [UInt8]) {
    let capacity = ciphertext.count + Self.longestRecord
    var taken = 0
    let plaintext = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      (taken, count) = channel.open(ciphertext, into: UnsafeMutableRawBufferPointer(buffer))
    }
    return (capacity, taken, plaintext)
  }

  /// Ends the link because of the remote side, the wire or TLS.
  private func ended(_ end: LinkEnd) {
    switch phase {
    case .closed: return
    case .closing: finish(abort: true)
    case .securing, .open:
      let wasOpen = phase == .open
      // An alert may be waiting to tell the remote side what was wrong. If it can't be written any more, the first
      // reason counts.
      phase = .closing
      writeOut()
      finish(abort: false)
      driver.linkEnded(self, end, wasOpen: wasOpen)
    }
  }

  // MARK: Out

  func seal(_ bytes: Bytes) {
    guard phase == .open else { return }
    let limit = bytes.count > Self.shortRecord ? Self.recordLimit(at: endpoint.bulkPace) : Self.longestRecord
    bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while rest.count > limit {
        channel.seal(UnsafeRawBufferPointer(rebasing: rest[..<limit]))
        rest = UnsafeRawBufferPointer(rebasing: rest[limit...])
      }
      channel.seal(rest)
    }
    unwritten.sealed(bytes.count, waiting: channel.outputCount)
    driver.mustWrite(self)
  }

  /// Returns the most plaintext for one record. The other side gets nothing of a record before all of it has come, so
  /// on a slow path a long record is a long silence. It is at most a quarter of what the path carries at once.
  static func recordLimit(at pace: BulkPace?) -> Int {
    min(max(pace.map { $0.bound / 4 } ?? longestRecord, shortRecord), longestRecord)
  }

  private static let shortRecord = 4096

  /// Writes as much as the endpoint takes.
  /// - Returns: how many more plaintext bytes are with the kernel now.
  @discardableResult
  func writeOut() -> Int {
    guard phase != .closed else { return 0 }
    var failure: LinkFailure?
    var isBlocked = false
    var hasMoved = false
    while channel.outputCount > 0, failure == nil, !isBlocked {
      channel.drainOutput { output in
        let part = UnsafeRawBufferPointer(rebasing: output[..<min(output.count, largestWrite)])
        switch endpoint.write(part) {
        case .bytes(let count):
          unwritten.wrote(count)
          radio?.moved(count)
          hasMoved = true
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
    // A handshake is counted separately, whether the other side reads or not.
    if phase != .securing, isBlocked != wantsWrite || (isBlocked && hasMoved) { radio?.linkWaited() }
    if isBlocked != wantsWrite {
      wantsWrite = isBlocked
      endpoint.setReadiness(read: phase != .closing, write: isBlocked)
    }
    if phase == .closing, channel.outputCount == 0 { finish(abort: false) }
    return unwritten.takeWritten()
  }

  /// Returns the endpoint's pace, if the engine does not know it yet.
  func newPace() -> BulkPace? {
    guard phase == .open, let pace = endpoint.bulkPace else { return nil }
    return paceNews.update(to: pace)
  }

  // MARK: The end

  /// Closes the link once the sealed bytes have gone out, or at once.
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
