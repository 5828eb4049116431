import Foundation
import GameKit

/// Sends images to everybody nearby who runs this: a program for `GKSession`, as it would be on a phone, with a
/// terminal in place of the window. Type the path of a PNG to send it; what comes is kept in the directory. Ctrl-D
/// leaves.
///
///     PICONET_INTERFACES=lo swift run imagesender Anna anna     # in one terminal
///     PICONET_INTERFACES=lo swift run imagesender Ben ben       # in another one of the same machine
///
/// Between two machines leave the variable out.
class ImageSender: NSObject, GKSessionDelegate {
  /// Well below the 95 KiB that a session takes at once.
  private static let sliceSize = 80 * 1024
  private static let endOfData = Data("EOD".utf8)
  /// Nobody's slices may fill our memory.
  private static let largestImage = 64 << 20

  private let session: GKSession
  private let directory: URL
  /// The slices of each peer, until its end of data.
  private var slices: [String: Data] = [:]
  private var isLeaving = false

  init(name: String, directory: URL) {
    session = GKSession(sessionID: "imageSenderApp", displayName: name, sessionMode: .peer)
    self.directory = directory
    super.init()
    session.delegate = self
    session.setDataReceiveHandler(self, withContext: nil)
    session.isAvailable = true
  }

  func send(_ url: URL) {
    guard let image = try? Data(contentsOf: url), isPNG(image) else {
      return print("not a PNG: \(url.lastPathComponent)")
    }
    do {
      var rest = image[...]
      while !rest.isEmpty {
        try session.sendData(toAllPeers: Data(rest.prefix(Self.sliceSize)), with: .reliable)
        rest = rest.dropFirst(Self.sliceSize)
      }
      try session.sendData(toAllPeers: Self.endOfData, with: .reliable)
      print("sent \(url.lastPathComponent) to \(session.peers(with: .stateConnected)?.count ?? 0)")
    } catch {
      print("not sent: \(error.localizedDescription)")
    }
  }

  func receiveData(
    _ data: Data, fromPeer peer: String, inSession session: GKSession, context: UnsafeMutableRawPointer?
  ) {
    guard data == Self.endOfData else {
      slices[peer, default: Data()].append(data)
      if slices[peer, default: Data()].count > Self.largestImage { slices[peer] = Data() }
      return
    }
    let image = slices.removeValue(forKey: peer) ?? Data()
    guard isPNG(image) else { return print("no image from \(name(of: peer))") }
    for number in 1... {
      let url = directory.appendingPathComponent("image-\(number).png")
      do {
        try image.write(to: url, options: .withoutOverwriting)
        return print("\(url.lastPathComponent): \(image.count) bytes from \(name(of: peer))")
      } catch CocoaError.fileWriteFileExists {
        continue
      } catch {
        return print("not kept: \(error.localizedDescription)")
      }
    }
  }

  private func isPNG(_ data: Data) -> Bool { data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) }

  // MARK: GKSessionDelegate

  func session(_ session: GKSession, peer peerID: String, didChange state: GKPeerConnectionState) {
    switch state {
    case .stateAvailable: if !isLeaving { session.connect(toPeer: peerID, withTimeout: session.disconnectTimeout) }
    case .stateConnected: print("\(name(of: peerID)) is here")
    case .stateDisconnected:
      slices[peerID] = nil
      print("\(name(of: peerID)) has gone")
      if isLeaving, session.peers(with: .stateConnected) == nil { exit(0) }
    default: break
    }
  }

  func session(_ session: GKSession, didReceiveConnectionRequestFromPeer peerID: String) {
    try? session.acceptConnection(fromPeer: peerID)
  }

  func session(_ session: GKSession, connectionWithPeerFailed peerID: String, withError error: any Error) {
    print("\(name(of: peerID)) is not reached: \(error.localizedDescription)")
  }

  func session(_ session: GKSession, didFailWithError error: any Error) {
    print("the session has failed: \(error.localizedDescription)")
    exit(1)
  }

  // MARK: The terminal

  func leave() {
    isLeaving = true
    session.isAvailable = false
    if session.peers(with: .stateConnected) == nil { exit(0) }
    session.disconnectFromAllPeers()
  }

  /// A peer's own words can't take over the terminal.
  private func name(of peer: String) -> String {
    String((session.displayName(forPeer: peer) ?? peer).filter { $0.isLetter || $0.isNumber || $0 == " " })
  }
}
