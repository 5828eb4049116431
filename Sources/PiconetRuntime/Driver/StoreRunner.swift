import PiconetEngine
import PiconetWire

/// Writes one incoming transfer on the disk thread: one job at a time, each with all chunks that came meanwhile.
/// Confined to the loop.
final class StoreRunner {
  private enum Step {
    case receiving
    case committing(size: UInt64, ResourceDigest)
    case ended
  }

  let id: TransferID
  private let store: any ResourceStore
  private var step = Step.receiving
  private var waiting: [Bytes] = []
  private var isBusy = false
  private var stored: UInt64

  init(id: TransferID, store: any ResourceStore, offset: UInt64) {
    self.id = id
    self.store = store
    stored = offset
  }

  func append(_ bytes: Bytes) {
    // A chunk may be one byte, and what holds it takes a hundred: small ones are glued.
    if bytes.count < Self.smallChunk, let last = waiting.last, last.count < Self.smallChunk {
      waiting[waiting.count - 1].append(contentsOf: bytes)
    } else {
      waiting.append(bytes.count < Self.smallChunk ? Array(bytes)[...] : bytes)
    }
  }

  private static let smallChunk = 4096

  func commit(size: UInt64, _ digest: ResourceDigest) { step = .committing(size: size, digest) }

  /// The store has begun anew.
  func restart(offset: UInt64) {
    step = .receiving
    stored = offset
  }

  /// Gives the disk thread its next job, if it has none of this transfer.
  /// - Parameter report: called on the loop with what is to be told to the engine.
  func proceed(on worker: WorkerThread, loop: EventLoop, report: @escaping (StoreRunner, Fact) -> Void) {
    guard !isBusy else { return }
    if case .ended = step { return }
    let store = store
    let id = id
    if !waiting.isEmpty {
      let chunks = waiting
      waiting = []
      let upTo = stored + chunks.reduce(0) { $0 + UInt64($1.count) }
      submit(to: worker, loop, report) { () throws(ResourceFailure) in
        for chunk in chunks { try Self.write(chunk, to: store) }
        return .chunkStored(id, upTo: upTo)
      }
      stored = upTo
    } else if case .committing(let size, let digest) = step {
      step = .ended
      submit(to: worker, loop, report) { () throws(ResourceFailure) in
        switch try store.commit(size: size, digest: digest) {
        case .stored(let name): .committed(id, name: name)
        case .present(let name): .committed(id, name: name, wasThere: true)
        case .restarted(let offset): .storeRestarted(id, offset: offset)
        }
      }
    }
  }

  private static func write(_ chunk: Bytes, to store: any ResourceStore) throws(ResourceFailure) {
    // The buffer's closure would lose the type of the error.
    let failure = chunk.withUnsafeBytes { bytes -> ResourceFailure? in
      do throws(ResourceFailure) {
        try store.write(bytes)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }

  private func submit(
    to worker: WorkerThread, _ loop: EventLoop, _ report: @escaping (StoreRunner, Fact) -> Void,
    _ work: @escaping @Sendable () throws(ResourceFailure) -> Fact
  ) {
    isBusy = true
    let id = id
    let isTaken = worker.submit(answering: loop) { () -> Fact in
      do throws(ResourceFailure) {
        return try work()
      } catch {
        return .storeFailed(id, error.reason, detail: error.detail)
      }
    } then: { fact in
      self.isBusy = false
      report(self, fact)
    }
    if !isTaken {
      isBusy = false
      report(self, .storeFailed(id, .internalError, detail: "too much waits for the disk"))
    }
  }

  /// Throws away what was written, after what the disk thread is at. Where that takes no more jobs the store's own end
  /// does it: the disk thread may be using the store at this moment.
  func discard(on worker: WorkerThread) {
    step = .ended
    waiting = []
    let store = store
    _ = worker.submit { store.discard() }
  }

  /// Writes what came, and lets the store keep it for the same offer.
  func keep(on worker: WorkerThread) {
    step = .ended
    let chunks = waiting
    waiting = []
    let store = store
    _ = worker.submit {
      do throws(ResourceFailure) {
        for chunk in chunks { try Self.write(chunk, to: store) }
      } catch {
        // The store has thrown away what it had; keeping it then has no effect.
      }
      store.keep()
    }
  }
}
