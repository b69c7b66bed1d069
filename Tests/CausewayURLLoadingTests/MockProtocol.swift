import CausewayURLLoading
import Foundation
import Synchronization

/// Returns mock responses for hosts whose names end in `.mock`. Each test registers a script for its host.
final class MockProtocol: URLProtocol, @unchecked Sendable {
    typealias Script = @Sendable (MockProtocol) -> Void

    static let scripts = Mutex<[String: Script]>([:])
    static let starts = Mutex<[String: Int]>([:])
    static let stops = Mutex<[String: Int]>([:])

    /// Registers a script for a host. Returns a session that uses this protocol class.
    static func session(
        _ host: String, delegate: (any URLSessionDelegate)? = nil,
        configure: (URLSessionConfiguration) -> Void = { _ in }, script: @escaping Script
    ) -> URLSession {
        scripts.withLock { $0[host] = script }
        let configuration = URLSessionConfiguration.unhurried
        configuration.protocolClasses = [MockProtocol.self]
        configure(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    override class func canInit(with request: URLRequest) -> Bool { request.url?.host?.hasSuffix(".mock") ?? false }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let host = request.url?.host ?? ""
        Self.starts.withLock { $0[host, default: 0] += 1 }
        Self.scripts.withLock { $0[host] }?(self)
    }

    override func stopLoading() { Self.stops.withLock { $0[request.url?.host ?? "", default: 0] += 1 } }

    /// Reports a response.
    func respond(_ status: Int = 200, _ fields: [String: String] = [:], policy: URLCache.StoragePolicy = .notAllowed) {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: policy)
    }

    func load(_ text: String) { client?.urlProtocol(self, didLoad: Data(text.utf8)) }

    func finish() { client?.urlProtocolDidFinishLoading(self) }
}

extension URLSessionConfiguration {
    /// An ephemeral configuration with long timeouts, so that they do not end a test on a busy computer.
    static var unhurried: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 3_600
        return configuration
    }
}
