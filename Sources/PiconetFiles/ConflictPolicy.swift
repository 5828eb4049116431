/// What to do with a file whose name is taken in the directory.
@nonexhaustive
public enum ConflictPolicy: String, Sendable, Hashable, CaseIterable {
  /// Store it as "photo (2).jpg", "photo (3).jpg" and so on.
  case rename
  /// Keep the existing file; the new one counts as not wanted.
  case skip
  /// Replace a regular file in one step. A directory, a symbolic link or a device is never replaced.
  case overwrite
}

/// The result for an offered file if it arrived now. A hint: the directory may change until the commit.
public enum ConflictOutcome: Sendable, Hashable {
  /// The name is free.
  case store
  /// The name is taken; the file would get a number.
  case rename
  /// The name is taken and the existing file would stay: the offer can be declined before a byte is sent.
  case skip
  /// A regular file would be replaced.
  case overwrite
}
