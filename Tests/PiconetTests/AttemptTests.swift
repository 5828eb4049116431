import Foundation
import PiconetTLS
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

@Suite("Every attempt ends once, with its reason on both sides", .timeLimit(.minutes(15)))
struct AttemptTests {
  @Test(
    "an address that makes no sense is unreachable with the reason",
    arguments: ["", "127.0.0.1", "a b:1", ":0", "[::1"])
  func senselessAddress(address: String) async throws {
    try await Host.client { client in
      #expect(await failure { try await client.invite(at: address) }?.code == .unreachable)
    }
  }

  @Test("connecting to oneself is refused")
  func selfConnection() async throws {
    try await Host.run { host in
      let error = await failure { try await host.node.invite(at: host.address) }
      #expect(error?.code == .unreachable && error?.blame == .us, "\(String(describing: error))")
      #expect(error?.description.contains("own address") == true, "\(String(describing: error))")
    }
  }

  @Test("a node that knows only remembered peers refuses a new one, which is told")
  func remembered() async throws {
    let state = try TemporaryFolder()
    try await NodePair.run(server: {
      $0.trust = .remembered
      $0.identity = .directory(state.path + "/state")
    }) { pair in
      let error = await failure { try await pair.client.invite(at: pair.address()) }
      #expect(error?.code == .identity, "\(String(describing: error))")
      #expect(error?.description.contains("remembered") == true, "\(String(describing: error))")
    }
  }

  @Test("only a person remembers: a peer that was accepted, and one that was invited, are strangers the next time")
  func nobodyIsRememberedByItself() async throws {
    let state = try TemporaryFolder()
    for side in ["client", "server"] {
      let identity = IdentityStorage.directory(state.path + "/" + side)
      try await NodePair.run(
        server: { if side == "server" { $0.identity = identity } },
        client: { if side == "client" { $0.identity = identity } }
      ) { _ = try await $0.connect() }
      #expect(try identity.knownPeers().isEmpty)
    }
  }

