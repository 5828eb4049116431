import Foundation
import Piconet
import PiconetFoundation
import Synchronization

/// An incoming resource. Confined to the session's queue.
final class ReceivingResource {
  let number: UInt64
  let name: String
  var task: Task<Void, Never>?

  init(_ number: UInt64, _ name: String) {
    self.number = number
    self.name = name
  }
}

extension SessionRun {
  func receive(_ offer: IncomingOffer, from guest: Guest) {
    guard core.session?.delegate != nil else {
      Task { await offer.decline(.notWanted, detail: "the program takes no resources") }
      return
    }
    let name = String(decoding: offer.rawName, as: UTF8.self)
    let resource = ReceivingResource(offer.id, name)
    guest.resources[offer.id] = resource
    // Never 0: a progress of 0 never ends, and may not change to 0 either.
    let progress = ResourceProgress(totalUnitCount: max(1, Int64(clamping: offer.size)))
    progress.kind = .file
    let node = guest.member.id
    let task = Task(executorPreference: core.executor) { [self] in
      let result = await stored(offer, progress)
      if isOver { return discard(result) }
      guard let guest = guests[node], let resource = guest.resources[offer.id] else { return discard(result) }
      finish(resource, of: guest, result)
    }
    resource.task = task
    progress.cancellationHandler = { task.cancel() }
    core.tell {
      $1.session($0, didStartReceivingResourceWithName: name, fromPeer: guest.peer, with: progress)
    }
  }

  private func stored(_ offer: IncomingOffer, _ progress: Progress) async -> Result<URL, MCError> {
    do {
      let directory = try await inbox.directory(of: try await starting.value.node)
      let transfer: IncomingTransfer<ReceivedFile>
      do {
        transfer = try await offer.startStoring(in: directory, as: UUID().uuidString)
      } catch {
        await offer.decline(error.code)
        throw error
      }
      let file = try await withTaskCancellationHandler {
        for await change in transfer.changes { progress.reach(change.stored) }
        return try await transfer.result
      } onCancel: {
        transfer.cancel()
      }
      progress.completedUnitCount = progress.totalUnitCount
      return .success(file.url)
    } catch {
      return .failure(MCError.wrapping(error))
    }
  }

  /// Reports the resource, once; the file is gone when the delegate has returned, unless the delegate has moved it.
  func finish(_ resource: ReceivingResource, of guest: Guest, _ result: Result<URL, MCError>) {
    guard guest.resources.removeValue(forKey: resource.number) != nil else { return discard(result) }
    resource.task?.cancel()
    core.tell {
      switch result {
      case .success(let url):
        $1.session(
          $0, didFinishReceivingResourceWithName: resource.name, fromPeer: guest.peer, at: url, withError: nil)
      case .failure(let error):
        $1.session(
          $0, didFinishReceivingResourceWithName: resource.name, fromPeer: guest.peer, at: nil, withError: error)
      }
    }
    discard(result)
  }

  private func discard(_ result: Result<URL, MCError>) {
    if case .success(let url) = result { try? FileManager.default.removeItem(at: url) }
  }
}

extension Progress {
  func reach(_ count: UInt64) { completedUnitCount = min(Int64(clamping: count), totalUnitCount) }
}

/// The folder for received resources of one run of a session; created when it is needed, and removed with the run.
final class ResourceFolder: Sendable {
  private enum State {
    case none
    case made(URL, Task<ReceivingDirectory, any Error>)
    case removed
  }

  private let state = Mutex(State.none)

  func directory(of node: Node) async throws -> ReceivingDirectory {
    let opening = try state.withLock { state -> Task<ReceivingDirectory, any Error> in
      switch state {
      case .made(_, let opening): return opening
      case .removed: throw MCError(.cancelled, "this session was left")
      case .none:
        let folder = FileManager.default.temporaryDirectory.appending(
          path: "MultipeerConnectivity-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let opening = Task { () async throws -> ReceivingDirectory in try await node.receivingDirectory(at: folder) }
        state = .made(folder, opening)
        return opening
      }
    }
    return try await opening.value
  }

  func remove() {
    state.withLock { state in
      if case .made(let folder, _) = state { try? FileManager.default.removeItem(at: folder) }
      state = .removed
    }
  }
}
