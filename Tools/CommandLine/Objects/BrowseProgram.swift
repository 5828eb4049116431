/// `piconet browse`: a scan for peers that advertise names or interfaces.
struct BrowseProgram: Sendable {
  let arguments: BrowseArguments
  let environment: ProgramEnvironment
  let console: Console

  func run() async {
    await ScanProgram(
      arguments: arguments.scan, environment: environment, console: console, wanted: arguments.wanted
    ).run()
  }
}
