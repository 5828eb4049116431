#if Bluetooth
  import Dispatch
  import PiconetDBus
  import PiconetDBusValues
  import Testing
  import PiconetBlueZ
  import PiconetRuntime

  @testable import PiconetBluetooth

  /// A desktop's pairing agent: bluetoothd asks it whatever it would ask the user. It gives the same answer each time,
  /// until it is closed.
  final class PairingAgent: @unchecked Sendable {
    // Sendable is right: the connection and the count are touched on the loop only, and the rest never changes.
    enum Answer: String, Sendable, CustomTestStringConvertible {
      case yes, no
      /// The user does not look.
      case none
      var testDescription: String { rawValue }
    }

    private static let path = "/agent"
    private static let interface = "org.bluez.Agent1"
    private static let managerInterface = "org.bluez.AgentManager1"

    private let loop: EventLoop
    private let answer: Answer
    private let isClosing = DispatchSemaphore(value: 0)
    private var connection: DBusConnection?
    private var questions: [String] = []

    /// Registers it as the default agent.
    /// - Parameter capability: what the agent has; by default a screen and two buttons.
    init(answering answer: Answer, capability: String = "DisplayYesNo") async throws {
      self.answer = answer
      loop = try EventLoop(name: "pairing-agent")
      do {
        try await call("RegisterAgent", [.path(Self.path), .string(capability)])
        try await call("RequestDefaultAgent", [.path(Self.path)])
      } catch {
        _ = await close()
        throw error
      }
    }

    /// Stops the kernel from asking for confirmations. bluetoothd 5.66 leaves its last agent's capability in the
    /// kernel. The kernel goes on asking without an agent, even after a restart of bluetoothd, and bluetoothd then
    /// refuses. An agent without any capability puts that right, for links that begin after it.
    static func restoreCapability() async throws {
      _ = await (try await PairingAgent(answering: .no, capability: "NoInputNoOutput")).close()
      try await linkEnds()
    }

    /// Waits for the end of an earlier link, over which bluetoothd would not ask the agent about a connection.
    /// An unused link ends after two seconds.
    static func linkEnds() async throws {
      let isOver = try await VirtualMachine.becomes(within: 30, "! hcitool -i \(WeatherScene.far) con | grep -q ACL")
      try #require(isOver, "the link does not end")
    }

    private func call(_ member: String, _ arguments: [DBusValue]) async throws {
      let result: Result<Void, DBusFailure> = await withCheckedContinuation { done in
        loop.execute { [self] in
          do throws(DBusFailure) {
            try connect().call(
              BlueZNames.service, BlueZNames.managerPath, Self.managerInterface, member, arguments,
              timeout: .seconds(20)
            ) { done.resume(returning: $0.map { _ in }) }
          } catch {
            done.resume(returning: .failure(error))
          }
        }
      }
      try result.get()
    }

    private func connect() throws(DBusFailure) -> DBusConnection {
      if let connection { return connection }
      let connection = try DBusConnection(loop: loop, address: .system)
      self.connection = connection
      _ = connection.export(
        DBusObject(interface: Self.interface, properties: { [:] }) { [weak self] in self?.reply(to: $0) }, at: Self.path
      )
      return connection
    }

    private func reply(to call: DBusArrival) -> DBusObject.Answer? {
      guard ["RequestAuthorization", "RequestConfirmation"].contains(call.member) else { return .success([]) }
      questions.append(call.member)
      switch answer {
      case .yes: return .success([])
      // A person takes a moment; a refusal at once would be taken for the kernel's, and tried again.
      case .no: _ = isClosing.wait(timeout: .now() + .seconds(2))
      // The loop is this agent's alone, so no other code waits for the answer.
      case .none: isClosing.wait()
      }
      return .failure(DBusFailure("org.bluez.Error.Rejected", "the user said no"))
    }

    /// Closes the connection, with which bluetoothd drops the agent.
    /// - Returns: what it was asked.
    func close() async -> [String] {
      isClosing.signal()
      let asked = await loop.perform { [self] in
        connection?.close()
        connection = nil
        return questions
      }
      loop.stop()
      return asked
    }
  }
#endif
