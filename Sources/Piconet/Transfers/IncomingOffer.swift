import PiconetEngine
import PiconetFiles
import PiconetWire

/// A file that a member offers: to be stored or declined.
public struct IncomingOffer: Sendable, Identifiable {
  /// Unique within the node.
  public let id: UInt64
  /// Who offers it.
  public let sender: ProvenMember
  /// The sender's name for it, raw: not to be used as a path. `store` refuses names that are not safe.
  public let rawName: [UInt8]
  /// The name for a person: escaped, safe on a terminal.
  public let displayName: String
  /// Bytes.
  public let size: UInt64
  /// As the sender says; empty if it says nothing.
  public let mediaType: String
  /// The sender's free data.
  public let metadata: [UInt8]
  let modified: Int64?
  let state: IncomingTransferState
  let core: NodeCore

  init(
    _ id: TransferID, _ offer: ResourceOffer, sender: ProvenMember, state: IncomingTransferState, core: NodeCore
  ) {
    self.state = state
    self.id = id.rawValue
    self.sender = sender
    rawName = offer.name
    displayName = SafeFileName.printable(offer.name)
    size = offer.size
    mediaType = offer.mediaType
    metadata = offer.metadata
    modified = offer.modified
    self.core = core
  }

  var transfer: TransferID { TransferID(rawValue: id) }

  /// Takes the file into a directory and returns when it is verified, on the disk, under its name. Nothing has that name before
  /// it is whole. Cancelling the calling task cancels the transfer on both sides.
  /// - Parameters:
  ///   - content: looks at the first bytes (at most 4,096, or the whole of a shorter file) on the disk thread; false refuses the
  ///     file as `notWanted`.
  ///   - progress: called on the node's loop with the bytes on disk and the total; to return quickly.
  /// - Throws: why it is not stored; the sender is told the same reason. `exists` with the policy `skip`; `inProgress` if another
  ///   task stores it.
  public func store(
    in directory: ReceivingDirectory, onConflict policy: ConflictPolicy = .rename,
    content: (@Sendable (_ start: [UInt8]) -> Bool)? = nil,
    progress: (@Sendable (_ stored: UInt64, _ total: UInt64) -> Void)? = nil
  ) async throws(PiconetError) -> ReceivedFile {
    try await core.store(self, in: directory, onConflict: policy, content: content, progress: progress)
  }

  /// Refuses the offer; the sender is told the reason.
  public func decline(_ code: PiconetError.Code = .declined, detail: String = "") async {
    _ = await core.command(.declineOffer(transfer, code.reason, detail: detail))
  }
}

/// A file that was received and stored.
public struct ReceivedFile: Sendable, Hashable {
  /// The real path, also if the directory was moved meanwhile.
  public let path: String
  /// The last part of `path`.
  public let name: String
  /// Bytes.
  public let size: UInt64
  /// Of the content; it is what the sender computed too.
  public let digest: SHA256Digest
}
