import Foundation
import Glibc
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

/// Each in a process of its own, where nothing else opens, closes or allocates.
@Suite("What the nodes of one host take", .timeLimit(.minutes(15)))
struct HostResourcesTests {
  /// Advertised and searching on `lo`, each in a session of its own.
  private static func configuration(_ number: Int) -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: "host-\(getpid())-\(number)", name: "Node")
    configuration.listen = "127.0.0.1:0"
    configuration.transports = [.tcp]
    return configuration
  }

  private static func settings() -> NodeHostConfiguration {
    var settings = NodeHostConfiguration()
    settings.interfaces = ["lo"]
    return settings
  }

  /// Descriptors that libdispatch may open for itself at any time.
  private static let strangers = 4

  /// The count of descriptors once the kernel has given the same one twice.
  private static func descriptors() async -> Int {
    var last = descriptorCount()
    while true {
      try? await Task.sleep(for: .milliseconds(50))
      let now = descriptorCount()
      if now == last { return now }
      last = now
    }
  }

  @Test("ten nodes have no more threads than one, and one descriptor more each: their listening sockets")
  func threadsAndDescriptors() async throws {
    try await inOwnProcess {
      let before = descriptorCount()
      try await NodeHost.run(Self.settings()) { host in
        var nodes: [Node] = []
        var counts: [Int] = []
        for number in 0..<10 {
          let node = try await host.node(Self.configuration(number))
          try await node.setAvailable(true)
          nodes.append(node)
          counts.append(await Self.descriptors())
          try #require(nodeThreadCount() == 2)
        }
        try #require(counts[9] - counts[0] <= 9 + Self.strangers, "\(counts)")
        for node in nodes.dropFirst() { await node.stop() }
        try #require(await Self.descriptors() <= counts[0] + Self.strangers)
      }
      try expectNothingLeft(since: before)
    }
  }

  @Test("a node more takes at most 100 KiB of memory")
  func memory() async throws {
    try await inOwnProcess {
      try await NodeHost.run(Self.settings()) { host in
        var nodes: [Node] = []
        func add(_ count: Int) async throws {
          for _ in 0..<count {
            let node = try await host.node(Self.configuration(nodes.count))
            try await node.setAvailable(true)
            nodes.append(node)
          }
        }
        // The first nodes bring what all share, and fill caches.
        try await add(5)
        let before = anonymousBytes()
        try await add(40)
        let each = (anonymousBytes() - before) / 40
        print("each node of a host: \(each) bytes")
        try #require(each > 0 && each <= 100 << 10)
      }
    }
  }
}

/// Memory of this process that belongs to no file, in bytes, as it is now.
private func anonymousBytes() -> Int {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
  return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
}
