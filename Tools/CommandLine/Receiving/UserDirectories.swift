import Glibc

/// Where a person keeps pictures, as xdg-user-dirs has written it down.
enum UserDirectories {
  /// The directory for pictures: that of `user-dirs.dirs`, else `~/Pictures` if there is one, else the home itself.
  static func pictures(home: String, configurationHome: String?) -> String {
    let folder = configurationHome.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.config"
    if let named = named("XDG_PICTURES_DIR", in: lines(of: folder + "/user-dirs.dirs"), home: home), isFolder(named) {
      return named
    }
    let usual = home + "/Pictures"
    return isFolder(usual) ? usual : home
  }

  /// Lines such as `XDG_PICTURES_DIR="$HOME/Bilder"`, quoted for a shell; nil if none names an absolute path.
  static func named(_ name: String, in lines: [String], home: String) -> String? {
    for line in lines.reversed() where line.hasPrefix("\(name)=\"") && line.hasSuffix("\"") {
      var text = ""
      var isEscaped = false
      for letter in line.dropFirst(name.count + 2).dropLast() {
        if letter == "\\", !isEscaped {
          isEscaped = true
        } else {
          text.append(letter)
          isEscaped = false
        }
      }
      if text.hasPrefix("$HOME") { text = home + text.dropFirst(5) }
      if text.hasPrefix("/") { return text }
    }
    return nil
  }

  private static func lines(of path: String) -> [String] {
    (SystemFile.text(path, atMost: 16_384) ?? "").split(separator: "\n").map(String.init)
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
