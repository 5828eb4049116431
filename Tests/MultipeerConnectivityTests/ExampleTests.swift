import Foundation
import TestSupport
import Testing

/// The two programs that were ported, over Bluetooth: over TCP `DependantTests` runs them.
@Suite(
  "The ported programs as two processes on hosts of their own, over Bluetooth", .serialized,
  .machine("--adapters 3 --hosts"), .timeLimit(.minutes(30)))
struct ExampleTests {
  /// Runs a script with `start NAME HOST PROGRAM ARGUMENT...`, `types NAME TEXT` and `sees NAME TEXT`. Every program
  /// has the adapter of a host, and no network.
  private func play(_ script: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "piconet-ported-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let stage = """
      set -eu
      trap 'kill $(jobs -p) 2>/dev/null || :' EXIT
      cd '\(folder.path)'
      export PICONET_INTERFACES=none XDG_STATE_HOME=$PWD/state
      IFS=, read -ra buses <<<"$PICONET_BUSES"
      declare -A keyboards
      start() {
        local name=$1 bus=${buses[$2]} program=$3; shift 3
        mkfifo $name.in
        ( for other in "${keyboards[@]}"; do exec {other}>&-; done
          DBUS_SYSTEM_BUS_ADDRESS=$bus exec stdbuf -oL $program "$@" <$name.in >$name.out 2>&1 ) &
        exec {keyboard}>$name.in
        keyboards[$name]=$keyboard
      }
      types() { echo "$2" >&${keyboards[$1]}; }
      sees() {
        for _ in $(seq 2400); do grep -qsF -- "$2" $1.out && return 0; sleep 0.05; done
        echo "$1 has not seen '$2', but:"; cat *.out; return 1
      }

      """
    let outcome = try await ProcessOutcome.of("/bin/bash", ["-c", stage + script])
    #expect(outcome.status == 0, "\(outcome.output)")
  }

  @Test("the Multipeer program finds, invites, talks, streams, sends a file and leaves")
  func multipeer() async throws {
    try await play(
      #"""
      program='\#(built("multipeer-example"))'
      head -c 100000 /dev/urandom >photo.bin
      start anna 0 $program Anna
      start ben 1 $program Ben
      sees anna '* Ben is here'
      sees ben '* Anna is here'
      sees anna 'in a fine mood'
      types anna 'Hello, Ben.'
      sees ben 'Anna: Hello, Ben.'
      types ben '/stream la la'
      sees anna 'Ben, in words: la la'
      types anna '/file photo.bin'
      sees anna 'photo.bin to Ben: sent'
      sees ben 'photo.bin is in from-Anna'
      cmp photo.bin from-Anna-*
      types ben /leave
      sees anna '* Ben is not here'
      """#)
  }

  @Test("the image sender for GKSession sends a picture in slices, and it is whole on the other side")
  func imageSender() async throws {
    try await play(
      #"""
      program='\#(built("imagesender-example"))'
      mkdir anna-images ben-images
      { printf '\x89PNG\r\n\x1a\n'; head -c 200000 /dev/urandom; } >anna.png
      start anna 0 $program Anna anna-images
      start ben 1 $program Ben ben-images
      sees anna 'Ben is here'
      sees ben 'Anna is here'
      types anna anna.png
      sees ben 'image-1.png: 200008 bytes from Anna'
      cmp anna.png ben-images/image-1.png
      """#)
  }
}
