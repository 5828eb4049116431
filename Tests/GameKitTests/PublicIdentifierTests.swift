import GameKit
import Testing

/// Every public name of Apple's session part, as Swift code writes it. That it compiles is the test.
@Suite("The names of GameKit's session part")
struct PublicIdentifierTests {
  @Test("the constants have Apple's numbers")
  func constants() {
    let modes: [(GKSendDataMode, Int32)] = [(.reliable, 0), (.unreliable, 1)]
    #expect(modes.allSatisfy { $0.rawValue == $1 && GKSendDataMode(rawValue: $1) == $0 })
    let kinds: [(GKSessionMode, Int32)] = [(.server, 0), (.client, 1), (.peer, 2)]
    #expect(kinds.allSatisfy { $0.rawValue == $1 })
    let states: [(GKPeerConnectionState, Int32)] = [
      (.stateAvailable, 0), (.stateUnavailable, 1), (.stateConnected, 2), (.stateDisconnected, 3),
      (.stateConnecting, 4), (.stateConnectedRelay, 5),
    ]
    #expect(states.allSatisfy { $0.rawValue == $1 })
    let types: [(GKPeerPickerConnectionType, UInt)] = [(.online, 1), (.nearby, 2)]
    #expect(types.allSatisfy { $0.rawValue == $1 })
  }

  @Test("the errors have Apple's numbers and domain, and every usual way of catching them works")
  func errors() throws {
    let codes: [(GKSessionError.Code, Int32)] = [
      (GKSessionError.invalidParameterError, 30500), (GKSessionError.peerNotFoundError, 30501),
      (GKSessionError.declinedError, 30502), (GKSessionError.timedOutError, 30503),
      (GKSessionError.cancelledError, 30504), (GKSessionError.connectionFailedError, 30505),
      (GKSessionError.connectionClosedError, 30506), (GKSessionError.dataTooBigError, 30507),
      (GKSessionError.notConnectedError, 30508), (GKSessionError.cannotEnableError, 30509),
      (GKSessionError.inProgressError, 30510), (GKSessionError.connectivityError, 30201),
      (GKSessionError.transportError, 30202), (GKSessionError.internalError, 30203),
      (GKSessionError.unknownError, 30204), (GKSessionError.systemError, 30205),
    ]
    for (code, number) in codes {
      #expect(code.rawValue == number && GKSessionError.Code(rawValue: number) == code)
      let error: any Error = GKSessionError(code)
      #expect((error as NSError).code == Int(number) && (error as NSError).domain == GKSessionErrorDomain)
      #expect(!error.localizedDescription.isEmpty)
    }
    #expect(GKSessionErrorDomain == "com.apple.gamekit.GKSessionErrorDomain")
    #expect(GKSessionError.errorDomain == GKSessionErrorDomain)
    let error = GKSessionError(.timedOutError, userInfo: [NSLocalizedDescriptionKey: "late"])
    #expect(error.localizedDescription == "late" && error.errorCode == 30503 && error.code == .timedOutError)
    #expect(error.userInfo[NSLocalizedDescriptionKey] as? String == "late" && error.errorUserInfo.count == 1)
    #expect(error == GKSessionError(.timedOutError) && Set([error]).contains(GKSessionError(.timedOutError)))
    do { throw error } catch GKSessionError.declinedError {
      Issue.record("another code")
    } catch GKSessionError.timedOutError {
      // This is the one.
    } catch {
      Issue.record("\(error)")
    }
    do { throw error } catch let error as GKSessionError where error.code == .timedOutError {
      // This is the one.
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test("the session and its delegate")
  func session() throws {
    let made: GKSession? = GKSession(sessionID: nil, displayName: nil, sessionMode: .peer)
    let session: GKSession = try #require(made)
    let delegate = Everything()
    session.delegate = delegate
    let read: (any GKSessionDelegate)? = session.delegate
    #expect(read === delegate)
    let texts: [String?] = [session.sessionID, session.displayName, session.peerID]
    #expect(texts.allSatisfy { $0?.isEmpty == false })
    let mode: GKSessionMode = session.sessionMode
    #expect(mode == .peer)
    session.isAvailable = false
    let timeout: TimeInterval = session.disconnectTimeout
    session.disconnectTimeout = timeout
    let name: String? = session.displayName(forPeer: "1")
    #expect(name == nil)
    #expect(throws: GKSessionError.self) { try session.send(Data(), toPeers: ["1"], with: .reliable) }
    try session.sendData(toAllPeers: Data(), with: GKSendDataMode.unreliable)
    session.setDataReceiveHandler(delegate, withContext: nil)
    session.setDataReceiveHandler(nil, withContext: nil)
    session.connect(toPeer: "1", withTimeout: session.disconnectTimeout)
    session.cancelConnect(toPeer: "1")
    #expect(throws: GKSessionError.self) { try session.acceptConnection(fromPeer: "1") }
    session.denyConnection(fromPeer: "1")
    session.disconnectPeer(fromAllPeers: "1")
    session.disconnectFromAllPeers()
    let peers: [Any]? = session.peers(with: .stateConnected)
    #expect(peers == nil)
  }

  @Test("the picker and its delegate")
  func picker() {
    let picker = GKPeerPickerController()
    #expect(picker.connectionTypesMask == .nearby && !picker.isVisible)
    picker.connectionTypesMask = .online
    #expect(picker.connectionTypesMask == GKPeerPickerConnectionType.online && picker.connectionTypes == [.online])
    let delegate = Everything()
    picker.delegate = delegate
    #expect(picker.delegate === delegate)
    picker.dismiss()
    let show: () -> Void = picker.show
    _ = show
  }
}

/// Every delegate method, with Apple's signature.
private final class Everything: NSObject, GKSessionDelegate, GKPeerPickerControllerDelegate, GKSessionDataReceiveHandler
{
  func session(_ session: GKSession, peer peerID: String, didChange state: GKPeerConnectionState) {}
  func session(_ session: GKSession, didReceiveConnectionRequestFromPeer peerID: String) {}
  func session(_ session: GKSession, connectionWithPeerFailed peerID: String, withError error: any Error) {}
  func session(_ session: GKSession, didFailWithError error: any Error) {}
  func receiveData(
    _ data: Data, fromPeer peer: String, in session: GKSession, context: UnsafeMutableRawPointer?
  ) {}
  func peerPickerController(_ picker: GKPeerPickerController, didSelect type: GKPeerPickerConnectionType) {}
  func peerPickerController(_ picker: GKPeerPickerController, sessionFor type: GKPeerPickerConnectionType) -> GKSession
  {
    GKSession()
  }
  func peerPickerController(_ picker: GKPeerPickerController, didConnectPeer peerID: String, to session: GKSession) {}
  func peerPickerControllerDidCancel(_ picker: GKPeerPickerController) {}
}

/// None of them: all are optional.
private final class Nothing: NSObject, GKSessionDelegate, GKPeerPickerControllerDelegate, GKSessionDataReceiveHandler {}
