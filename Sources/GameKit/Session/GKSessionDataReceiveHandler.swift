import Foundation

/// The object that `GKSession.setDataReceiveHandler(_:withContext:)` takes. On Apple's systems any object with the
/// method will do, which is found by its name; here the class declares it with this protocol.
///
/// Write one of the three, to the letter, `context` with a question mark: they are the ways in which Swift code spells
/// the one method of Objective-C, `receiveData:fromPeer:inSession:context:`. It is called on the main queue, for each
/// message in the order in which its sender sent them. The data comes from the peer and is not to be trusted.
public protocol GKSessionDataReceiveHandler: AnyObject {
  /// A message from a connected peer.
  func receive(_ data: Data, fromPeer peer: String, in session: GKSession, context: UnsafeMutableRawPointer?)
  /// A message from a connected peer.
  func receiveData(_ data: Data, fromPeer peer: String, in session: GKSession, context: UnsafeMutableRawPointer?)
  /// A message from a connected peer.
  func receiveData(_ data: Data, fromPeer peer: String, inSession session: GKSession, context: UnsafeMutableRawPointer?)
}

extension GKSessionDataReceiveHandler {
  /// Goes on to the next of the three.
  public func receive(_ data: Data, fromPeer peer: String, in session: GKSession, context: UnsafeMutableRawPointer?) {
    receiveData(data, fromPeer: peer, in: session, context: context)
  }

  /// Goes on to the last of the three.
  public func receiveData(
    _ data: Data, fromPeer peer: String, in session: GKSession, context: UnsafeMutableRawPointer?
  ) {
    receiveData(data, fromPeer: peer, inSession: session, context: context)
  }

  /// Drops the message: the class has none of the three methods, and the delegate is told so once.
  public func receiveData(
    _ data: Data, fromPeer peer: String, inSession session: GKSession, context: UnsafeMutableRawPointer?
  ) {
    session.core.reportDeaf(type(of: self))
  }
}
