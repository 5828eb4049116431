import Testing

@Suite("Comments")
struct CommentTests {
  @Test("are no wider than the code, but for tables")
  func width() {
    let wide = Repository.sources.flatMap { file in
      file.lines.enumerated().filter { _, line in
        let text = line.drop { $0 == " " }
        return line.count > 120 && text.hasPrefix("//") && !text.hasPrefix("/// |")
      }.map { "\(file.path):\($0.offset + 1)" }
    }
    #expect(wide.isEmpty, "\(wide.joined(separator: "\n"))")
  }
}
