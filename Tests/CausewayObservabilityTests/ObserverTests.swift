import CausewayObservability
import CausewayURLLoading
import Foundation
import InMemoryLogging
import InMemoryTracing
import Instrumentation
import Logging
import MetricsTestKit
import Synchronization
import Testing
import Tracing

/// A URL protocol that answers each request with the status in the last path component. If this component is no number,
/// the request fails.
private final class StatusProtocol: URLProtocol, @unchecked Sendable {
    /// The fields of the last request for each path.
    static let fields = Mutex<[String: [String: String]]>([:])

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        Self.fields.withLock { $0[request.url?.path ?? ""] = request.allHTTPHeaderFields }
        guard let url = request.url, let status = Int(url.lastPathComponent),
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: [:])
        else {
            client?.urlProtocol(self, didFailWithError: URLError(.cannotConnectToHost))
            return
        }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("hello".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}

@Suite("Observers of URLSession")
struct ObserverTests {
    private static func session(_ observers: any URLSessionTaskObserver...) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [StatusProtocol.self]
        configuration.taskObservers = observers
        return URLSession(configuration: configuration)
    }

    private static func url(_ path: String) throws -> URL {
        try #require(URL(string: "http://user:secret@host.example:81/\(path)?token=secret"))
    }

    @Test("A log line has the facts of the task, and nothing secret")
    func log() async throws {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .debug
        let session = Self.session(URLSessionLogObserver(logger: logger))
        _ = try await session.data(from: Self.url("a/200"))
        _ = try await session.data(from: Self.url("a/500"))
        _ = try? await session.data(from: Self.url("a/none"))
        let entries = handler.entries
        #expect(entries.map(\.level) == [.debug, .notice, .notice])
        #expect(entries.first?.message == "GET host.example/a/200: 200")
        #expect(entries.first?.metadata["bytes.received"] == "5")
        #expect(entries.first?.metadata["server.port"] == "81")
        #expect(entries.dropFirst().first?.metadata["error.type"] == "500")
        #expect(entries.last?.metadata["error.type"] == "URLError.-1004")
        let text = entries.map { "\($0.message) \($0.metadata.filter { $0.key != "error" })" }.joined()
        #expect(!text.contains("secret"))
    }

    @Test("A task is timed and counted, and no longer active at its end")
    func metrics() async throws {
        let factory = TestMetrics()
        let session = Self.session(URLSessionMetricsObserver(factory: factory))
        _ = try await session.data(from: Self.url("200"))
        _ = try? await session.data(from: Self.url("none"))
        let dimensions = [
            ("http.request.method", "GET"), ("server.address", "host.example"), ("url.scheme", "http"),
            ("server.port", "81"),
        ]
        let good = dimensions + [("http.response.status_code", "200")]
        #expect(try factory.expectTimer("http.client.request.duration", good).values.count == 1)
        #expect(try factory.expectRecorder("http.client.response.body.size", good).values == [5])
        let bad = dimensions + [("error.type", "URLError.-1004")]
        #expect(try factory.expectTimer("http.client.request.duration", bad).values.count == 1)
        #expect(try factory.expectMeter("http.client.active_requests").values == [1, 0, 1, 0])
    }

    @Test("A span is below the current one, and its context is sent")
    func trace() async throws {
        let tracer = InMemoryTracer()
        let session = Self.session(URLSessionTraceObserver(tracer: tracer))
        try await tracer.withSpan("work") { _ in
            _ = try await session.data(from: Self.url("trace/404"))
        }
        _ = try? await session.data(from: Self.url("none"))
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["GET", "work", "GET"])
        let (child, parent, failed) = (spans[0], spans[1], spans[2])
        #expect(child.kind == .client && child.parentSpanID == parent.spanID && child.traceID == parent.traceID)
        #expect(child.attributes["http.response.status_code"]?.toSpanAttribute() == .int64(404))
        #expect(child.status?.code == .error && child.errors.isEmpty)
        #expect(failed.parentSpanID == nil && failed.errors.count == 1)
        #expect(tracer.performedContextInjections.count == 2)
        let sent = StatusProtocol.fields.withLock { $0["/trace/404"] ?? [:] }
        #expect(sent.values.contains(child.spanID))
    }

    @Test("A field of the request is not replaced, and a cancelled task that never ran is not observed")
    func order() async throws {
        let log = Mutex<[String]>([])
        let session = Self.session(Recorder { entry in log.withLock { $0.append(entry) } })
        var request = URLRequest(url: try Self.url("order/200"))
        request.setValue("mine", forHTTPHeaderField: "X-Order")
        _ = try await session.data(for: request)
        #expect(StatusProtocol.fields.withLock { $0["/order/200"]?["X-Order"] } == "mine")
        let task = session.dataTask(with: request)
        task.cancel()
        task.resume()
        #expect(log.withLock { $0 } == ["start", "end"])
    }
}

/// A task observer that records its calls.
private struct Recorder: URLSessionTaskObserver {
    let record: @Sendable (String) -> Void

    func taskWillStart(_ task: URLSessionTask) -> (any URLSessionTaskObservation)? {
        record("start")
        return Observation(record: record)
    }

    private struct Observation: URLSessionTaskObservation {
        let record: @Sendable (String) -> Void
        var requestFields: [String: String] { ["X-Order": "observer"] }

        func taskDidEnd(_ task: URLSessionTask, metrics: URLSessionTaskMetrics, error: (any Error)?) { record("end") }
    }
}
