import Causeway
import CausewayURLLoading
import Foundation
import Synchronization
import Testing

@testable import CausewayHTTP
@testable import CausewayHTTPProtocols
@testable import CausewayProtocols
@testable import CausewayWire

/// The HTTP engine or `URLSession` as a client.
struct WebClient: Sendable {
    struct Answer: Sendable {
        var status: Int
        var isHTTP2: Bool
        var content: Data
        var fields: [String: String] = [:]
    }

    enum Content: Sendable {
        case none
        case data(Data)
        /// Content that is read from a stream while it is sent.
        case stream(Data)
    }

    enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case engine, session

        var testDescription: String { rawValue }
    }

    private enum Way: Sendable {
        case engine(HTTPEngine)
        case session(URLSession)
    }

    private let way: Way

    init(_ kind: Kind, _ files: TLSFiles) throws {
        switch kind {
        case .engine:
            let tls = try TLSParty.client(files)
            var configuration = HTTPEngine.Configuration()
            configuration.makeParameters = { $0.isSecure ? NWParameters(tls: tls) : .tcp }
            configuration.http2.settingsTimeout = .seconds(36_000)
            way = .engine(HTTPEngine(configuration))
        case .session:
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 36_000
            configuration.connectionProxyDictionary = [:]
            configuration.urlCache = nil
            way = .session(URLSession(configuration: configuration, delegate: TrustingDelegate(), delegateQueue: nil))
        }
    }

    func shutDown() {
        switch way {
        case .engine(let engine): engine.shutDown()
        case .session(let session): session.invalidateAndCancel()
        }
    }

    func load(
        _ url: String, _ method: String = "GET", _ fields: [String: String] = [:], _ content: Content = .none
    ) async throws -> Answer {
        switch way {
        case .engine(let engine): try await load(engine, url, method, fields, content)
        case .session(let session): try await load(session, url, method, fields, content)
        }
    }

    /// Cancels a request after the first part of the response content has arrived.
    func cancelInTheMiddle(_ url: String) async throws {
        switch way {
        case .engine(let engine):
            let response = try await engine.execute(try Self.request(url, "GET", [:]))
            _ = try await response.read()
            response.cancel()
        case .session(let session):
            let (bytes, _) = try await session.bytes(from: try #require(URL(string: url)))
            var iterator = bytes.makeAsyncIterator()
            _ = try await iterator.next()
            bytes.task.cancel()
        }
    }

    private static func request(
        _ url: String, _ method: String, _ fields: [String: String]
    ) throws -> HTTPRequestValue {
        var request = try #require(HTTPRequestValue(method: method, uri: url))
        request.idleTimeout = nil
        for (name, value) in fields { request.fields.append(name, value) }
        return request
    }

    private func load(
        _ engine: HTTPEngine, _ url: String, _ method: String, _ fields: [String: String], _ content: Content
    ) async throws -> Answer {
        let body: HTTPRequestBody =
            switch content {
            case .none: .none
            case .data(let data): .data(data)
            case .stream(let data):
                .stream(SequenceBodySource(Self.pieces(of: data)), length: nil)
            }
        let response = try await engine.execute(try Self.request(url, method, fields), body: body)
        let content = try await response.collect(upTo: 64 << 20)
        var answer = Answer(
            status: response.head.status, isHTTP2: response.head.version.major == 2, content: content)
        for name in ["Content-Length", "ETag", "Location", "Content-Encoding"] {
            answer.fields[name] = response.head.fields.firstValue(of: name)
        }
        return answer
    }

    private static func pieces(of data: Data) -> AsyncStream<Data> {
        AsyncStream { continuation in
            var rest = data
            while !rest.isEmpty {
                continuation.yield(Data(rest.prefix(100_000)))
                rest = rest.dropFirst(100_000)
            }
            continuation.finish()
        }
    }

    private func load(
        _ session: URLSession, _ url: String, _ method: String, _ fields: [String: String], _ content: Content
    ) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        switch content {
        case .none: break
        case .data(let data): request.httpBody = data
        case .stream(let data): request.httpBodyStream = InputStream(data: data)
        }
        let delegate = ProtocolNameDelegate()
        let (data, response) = try await session.data(for: request, delegate: delegate)
        let head = try #require(response as? HTTPURLResponse)
        var answer = Answer(status: head.statusCode, isHTTP2: delegate.name == "h2", content: data)
        for name in ["Content-Length", "ETag", "Location"] {
            answer.fields[name] = head.value(forHTTPHeaderField: name)
        }
        return answer
    }
}

/// Accepts every server. The certificates of the tests are for another name.
private final class TrustingDelegate: NSObject, URLSessionDelegate, Sendable {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }
}

/// A delegate that records the protocol name of a task's last request.
private final class ProtocolNameDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    private let kept = Mutex<String?>(nil)

    var name: String? { kept.withLock { $0 } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        kept.withLock { $0 = metrics.transactionMetrics.last?.networkProtocolName }
    }
}
