import GameKit

#if os(Linux)
  // On Apple's systems the handler's method is found by its name, and is marked with @objc for that.
  extension ImageSender: GKSessionDataReceiveHandler {}
#endif

@main struct Main {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else {
      print("usage: imagesender NAME DIRECTORY")
      exit(2)
    }
    let sender = ImageSender(name: arguments[1], directory: URL(fileURLWithPath: arguments[2], isDirectory: true))
    DispatchQueue.global().async {
      while let line = readLine() {
        DispatchQueue.main.async { sender.send(URL(fileURLWithPath: line)) }
      }
      DispatchQueue.main.async { sender.leave() }
    }
    dispatchMain()
  }
}
