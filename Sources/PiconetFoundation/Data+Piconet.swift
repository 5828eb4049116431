import Foundation
import Piconet

extension Message {
  /// The content, copied: to be kept for as long as one likes. What sends bytes (`Member.send`, `Session.send`,
  /// `OutgoingStream.write`, `Resource.bytes`) takes `Data` as it is.
  public var data: Data { Data(bytes) }
}

extension ReceivedData {
  /// The content, copied.
  public var data: Data { Data(bytes) }
}
