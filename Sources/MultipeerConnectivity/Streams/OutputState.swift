import Foundation
import Piconet

/// Bytes that were written to an output stream and have not gone out yet: at most 64 KiB.
///
/// Unchecked: what changes is under the condition's lock.
final class OutputState: @unchecked Sendable {
  enum End {
    /// The reader takes no more.
    case reached
    case failed(MCError)
  }

  private let condition = NSCondition()
  private var waiting: [UInt8] = []
  private var status = Stream.Status.notOpen
  private var end: End?
  private let wake: AsyncStream<Void>.Continuation
  private(set) var events: StreamEvents?

  static let limit = 64 << 10

  init(named name: String, to member: Member) {
    let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.wake = wake
    events = StreamEvents { [weak self] event in self?.isDue(event) ?? false }
    // The task has to go on after the stream is closed and dropped, until all bytes have gone out.
    Task { [self] in
      do throws(PiconetError) {
        let stream = try await member.openStream(named: name)
        for await _ in wakes {
          while let bytes = take() { try await stream.write(bytes) }
          if isFinished { return try await stream.finish() }
        }
      } catch {
        end(error.code == .cancelled && error.blame == .peer ? .reached : .failed(MCError(error)))
      }
    }
  }

  var currentStatus: Stream.Status { condition.withLock { status } }

  var currentError: MCError? {
    condition.withLock { if case .failed(let error) = end { error } else { nil } }
  }

  var hasSpace: Bool { condition.withLock { status == .open && waiting.count < Self.limit } }

  private var isFinished: Bool { condition.withLock { status == .closed && waiting.isEmpty } }

  private func isDue(_ event: Stream.Event) -> Bool {
    condition.withLock {
      switch event {
      case .hasSpaceAvailable: status == .open && waiting.count < Self.limit
      default: status != .closed
      }
    }
  }

  func open() {
    let isOpened = condition.withLock {
      guard status == .notOpen else { return false }
      status = .open
      return true
    }
    guard isOpened else { return }
    events?.post(.openCompleted)
    events?.post(.hasSpaceAvailable)
  }

  /// Waits while there is no room, as writing to a stream does.
  /// - Returns: how many bytes were taken; 0 if the reader takes no more, -1 if nothing can be written.
  func write(_ buffer: UnsafePointer<UInt8>, _ count: Int) -> Int {
    guard count > 0 else { return 0 }
    let (result, isRoom) = condition.withLock { () -> (Int, Bool) in
      while status == .open, waiting.count >= Self.limit { condition.wait() }
      guard status == .open else { return (status == .atEnd ? 0 : -1, false) }
      let part = min(count, Self.limit - waiting.count)
      waiting.append(contentsOf: UnsafeBufferPointer(start: buffer, count: part))
      return (part, waiting.count < Self.limit)
    }
    wake.yield()
    if isRoom { events?.post(.hasSpaceAvailable) }
    return result
  }

  private func take() -> [UInt8]? {
    let bytes = condition.withLock { () -> [UInt8]? in
      guard !waiting.isEmpty else { return nil }
      defer {
        waiting = []
        condition.broadcast()
      }
      return waiting
    }
    if bytes != nil { events?.post(.hasSpaceAvailable) }
    return bytes
  }

  /// Notes that the remote end, or the connection, has ended the stream.
  func end(_ end: End) {
    let isNews = condition.withLock {
      guard status != .closed, status != .atEnd, status != .error else { return false }
      if case .failed = end { status = .error } else { status = .atEnd }
      self.end = end
      waiting = []
      condition.broadcast()
      return true
    }
    wake.finish()
    guard isNews else { return }
    if case .failed = end { events?.post(.errorOccurred) } else { events?.post(.endEncountered) }
  }

  /// Closes the stream: bytes written before still go out, then the reader comes to the end.
  func close() {
    condition.withLock {
      if status == .error || status == .atEnd { waiting = [] }
      status = .closed
      condition.broadcast()
    }
    wake.yield()
    events?.clear()
  }
}
