import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// The address and settings of a listening socket: nodes with equal ones can share a socket.
struct ListeningPlace: Hashable {
  var kind: SocketKind
  var device: BluetoothAddress
  var settings: SocketSettings
  /// The PSM or the channel; 0: chosen by the system.
  var port: UInt16
}

extension BluetoothSocket {
  static func listening(at place: ListeningPlace, backlog: Int32) throws(LinkFailure) -> BluetoothSocket {
    do throws(SystemError) {
      let socket = try BluetoothSocket(place.kind)
      do throws(SystemError) {
        try socket.bind(to: SocketEnd(device: place.device, port: place.port))
        try socket.apply(place.settings)
        try socket.listen(backlog: backlog)
        return socket
      } catch {
        socket.close()
        throw error
      }
    } catch {
      throw LinkFailure(bluetooth: error)
    }
  }
}
