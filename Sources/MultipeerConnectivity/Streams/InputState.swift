import Foundation
import Piconet

/// The bytes that an input stream has read and not handed on yet: one piece of at most 64 KiB.
///
/// The next piece is fetched when this one is used up, so that a program that does not read stops the writer. Bytes
/// that have arrived before the stream is opened, or before a piece is used up, are fetched at once:
/// `hasBytesAvailable` is true without waiting for an event.
///
/// Unchecked: what changes is under the condition's lock.
final class InputState: @unchecked Sendable {
  private let condition = NSCondition()
  private var piece: ArraySlice<UInt8> = []
  private var status = Stream.Status.notOpen
  private var error: MCError?
  private var isWanted: CheckedContinuation<Void, Never>?
  private var pump: Task<Void, Never>?
  private(set) var source: IncomingStream?
  private(set) var events: StreamEvents?

  init(_ stream: IncomingStream) {
    source = stream
    events = StreamEvents { [weak self] event in self?.isDue(event) ?? false }
  }

  private static let pieceCount = 64 << 10

  var currentStatus: Stream.Status { condition.withLock { status } }
  var currentError: MCError? { condition.withLock { error } }
  var hasBytes: Bool { condition.withLock { !piece.isEmpty } }

  private func isDue(_ event: Stream.Event) -> Bool {
    condition.withLock {
      switch event {
      case .hasBytesAvailable: !piece.isEmpty && status != .closed
      default: status != .closed
      }
    }
  }

  func open() {
    let hasBytes = condition.withLock {
      guard status == .notOpen, let source else { return false }
      status = .open
      // The task reads the end or an error.
      piece = (try? source.tryRead(upTo: Self.pieceCount)) ?? []
      pump = Task { [weak self] in
        await self?.waitUntilUsed()
        do throws(PiconetError) {
          while let bytes = try await source.read(upTo: Self.pieceCount) {
            guard let self else { return }
            await self.take(bytes)
          }
          self?.finish(nil)
        } catch {
          self?.finish(MCError(error))
        }
      }
      return !piece.isEmpty
    }
    events?.post(.openCompleted)
    if hasBytes { events?.post(.hasBytesAvailable) }
  }

  /// Waits until the first piece is used up, if there is one.
  private func waitUntilUsed() async {
    await withCheckedContinuation { continuation in
      let isUsed = condition.withLock {
        if piece.isEmpty || status != .open { return true }
        isWanted = continuation
        return false
      }
      if isUsed { continuation.resume() }
    }
  }

  private func take(_ bytes: ArraySlice<UInt8>) async {
    await withCheckedContinuation { continuation in
      let isClosed = condition.withLock {
        guard status == .open else { return true }
        piece = bytes
        isWanted = continuation
        condition.broadcast()
        return false
      }
      if isClosed { continuation.resume() } else { events?.post(.hasBytesAvailable) }
    }
  }

  private func finish(_ error: MCError?) {
    let isClosed = condition.withLock {
      guard status == .open else { return true }
      status = error == nil ? .atEnd : .error
      self.error = error
      condition.broadcast()
      return false
    }
    if !isClosed { events?.post(error == nil ? .endEncountered : .errorOccurred) }
  }

  /// Waits for bytes, as reading a stream does.
  /// - Returns: the count; 0 at the end, -1 if nothing can be read.
  func read(_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
    guard count > 0 else { return 0 }
    var wanted: CheckedContinuation<Void, Never>?
    let (result, isMore) = condition.withLock { () -> (Int, Bool) in
      while status == .open, piece.isEmpty { condition.wait() }
      guard !piece.isEmpty else { return (status == .atEnd ? 0 : -1, false) }
      let part = piece.prefix(count)
      _ = UnsafeMutableBufferPointer(start: buffer, count: count).update(fromContentsOf: part)
      piece = piece.dropFirst(part.count)
      if piece.isEmpty, let waiting = isWanted {
        // The task does not read while it waits for this.
        piece = (try? source?.tryRead(upTo: Self.pieceCount)) ?? []
        if piece.isEmpty { (wanted, isWanted) = (waiting, nil) }
      }
      return (part.count, !piece.isEmpty)
    }
    wanted?.resume()
    if isMore { events?.post(.hasBytesAvailable) }
    return result
  }

  /// Cancels the stream, if it has not come to its end: the writer is told.
  func close() {
    let (wanted, pump, source, isCut) = condition.withLock {
      defer {
        isWanted = nil
        self.source = nil
        piece = []
        status = .closed
        condition.broadcast()
      }
      return (isWanted, self.pump, self.source, status == .open || status == .notOpen)
    }
    wanted?.resume()
    if isCut {
      source?.cancel()
      pump?.cancel()
    }
    events?.clear()
  }
}
