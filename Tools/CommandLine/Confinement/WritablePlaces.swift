import Piconet

/// Where a program that is confined may write: below these directories, and in these files.
package struct WritablePlaces: Hashable, Sendable {
  package var directories: [LocalPath]
  package var files: [LocalPath]

  package init(directories: [LocalPath], files: [LocalPath] = []) {
    (self.directories, self.files) = (directories, files)
  }
}

extension WritablePlaces {
  /// Those of a receiver. Partial files, journals and folders of a sender's are below the directory that it stores in;
  /// key, known devices and history are in the folders of its state.
  /// - Parameters:
  ///   - directory: where it stores files.
  ///   - trace: the file that the run is recorded into. It replaces another one, so all of its folder is needed.
  init(
    of arguments: ImageReceiveArguments, directory: LocalPath, state: [LocalPath], trace: LocalPath?
  ) {
    self.init(directories: [], files: ["/dev/null"])
    if arguments.history != nil { return }
    directories = state
    if arguments.fingerprint { return }
    directories.append(directory)
    if let trace { directories.append(trace.parent) }
  }
}