  @Test("a right is of one direction: who may be sent to may not push, and the other way round")
  func rights() async throws {
    let state = try TemporaryFolder()
    let (one, two) = (
      IdentityStorage.directory(state.path + "/one"), IdentityStorage.directory(state.path + "/two")
    )
    let peer = try two.fingerprint()
    for (right, invitesIt, isInvited) in [(PeerRight.Action.send, true, false), (.push, false, true)] {
      try one.changeTrust { (known) throws(StateFailure) in
        if known[peer] != nil { try known.forget(peer) }
        try known.take(peer, name: "Two", at: 0, confirmed: .code, rights: [PeerRight(right, "test")])
      }
      try await NodePair.run(
        server: { $0.identity = two },
        client: {
          $0.identity = one
          $0.trust = .remembered
        }
      ) { pair in
        let accepting = Task { try await pair.server.invitations.first()?.accept() }
        let error = await failure { try await pair.client.invite(at: pair.address()) }
        #expect((error == nil) == invitesIt, "\(String(describing: error))")
        if error != nil { #expect(error?.code == .identity && error?.detail.contains("no right") == true) }
        accepting.cancel()
        _ = try? await accepting.value
      }
      try await NodePair.run(
        server: {
          $0.identity = one
          $0.trust = .remembered
        }, client: { $0.identity = two }
      ) { pair in
        let accepting = Task { try await pair.server.invitations.first()?.accept() }
        let error = await failure { try await pair.client.invite(at: pair.address()) }
        #expect((error == nil) == isInvited, "\(String(describing: error))")
        if let error { #expect(error.code == .declined && error.blame == .peer) }
        accepting.cancel()
        _ = try? await accepting.value
      }
    }
  }

  @Test("a remembered peer is known by its key, whatever it calls itself; what is said of it holds at once")
  func remembers() async throws {
    let state = try TemporaryFolder()
    let identity = IdentityStorage.directory(state.path + "/state")
    try await NodePair.run(
      server: { $0.identity = .directory(state.path + "/server") }, client: { $0.identity = identity }
    ) {
      pair in
      let member = try await pair.connect().onClient
      #expect(member.proven.known == nil && member.proven.rights.isEmpty)
      let known = try await pair.client.remember(member.proven, as: "Mum", confirmed: .code, rights: [.send])
      #expect(try identity.knownPeers() == [known])
    }
    try await NodePair.run(
      server: { $0.identity = .directory(state.path + "/server") }, client: { $0.identity = identity }
    ) {
      pair in
      let member = try await pair.connect().onClient
      #expect(member.proven.known?.name == "Mum" && member.name == "Server" && member.proven.rights == [.send])
      await member.disconnect()
      try identity.changeTrust { (known) throws(StateFailure) in try known.block(member.proven.fingerprint, at: 0) }
      let error = await failure { try await pair.client.invite(at: pair.address()) }
      #expect(error?.code == .identity && error?.detail == "this device is blocked", "\(String(describing: error))")
    }
  }

  @Test("a remembered name with a new key is refused, and both sides read why")
  func keyChanged() async throws {
    let state = try TemporaryFolder()
    let identity = IdentityStorage.directory(state.path + "/state")
    try await NodePair.run(client: { $0.identity = identity }) { pair in
      _ = try await pair.client.remember(try await pair.connect().onClient.proven, confirmed: .code, rights: [.send])
    }
    // The same name; the identity is ephemeral, so the key is another one.
    try await NodePair.run(client: { $0.identity = identity }) { pair in
      let error = await failure { try await pair.client.invite(at: pair.address()) }
      #expect(error?.code == .identity && error?.blame == .peer, "\(String(describing: error))")
      #expect(error?.description.contains("not the device that was remembered under this name") == true)
      #expect(error?.description.contains(pair.server.id.peer.shortDescription) == true)
    }
    try await NodePair.run(
      server: {
        $0.identity = identity
        $0.name = "Other"
      }, client: { $0.name = "Server" }
    ) { pair in
      let error = await failure { try await pair.client.invite(at: pair.address()) }
      #expect(error?.code == .identity, "\(String(describing: error))")
      #expect(error?.description.contains("another device was remembered under this name there") == true)
      #expect(error?.description.contains(state.path) == false, "no path of the other machine")
    }
  }

  @Test(
    "asked, a person says yes: connected; no: codeMismatch; without a person: identity", arguments: [true, false, nil])
  func asks(answer: Bool?) async throws {
    let state = try TemporaryFolder()
    try await NodePair.run(client: {
      $0.trust = .ask
      $0.identity = .directory(state.path + "/state")
      if let answer { $0.confirm = { _, code in code.count == 7 && answer } }
    }) { pair in
      let accepting = Task {
        let invitation = await pair.server.invitations.first()
        #expect(invitation?.comparesCodes == true)
        _ = try await invitation?.showCode()
        return try await invitation?.accept()
      }
      let error = await failure { try await pair.client.invite(at: pair.address()) }
      switch answer {
      case true?:
        #expect(error == nil)
        #expect(pair.client.session.members.count == 1)
      case false?: #expect(error?.code == .codeMismatch && error?.blame == .us)
      case nil: #expect(error?.code == .identity)
      }
      accepting.cancel()
      _ = try? await accepting.value
    }
  }

  @Test("a cancelled invitation does not wait for the person who compares codes")
  func cancelledWhileAsking() async throws {
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    try await NodePair.run(client: {
      $0.trust = .ask
      $0.confirm = { _, _ in
        ask.yield()
        // Waits until the task is cancelled, like a person who never answers.
        let (never, _) = AsyncStream.makeStream(of: Void.self)
        _ = await never.first()
        end.yield(Task.isCancelled)
        return true
      }
    }) { pair in
      let inviting = Task { try await pair.client.invite(at: pair.address()) }
      _ = try await pair.server.invitations.first()?.showCode()
      _ = await asked.first()
      inviting.cancel()
      #expect(await failure { try await inviting.value }?.code == .cancelled)
    }
    // The node is gone: its question is cancelled.
    #expect(await ends.first() == true)
  }

  @Test("a peer of another protocol version is refused, whichever side dials")
  func version() async throws {
    try await Host.run { host in
      let said = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.secure()
        try raw.send(.hello(raw.hello { $0.versions = 2...2 }))
        return try raw.readToEnd()?.reason
      }
      #expect(said == .version)
      let listener = try RawListener()
      async let served: Void = blocking {
        let raw = try listener.accept()
        try raw.secure()
        _ = try raw.next()
        try raw.send(.hello(raw.hello { $0.versions = 2...2 }))
        _ = try raw.readToEnd()
      }
      let error = await failure { try await host.node.invite(at: listener.address) }
      #expect(error?.code == .version, "\(String(describing: error))")
      try await served
    }
  }

  @Test("a cancelled send of a file ends it on both sides, and leaves nothing")
  func cancelledSend() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a.bin", [UInt8](repeating: 1, count: 1000))
    try await NodePair.run { pair in
      let (member, _) = try await pair.connect()
      let sending = Task { try await member.send(.file(path)) }
      let offer = try #require(await pair.server.session.offers.first())
      sending.cancel()
      #expect(await failure { try await sending.value }?.code == .cancelled)
      let error = await failure {
        try await offer.store(in: pair.server.receivingDirectory(at: folder.folder("in")))
      }
      #expect(error?.code == .cancelled, "\(String(describing: error))")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/in") == [])
    }
  }

  @Test("a task cancelled beforehand sends, stores and invites nothing")
  func cancelledBeforehand() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a.bin", [UInt8](repeating: 1, count: 1000))
    try await NodePair.run { pair in
      let (member, _) = try await pair.connect()
      let address = try await pair.address()
      let codes = await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        let invite = await failure { try await pair.client.invite(at: address) }
        let send = await failure { try await member.send(.file(path)) }
        return [invite?.code, send?.code]
      }.value
      #expect(codes == [.cancelled, .cancelled])
      let other = try folder.write("b.bin", [2])
      let sending = Task { try await member.send(.file(other)) }
      // A task that is waiting already may get the first file's offer before its end is known.
      let offer = try #require(await pair.server.session.offers.first { $0.displayName == "b.bin" })
      let into = try await pair.server.receivingDirectory(at: folder.folder("in"))
      let store = await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await failure { try await offer.store(in: into) }
      }.value
      #expect(store?.code == .cancelled, "\(String(describing: store))")
      let error = await failure { try await sending.value }
      #expect(error?.code == .cancelled && error?.blame == .peer, "\(String(describing: error))")
    }
  }
}
