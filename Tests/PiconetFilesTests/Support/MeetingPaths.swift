/// Files of one sender whose paths are different, and may lead to one place on the receiver's disk.
struct MeetingPaths: Sendable, CustomStringConvertible {
  let description: String
  /// Paths as they are offered.
  let offered: [String]
  /// Files that are there before.
  var before: [String] = []

  static let all = [
    MeetingPaths(description: "folders that differ in case", offered: ["DCIM/x.jpg", "dcim/x.jpg", "Dcim/y.jpg"]),
    MeetingPaths(description: "names that differ in case", offered: ["a.jpg", "A.JPG", "a.JPG"]),
    MeetingPaths(description: "both", offered: ["DCIM/x.jpg", "dcim/X.jpg", "dCIM/X.JPG"]),
    MeetingPaths(description: "composed and decomposed names", offered: ["\u{E9}.jpg", "e\u{301}.jpg"]),
    MeetingPaths(description: "composed and decomposed folders", offered: ["\u{E9}/x.jpg", "e\u{301}/x.jpg"]),
    MeetingPaths(
      description: "letters whose cases are not pairs",
      offered: [
        "Stra\u{DF}e.jpg", "STRASSE.jpg", "stra\u{1E9E}e.jpg", "\u{3C3}.jpg", "\u{3C2}.jpg", "k.jpg", "\u{212A}.jpg",
      ]),
    MeetingPaths(
      description: "a folder that gets a number", offered: ["Sub/x.jpg", "Sub (2)/x.jpg", "sub (2)/x.jpg"],
      before: ["Sub"]),
    MeetingPaths(description: "names with numbers", offered: ["a.jpg", "a (2).jpg", "a (3).jpg"]),
    MeetingPaths(description: "the name that FAT gives to a long one", offered: ["photographs.jpg", "PHOTOG~1.JPG"]),
    MeetingPaths(
      description: "long names that are cut for a number",
      offered: ["1", "2"].map { String(repeating: "x", count: 128) + $0 + ".jpg" }
        + ["1", "2"].map { String(repeating: "x", count: 249) + $0 + ".jpg" }),
    MeetingPaths(description: "the same path twice", offered: ["a/b/x.jpg", "a/b/x.jpg"]),
  ]
}
