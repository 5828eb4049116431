import PiconetEngine
import PiconetFiles
import PiconetWire

/// A file that a member offers: to be stored or declined.
public struct IncomingOffer: Sendable, Identifiable {
  /// Unique within the node.
  public let id: UInt64
  /// The member that offers it.
  public let member: Member
  /// The sender's name for the file, raw: not to be used as a path. `store` refuses unsafe names.
  public let rawName: [UInt8]
  /// The folders below which the sender wants it stored, raw, the outermost first, with slashes; empty: none. `store`
  /// creates them, or refuses unsafe names.
  public let rawFolder: [UInt8]
  /// The name for a person: escaped, safe on a terminal.
  public let displayName: String
  /// Unavailable: `displayName` is for a person, `rawName` is the name as it was sent.
  @available(*, unavailable, message: "displayName is for a person, rawName as it was sent; store(in:) uses the latter")
  public var name: String { displayName }
  /// Bytes.
  public let size: UInt64
  /// The media type that the sender states; empty if it states none.
  public let mediaType: String
  /// The sender's free data.
  public let metadata: [UInt8]
  /// Whether another transfer of this content could resume where this one is interrupted: the content is identified
  /// well enough, and it is large enough.
  public var isResumable: Bool { !identity.isEmpty && size > ReceivingDirectory.largestUnkeptSize }
  /// When the content was last changed, as the sender says: nanoseconds since 1970-01-01 00:00 UTC, leap seconds not
  /// counted; nil if it does not say. For a time before 1677 or after 2262, the nearest number. A stored file gets the
  /// time that the sender says, as exactly as the disk can keep it.
  public let modified: Int64?
  let modificationTime: ModificationTime?
  package let identity: [UInt8]
  let group: [UInt8]
  let state: IncomingTransferState

  init(
    _ id: TransferID, _ offer: ResourceOffer, from member: Member, state: IncomingTransferState
  ) {
    self.state = state
    self.id = id.rawValue
    self.member = member
    rawName = offer.name
    rawFolder = offer.folder
    displayName = SafeFileName.printable(offer.name)
    size = offer.size
    mediaType = offer.mediaType
    metadata = offer.metadata
    modified = offer.modified?.nearestNanosecondsSince1970
    modificationTime = offer.modified.flatMap { ModificationTime($0) }
    identity = offer.identity
    group = offer.group
  }

  /// The state of its transfer now.
  public var progress: TransferProgress { state.watched.value }

  /// The state of its transfer, again after each change, from now on: even before it is accepted, and while it is
  /// compared with an existing file.
  public var changes: TransferChanges { TransferChanges(watched: state.watched) }

  /// The peer that offers it.
  public var sender: ProvenMember { member.proven }
  var core: NodeCore { member.core }

  var transfer: TransferID { TransferID(rawValue: id) }

  /// Stores the resource in a directory and returns when it is verified, on the disk, under its name. No file has that
  /// name before the content is complete. Cancelling the calling task cancels the transfer on both sides. `changes`
  /// reports progress meanwhile.
  ///
  /// Below the directory it creates the folders that the sender asks for; symbolic links there are not followed. An
  /// existing file is compared first if it has the same size and that name, or the same name with another number, with
  /// a number or without its number. If the content is the very same, nothing is sent or stored
  /// (`ReceivedFile.wasAlreadyPresent`). The policy `overwrite` does not replace a file that this member has sent since
  /// it joined, or that was found to be there: both stay.
  /// - Parameters:
  ///   - directory: where it is stored, opened by any node of this process.
  ///   - name: the name to store it under, in the directory itself, whatever name and folders the sender gave; the same
  ///     rules hold for it. Nil: the sender's name, below the sender's folders.
  ///   - policy: what to do if the name is taken. Default: add a number.
  ///   - content: examines the first bytes (at most 4,096, or the whole of a shorter file) on a thread that disks may
  ///     block, of several files at once; false refuses the file as `notWanted`.
  /// - Throws: why it is not stored; the sender is told the same reason. `nameRefused` with the rule: if `name` breaks
  ///   it, the blame is ours and the offer stands. `exists` with the policy `skip`; `inProgress` if another task is
  ///   storing it.
  @discardableResult
  public func store(
    in directory: ReceivingDirectory, as name: String? = nil, onConflict policy: ConflictPolicy = .rename,
    content: (@Sendable (_ start: [UInt8]) -> Bool)? = nil
  ) async throws(PiconetError) -> ReceivedFile {
    try await core.finish(startStoring(in: directory, as: name, onConflict: policy, content: content))
  }

  /// Starts storing as `store` does, but returns as soon as the sender is told to begin: the transfer can then be
  /// watched, paused and cancelled.
  ///
  /// An earlier transfer of the same content from the same device may have been lost in the middle, because a link or
  /// either process ended (by a kill, by `Node.stop` or by `interrupt`). Its stored bytes are then verified again and
  /// not sent again.
  ///
  /// For that purpose partial files above 1 MiB are kept in the directory under hidden names: at most 16, for at most
  /// seven days, and none after a transfer that was cancelled or failed. A sender whose identity is not stored is
  /// another device after its process has ended: it begins again.
  public func startStoring(
    in directory: ReceivingDirectory, as name: String? = nil, onConflict policy: ConflictPolicy = .rename,
    content: (@Sendable (_ start: [UInt8]) -> Bool)? = nil
  ) async throws(PiconetError) -> IncomingTransfer<ReceivedFile> {
    try await core.store(self, in: directory, as: name, onConflict: policy, content: content)
  }

