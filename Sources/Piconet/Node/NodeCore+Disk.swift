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
    return try value(of: outcome)
  }

  private func value<Value>(of outcome: Result<Value, FileFailure>?) throws(PiconetError) -> Value {
    switch outcome {
    case .success(let value): return value
    case .failure(let failure): throw failure.piconetError(peer: nil)
    case nil:
      if isClosed { throw PiconetError(.shuttingDown, blame: .us) }
      throw PiconetError(.internalError, blame: .us, detail: "too much waits for the disk")
    }
  }

  /// Runs work that reads what is to be sent, beside all other work. A cancelled task waits for it no longer: the disk
  /// may hang.
  /// - Throws: `cancelled` also if the work goes on.
  func reading<Value: Sendable>(
    _ work: @escaping @Sendable () throws(FileFailure) -> Value
  ) async throws(PiconetError) -> Value {
    let outcome = Outcome<Result<Value, FileFailure>?>()
    let isTaken = disk.readers.submit {
      do throws(FileFailure) {
        outcome.end(.success(try work()))
      } catch {
        outcome.end(.failure(error))
      }
    }
    if !isTaken { outcome.end(nil) }
    guard let ended = await outcome.waitUnlessCancelled() else { throw PiconetError(.cancelled, blame: .us) }
    return try value(of: ended)
  }
}
