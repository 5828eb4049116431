import Foundation
import TestSupport
import Testing

/// Ordinary use needs no root, no group and no rule.
@Suite(
  "Bluetooth as an ordinary user", .serialized,
  .machine("--adapters 2", or: .realAdapters))
struct OrdinaryUserTests {
  /// Where the programs are: beside the test bundle.
  static let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path(percentEncoded: false)

  /// Runs the words as a user without groups and capabilities; if the tests are not root's, their user is one already.
  static let unprivileged =
    Machine.isRoot
    ? "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --ambient-caps=-all --bounding-set=-all --no-new-privs"
    : ""

  @Test("the user of these tests has no capability and belongs to no group bluetooth")
  func userHasNothing() throws {
    let status = try Command("sh", "-c", "\(Self.unprivileged) cat /proc/self/status").output
    #expect(status.contains("CapEff:\t0000000000000000\n"), "\(status)")
    #expect(try !Command("sh", "-c", "\(Self.unprivileged) id -nG").output.contains("bluetooth") || !Machine.isRoot)
  }

  @Test("such a user finds, dials, listens and stores", arguments: ["l2cap", "rfcomm"])
  func photosGo(transport: String) throws {
    let folder = try Folder()
    let script = """
      set -eu
      programs=$1 folder=$2 first=$3 second=$4 transport=$5
      mkdir "$folder/received" "$folder/sender" "$folder/receiver"
      cp Tools/samples/sunset.jpg "$folder/photo.jpg"
      chmod -R a+rwX "$folder"
      key=$(XDG_STATE_HOME=$folder/receiver \(Self.unprivileged) timeout 60 "$programs/imagerecv" --fingerprint)
      XDG_STATE_HOME=$folder/receiver \(Self.unprivileged) timeout 60 "$programs/imagerecv" --name Ordinary --session "ordinary-$$" \
        --accept all --count 1 --directory "$folder/received" --adapter "$second" --transport "$transport" --json \
        </dev/null >"$folder/receiver.log" 2>&1 &
      receiver=$!
      status=0
      XDG_STATE_HOME=$folder/sender \(Self.unprivileged) timeout 60 "$programs/imagesend" --to Ordinary --session "ordinary-$$" \
        --fingerprint "$key" --timeout 40 --adapter "$first" --transport "$transport" --json "$folder/photo.jpg" </dev/null || status=$?
      [ "$status" -eq 0 ] || kill "$receiver"
      wait "$receiver" || status=$?
      cat "$folder/receiver.log"
      [ "$status" -eq 0 ] && cmp "$folder/photo.jpg" "$folder/received/photo.jpg"
      """
    let said = try Command(
      "bash", "-c", script, "bash", Self.programs, folder.path, Machine.adapters[0], Machine.adapters[1], transport,
      seconds: 90)
    #expect(said.status == 0, "\(said.output)")
    #expect(said.output.contains("\"transport\":\"\(transport)\""), "\(said.output)")
  }
}
