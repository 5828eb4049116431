import Foundation
import Testing

/// Packages that depend on this one, built as others would build them: the README's program, and copies of the examples
/// with one path changed.
enum DependantPackages {
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// Where the built programs are, in a suite with the trait `dependantPackages`.
  @TaskLocal static var programs = ""

  static let examples = [
    "chat", "game", "drawing", "cameraroll", "dropbox", "imagesender", "multipeer", "BasicService",
    "BasicClient",
  ]

  /// Builds all of them, the examples from copies in `folder`.
  /// - Returns: where the programs are.
  static func build(in folder: URL) async throws -> String {
    for package in ["Dependant", "AppleImports"] { try await build("\(Repository.root)/Tests/\(package)") }
    for example in examples { try await build(try copy(example, into: folder)) }
    return scratch + "/release"
  }

  /// Does what a newcomer does with an example: copies its directory, and says where Piconet is.
  private static func copy(_ example: String, into folder: URL) throws -> String {
    let copy = folder.appending(path: example)
    try FileManager.default.copyItem(atPath: Repository.root + "/Tools/Examples/" + example, toPath: copy.path)
    let manifest = copy.appending(path: "Package.swift")
    let text = try String(contentsOf: manifest, encoding: .utf8)
    let parts = text.components(separatedBy: "\"../../..\"")
    guard parts.count == 2 else { throw Failed(description: "\(example): not one path to change in\n\(text)") }
    try parts.joined(separator: "\"\(Repository.root)\"").write(to: manifest, atomically: true, encoding: .utf8)
    return copy.path
  }

  /// That of the release programs, which are built with these settings: there Piconet is built already, or once for
  /// all. Anew for these alone it would take a sixth of all that is built for the tests.
  private static let scratch = Repository.root + "/.build"

  private static func build(_ package: String) async throws {
    // A plan is taken as it is if nothing has changed in its package, though it be another one than is built now.
    let plan = scratch + "/release.yaml"
    try? FileManager.default.removeItem(atPath: plan)
    defer { try? FileManager.default.removeItem(atPath: plan) }
    // If only some test targets are chosen, the manifest has no products; and what Tools/test builds has flags of its
    // own.
    let command = [
      "env", "-u", "PICONET_TESTS", "-u", "PICONET_OPTIMIZED", "swift", "build", "--configuration", "release",
      "--static-swift-stdlib", "--package-path", package, "--scratch-path", scratch,
    ]
    let said = try await run(command, seconds: 1500)
    if said.contains("\(package)/Sources") { throw Failed(description: "it builds, but not without a word:\n\(said)") }
  }

  /// Runs a shell script with `start NAME PROGRAM ARGUMENT...`, which gives NAME a keyboard (`types NAME TEXT`; `leaves
  /// NAME` ends what is typed) and a screen, the file NAME.out; `sees NAME TEXT` waits until that holds the text, for a
  /// minute at most.
  ///
  /// It has a folder, a network with nothing but `lo`, and processes of its own: the kernel ends what it leaves
  /// running. If this machine lets us make no namespaces, it shares `lo` with others and ends its programs itself.
  /// - Returns: what it wrote.
  @discardableResult
  static func play(_ script: String) async throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "piconet-play-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let namespaces = await (try? run(namespaces + ["true"], seconds: 10)) == nil ? [] : namespaces
    let stage = "cd '\(folder.path)'; programs='\(programs)'\n" + prelude
    return try await run(namespaces + ["bash", "-c", stage + script], seconds: 180)
  }

  private static let namespaces =
    ["unshare"] + (geteuid() == 0 ? [] : ["--user", "--map-root-user"])
    + ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]

  private static let prelude = """
    set -eu
    trap 'kill $(jobs -p) 2>/dev/null || :' EXIT
    ip link set lo up 2>/dev/null || :
    export PICONET_INTERFACES=lo XDG_STATE_HOME=$PWD/state
    declare -A keyboards
    start() {
      local name=$1; shift
      mkfifo $name.in
      # Nobody but us holds a keyboard, or it would never end.
      ( for other in "${keyboards[@]}"; do exec {other}>&-; done
        exec ${network:+nsenter --net=/run/netns/$network} stdbuf -oL "$programs/$1" "${@:2}" <$name.in >$name.out 2>&1 ) &
      exec {keyboard}>$name.in
      keyboards[$name]=$keyboard
    }
    # networks A B: two hosts that share a network with this one each, and none with each other. `network=A start ...`
    # starts a program there.
    networks() {
      mount -t tmpfs tmpfs /run
      export -n PICONET_INTERFACES
      local host number=0
      for host; do
        ip netns add $host
        ip link add $host type veth peer name eth0 netns $host
        number=$((number + 1))
        ip -n $host link set lo up
        ip -n $host addr add 10.$number.0.2/24 dev eth0
        ip -n $host link set eth0 up
        ip addr add 10.$number.0.1/24 dev $host
        ip link set $host up
      done
    }
    types() { echo "$2" >&${keyboards[$1]}; }
    leaves() { local keyboard=${keyboards[$1]}; unset "keyboards[$1]"; exec {keyboard}>&-; }
    sees() {
      for _ in $(seq 1200); do grep -qsF -- "$2" $1.out && return 0; sleep 0.05; done
      echo "$1 has not seen '$2', but:"; cat $1.out; return 1
    }

    """

  /// Runs a command for at most so many seconds, and gives what it wrote.
  static func run(_ command: [String], seconds: Int) async throws -> String {
    let output = FileManager.default.temporaryDirectory.appending(path: "piconet-output-\(UUID().uuidString)")
    _ = FileManager.default.createFile(atPath: output.path, contents: nil)
    defer { try? FileManager.default.removeItem(at: output) }
    let handle = try FileHandle(forWritingTo: output)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    // A build that is ended ends its compilers, which takes a while. What it left would be waited for: the end of a
    // Process is that of a socket which all that it starts inherit.
    process.arguments = ["-k", "30", "\(seconds)"] + command
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    // Not waitUntilExit, which would keep a thread from other tests for as long as a build takes.
    let status = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    let text = try String(contentsOf: output, encoding: .utf8)
    guard status == 0 else { throw Failed(description: "exit status \(status):\n\(text)") }
    return text
  }
}

/// Builds the packages once for all tests of a suite.
struct DependantPackagesTrait: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "piconet-dependant-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let programs = try await DependantPackages.build(in: folder)
    try await DependantPackages.$programs.withValue(programs) { try await function() }
  }
}

extension Trait where Self == DependantPackagesTrait {
  static var dependantPackages: Self { Self() }
}
