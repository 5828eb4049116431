/// A typed line without the control sequences in it (ECMA-48, section 5.4: `ESC [`, parameters and intermediates, one
/// final byte): arrow keys, and reports of the terminal, such as the answer to a question that the program no longer
/// waits for. Neither is part of what a person has typed. What is not whole is dropped to the end of the line.
func withoutControlSequences(_ line: [UInt8]) -> [UInt8] {
  var typed: [UInt8] = []
  var rest = line[...]
  while let escape = rest.firstIndex(of: 0x1B) {
    typed += rest[..<escape]
    rest = rest[(escape + 1)...]
    guard rest.first == UInt8(ascii: "[") else { continue }
    rest = rest.dropFirst().drop { !(0x40...0x7E).contains($0) }.dropFirst()
  }
  return typed + rest
}
