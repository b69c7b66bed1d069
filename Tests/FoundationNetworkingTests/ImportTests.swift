// Source code as written for both Linux and Apple platforms, in the Swift 6 language mode.
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A URL protocol that answers requests to one host.
final class GreetingProtocol: URLProtocol, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "greeting.test" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url else { return }
        let status = url.path == "/missing" ? 404 : 200
        let fields = ["Content-Type": "text/xml; charset=utf-8"]
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)!
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("<greeting>hello</greeting>".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}

@Suite("import FoundationNetworking", .serialized)
struct ImportTests {
    @Test("The types are those of CausewayURLLoading")
    func module() {
        #expect(String(reflecting: URLSession.self) == "CausewayURLLoading.URLSession")
        #expect(String(reflecting: URLRequest.self) == "CausewayURLLoading.URLRequest")
    }

    @Test("Types of TLS and of trust need no other import")
    func names() {
        let configuration = URLSessionConfiguration.ephemeral
        let version: tls_protocol_version_t = .TLSv13
        configuration.tlsMinimumSupportedProtocolVersion = version
        #expect(configuration.tlsMinimumSupportedProtocolVersion.rawValue == 0x0304)
        let trust: SecTrust? = nil
        #expect(trust == nil)
    }

    @Test("Functions of Foundation load through registered protocols")
    func contents() throws {
        URLProtocol.registerClass(GreetingProtocol.self)
        defer { URLProtocol.unregisterClass(GreetingProtocol.self) }
        let url = URL(string: "http://greeting.test/")!
        let text = "<greeting>hello</greeting>"
        #expect(try Data(contentsOf: url) == Data(text.utf8))
        #expect(try NSData(contentsOf: url, options: []) as Data == Data(text.utf8))
        #expect(try String(contentsOf: url, encoding: .utf8) == text)
        #expect(try NSString(contentsOf: url, encoding: String.Encoding.utf8.rawValue) as String == text)
    }

    @Test("An error status and an unknown scheme throw")
    func failures() throws {
        URLProtocol.registerClass(GreetingProtocol.self)
        defer { URLProtocol.unregisterClass(GreetingProtocol.self) }
        let missing = URL(string: "http://greeting.test/missing")!
        #expect(throws: CocoaError.self) { try Data(contentsOf: missing) }
        #expect(throws: CocoaError.self) { try String(contentsOf: missing, encoding: .utf8) }
        do {
            _ = try Data(contentsOf: URL(string: "gopher://greeting.example/")!)
            Issue.record("an unknown scheme was loaded")
        } catch let error as CocoaError {
            #expect(error.code == .fileReadUnknown)
            #expect((error.userInfo[NSUnderlyingErrorKey] as? URLError)?.code == .unsupportedURL)
        }
    }

    @Test("data: URLs load without a protocol")
    func dataURL() throws {
        #expect(try Data(contentsOf: URL(string: "data:,hello%20there")!) == Data("hello there".utf8))
    }
}
