import Piconet

/// Sends a file, shows how far it is, and returns when the remote side has it on its disk, verified.
func sendShowingProgress(_ path: String, to member: Member) async throws(PiconetError) -> SentResource {
  let transfer = try await member.startSending(.file(path))
  // A slow reader sees the latest state, not every one. It ends with the transfer.
  for await progress in transfer.changes where progress.total > 0 {
    print("\(transfer.name): \(progress.stored * 100 / progress.total) %")
  }
  return try await transfer.result
}

/// Stores what members offer, several at a time, until the node stops.
func storeOffers(of session: Session, in directory: ReceivingDirectory) async {
  await withDiscardingTaskGroup { group in
    for await offer in session.offers {
      group.addTask { await store(offer, in: directory) }
    }
  }
}

/// Takes PNG images of at most 100 MB.
func store(_ offer: IncomingOffer, in directory: ReceivingDirectory) async {
  guard offer.size <= 100_000_000 else { return await offer.decline(.tooLarge, detail: "100 MB at most") }
  do throws(PiconetError) {
    let file = try await offer.store(in: directory, onConflict: .rename) { start in
      start.starts(with: [0x89, 0x50, 0x4E, 0x47])
    }
    print("\(file.relativePath): \(file.size) bytes, \(file.resumedFrom) of them were here already")
  } catch {
    // The sender is told the same reason.
    print("\(offer.displayName) was not stored: \(error)")
  }
}

/// Gives one file to all members: it is read once for those who keep pace with each other.
func sendToAll(_ path: String, of session: Session) async throws(PiconetError) {
  for (member, result) in try await session.send(.file(path)) {
    switch result {
    case .success(let file):
      print("\(member): \(file.wasAlreadyPresent ? "had it already" : "stored it as \(file.storedName)")")
    case .failure(let error): print("\(member): \(error)")
    }
  }
}

/// Bytes of any number from memory to memory, where a message would be too large.
func sendSnapshot(_ bytes: [UInt8], to member: Member) async throws(PiconetError) {
  _ = try await member.send(.bytes(bytes, named: "snapshot"))
}

/// The remote side of it. Memory is used as bytes come, and never above the limit.
func receiveSnapshot(of session: Session) async throws(PiconetError) -> [UInt8]? {
  for await offer in session.offers {
    guard offer.displayName == "snapshot" else {
      await offer.decline(.notWanted)
      continue
    }
    return try await offer.read(upTo: 16_000_000).bytes
  }
  return nil
}

/// Lets a large transfer rest while something more urgent is sent.
func send(_ bytes: [UInt8], to member: Member, before transfer: OutgoingTransfer) async throws(PiconetError) {
  transfer.pause()
  defer { transfer.resume() }
  _ = try await member.send(.bytes(bytes, named: "urgent"))
}
