import Foundation
import Glibc

/// A small empty disk with a file system of its own, for one test, which is taken away with it.
package final class MountedDisk: Sendable {
  /// How each is made in the image "$i" and mounted at "$p".
  private static let commands = [
    ("tmpfs", "mount -t tmpfs -o size=64m piconet \"$p\""),
    ("ext4", "mkfs.ext4 -q \"$i\"; mount -o loop \"$i\" \"$p\""),
    (
      "ext4-casefold",
      "mkfs.ext4 -q -O casefold \"$i\"; mount -o loop \"$i\" \"$p\"; mkdir \"$p/in\"; chattr +F \"$p/in\""
    ),
    ("vfat", "mkfs.vfat -F 32 \"$i\"; mount -t vfat -o loop,utf8=1,shortname=mixed \"$i\" \"$p\""),
    ("exfat", "mkfs.exfat \"$i\"; mount -t exfat -o loop,iocharset=utf8 \"$i\" \"$p\""),
    ("ntfs3", "mkntfs --fast --force \"$i\"; mount -t ntfs3 -o loop,windows_names \"$i\" \"$p\""),
    (
      "exfat-fuse",
      "mkfs.exfat \"$i\"; d=$(losetup --find --show \"$i\"); "
        + "mount.exfat-fuse \"$d\" \"$p\" || { losetup -d \"$d\"; exit 1; }; losetup -d \"$d\""
    ),
    ("ntfs-3g", "mkntfs --fast --force \"$i\"; lowntfs-3g -o ignore_case,windows_names \"$i\" \"$p\""),
  ]

  /// Those that this machine has. Prints why it lacks the others.
  package static let available: [String] = commands.map(\.0).filter { kind in
    do {
      _ = try MountedDisk(kind)
      return true
    } catch {
      print("no test on a disk with \(kind): \(error)")
      return false
    }
  }

  package struct Unavailable: Error, CustomStringConvertible {
    package let description: String
  }

  private let root: String
  /// A folder on it.
  package let path: String

  package init(_ kind: String) throws {
    guard let command = Self.commands.first(where: { $0.0 == kind })?.1 else {
      throw Unavailable(description: "not known")
    }
    guard geteuid() == 0 else { throw Unavailable(description: "needs root") }
    root = URL(filePath: NSTemporaryDirectory()).appending(path: "piconet-disk-\(UUID().uuidString)").path
    path = root + "/disk/in"
    try FileManager.default.createDirectory(atPath: root + "/disk", withIntermediateDirectories: true)
    let output = root + "/output"
    let script = """
      exec >'\(output)' 2>&1 </dev/null; set -e; i='\(root)/image'; p='\(root)/disk'; truncate -s 64M "$i"
      \(command)
      mkdir -p "$p/in"; chmod 755 "$p/in"
      """
    guard Self.run(script) else {
      let said = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
      takeAway()
      let lines = said.split(separator: "\n")
      let reason = lines.first { $0.hasPrefix("mount") } ?? lines.last ?? "no reason was given"
      throw Unavailable(description: String(reason))
    }
  }

  deinit { takeAway() }

  private func takeAway() {
    // Something may still be open on it.
    _ = umount2(root + "/disk", 2)
    try? FileManager.default.removeItem(atPath: root)
  }

  private static func run(_ script: String) -> Bool {
    func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] { texts.map { strdup($0) } + [nil] }
    var words = copies(["/bin/sh", "-c", script])
    var variables = copies(["PATH=/usr/sbin:/sbin:/usr/bin:/bin", "LC_ALL=C.UTF-8"])
    defer { for text in words + variables { free(text) } }
    var process: pid_t = 0
    guard posix_spawn(&process, "/bin/sh", nil, nil, &words, &variables) == 0 else { return false }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 { if errno != EINTR { return false } }
    return status == 0
  }

  package func path(_ name: String) -> String { path + "/" + name }
}
