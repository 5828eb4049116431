import Foundation
import Piconet
import PiconetFoundation

/// An outgoing resource. Confined to the session's queue.
final class SendingResource {
  var task: Task<Void, Never>?
  var isOver = false
}

/// A closure of a program, which is called once.
///
/// Unchecked: only the session's queue calls it, and only the thread that made this holds it before.
private struct Completion: @unchecked Sendable {
  let call: ((any Error)?) -> Void
}

extension SessionCore {
  func sendResource(
    at url: URL, named name: String, to peer: MCPeerID, _ completionHandler: (((any Error)?) -> Void)?
  ) -> Progress? {
    let completion = Completion(call: completionHandler ?? { _ in })
    let member: Member
    let resource: Resource
    do {
      member = try connected(peer).member
      guard name.utf8.count <= 1_024 else {
        throw MCError(.invalidParameter, "a resource's name has at most 1,024 bytes of UTF-8")
      }
      guard let contents = try? Resource.contents(of: url, named: name.isEmpty ? nil : name) else {
        throw MCError(.unsupported, "a resource is a file, or what http or https leads to, not \(url.scheme ?? "") ")
      }
      resource = contents
    } catch {
      let error = MCError.wrapping(error)
      queue.async { completion.call(error) }
      return nil
    }
    // Made here, so that it becomes a part of the caller's current progress, if there is one.
    let progress = ResourceProgress(totalUnitCount: Self.size(of: url) ?? -1)
    progress.kind = .file
    let sending = Sending(SendingResource())
    let task = Task(executorPreference: executor) {
      let error = await Self.send(resource, to: member, progress)
      sending.resource.isOver = true
      completion.call(error)
    }
    progress.cancellationHandler = { task.cancel() }
    let run = currentRun()
    run.onQueue {
      guard !sending.resource.isOver, let guest = run.guests[member.id] else { return }
      sending.resource.task = task
      guest.sending[ObjectIdentifier(sending.resource)] = sending.resource
    }
    return progress
  }

  /// Unchecked: its parts are used on the session's queue alone.
  private struct Sending: @unchecked Sendable {
    let resource: SendingResource
    init(_ resource: SendingResource) { self.resource = resource }
  }

  private static func send(_ resource: Resource, to member: Member, _ progress: Progress) async -> MCError? {
    do {
      let transfer = try await member.startSending(resource)
      let total = max(1, Int64(clamping: transfer.progress.total))
      if progress.totalUnitCount != total { progress.totalUnitCount = total }
      _ = try await withTaskCancellationHandler {
        for await change in transfer.changes { progress.reach(change.stored) }
        return try await transfer.result
      } onCancel: {
        transfer.cancel()
      }
      progress.completedUnitCount = progress.totalUnitCount
      return nil
    } catch {
      return MCError.wrapping(error)
    }
  }

  /// Returns the size. Never 0, since a progress of 0 never ends; nil if it can't be known yet.
  private static func size(of url: URL) -> Int64? {
    guard url.isFileURL, let attributes = try? FileManager.default.attributesOfItem(atPath: url.path),
      let size = attributes[.size] as? NSNumber
    else { return nil }
    return max(1, size.int64Value)
  }

  func startStream(named name: String, to peer: MCPeerID) throws(MCError) -> OutputStream {
    let member = try connected(peer).member
    guard name.utf8.count <= 1_024 else {
      throw MCError(.invalidParameter, "a stream's name has at most 1,024 bytes of UTF-8")
    }
    let stream = PeerOutputStream(named: name, to: member)
    let state = stream.state
    let run = currentRun()
    run.onQueue {
      guard let guest = run.guests[member.id] else {
        return state.end(.failed(MCError(.notConnected, "\(peer.displayName) is not connected")))
      }
      guest.outputs.removeAll { $0.state == nil }
      guest.outputs.append(Guest.WeakOutput(state: state))
    }
    return stream
  }
}
