import Piconet
import Testing

@testable import PiconetCommandLine

@Suite("What an error makes a tool exit with")
struct TransferFailureTests {
  private func code(_ code: PiconetError.Code, _ blame: Blame, on side: TransferFailure.Side = .sender) -> ExitCode {
    TransferFailure(PiconetError(code, blame: blame), on: side).exitCode
  }

  @Test("a full disk is the receiver's local trouble, and a refusal for the sender")
  func disk() {
    for reason in [PiconetError.Code.diskFull, .noPermission, .directoryVanished, .storageFailed] {
      #expect(code(reason, .us, on: .receiver) == .localFile)
      #expect(code(reason, .peer, on: .sender) == .refused)
    }
  }

  @Test("a source that can't be read is the sender's local trouble, and for the receiver the sender is lost")
  func source() {
    #expect(code(.sourceChanged, .us, on: .sender) == .localFile)
    #expect(code(.sourceChanged, .peer, on: .receiver) == .linkLost)
    for reason in [PiconetError.Code.sourceUnreadable, .sourceChanged] {
      #expect(code(reason, .peer, on: .sender) == .refused)
      #expect(code(reason, .us, on: .receiver) == .localFile)
    }
  }

  @Test("a transfer that this side cancels was interrupted, one that the peer cancels was refused")
  func cancelled() {
    #expect(code(.cancelled, .us) == .interrupted)
    #expect(code(.cancelled, .peer) == .refused)
  }

  @Test("each of the promised codes comes of what it stands for, and what is not known is internal")
  func others() {
    #expect(code(.unreachable, .link) == .noSuchPeer)
    #expect(code(.declined, .peer) == .refused)
    #expect(code(.timedOut, .peer) == .linkLost)
    #expect(code(.linkFailed, .link) == .linkLost)
    #expect(code(.identity, .peer) == .identity)
    #expect(code(.codeMismatch, .peer) == .identity)
    #expect(code(.state, .us) == .localFile)
    #expect(code(PiconetError.Code(rawValue: "news"), .us) == .internalError)
  }

  @Test("words for programs have hyphens")
  func words() {
    #expect(TransferFailure(PiconetError(.linkFailed, blame: .link), on: .sender).word == "link-failed")
    #expect(TransferFailure.hyphenated("declined") == "declined")
  }

  @Test("a failure because the remote side does not trust us names none of its paths")
  func identityThere() {
    let error = PiconetError(.identity, blame: .us, detail: "remove line 3 of /home/x/known-peers")
    #expect(!TransferFailure(error, on: .sender).message.contains("/home"))
  }
}

@Suite("What the environment says")
struct ProgramEnvironmentTests {
  private func environment(_ variables: [String: String], host: String = "desk") -> ProgramEnvironment {
    ProgramEnvironment(variable: { variables[$0] }, hostName: host)
  }

  @Test("PICONET_INTERFACES that names no interface of this machine is a wrong setting; one of several may come later")
  func misspeltInterface() throws {
    let variables = ["XDG_STATE_HOME": "/state", "HOME": "/home"]
    func configure(_ names: String) throws(PiconetError) -> NodeConfiguration {
      try environment(variables.merging(["PICONET_INTERFACES": names]) { $1 })
        .configuration(session: nil, name: nil, mode: .client)
    }
    #expect(throws: PiconetError.self) { try configure("nope0") }
    #expect(try configure("lo,nope0").interfaces == ["lo", "nope0"])
  }

  @Test("PICONET_INTERFACES names interfaces; only lo alone keeps to this machine")
  func interfaces() {
    #expect(environment([:]).interfaces == nil)
    #expect(environment(["PICONET_INTERFACES": ""]).interfaces == nil)
    #expect(environment(["PICONET_INTERFACES": "lo, eth0"]).interfaces == ["lo", "eth0"])
    #expect(!environment(["PICONET_INTERFACES": "lo,eth0"]).isLoopbackOnly)
    #expect(environment(["PICONET_INTERFACES": "lo"]).isLoopbackOnly)
  }

  @Test("the host's name without its domain is the peer's name, never longer than a peer's name may be")
  func name() {
    #expect(environment([:], host: "desk.example.org").peerName == "desk")
    #expect(environment([:], host: "").peerName == "Linux")
    #expect(environment([:], host: String(repeating: "ä", count: 40)).peerName.utf8.count == 62)
  }

  @Test("the identity is kept under XDG_STATE_HOME, else under HOME")
  func state() throws {
    let set = try environment(["XDG_STATE_HOME": "/s", "HOME": "/h"]).configuration(
      session: nil, name: nil, mode: .peer)
    #expect(set.identity == .directory("/s/piconet"))
    let unset = try environment(["HOME": "/h"]).configuration(session: nil, name: nil, mode: .peer)
    #expect(unset.identity == .directory("/h/.local/state/piconet"))
    #expect(unset.sessionID == "piconet-images" && unset.name == "desk")
  }
}

@Suite("What an error says")
struct FailureMessageTests {
  @Test("behind the address that was dialled no transport names it again, and other addresses stay")
  func address() {
    let device = "00:AA:01:00:00:2A"
    let detail = "l2cap: \(device): connect: Host is down; rfcomm: \(device): not tried in time"
    let failure = TransferFailure(PiconetError(.unreachable, blame: .link, detail: detail), on: .sender)
    #expect(
      failure.message(behind: device) == "unreachable: l2cap: connect: Host is down; rfcomm: not tried in time")
    let name = TransferFailure(
      PiconetError(.unreachable, blame: .link, detail: "tcp: 127.0.0.1:10: refused; [::1]:1: refused"), on: .sender)
    for place in ["localhost:1", "7.0.0.1:10", "127.0.0.1:1"] { #expect(name.message(behind: place) == name.message) }
  }
}

@Suite("Which side has ended a transfer")
struct EndedTransferTests {
  private func message(_ code: PiconetError.Code, isOurs: Bool, _ side: TransferFailure.Side) -> String {
    TransferFailure(PiconetError(code, blame: isOurs ? .us : .peer), on: side).message
  }

  @Test("is told in the same words for each kind of end, and does not blame the other side for an end here")
  func words() {
    for code in [PiconetError.Code.shuttingDown, .cancelled] {
      #expect(message(code, isOurs: true, .sender) == "interrupted")
      #expect(message(code, isOurs: true, .receiver) == "interrupted here")
    }
    for code in [PiconetError.Code.shuttingDown, .left] {
      #expect(message(code, isOurs: false, .receiver) == "broken off on the other side")
    }
    #expect(message(.shuttingDown, isOurs: false, .sender) == "the program there was ended")
  }
}

@Suite("A gate for tasks")
struct TaskGateTests {
  @Test("a task that is cancelled while it waits does not pass, and takes no other task's place")
  func cancelled() async {
    let gate = TaskGate(1)
    #expect(await gate.enter())
    let waiting = Task { await gate.enter() }
    waiting.cancel()
    #expect(await waiting.value == false)
    gate.leave()
    #expect(await gate.enter())
  }
}
