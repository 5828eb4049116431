import Foundation
import Glibc

/// `openssl s_server` on 127.0.0.1 with a certificate that only it has signed.
final class SecureServer {
  let port: UInt16
  private let stream: UnsafeMutablePointer<FILE>
  private let pid: pid_t

  struct Failure: Error {}

  init() throws {
    // The folder with key and certificate is gone when the server begins, which reads them from descriptor 3.
    let script = """
      folder=$(mktemp -d) && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
      -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout $folder/key -out $folder/cert 2>/dev/null && \
      cat $folder/key $folder/cert >$folder/both && exec 3<$folder/both && rm -r $folder && echo $$ && \
      exec openssl s_server -accept 127.0.0.1:0 -cert /dev/fd/3 -key /dev/fd/3 -www </dev/null 2>/dev/null
      """
    guard let stream = popen(script, "r") else { throw Failure() }
    self.stream = stream
    func line() -> String? {
      var buffer = [CChar](repeating: 0, count: 256)
      guard fgets(&buffer, Int32(buffer.count), stream) != nil else { return nil }
      return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    func number(_ text: some StringProtocol) -> Int? { Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) }
    guard let pid = line().flatMap({ number($0) }) else { throw Failure() }
    self.pid = pid_t(pid)
    var port: UInt16?
    // "ACCEPT 127.0.0.1:40123" once it listens.
    while port == nil, let text = line() {
      if text.hasPrefix("ACCEPT") { port = text.split(separator: ":").last.flatMap { number($0) }.map { UInt16($0) } }
    }
    guard let port else { throw Failure() }
    self.port = port
  }

  func close() {
    kill(pid, SIGTERM)
    pclose(stream)
  }
}
