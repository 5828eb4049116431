import Glibc

/// The kind of a directory's entry (`st_mode`, inode(7)).
@nonexhaustive
public enum FileKind: String, Sendable, Hashable {
  case regular = "a regular file"
  case directory = "a directory"
  case fifo = "a FIFO"
  case socket = "a socket"
  case characterDevice = "a character device"
  case blockDevice = "a block device"
  case symbolicLink = "a symbolic link"
  case unknown = "not a regular file"

  init(mode: mode_t) {
    switch mode & S_IFMT {
    case S_IFREG: self = .regular
    case S_IFDIR: self = .directory
    case S_IFIFO: self = .fifo
    case S_IFSOCK: self = .socket
    case S_IFCHR: self = .characterDevice
    case S_IFBLK: self = .blockDevice
    case S_IFLNK: self = .symbolicLink
    default: self = .unknown
    }
  }
}
