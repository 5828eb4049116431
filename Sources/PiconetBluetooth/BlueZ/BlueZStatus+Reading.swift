import PiconetBlueZ
import PiconetDBus
import PiconetDBusValues
import PiconetRuntime

extension BlueZStatus {
  /// Asks bluetoothd for its state, changes nothing, and calls `completion` once, on the loop, after at most twice
  /// `timeout`.
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
      switch result {
      case .success(let values):
        var tree = ObjectTree()
        if let answer = values.first { _ = tree.replace(by: answer) }
        askForProfiles(connection, timeout) { refusal in
          connection.close()
          completion(BlueZStatus(daemon: .running, tree: tree, profileRefusal: refusal))
        }
      case .failure(let failure):
        connection.close()
        let isAbsent =
          failure.name == DBusFailure.serviceUnknown || failure.name == "org.freedesktop.DBus.Error.NameHasNoOwner"
        completion(
          BlueZStatus(
            daemon: isAbsent
              ? .notRunning : failure.name == DBusFailure.disconnected ? .noBus(failure) : .refused(failure)))
      }
    }
  }

  /// Asks whether this process may register a profile: if it may, taking back a profile that does not exist fails for
  /// just that reason.
  private static func askForProfiles(
    _ connection: DBusConnection, _ timeout: Duration, completion: @escaping (DBusFailure?) -> Void
  ) {
    connection.call(
      BlueZNames.service, BlueZNames.managerPath, BlueZNames.profileManagerInterface, "UnregisterProfile",
      [.path(BlueZNames.ownProfilePath)], timeout: timeout
    ) { result in
      switch result {
      case .success: completion(nil)
      case .failure(let failure): completion(failure.name == "org.bluez.Error.DoesNotExist" ? nil : failure)
      }
    }
  }
}
