import PiconetEngine
import PiconetHTTP

/// Transfers in both directions, whose progress is noted, and URLs that are being fetched. Part of the node's state,
/// under its lock.
struct TransferTable: Sendable {
  var sending: [TransferID: OutgoingTransfer] = [:]
  var receiving: [TransferID: IncomingTransferState] = [:]
  private var fetches: [ObjectIdentifier: HTTPFetch] = [:]

  mutating func add(_ fetch: HTTPFetch) { fetches[ObjectIdentifier(fetch)] = fetch }

  mutating func remove(_ fetch: HTTPFetch) { fetches[ObjectIdentifier(fetch)] = nil }

  mutating func takeAll() -> (receiving: [IncomingTransferState], fetches: [HTTPFetch]) {
    defer { self = TransferTable() }
    return (Array(receiving.values), Array(fetches.values))
  }
}
