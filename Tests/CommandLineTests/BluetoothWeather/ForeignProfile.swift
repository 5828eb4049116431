#if Bluetooth
  import PiconetBlueZ
  import PiconetDBus
  import PiconetDBusValues
  import PiconetRuntime
  import PiconetSDP
  import Testing

  @testable import PiconetBluetooth

  /// A profile that another program has registered with bluetoothd, with a record of its own, until this is closed.
  final class ForeignProfile: @unchecked Sendable {
    // Sendable is right: the connection is touched on the loop only.
    private let loop: EventLoop
    private var connection: DBusConnection?

    /// Registers the profile, for an RFCOMM channel on which no program answers.
    init(_ service: BluetoothUUID) async throws {
      loop = try EventLoop(name: "foreign-profile")
      let options: [String: DBusValue] = [
        "Name": .string("Somebody else"), "Role": .string("server"), "Service": .string(service.description),
        "Channel": .uint16(29), "AutoConnect": .bool(false), "RequireAuthentication": .bool(false),
        "RequireAuthorization": .bool(false),
      ]
      let result: Result<Void, DBusFailure> = await withCheckedContinuation { done in
        loop.execute { [self] in
          do throws(DBusFailure) {
            let connection = try DBusConnection(loop: loop, address: .system)
            self.connection = connection
            connection.call(
              BlueZNames.service, BlueZNames.managerPath, BlueZNames.profileManagerInterface, "RegisterProfile",
              [.path("/somebody/else"), .string(service.description), .properties(options)], timeout: .seconds(20)
            ) { done.resume(returning: $0.map { _ in }) }
          } catch {
            done.resume(returning: .failure(error))
          }
        }
      }
      do {
        try result.get()
      } catch {
        await close()
        throw error
      }
    }

    func close() async {
      await loop.perform { [self] in
        connection?.close()
        connection = nil
      }
      loop.stop()
    }
  }
#endif
