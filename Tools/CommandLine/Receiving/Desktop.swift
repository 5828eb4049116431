import Glibc

#if Bluetooth
  import PiconetBluetooth
#endif

/// The desktop of this session, which shows questions as notifications. It is reached by sd-bus, as bluetoothd is, so a
/// build without Bluetooth has none.
struct Desktop: Sendable {
  private let program: String
  #if Bluetooth
    private let service: NotificationService
  #endif

  /// nil without a session bus. Close it in the end.
  static func connect(program: String) async -> Desktop? {
    #if Bluetooth
      return await NotificationService.connect().map { Desktop(program: program, service: $0) }
    #else
      return nil
    #endif
  }

  func close() async {
    #if Bluetooth
      await service.close()
    #endif
  }

  /// Says what has been stored; a person may have it shown among the other files. Ends when that was answered, or the
  /// task is cancelled.
  /// - Parameter safe: makes names of files safe to show.
  func show(_ files: StoredFiles, safe: (String) -> String) async {
    #if Bluetooth
      let photo = files.photo
      let open = photo.map { _ in
        DesktopNotification.Action(key: "open", label: files.files == 1 ? "Open" : "Open the first")
      }
      let folder = DesktopNotification.Action(key: "folder", label: "Show in folder")
      var notification = DesktopNotification(
        program: program, summary: files.summary, body: files.body(safe: safe),
        actions: files.uris.isEmpty ? [] : [open, folder].compactMap { $0 })
      notification.isQuestion = false
      var outcome = await service.ask(notification)
      if outcome == .failed {
        // A desktop on which nothing can be answered.
        notification.actions = []
        outcome = await service.ask(notification)
      }
      if let photo, outcome == .chosen("open"), await self.open(photo) { return }
      if outcome == .chosen("open") || outcome == .chosen(folder.key) { await service.showInFileManager(files.uris) }
    #endif
  }

  #if Bluetooth
    /// - Returns: whether the desktop opens it.
    private func open(_ photo: LocalPath) async -> Bool {
      let descriptor = photo.withCString { Glibc.open($0, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY) }
      guard descriptor >= 0 else { return false }
      defer { Glibc.close(descriptor) }
      return await service.open(descriptor)
    }
  #endif

  /// Whether notifications that can be answered are shown at the moment.
  func canAsk() async -> Bool {
    #if Bluetooth
      return await service.takesActions()
    #else
      return false
    #endif
  }

  /// Asks until a person answers; cancelling the task takes the question back.
  /// - Returns: nil: it is not shown, or no longer.
  func ask(_ question: DesktopQuestion) async -> AcceptQuestion.Answer? {
    #if Bluetooth
      let notification = DesktopNotification(
        program: program, summary: question.summary, body: question.body,
        actions: DesktopQuestion.Choice.allCases.map { .init(key: $0.rawValue, label: $0.label) })
      switch await service.ask(notification) {
      case .chosen(let key): return DesktopQuestion.Choice(rawValue: key)?.answer ?? AcceptQuestion.Answer.none
      // A question that was dismissed was not answered.
      case .dismissed, .withdrawn: return AcceptQuestion.Answer.none
      case .failed: return nil
      }
    #else
      return nil
    #endif
  }
}
