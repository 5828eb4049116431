import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite(
  "imagesend and imagerecv beside bluetoothd, and beside others", .serialized,
  .machine("--adapters 2"))
struct DaemonTests {
  @Test("bluetoothd is killed and restarted while imagerecv waits: the next photo finds it")
  func restart() async throws {
    try await WeatherScene.run { scene in
      let receiver = try await scene.receiver()
      try await scene.sendsWell("a.jpg")
      try await VirtualMachine.fault("daemon-kill")
      try await VirtualMachine.fault("daemon-start >/dev/null 2>&1")
      try await scene.sendsWell("b.jpg")
      #expect(receiver.events("failed").isEmpty, "\(receiver.error)")
    }
  }

  @Test("a sender says while it searches that bluetoothd does not answer, and finds the receiver once it does")
  func silentDaemon() async throws {
    try await WeatherScene.run { scene in
      _ = try await scene.receiver()
      try await VirtualMachine.shell("kill -STOP $(pidof bluetoothd)")
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "80", try scene.scene.photo("a.jpg"))
      let isTold = await sender.shows("bluetoothd is stopped by a signal")
      // Later tests need bluetoothd.
      try await VirtualMachine.shell("kill -CONT $(pidof bluetoothd)")
      #expect(isTold, "\(sender.error)")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(scene.stored == ["a.jpg"])
    }
  }

  @Test("a bluetoothd that is stopped is the first thing that imagesend says, and what doctor says, also to root")
  func stoppedDaemon() async throws {
    try await WeatherScene.run { scene in
      try await VirtualMachine.shell("kill -STOP $(pidof bluetoothd)")
      let doctor = try ToolProcess("piconet", ["doctor", "--json"], environment: [:])
      let status = await doctor.end()
      let photo = try scene.scene.photo("a.jpg")
      let sender = try scene.scene.start(
        "imagesend", ["--transport", "bluetooth", "--to", "Kitchen", "--timeout", "4", photo], state: "sender")
      let sent = await sender.end()
      // Later tests need bluetoothd.
      try await VirtualMachine.shell("kill -CONT $(pidof bluetoothd)")
      #expect(status == 1 && doctor.output.contains("bluetoothd.frozen"), "\(status as Any) \(doctor.error)")
      for word in ["sdp.served", "sum.both", "sum.bluetooth"] { #expect(!doctor.output.contains(word)) }
      #expect(sent == 3, "\(sender.error)")
      let words = "imagesend: warning: peers can't find each other over Bluetooth: bluetoothd is stopped"
      #expect(sender.error.hasPrefix(words), "\(sender.error)")
    }
  }

  @Test("a receiver without a common transport is waited for, with a word on what it offers, and found once it has one")
  func noCommonTransport() async throws {
    try await WeatherScene.run { scene in
      let receiver = try await scene.receiver(transport: "rfcomm")
      let sender = try scene.sender(
        "--to", "Kitchen", "--timeout", "60", try scene.scene.photo("a.jpg"), transport: "l2cap")
      let isTold = await sender.errorShows { $0.contains("offering only rfcomm, which is not used here") }
      #expect(isTold, "\(sender.error)")
      #expect(!sender.error.contains("end of a relay") && !sender.error.contains("others are"), "\(sender.error)")
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() != nil)
      _ = try await scene.receiver(transport: "l2cap")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(scene.stored == ["a.jpg"])
    }
  }

  @Test("bluetoothd is killed in mid-photo: the photo still arrives")
  func killedInMidPhoto() async throws {
    try await WeatherScene.run { scene in
      let receiver = try await scene.receiver()
      try await VirtualMachine.fault("rate 100000")
      let photo = try scene.scene.photo("a.jpg", size: 600_000)
      let sender = try scene.sender("--to", "Kitchen", photo)
      #expect(await receiver.shows("\"progress\""), "\(sender.error)")
      try await VirtualMachine.fault("daemon-kill")
      try await VirtualMachine.fault("daemon-start >/dev/null 2>&1")
      let status = await sender.end()
      try await VirtualMachine.fault("rate 0")
      // A new bluetoothd sets the adapters up anew, which may end their connections; the members outlive that.
      #expect(status == 0, "\(sender.error)\n\(receiver.error)")
      #expect(try scene.scene.isSame(photo, scene.scene.into + "/a.jpg"))
      try await scene.sendsWell("b.jpg")
    }
  }

  @Test("a receiver of root's, which goes on without bluetoothd, leaves the adapter to the bluetoothd that comes")
  func withoutDaemon() async throws {
    try await WeatherScene.run { scene in
      let receiver = try await scene.receiver(isOrdinary: false)
      // In one command: what is switched off later stays off.
      try await VirtualMachine.shell("fault daemon-kill; hciconfig \(WeatherScene.far) down")
      let isTaken = try await VirtualMachine.becomes(within: 60, "hciconfig \(WeatherScene.far) | grep -q ISCAN")
      #expect(isTaken, "\(receiver.error)")
      try await VirtualMachine.fault("daemon-start >/dev/null 2>&1")
      // The receiver looks every two seconds whether bluetoothd is there.
      let stays = try await VirtualMachine.shell(
        """
        seconds() { cut -d . -f 1 /proc/uptime; }
        end=$(($(seconds) + 6))
        while [ $(seconds) -lt $end ]; do
          pidof bluetoothd && hciconfig \(WeatherScene.far) | grep 'UP RUNNING' || exit 1
          sleep 0.5
        done
        """)
      #expect(stays.status == 0, "\(stays.output)")
      try await scene.sendsWell("a.jpg")
      #expect(receiver.isRunning)
    }
  }

  @Test("two receivers with one session on one adapter are both found, and each can be sent to")
  func twoReceivers() async throws {
    try await WeatherScene.run { scene in
      let other = scene.scene.folder.path + "/other"
      try FileManager.default.createDirectory(
        atPath: other, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
      _ = try await scene.receiver()
      _ = try await scene.receiver(name: "Garden", into: other)
      try await scene.sendsWell("kitchen.jpg")
      try await scene.sendsWell("garden.jpg", to: "Garden", into: other)
      let photo = try scene.scene.photo("all.jpg")
      // Both are in one list of records, so they come into sight together.
      let both = try scene.sender("--to", "all", photo)
      #expect(await both.end() == 0, "\(both.error)")
      #expect(both.events("stored").count == 2, "\(both.error)")
      #expect(try scene.scene.received() == ["all.jpg", "kitchen.jpg"])
      #expect(try scene.scene.received(other) == ["all.jpg", "garden.jpg"])
    }
  }

  @Test("a receiver that is killed between sighting and dialling: the sender says why, in time")
  func killedBeforeDialling() async throws {
    try await WeatherScene.run { scene in
      let receiver = try await scene.receiver()
      try await VirtualMachine.fault("delay 300")
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "8", try scene.scene.photo("a.jpg"))
      #expect(await sender.shows("\"connecting\""), "\(sender.error)")
      receiver.send(signal: SIGKILL)
      try await VirtualMachine.fault("delay 0")
      let clock = ContinuousClock()
      let start = clock.now
      let status = await sender.end(within: .seconds(60))
      #expect(status == 3 || status == 5, "\(sender.error)")
      #expect(clock.now - start < .seconds(16))
      // The killed receiver's remains do not hinder the next receiver.
      _ = try await scene.receiver()
      try await scene.sendsWell("b.jpg")
    }
  }

  @Test(
    "a receiver that is killed in mid-photo ends the sender with 5, and the adapter is not discoverable for more than a minute"
  )
  func receiverKilledInMidPhoto() async throws {
    try await WeatherScene.run { scene in
      let receiver = try await scene.receiver()
      try await VirtualMachine.fault("rate 40000")
      let sender = try scene.sender(
        "--to", "Kitchen", "--timeout", "8", try scene.scene.photo("a.jpg", size: 800_000))
      #expect(await receiver.shows("\"progress\""), "\(sender.error)")
      let clock = ContinuousClock()
      let start = clock.now
      receiver.send(signal: SIGKILL)
      #expect(await sender.end(within: .seconds(60)) == 5, "\(sender.error)")
      #expect(clock.now - start < .seconds(16))
      try await VirtualMachine.fault("rate 0")
      #expect(
        try await VirtualMachine.becomes(
          within: 65,
          "dbus-send --system --print-reply=literal --dest=org.bluez /org/bluez/\(WeatherScene.far) "
            + "org.freedesktop.DBus.Properties.Get string:org.bluez.Adapter1 string:Discoverable | grep -q false"))
      // Its successor removes the partial file, and puts the timeout right.
      _ = try await scene.receiver()
      try await scene.sendsWell("b.jpg")
      #expect(scene.stored == ["b.jpg"])
    }
  }
}
