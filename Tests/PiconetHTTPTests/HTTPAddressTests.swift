import PiconetHTTP
import Testing

@Suite("Addresses of HTTP")
struct HTTPAddressTests {
  @Test(
    "host and port are found wherever they stand",
    arguments: [
      ("http://example.org", "example.org", nil), ("HTTPS://example.org/a?b=c:d@e", "example.org", nil),
      ("http://127.0.0.1:8000/a.jpg", "127.0.0.1", 8000), ("http://[::1]:8000?x", "::1", 8000),
      ("https://ada:secret@example.org:443#f", "example.org", 443), ("http://example.org:/a", "example.org", nil),
      ("http://a@b@example.org:65535/", "example.org", 65535),
    ] as [(String, String, UInt16?)])
  func places(url: String, host: String, port: UInt16?) throws {
    let address = try HTTPAddress(url)
    #expect(address.host == host && address.port == port && address.text == url)
  }

  @Test(
    "a text that is no address is refused",
    arguments: [
      "", "http:", "http:/a", "http://", "http:///a", "https://?a", "http://user@/a", "http://a:0", "http://a:65536/",
      "http://a:1x/", "http://a:-1/", "http://a:+1/", "http://::1/", "http://[]/", "http://[1]/", "http://[::1",
      "http://[::1]a/",
      "http://a b/", "http://a/\n", "ftp://a/", "file:///a", " http://a",
      "http://a/" + String(repeating: "x", count: 8192),
    ])
  func refused(url: String) {
    let failure = #expect(throws: HTTPFailure.self) { try HTTPAddress(url) }
    #expect(failure?.code == .invalidURL)
  }
}
