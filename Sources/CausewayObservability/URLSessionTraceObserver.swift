public import CausewayURLLoading
public import Tracing

/// Traces a session's tasks. Each session task has a span of kind `client` with the attributes of OpenTelemetry's HTTP
/// spans. The span's parent is the span that is current when the program resumes the session task. The span's trace
/// context is sent with the request, in fields that the tracer chooses, such as `traceparent`.
///
/// The URL's query, user and password, and all header fields are left out, because they can be secrets.
///
/// An addition: Apple's API has no counterpart.
public struct URLSessionTraceObserver: URLSessionTaskObserver {
    private let tracer: (any Tracer)?

    /// Creates an observer.
    ///
    /// - Parameter tracer: The tracer; `nil` for the tracer that is active when a task starts.
    public init(tracer: (any Tracer)? = nil) { self.tracer = tracer }

    public func taskWillStart(_ task: URLSessionTask) -> (any URLSessionTaskObservation)? {
        let tracer = tracer ?? InstrumentationSystem.tracer
        let facts = TaskFacts(task)
        let span = Self.startSpan(tracer, facts)
        var fields: [String: String] = [:]
        tracer.inject(span.context, into: &fields, using: FieldInjector())
        return Observation(span: span, requestFields: fields)
    }

    private static func startSpan(_ tracer: some Tracer, _ facts: TaskFacts) -> any Span {
        let span = tracer.startSpan(facts.method, ofKind: .client)
        span.updateAttributes { attributes in
            attributes["http.request.method"] = facts.method
            attributes["server.address"] = facts.host
            attributes["server.port"] = facts.port
            attributes["url.scheme"] = facts.scheme
            attributes["url.path"] = facts.path
        }
        return span
    }

    private struct FieldInjector: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    private struct Observation: URLSessionTaskObservation {
        let span: any Span
        let requestFields: [String: String]

        func taskDidEnd(_ task: URLSessionTask, metrics: URLSessionTaskMetrics, error: (any Error)?) {
            let result = TaskResult(task, metrics, error)
            span.updateAttributes { attributes in
                attributes["http.response.status_code"] = result.status
                attributes["network.protocol.version"] = result.version
                attributes["http.request.resend_count"] = result.exchanges > 1 ? result.exchanges - 1 : nil
                attributes["http.request.body.size"] = Int(result.sent)
                attributes["http.response.body.size"] = Int(result.received)
                attributes["error.type"] = result.failure
            }
            if let error { span.recordError(error) }
            if result.failure != nil { span.setStatus(SpanStatus(code: .error)) }
            span.end()
        }
    }
}
