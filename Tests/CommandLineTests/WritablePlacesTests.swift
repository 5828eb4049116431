import CPiconetSystem
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("Where a receiver may write")
struct WritablePlacesTests {
  private func places(
    trace: LocalPath? = nil, _ change: (inout ImageReceiveArguments) -> Void = { _ in }
  ) -> WritablePlaces {
    var arguments = ImageReceiveArguments()
    change(&arguments)
    return WritablePlaces(of: arguments, directory: "/photos", state: ["/state", "/kept"], trace: trace)
  }

  @Test("where it stores, and where key, known peers and history are")
  func usual() {
    #expect(places() == WritablePlaces(directories: ["/state", "/kept", "/photos"], files: ["/dev/null"]))
  }

  @Test("a run that is recorded also in the folder of that file")
  func trace() {
    for (file, folder) in [("/a/b", "/a"), ("/b", "/"), ("b", "."), ("a/b", "a"), ("a//b/", "a/")]
      as [(LocalPath, LocalPath)]
    {
      #expect(places(trace: file).directories == ["/state", "/kept", "/photos", folder])
    }
  }

  @Test("one that shows its fingerprint makes its key at most, and one that shows the history nothing")
  func shown() {
    #expect(places(trace: "/a/b") { $0.fingerprint = true }.directories == ["/state", "/kept"])
    #expect(places(trace: "/a/b") { $0.history = 20 }.directories == [])
  }

  @Test("of the environment: the state folder, which is made, and where a link in it leads")
  func state() throws {
    let folder = try TemporaryFolder()
    func environment(_ state: String?) -> ProgramEnvironment {
      ProgramEnvironment(variable: { $0 == "XDG_STATE_HOME" ? state : "/" }, hostName: "here")
    }
    let state = folder.path + "/state"
    #expect(environment(state).writtenFolders == [LocalPath(state + "/piconet")])
    #expect(access(state + "/piconet", W_OK) == 0)
    let kept = try folder.folder("kept")
    try folder.write("kept/peers", [])
    try #require(symlink(kept + "/peers", state + "/piconet/known-peers") == 0)
    #expect(environment(state).writtenFolders == [LocalPath(kept), LocalPath(state + "/piconet")].sorted())
    // What is wrong with a link that leads nowhere is said when the file is read.
    try #require(unlink(kept + "/peers") == 0)
    #expect(environment(state).writtenFolders == [LocalPath(state + "/piconet")])
  }
}

@Suite("What of Landlock a kernel has")
struct LandlockSupportTests {
  @Test("Landlock is of use from version 2 on; for other versions a reason is given")
  func versions() {
    for version in [2, 7, 99] as [Int32] {
      #expect(LandlockSupport(version: version, error: ENOSYS) == .usable(version))
    }
    for (version, error, reason) in [
      (1, 0, "its Landlock is of version 1, and 2 is needed"), (-1, ENOSYS, "it was built without Landlock"),
      (-1, EOPNOTSUPP, "its Landlock is turned off"),
      (-1, EPERM, "its Landlock can't be used: Operation not permitted"),
    ] as [(Int32, Int32, String)] {
      #expect(LandlockSupport(version: version, error: error) == .missing(reason))
    }
  }

  @Test("each version's rights to write are those of linux/landlock.h, and a newer one's those that are known")
  func rights() {
    let first: UInt64 = 0b1_1111_1111_0010
    #expect(
      (0...9 as ClosedRange<Int32>).map(piconet_landlock_write_rights) == [
        0, first, first | 1 << 13, first | 3 << 13, first | 3 << 13,
      ] + Array(repeating: first | 7 << 13, count: 5))
  }
}
