import PiconetEngine
import PiconetWire

/// Sources and stores: slow, full, failing.
extension World {
  private func disk(_ node: SimulatedNode) -> DiskConditions { scenario.disks[node.index] }

  private func later(_ busyUntil: UInt64, _ delay: UInt64) -> UInt64 {
    let end = max(now, busyUntil) + (delay == 0 || isCalm ? 0 : diskDice.word() % delay)
    return end
  }

  private func enterFact(_ fact: Fact, of node: SimulatedNode, at time: UInt64) {
    agenda.enter(.fact(node: node.index, life: node.life, fact), at: time)
  }

  // MARK: Sources

  func openSource(_ transfer: TransferID, content: Int, of node: SimulatedNode) {
    let bytes = contents[content]
    var trouble = SimulatedSource.Trouble.none
    if diskDice.chance(disk(node).sourceTroubleChance) {
      trouble = diskDice.pick([
        .unreadable(at: diskDice.number(0...bytes.count)), .shrinks(to: diskDice.number(0...bytes.count)), .grows,
      ])
    }
    node.sources[transfer] = SimulatedSource(content: content, bytes: bytes, trouble: trouble)
  }

  func readChunks(
    _ transfer: TransferID, _ number: UInt64, _ offset: UInt64, _ count: Int, _ frameCount: Int, of node: SimulatedNode
  ) {
    guard var source = node.sources[transfer] else { return finding("a read of a closed source") }
    guard count > 0, offset + UInt64(count) <= UInt64(source.bytes.count) else {
      return finding("a read of \(count) bytes at \(offset) of \(source.bytes.count)")
    }
    source.busyUntil = later(source.busyUntil, disk(node).readDelay)
    node.sources[transfer] = source
    let (frames, failure) = source.read(offset: offset, count: count, transfer: number, frameCount: frameCount)
    if let failure {
      enterFact(.sourceFailed(transfer, failure, detail: "simulated"), of: node, at: source.busyUntil)
    } else {
      enterFact(.chunksRead(transfer, frames: frames, payloadCount: count), of: node, at: source.busyUntil)
    }
  }

  func finishSource(_ transfer: TransferID, of node: SimulatedNode) {
    // A source finishes twice if the remote side has found that its existing bytes are something else.
    guard var source = node.sources[transfer], source.finishes < 2 else {
      return finding("a source finished three times, or closed before")
    }
    source.finishes += 1
    source.busyUntil = later(source.busyUntil, disk(node).readDelay)
    node.sources[transfer] = source
    if case .grows = source.trouble {
      enterFact(.sourceFailed(transfer, .sourceChanged, detail: "it grew"), of: node, at: source.busyUntil)
    } else if let digest = CheapDigest.resource(source.bytes) {
      enterFact(.sourceFinished(transfer, digest), of: node, at: source.busyUntil)
    }
  }

  func closeSource(_ transfer: TransferID, of node: SimulatedNode) {
    if scenario.faults.contains(.sourceLeaks) { return }
    if node.sources.removeValue(forKey: transfer) == nil { finding("a source closed twice") }
  }

  // MARK: Stores

  func openStore(_ transfer: TransferID, _ incoming: SeenOffer, of node: SimulatedNode) -> UInt64 {
    var prefix: [UInt8] = []
    if let content = incoming.content, applicationDice.chance(scenario.personas[node.index].resumeChance) {
      prefix = Array(contents[content].prefix(applicationDice.number(0...contents[content].count)))
    }
    var store = SimulatedStore(content: incoming.content, offeredSize: incoming.offer.size, prefix: prefix)
    if let content = incoming.content, applicationDice.chance(scenario.personas[node.index].resumeChance / 2) {
      // A file of that name and size exists already. It is the same file, or a different one.
      prefix = contents[content]
      store.isSomethingElse = !prefix.isEmpty && applicationDice.chance(50)
      if store.isSomethingElse { prefix[prefix.count / 2] ^= 1 }
      store.wasAlreadyPresent = !store.isSomethingElse
      store.bytes = prefix
      store.handedOver = UInt64(prefix.count)
      store.stored = prefix.count
    }
    node.stores[transfer] = store
    node.storedBytes += prefix.count
    return UInt64(prefix.count)
  }

