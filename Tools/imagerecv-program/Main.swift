import PiconetCommandLine

@main struct Main {
  static func main() async { await ImageReceiveProgram.main() }
}
