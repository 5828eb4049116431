import Foundation
import Piconet

extension Message {
  /// The content, copied: it may be kept for long. The functions that send bytes (`Member.send`, `Session.send`,
  /// `OutgoingStream.write`, `Resource.bytes`) take `Data` as it is.
  public var data: Data { Data(bytes) }
}

extension ReceivedData {
  /// The content, copied.
  public var data: Data { Data(bytes) }
}
