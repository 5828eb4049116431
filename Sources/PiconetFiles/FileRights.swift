import CPiconetSystem
import Glibc

/// The access rights of a file: its owner, group, mode and access control lists.
struct FileRights: Hashable, Sendable {
  let owner: uid_t
  let group: gid_t
  /// The nine bits for owner, group and others. If the file has a list, the bits of the group are its mask (acl(5)).
  let mode: mode_t
  /// Extended attributes that decide about access, by name, as far as the file has them.
  let attributes: [String: [UInt8]]

  /// Access lists and labels, which a new file inherits from its folder.
  static let names = ["system.posix_acl_access", "system.nfs4_acl", "security.selinux", "security.SMACK64"]
  private static let modeBits: mode_t = 0o777

  init(owner: uid_t, group: gid_t, mode: mode_t, attributes: [String: [UInt8]] = [:]) {
    (self.owner, self.group, self.mode, self.attributes) = (owner, group, mode & Self.modeBits, attributes)
  }

  /// The rights of an open file; nil if the system can't say.
  init?(of file: Int32) {
    var status = stat()
    guard fstat(file, &status) == 0 else { return nil }
    var attributes: [String: [UInt8]] = [:]
    for name in Self.names { attributes[name] = Self.attribute(name, of: file) }
    self.init(owner: status.st_uid, group: status.st_gid, mode: status.st_mode, attributes: attributes)
  }

  /// The rights of a file that can't be opened. A list is not visible then, so the group gets no more than all others.
  init(ofUnreadable status: stat) {
    let mode = status.st_mode & (0o707 | (status.st_mode & 0o007) << 3)
    self.init(owner: status.st_uid, group: status.st_gid, mode: mode)
  }

  /// Gives these rights to an open file.
  /// - Returns: whether it has them all, except the owner. If not, no user has more than these.
  func give(to file: Int32) -> Bool {
    guard let present = FileRights(of: file) else { return false }
    if present == self { return true }
    // Lists and groups change below: the rights in between must let in no other user.
    guard fchmod(file, mode & 0o700) == 0 else { return false }
    if present.owner != owner { _ = fchown(file, owner, gid_t.max) }
    let hasGroup = present.group == group || fchown(file, uid_t.max, group) == 0
    var hasAttributes = true
    for name in Self.names where present.attributes[name] != attributes[name] {
      let result =
        if let value = attributes[name] { fsetxattr(file, name, value, value.count, 0) } else {
          fremovexattr(file, name)
        }
      hasAttributes = hasAttributes && result == 0
    }
    if hasGroup, hasAttributes {
      return fchmod(file, mode) == 0 && FileRights(of: file)?.isSameAccess(as: self) == true
    }
    // The group, or the mask, would apply to other users than intended.
    _ = fchmod(file, mode & (0o707 | (mode & 0o007) << 3))
    return false
  }

  private func isSameAccess(as other: FileRights) -> Bool {
    group == other.group && mode == other.mode && attributes == other.attributes
  }

  /// Returns nil if the file has no such attribute, or its file system has no attributes.
  private static func attribute(_ name: String, of file: Int32) -> [UInt8]? {
    // The size may change between the two calls; then the second one fails.
    let size = fgetxattr(file, name, nil, 0)
    guard size > 0 else { return nil }
    var value = [UInt8](repeating: 0, count: size)
    let count = fgetxattr(file, name, &value, size)
    return count > 0 ? Array(value.prefix(count)) : nil
  }
}
