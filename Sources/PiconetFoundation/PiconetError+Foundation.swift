import Foundation
import Piconet

/// `localizedDescription` is `description`, in English.
extension PiconetError: LocalizedError {
  public var errorDescription: String? { description }
}
