import PiconetCalls

/// Pictures for terminals with kitty's graphics protocol (sw.kovidgoyal.net/kitty/graphics-protocol).
enum KittyGraphics {
  /// Of the text that each part carries.
  static let partLimit = 4096

  /// Shows a picture at the cursor, in so many columns and rows. The terminal answers nothing.
  static func text(of picture: Picture, columns: Int, rows: Int) -> String {
    var rest = Base64Text.padded.encode(picture.bytes)[...]
    var control = "a=T,f=24,s=\(picture.width),v=\(picture.height),c=\(columns),r=\(rows),q=2,"
    var text = ""
    repeat {
      let part = rest.prefix(partLimit)
      rest = rest.dropFirst(partLimit)
      text += "\u{1B}_G\(control)m=\(rest.isEmpty ? 0 : 1);\(String(decoding: part, as: UTF8.self))\u{1B}\\"
      control = "q=2,"
    } while !rest.isEmpty
    return text
  }
}
