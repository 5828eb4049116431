/// A question with its answers, fitted to the foot of a terminal. On a narrow one only the letters of the answers are
/// shown: a wrapped line could not be removed again.
package func questionLine(_ question: String, columns: Int) -> String {
  let answerRoom = 8
  guard displayWidth(question) + answerRoom > columns, let mark = question.firstIndex(of: "?") else { return question }
  let letters = question.indices.filter { question[$0] == "[" }.map { question[question.index(after: $0)...].prefix(1) }
  return question[...mark] + " [\(letters.joined(separator: "/"))]: "
}
