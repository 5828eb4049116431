import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetTLS
import PiconetWire

/// The trust policy over the known peers in a file, or none.
final class KnownPeersJudge: TrustJudge {
  private let policy: TrustPolicy
  private let ownPeer: PeerID
  private let file: KnownPeersFile?
  private let worker: WorkerThread
  /// Judging happens at every handshake, on the loop: a file of a thousand peers is not parsed each time.
  private var memory = KnownPeersFile.Memory()

  init(policy: TrustPolicy, ownPeer: PeerID, file: KnownPeersFile?, worker: WorkerThread) {
    self.policy = policy
    self.ownPeer = ownPeer
    self.file = file
    self.worker = worker
  }

  func judge(_ node: NodeID, name: String) -> TrustJudgement {
    // Another program of this device has this device's key.
    if node.peer == ownPeer { return .known }
    let known: KnownPeers
    do throws(StateFailure) {
      // Looked at each time: another program of this user may have remembered somebody meanwhile.
      known = try file?.load(&memory) ?? KnownPeers(path: "")
    } catch {
      return .refused(.identity, detail: "the known peers can't be read: \(error)")
    }
    return switch policy.judge(peer: node.peer, name: name, knownPeers: known) {
    case .known: .known
    case .new(.accepted): .new
    case .new(.needsAsking): .ask
    case .refused(let refusal): .refused(.identity, detail: "\(refusal)", told: "\(refusal)")
    case .keyChanged(let change):
      .refused(
        .identity, detail: "\(change)", told: "another device was remembered under this name there")
    }
  }

  func remember(_ peer: PeerID, name: String) {
    guard let file, peer != ownPeer else { return }
    if case .pinned = policy { return }
    // On the disk thread: it waits for the disk, and for other programs that write the same file.
    _ = worker.submit {
      let known = try? file.load()
      if known?.entry(of: peer) != nil { return }
      _ = try? file.remember(peer, name: name, at: Int64(time(nil)))
    }
  }
}
