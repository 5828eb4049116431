import PiconetBlueZ
import PiconetRuntime

extension BlueZStatus {
  /// Asks bluetoothd what there is, changes nothing, and calls `completion` once, on the loop, after at most `timeout`.
  public static func read(
    loop: EventLoop, busAddress: String? = nil, timeout: Duration = .seconds(5),
    completion: @escaping (BlueZStatus) -> Void
  ) {
    let connection: DBusConnection
    do throws(DBusFailure) {
      connection = try DBusConnection(loop: loop, address: busAddress.map(DBusConnection.Address.custom) ?? .system)
    } catch {
      let failure = error
      return loop.executeLater { completion(BlueZStatus(daemon: .noBus(failure))) }
    }
    // The completion holds the connection until it is closed.
    connection.call(
      BlueZNames.service, "/", BlueZNames.objectManagerInterface, "GetManagedObjects", timeout: timeout
    ) { result in
      connection.close()
      switch result {
      case .success(let values):
        var tree = ObjectTree()
        if let answer = values.first { _ = tree.replace(by: answer) }
        completion(BlueZStatus(daemon: .running, tree: tree))
      case .failure(let failure):
        let isAbsent =
          failure.name == DBusFailure.serviceUnknown || failure.name == "org.freedesktop.DBus.Error.NameHasNoOwner"
        completion(
          BlueZStatus(
            daemon: isAbsent
              ? .notRunning : failure.name == DBusFailure.disconnected ? .noBus(failure) : .refused(failure)))
      }
    }
  }
}
