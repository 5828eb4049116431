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

  /// nil where there is no bus of a session. Close it in the end.
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

  /// Asks until a person answers; cancelling the task takes the question back.
  /// - Returns: nil: nobody shows it, or not any more.
  func ask(_ question: DesktopQuestion) async -> AcceptQuestion.Answer? {
    #if Bluetooth
      let notification = DesktopNotification(
        program: program, summary: question.summary, body: question.body,
        actions: DesktopQuestion.Choice.allCases.map { .init(key: $0.rawValue, label: $0.label) })
      switch await service.ask(notification) {
      case .chosen(let key): return DesktopQuestion.Choice(rawValue: key)?.answer ?? AcceptQuestion.Answer.none
      // What was put away was not answered.
      case .dismissed, .withdrawn: return AcceptQuestion.Answer.none
      case .failed: return nil
      }
    #else
      return nil
    #endif
  }
}
