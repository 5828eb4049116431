import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("The configuration file")
struct ConfigurationFileTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func read(_ text: String) throws -> ImageReceiveArguments {
    try folder.write("imagerecv.conf", Array(text.utf8))
    return try ConfigurationFile(path: LocalPath(folder.path + "/imagerecv.conf"), home: "/home/anna")
      .read(into: ImageReceiveArguments(), table: imagerecvOptions)
  }

  @Test("options as name = value, with comments, blanks and a home directory")
  func options() throws {
    let arguments = try read(
      "# what Anna wants\n\n  name =  Living room \r\ndirectory=~/Pictures\nany\n\taccept = known\nmax-size=20M\nname = Hall\n"
    )
    #expect(arguments.name == "Hall" && arguments.directory == "/home/anna/Pictures")
    #expect(arguments.any && arguments.accept == .known && arguments.maxSize == 20 << 20)
  }

  @Test("an error is reported with its line, and with the word that may have been meant")
  func wrong() throws {
    for (text, words) in [
      ("name = a\naccpt = all", ":2: 'accpt' is no option that can stand here; did you mean 'accept'?"),
      ("accept = everybody", ":1: invalid argument 'everybody' for '--accept'"),
      ("any = yes", ":1: option '--any' doesn't"),
      ("name", ":1: option '--name' requires an argument"), ("help", ":1: 'help' is no option that can stand here"),
      ("history = 3", ":1: 'history' is no option"), ("na = x", ":1: 'na' is no option"), ("\u{1B}[2J", "is no option"),
      ("--name = x", "is no option that can stand here"),
      ("name = " + String(repeating: "x", count: 64), "longer than 63"),
    ] {
      let error = #expect(throws: UsageError.self, "\(text)") { try read(text) }
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("\u{1B}") != true)
    }
    #expect(throws: UsageError.self) { try read(String(repeating: "#", count: 65_537)) }
  }

  @Test("contradictions are found when the command line has been read, not before")
  func contradiction() throws {
    #expect(try read("visible = known\ncode").visible == .known)
  }

  @Test("there need be none; a folder in its place is an error")
  func absent() throws {
    let none = ConfigurationFile(path: LocalPath(folder.path + "/none/x.conf"), home: "/")
    #expect(try none.read(into: ImageReceiveArguments(), table: imagerecvOptions) == ImageReceiveArguments())
    let directory = ConfigurationFile(path: LocalPath(folder.path), home: "/")
    #expect(throws: UsageError.self) { try directory.read(into: ImageReceiveArguments(), table: imagerecvOptions) }
  }

  @Test("has the path that XDG states")
  func place() {
    func path(_ variables: [String: String]) -> String? {
      ConfigurationFile(program: "imagesend") { variables[$0] }?.path.readable
    }
    #expect(path(["HOME": "/h"]) == "/h/.config/piconet/imagesend.conf")
    #expect(path(["HOME": "/h", "XDG_CONFIG_HOME": "/c"]) == "/c/piconet/imagesend.conf")
    #expect(path(["HOME": "/h", "XDG_CONFIG_HOME": "c"]) == "/h/.config/piconet/imagesend.conf")
    #expect(path([:]) == nil)
  }
}

@Suite("The directory for pictures")
struct UserDirectoriesTests {
  @Test("is the one that xdg-user-dirs has written down, the last one if there are several")
  func named() {
    let lines = ["# a comment", "XDG_PICTURES_DIR=\"$HOME/Bilder\"", "XDG_MUSIC_DIR=\"$HOME/Musik\""]
    #expect(UserDirectories.named("XDG_PICTURES_DIR", in: lines, home: "/h") == "/h/Bilder")
    let other = lines + ["XDG_PICTURES_DIR=\"/mnt/a \\\"b\\\"\""]
    #expect(UserDirectories.named("XDG_PICTURES_DIR", in: other, home: "/h") == "/mnt/a \"b\"")
    for line in ["XDG_PICTURES_DIR=$HOME/x", "XDG_PICTURES_DIR=\"x\"", "XDG_PICTURES_DIR=\""] {
      #expect(UserDirectories.named("XDG_PICTURES_DIR", in: [line], home: "/h") == nil, "\(line)")
    }
  }
}