  func storeChunk(_ transfer: TransferID, _ bytes: Bytes, of node: SimulatedNode) {
    guard var store = node.stores[transfer], store.phase == .open || store.isBroken else {
      return finding("a chunk for a store that is not open")
    }
    if store.isBroken { return }
    store.handedOver += UInt64(bytes.count)
    if store.handedOver > store.offeredSize { return finding("more bytes stored than offered") }
    let underWay = store.handedOver - UInt64(store.stored)
    if underWay > UInt64(scenario.configurations[node.index].transferWindow) {
      return finding("\(underWay) bytes of a transfer under way to the disk, beyond the window")
    }
    store.busyUntil = later(store.busyUntil, disk(node).writeDelay)
    node.storedBytes += bytes.count
    if node.storedBytes > disk(node).capacity {
      store.isBroken = true
      store.phase = .failed
      enterFact(.storeFailed(transfer, .diskFull, detail: "simulated"), of: node, at: store.busyUntil)
    } else {
      store.bytes.append(contentsOf: bytes)
      enterFact(.chunkStored(transfer, upTo: UInt64(store.bytes.count)), of: node, at: store.busyUntil)
    }
    node.stores[transfer] = store
  }

  func commitStore(_ transfer: TransferID, _ size: UInt64, _ digest: ResourceDigest, of node: SimulatedNode) {
    guard var store = node.stores[transfer], store.phase == .open || store.isBroken else {
      return finding("a commit of a store that is not open")
    }
    if store.isBroken { return }
    guard size == store.offeredSize, store.bytes.count == Int(size) else {
      return finding("a commit of \(store.bytes.count) bytes of \(store.offeredSize)")
    }
    store.busyUntil = later(store.busyUntil, disk(node).writeDelay)
    let isEqual = CheapDigest.resource(store.bytes) == digest
    if scenario.faults.contains(.storeLies), !store.bytes.isEmpty { store.bytes[store.bytes.count / 2] ^= 1 }
    if !isEqual, store.isSomethingElse {
      store.isSomethingElse = false
      store.bytes = []
      store.handedOver = 0
      store.stored = 0
      enterFact(.storeRestarted(transfer, offset: 0), of: node, at: store.busyUntil)
    } else if !isEqual {
      store.phase = .failed
      enterFact(.storeFailed(transfer, .digestMismatch, detail: ""), of: node, at: store.busyUntil)
    } else if diskDice.chance(disk(node).commitFailChance) {
      store.phase = .failed
      let reason = diskDice.pick([Reason.directoryVanished, .exists, .storageFailed])
      enterFact(.storeFailed(transfer, reason, detail: "simulated"), of: node, at: store.busyUntil)
    } else {
      store.phase = .committing
      enterFact(
        .committed(transfer, name: Array("file".utf8), wasAlreadyPresent: store.wasAlreadyPresent), of: node,
        at: store.busyUntil)
    }
    node.stores[transfer] = store
  }

  /// Keeps a store. The existing part of the file is drawn when it is offered again.
  func keepStore(_ transfer: TransferID, of node: SimulatedNode) {
    guard var store = node.stores[transfer] else { return }
    if store.phase == .committed || store.phase == .committing {
      return finding("a store is kept that has all its bytes")
    }
    keepPartial(transfer, stored: store.bytes.count, of: node)
    store.phase = .discarded
    node.stores[transfer] = store
  }

  /// Discards a store. Discarding twice, or discarding a store that was never opened, does no harm.
  func discardStore(_ transfer: TransferID, of node: SimulatedNode) {
    guard var store = node.stores[transfer] else { return }
    if store.phase == .committed { return finding("a committed resource is discarded") }
    dropPartial(transfer, of: node)
    store.phase = .discarded
    node.stores[transfer] = store
  }
}
