internal import CausewayHTTPProtocols

extension HTTPServer {
    /// A server's limits and timeouts. They bound the memory and time that one client can use.
    public struct Configuration: Sendable {
        var limits = HTTPServerLimits()
        var lingerTime: Duration = .seconds(2)

        /// The maximum number of open connections (default: 10,000). At this number, the connection that has waited
        /// longest for a request, or for the rest of a request head, is closed. If no connection waits for a request,
        /// new clients wait in the kernel's queue.
        public var maximumConnections = 10_000

        /// Called when a request has ended, for example to write an access log.
        public var exchangeHandler: (@Sendable (Exchange) -> Void)?

        /// Where handlers run (default: on the event loop of their connection).
        public var handlerExecution = HandlerExecution.eventLoop

        /// Creates the default configuration.
        public init() {}

        /// The maximum length of the request line and fields in bytes (default: 64 KiB). Longer heads are refused with status 431, or 414
        /// if the request line alone is too long.
        public var maximumHeadLength: Int {
            get { limits.headByteCount }
            set { limits.headByteCount = max(1, newValue) }
        }

        /// The maximum number of fields in a request (default: 1,000).
        public var maximumFieldCount: Int {
            get { limits.fieldCount }
            set { limits.fieldCount = max(1, newValue) }
        }

        /// The maximum request target length in bytes (default: 16 KiB). Longer targets are refused with status 414.
        public var maximumTargetLength: Int {
            get { limits.targetByteCount }
            set { limits.targetByteCount = max(1, newValue) }
        }

        /// The maximum request content length in bytes; `nil` for no limit (default: 16 MiB). Longer content is refused with status 413.
        public var maximumContentLength: Int? {
            get { limits.contentByteCount == .max ? nil : limits.contentByteCount }
            set { limits.contentByteCount = newValue.map { max(0, $0) } ?? .max }
        }

        /// Whether content without a stated length is refused with status 411 (default: no).
        public var requiresContentLength: Bool {
            get { limits.requiresContentLength }
            set { limits.requiresContentLength = newValue }
        }

        /// The number of requests after which a connection closes (default: 100,000).
        public var maximumRequestsPerConnection: Int {
            get { limits.requestCount }
            set { limits.requestCount = max(1, newValue) }
        }

        /// The maximum number of concurrent requests on an HTTP/2 connection (default: 100).
        public var maximumConcurrentRequests: Int {
            get { limits.concurrentRequestCount }
            set { limits.concurrentRequestCount = max(1, newValue) }
        }

        /// The time within which a request head must arrive (default: 20 s). A slower client receives status 408.
        public var headTimeout: Duration {
            get { limits.headTime }
            set { limits.headTime = newValue }
        }

        /// The time after which a connection without requests closes (default: 75 s).
        public var idleTimeout: Duration {
            get { limits.idleTime }
            set { limits.idleTime = newValue }
        }

        /// The minimum rate for clients that send content or read a response, in bytes per second; 0 for none (default:
        /// 500). The rate applies only while the server waits for the client.
        public var minimumRate: Int {
            get { limits.minimumRate }
            set { limits.minimumRate = max(0, newValue) }
        }

        /// The time during which a client may be slower than ``minimumRate`` (default: 20 s).
        public var stallTimeout: Duration {
            get { limits.stallTime }
            set { limits.stallTime = newValue }
        }
    }

    /// A completed request.
    public struct Exchange: Sendable {
        /// The request. Its content cannot be read any more.
        public let request: HTTPServerRequest
        /// The response status; 0 if the client was gone before a response began.
        public let status: Int
        /// The number of content bytes that the server sent. It includes bytes that have not reached the client yet.
        public let sentByteCount: Int
        /// The time from the request head to the end of the response.
        public let duration: Duration
        /// The error of the handler, or the failure of the response; `nil` if there was none. The client receives an
        /// error's text only if the error is an ``HTTPServerError``.
        public let error: (any Error)?
    }
}
