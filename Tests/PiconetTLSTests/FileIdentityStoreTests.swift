import Foundation
import PiconetEngine
import PiconetWire
import Synchronization
import Testing

@testable import PiconetTLS

@Suite struct FileIdentityStoreTests {
  @Test("the folder follows XDG_STATE_HOME, then HOME; relative values count as unset")
  func folder() throws {
    #expect(try StateDirectory(stateHome: "/state", home: "/home/a").path == "/state/piconet")
    for unset in [nil, "", "state"] {
      #expect(try StateDirectory(stateHome: unset, home: "/home/a").path == "/home/a/.local/state/piconet")
    }
    #expect { try StateDirectory(stateHome: nil, home: "") } throws: { ($0 as? StateFailure)?.code == .noFolder }
  }

  @Test("the first start makes a key that every later start finds, readable by us alone")
  func createdOnce() throws {
    let folder = try TemporaryFolder()
    let directory = try StateDirectory(stateHome: nil, home: folder.path + "/new")
    let first = try FileIdentityStore(directory: directory).identity()
    let store = FileIdentityStore(directory: directory)
    #expect(try store.identity().peer == first.peer)
    #expect(try folder.mode(of: store.path) == 0o600)
    #expect(try folder.mode(of: directory.path) == 0o700)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["identity.pem"])
  }

  @Test("a key read from its file secures a link as the same peer")
  func loadedKeyWorks() throws {
    let folder = try TemporaryFolder()
    let store = FileIdentityStore(directory: folder.directory)
    let peer = try store.identity().peer
    let client = try OpenSSLContext(identity: store.identity()).makeChannel(role: .client)
    let server = try OpenSSLContext(identity: bob).makeChannel(role: .server)
    client.start()
    while client.outputCount + server.outputCount > 0 {
      _ = carry(drain(client), to: server)
      _ = carry(drain(server), to: client)
    }
    #expect(server.state == .secured(peer: peer))
  }

  @Test("eight that start at once agree on one key and leave nothing else")
  func concurrentCreation() throws {
    let folder = try TemporaryFolder()
    let directory = folder.directory
    let peers = Mutex<[PeerID]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      if let identity = try? FileIdentityStore(directory: directory).identity() {
        peers.withLock { $0.append(identity.peer) }
      }
    }
    let all = peers.withLock { $0 }
    #expect(all.count == 8 && Set(all).count == 1)
    #expect(folder.names == ["identity.pem"])
  }

  @Test("a file that others can read is refused with what to do", arguments: [0o640, 0o604, 0o620, 0o666])
  func tooOpen(mode: Int) throws {
    let folder = try TemporaryFolder()
    let store = FileIdentityStore(directory: folder.directory)
    _ = try store.identity()
    try folder.setMode(mode, of: store.path)
    #expect {
      try store.identity()
    } throws: {
      let failure = $0 as? StateFailure
      return failure?.code == .permissionsTooOpen && failure?.path == store.path
        && failure?.description.contains("chmod 600 '\(store.path)'") == true
    }
  }

  @Test("a folder in which others can write is refused")
  func folderTooOpen() throws {
    let folder = try TemporaryFolder()
    let store = FileIdentityStore(directory: folder.directory)
    _ = try store.identity()
    try folder.setMode(0o777, of: folder.directory.path)
    #expect { try store.identity() } throws: { ($0 as? StateFailure)?.code == .permissionsTooOpen }
  }

  @Test("a damaged file is an error that names it, and stays as it is")
  func damaged() throws {
    let pem = String(decoding: try alice.pem(), as: UTF8.self)
    let other = String(decoding: try bob.pem(), as: UTF8.self)
    let end = try #require(pem.range(of: "-----BEGIN CERTIFICATE"))
    let otherEnd = try #require(other.range(of: "-----BEGIN CERTIFICATE"))
    let rubbish = [
      "", "rubbish", String(pem.prefix(100)), String(pem[..<end.lowerBound]), String(pem[end.lowerBound...]),
      pem[..<end.lowerBound] + String(other[otherEnd.lowerBound...]), String(repeating: "x", count: 20 << 10),
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGj\n-----END ENCRYPTED PRIVATE KEY-----\n",
    ]
    for text in rubbish {
      let folder = try TemporaryFolder()
      try folder.write(text, to: "identity.pem")
      let store = FileIdentityStore(directory: folder.directory)
      #expect {
        try store.identity()
      } throws: {
        let failure = $0 as? StateFailure
        return failure?.code == .damaged && failure?.description.hasPrefix(store.path) == true
      }
      #expect(try folder.read("identity.pem") == text)
    }
  }

  @Test("a folder or a FIFO in the file's place is an error, not a wait")
  func notAFile() throws {
    let folder = try TemporaryFolder()
    let store = FileIdentityStore(directory: folder.directory)
    try FileManager.default.createDirectory(atPath: store.path, withIntermediateDirectories: true)
    try folder.setMode(0o700, of: folder.directory.path)
    #expect { try store.identity() } throws: { ($0 as? StateFailure)?.code == .damaged }
    try FileManager.default.removeItem(atPath: store.path)
    #expect(mkfifo(store.path, 0o600) == 0)
    #expect { try store.identity() } throws: { ($0 as? StateFailure)?.code == .damaged }
  }

  @Test("identities in memory differ, and each stays the same")
  func memory() throws {
    let store = try MemoryIdentityStore()
    #expect(store.identity().peer == store.identity().peer)
    #expect(try MemoryIdentityStore().identity().peer != store.identity().peer)
  }

  @Test("an identity goes away and comes back as the same device, encrypted or not; a wrong passphrase brings nothing")
  func exported() throws {
    let identity = try DeviceIdentity.generate()
    #expect(try DeviceIdentity(pem: identity.pem()).peer == identity.peer)
    let passphrase = Array("correct horse".utf8)
    let pem = try identity.pem(passphrase: passphrase)
    let text = String(decoding: pem, as: UTF8.self)
    #expect(text.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n") && !text.contains("BEGIN PRIVATE KEY"))
    #expect(try DeviceIdentity(pem: pem, passphrase: passphrase).peer == identity.peer)
    for wrong in [nil, Array("correct horsE".utf8), Array("correct horse ".utf8)] as [[UInt8]?] {
      #expect(throws: (any Error).self) { try DeviceIdentity(pem: pem, passphrase: wrong) }
    }
  }

  @Test("another identity takes the place of the one that is there only where that is wanted")
  func replaced() throws {
    let folder = try TemporaryFolder()
    let store = FileIdentityStore(directory: folder.directory)
    let first = try store.identity().peer
    let other = try DeviceIdentity.generate()
    #expect { try store.put(other, replacing: false) } throws: { ($0 as? StateFailure)?.code == .exists }
    #expect(try store.identity().peer == first)
    try store.put(other, replacing: true)
    #expect(try store.identity().peer == other.peer)
    #expect(try folder.mode(of: store.path) == 0o600)
    #expect(folder.names == ["identity.pem"])
  }
}
