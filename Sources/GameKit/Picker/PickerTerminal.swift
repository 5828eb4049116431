import Foundation
import PiconetTerminal

/// The place where a picker's dialogs are shown.
struct PickerTerminal: Sendable {
  let isPossible: @Sendable () -> Bool
  let run: @Sendable (PeerDialog, @escaping @Sendable (PeerPicker.Action) -> Void) async -> PeerDialog.Ending

  static let standard = PickerTerminal(isPossible: { PeerDialog.isPossible }, run: { await $0.run($1) })
}
