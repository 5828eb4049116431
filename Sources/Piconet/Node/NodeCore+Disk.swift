import PiconetEngine
import PiconetFiles
import PiconetRuntime
import PiconetWire

/// Work that blocks on a disk.
extension NodeCore {
  /// Runs blocking work on the disk thread.
  func onDisk<Value: Sendable>(
    _ work: @escaping @Sendable () throws(FileFailure) -> Value
  ) async throws(PiconetError) -> Value {
    let outcome: Result<Value, FileFailure>? = await withCheckedContinuation { continuation in
      let isTaken = worker.submit {
        do throws(FileFailure) {
          continuation.resume(returning: .success(try work()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
      if !isTaken { continuation.resume(returning: nil) }
    }
    switch outcome {
    case .success(let value): return value
    case .failure(let failure): throw failure.piconetError(peer: nil)
    case nil:
      if isClosed { throw PiconetError(.shuttingDown, blame: .us) }
      throw PiconetError(.internalError, blame: .us, detail: "too much waits for the disk")
    }
  }
}