  /// Starts storing as `startStoring` does, but the offer can still be refused once it is certain how much is to come.
  /// - Parameters:
  ///   - refusal: given how many bytes are here already, says why the rest may not come, which the sender is told with
  ///     `declined`; nil: it may. Called once, on any thread, before the first byte comes, and not for content that is
  ///     here already. Where an existing file turns out to differ, it may be called after this has returned or the
  ///     transfer has ended.
  ///   - mayRepeat: asked, on the node's loop, about the number of bytes that the sender has sent again although they
  ///     are here, which no sender has to do; false ends the transfer on both sides with `declined`.
  ///     here, which no sender has to; false ends the transfer on both sides with `declined`.
  package func startStoring(
    in directory: ReceivingDirectory, onConflict policy: ConflictPolicy,
    content: (@Sendable (_ start: [UInt8]) -> Bool)?, unless refusal: @escaping @Sendable (_ offset: UInt64) -> String?,
    mayRepeat: @escaping @Sendable (_ byteCount: Int) -> Bool
  ) async throws(PiconetError) -> IncomingTransfer<ReceivedFile> {
    state.setRepeating(mayRepeat)
    return try await core.store(self, in: directory, as: nil, onConflict: policy, content: content, unless: refusal)
  }

  /// Returns how many bytes `startStoring` would find of an earlier transfer, if nothing changes and no other transfer
  /// of the same content is under way.
  package func keptByteCount(in directory: ReceivingDirectory) async -> UInt64 {
    await core.keptByteCount(of: self, in: directory)
  }

  /// Why the transfer ended without being stored; nil: it is still open, or was stored.
  package var failure: PiconetError? { (state.outcome ?? nil).map { PiconetError($0, peer: sender.id) } }

  /// Waits for the end of the transfer, whatever its result.
  /// - Returns: false if the task was cancelled before.
  package func hasEnded() async -> Bool { await state.hasEnded() }

  /// The number of bytes of the content that have arrived to be stored. They are more than are stored in the end if a
  /// link breaks, the file is thrown away, or the sender sends again what is here. Final once the transfer has ended.
  package var receivedByteCount: UInt64 { state.receivedByteCount }

  /// Whether the sender's key was unknown here when this was first asked of the offer; a person may have confirmed the
  /// key since the sender joined. Everything that is done with one offer uses that answer.
  package var isOfStranger: Bool {
    get async {
      if let answer = state.isOfStranger { return answer }
      let standing = await core.standing(of: sender.id.peer)
      return state.note(isOfStranger: standing.known == nil && standing.rights.isEmpty)
    }
  }

  var resumptionKey: ResumptionKey? {
    get async {
      guard !identity.isEmpty else { return nil }
      return ResumptionKey(sender: sender.id.peer, isKnown: await !isOfStranger, identity: identity, size: size)
    }
  }

  /// Receives the resource into memory and returns when it is complete and verified. Memory is used as bytes come,
  /// whatever size was offered. Cancelling the calling task cancels the transfer on both sides. `changes` reports
  /// progress meanwhile.
  /// - Parameter limit: the most bytes; a larger offer is declined.
  /// - Throws: `tooLarge` with both numbers, which the sender is told too; otherwise see `store`.
  public func read(upTo limit: UInt64) async throws(PiconetError) -> ReceivedData {
    try await core.finish(startReading(upTo: limit))
  }

  /// Starts receiving as `read` does, but returns as soon as the sender is told to begin.
  public func startReading(upTo limit: UInt64) async throws(PiconetError) -> IncomingTransfer<ReceivedData> {
    try await core.receive(self, upTo: limit)
  }

  /// Unavailable: accept an offer with `store(in:)` for a directory, or `read(upTo:)` for memory.
  @available(*, unavailable, message: "say where it goes: store(in:) for a directory, read(upTo:) for memory")
  public func accept() async throws(PiconetError) {}

  /// Renamed to `decline`.
  @available(*, unavailable, renamed: "decline")
  public func reject() async { await decline() }

  /// Refuses the offer; the sender is told the reason.
  public func decline(_ code: PiconetError.Code = .declined, detail: String = "") async {
    _ = await core.answer(to: .declineOffer(transfer, code.reason, detail: detail))
  }
}

/// A file that was received and stored.
public struct ReceivedFile: Sendable, Hashable {
  /// The real path, even if the directory was moved meanwhile.
  public let path: String
  /// The last part of `path`.
  public let name: String
  /// The part of `path` below the receiving directory.
  public let relativePath: String
  /// Bytes.
  public let size: UInt64
  /// The SHA-256 of the content; the sender computed the same.
  public let digest: SHA256Digest
  /// The number of bytes that an earlier transfer had stored.
  public let resumedFrom: UInt64
  /// Whether the same content existed before under this name; then nothing was stored.
  public let wasAlreadyPresent: Bool
  /// Set if the disk can't keep the time that the sender stated.
  package var replacedTime: ReplacedTime? = nil
}
