import PiconetEngine
import PiconetIP

/// The peers in sight: the list as it is at first, and again after each change. A slow reader sees the latest list, not
/// every one. Ends with the node.
public struct PeerList: AsyncSequence, Sendable {
  public typealias Element = [Peer]
  let watched: Watched<[NodeID: PeerSummary]>

  public struct AsyncIterator: AsyncIteratorProtocol {
    let watched: Watched<[NodeID: PeerSummary]>
    var version: UInt64 = 0

    public mutating func next() async -> [Peer]? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> [Peer]? {
      guard let (value, version) = await watched.next(after: version, isolation: actor) else { return nil }
      self.version = version
      return Peer.list(value)
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(watched: watched) }
}

/// The obstacles to discovery over a network: as they are at first, and again after each change; empty where there is
/// no obstacle. A slow reader sees the latest, not every one. Ends with the node.
public struct DiscoveryObstacleList: AsyncSequence, Sendable {
  public typealias Element = [DiscoveryObstacle]
  let watched: Watched<[DiscoveryObstacle]>

  public struct AsyncIterator: AsyncIteratorProtocol {
    let watched: Watched<[DiscoveryObstacle]>
    var version: UInt64 = 0

    public mutating func next() async -> [DiscoveryObstacle]? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> [DiscoveryObstacle]? {
      guard let (value, version) = await watched.next(after: version, isolation: actor) else { return nil }
      self.version = version
      return value
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(watched: watched) }
}

/// Events in order. Each reader gets all of them; unread events wait for the next reader. Ends with the node.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
  let source: any EventSource<Element>

  public struct AsyncIterator: AsyncIteratorProtocol {
    let reader: EventReader<Element>

    public mutating func next() async -> Element? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await reader.source.next(for: reader.id, isolation: actor)
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: EventReader(source)) }
}
