import PiconetEngine
import PiconetWire

/// Writes one incoming transfer: one job at a time, each with all chunks that came meanwhile, on the disk thread; the
/// commit on one of several threads, alongside those of other transfers. Confined to the loop.
final class StoreRunner {
  private enum Step {
    case receiving
    case committing(size: UInt64, ResourceDigest)
    case ended
  }

  let id: TransferID
  private let store: any ResourceStore
  private let use = StoreUse()
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
    // A chunk may be one byte in an array that takes a hundred: small ones are joined.
    if bytes.count < Self.smallChunk, let last = waiting.last, last.count < Self.smallChunk {
      waiting[waiting.count - 1].append(contentsOf: bytes)
    } else {
      waiting.append(bytes.count < Self.smallChunk ? Array(bytes)[...] : bytes)
    }
  }

  private static let smallChunk = 4096

  func commit(size: UInt64, _ digest: ResourceDigest) { step = .committing(size: size, digest) }

  /// Notes that the store has begun again.
  func restart(offset: UInt64) {
    step = .receiving
    stored = offset
  }

  /// Gives the disk thread its next job, if it has none of this transfer.
  /// - Parameter report: called on the loop with a fact for the engine.
  func proceed(on disk: DiskThreads, loop: EventLoop, report: @escaping (StoreRunner, Fact) -> Void) {
    guard !isBusy else { return }
    if case .ended = step { return }
    let store = store
    let id = id
    if !waiting.isEmpty {
      let chunks = waiting
      waiting = []
      let upTo = stored + chunks.reduce(0) { $0 + UInt64($1.count) }
      submit(report) { () throws(ResourceFailure) in
        for chunk in chunks { try Self.write(chunk, to: store) }
        return .chunkStored(id, upTo: upTo)
      } to: { work, then in
        disk.worker.submit(answering: loop, work, then: then)
      }
      stored = upTo
    } else if case .committing(let size, let digest) = step {
      step = .ended
      let use = use
      use.beginCommit()
      submit(report) { () throws(ResourceFailure) in
        let commit = try use.commit { () throws(ResourceFailure) in try store.commit(size: size, digest: digest) }
        return Self.fact(id, commit)
      } to: { work, then in
        // If no thread is available the disk thread does it.
        let isTaken =
          disk.committers.submit(answering: loop, work, then: then)
          || disk.worker.submit(answering: loop, work, then: then)
        if !isTaken { use.endCommit() }
        return isTaken
      }
    }
  }

  private static func fact(_ id: TransferID, _ commit: ResourceCommit) -> Fact {
    switch commit {
    case .stored(let name): .committed(id, name: name)
    case .present(let name): .committed(id, name: name, wasAlreadyPresent: true)
    case .restarted(let offset): .storeRestarted(id, offset: offset)
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
    _ report: @escaping (StoreRunner, Fact) -> Void,
    _ work: @escaping @Sendable () throws(ResourceFailure) -> Fact,
    to submit: (_ work: @escaping @Sendable () -> Fact, _ then: @escaping (Fact) -> Void) -> Bool
  ) {
    isBusy = true
    let id = id
    let isTaken = submit(
      {
        do throws(ResourceFailure) {
          return try work()
        } catch {
          return .storeFailed(id, error.reason, detail: error.detail)
        }
      },
      { fact in
        self.isBusy = false
        report(self, fact)
      })
    if !isTaken {
      isBusy = false
      report(self, .storeFailed(id, .internalError, detail: "too much waits for the disk"))
    }
  }

  /// Discards the written bytes, once the disk thread has finished its present job.
  func discard(on disk: DiskThreads) {
    step = .ended
    waiting = []
    let store = store
    use.end(on: disk.worker) { store.discard() }
  }

  /// Writes the bytes that came, and lets the store keep them for the same offer.
  func keep(on disk: DiskThreads) {
    step = .ended
    let chunks = waiting
    waiting = []
    let store = store
    use.end(on: disk.worker) {
      do throws(ResourceFailure) {
        for chunk in chunks { try Self.write(chunk, to: store) }
      } catch {
        // The store has discarded its content; keeping it then has no effect.
      }
      store.keep()
    }
  }
}
