// A `URLProtocol` that answers requests without a network. Each simulated server has its own host name.
import Foundation
import FoundationNetworking
import Synchronization

/// A request that the test server has received.
struct Asked: Sendable {
    var method: String
    var path: String
    var query: String
    var fields: [String: String]
    var body: Data

    /// Returns the value of a header field. The name may have any letter case.
    func field(_ name: String) -> String? {
        fields.first { $0.key.caseInsensitiveCompare(name) == .orderedSame }?.value
    }
}

/// The response of the server.
struct Answer: Sendable {
    var status = 200
    var fields: [String: String] = [:]
    var pieces: [Data] = []
    var failure: URLError?

    static func text(_ text: String, status: Int = 200, fields: [String: String] = [:]) -> Answer {
        let all = fields.merging(["Content-Type": "text/plain; charset=utf-8"]) { given, _ in given }
        return Answer(status: status, fields: all, pieces: [Data(text.utf8)])
    }

    static func json(_ text: String, status: Int = 200, fields: [String: String] = [:]) -> Answer {
        .text(text, status: status, fields: fields.merging(["Content-Type": "application/json"]) { given, _ in given })
    }

    static func failing(_ code: URLError.Code) -> Answer { Answer(failure: URLError(code)) }
}

/// Where the simulated server of a test runs.
enum Place: Sendable {
    /// Behind a URLProtocol.
    case mock
    /// The server listens on the loopback interface.
    case loopback

    /// The places in which the parameterized tests run. In Swift 5 mode the mock is enough, because the library code is
    /// the same.
    static var tested: [Place] {
        #if swift(>=6)
            [.mock, .loopback]
        #else
            [.mock]
        #endif
    }
}

/// A server with one handler for all requests.
final class Origin: Sendable {
    static let all = Mutex<[String: Origin]>([:])
    private static let count = Atomic<Int>(0)

    /// The language mode in which this file is compiled, for the host names. The file is compiled twice, and both
    /// classes ``OriginProtocol`` can be registered in one process. Each may answer only requests to its own hosts.
    private static var mode: Int {
        #if swift(>=6)
            6
        #else
            5
        #endif
    }

    let url: URL
    let handler: @Sendable (Asked) -> Answer
    private let log: Box<[Asked]>
    private let server: LoopbackServer?

    init(_ place: Place = .mock, _ handler: @escaping @Sendable (Asked) -> Answer) {
        let log = Box<[Asked]>([])
        self.log = log
        self.handler = handler
        switch place {
        case .mock:
            server = nil
            let host = "origin-\(Self.mode)-\(Self.count.add(1, ordering: .relaxed).newValue).test"
            url = URL(string: "http://\(host)/")!
            Self.all.withLock { $0[host] = self }
        case .loopback:
            let server = LoopbackServer { asked in
                log.change { $0.append(asked) }
                return handler(asked)
            }
            self.server = server
            url = URL(string: "http://127.0.0.1:\(server.port)/")!
        }
    }

    /// Requests that have arrived, in order.
    var asked: [Asked] { log.current }

    /// A configuration of sessions that reach this server.
    var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        if server == nil { configuration.protocolClasses = [OriginProtocol.self] }
        configuration.timeoutIntervalForRequest = 3_600
        return configuration
    }

    func session(delegate: URLSessionDelegate? = nil, queue: OperationQueue? = nil) -> URLSession {
        URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    func url(_ path: String) -> URL { URL(string: path, relativeTo: url)!.absoluteURL }

    func answer(_ asked: Asked) -> Answer {
        log.change { $0.append(asked) }
        return handler(asked)
    }
}

/// A `URLProtocol` that carries requests to the test's origins.
final class OriginProtocol: URLProtocol, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { origin(of: request) != nil }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    private static func origin(of request: URLRequest) -> Origin? {
        request.url?.host.flatMap { host in Origin.all.withLock { $0[host] } }
    }

    override func startLoading() {
        guard let url = request.url, let origin = Self.origin(of: request) else { return }
        let asked = Asked(
            method: request.httpMethod ?? "GET", path: url.path, query: url.query ?? "",
            fields: request.allHTTPHeaderFields ?? [:], body: body)
        send(origin.answer(asked), for: url)
    }

    override func stopLoading() {}

    private var body: Data {
        if let body = request.httpBody { return body }
        guard let stream = request.httpBodyStream else { return Data() }
        stream.open()
        defer { stream.close() }
        var content = Data()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return content }
            content.append(contentsOf: buffer[..<count])
        }
    }

    private func send(_ answer: Answer, for url: URL) {
        if let failure = answer.failure {
            client?.urlProtocol(self, didFailWithError: failure)
            return
        }
        let response = HTTPURLResponse(
            url: url, statusCode: answer.status, httpVersion: "HTTP/1.1", headerFields: answer.fields)!
        if (301...308).contains(answer.status), let place = response.value(forHTTPHeaderField: "Location") {
            var next = request
            next.url = URL(string: place, relativeTo: url)?.absoluteURL
            client?.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
            return
        }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .allowed)
        for piece in answer.pieces { client?.urlProtocol(self, didLoad: piece) }
        client?.urlProtocolDidFinishLoading(self)
    }
}

/// A value that closures on several threads change.
final class Box<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    var current: Value { value.withLock { $0 } }

    @discardableResult
    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { value in
            var copy = value
            defer { value = copy }
            return body(&copy)
        }
    }
}

/// Returns the code of the `URLError` that an operation throws, or `nil` if it throws none.
func failureCode(_ operation: () async throws -> Void) async -> URLError.Code? {
    do {
        try await operation()
        return nil
    } catch {
        return (error as? URLError)?.code
    }
}
