#if Bluetooth
  import Foundation
  import PiconetBluetooth
  import PiconetSDP
  import TestSupport
  import Testing

  @testable import PiconetCommandLine

  @Suite(
    "imagesend and imagerecv beside a program that has taken the session's UUID", .serialized,
    .machine("--adapters 2"))
  struct ForeignProfileTests {
    @Test(
      "another program registers the UUID first: a sender finds the receiver, also after that program has gone"
    )
    func takenBefore() async throws {
      try await WeatherScene.run { scene in
        let foreign = try await ForeignProfile(.session(scene.scene.session))
        do {
          // It can't be taken a second time.
          await #expect(throws: (any Error).self) { try await ForeignProfile(.session(scene.scene.session)) }
          let receiver = try await scene.receiver()
          try await scene.sendsWell("a.jpg")
          await foreign.close()
          try await scene.sendsWell("b.jpg")
          #expect(receiver.events("failed").isEmpty, "\(receiver.error)")
        } catch {
          await foreign.close()
          throw error
        }
      }
    }
  }
#endif
