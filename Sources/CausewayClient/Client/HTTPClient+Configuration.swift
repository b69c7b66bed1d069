public import CausewayURLLoading
public import Foundation

extension HTTPClient {
    /// The settings of a client.
    public struct Configuration: Sendable {
        /// Header fields of every request. Fields of a request replace those with the same names.
        public var headers: [String: String] = [:]
        /// The settings of the session: cache, cookies, timeouts, proxies, TLS, and the observers for logs, metrics and traces.
        public var session: URLSessionConfiguration
        /// The decoder of typed responses. Several tasks use it at the same time, so it must not be changed.
        public var decoder = JSONDecoder()
        /// The rules for repetitions of failed requests.
        public var retryPolicy = RetryPolicy.standard
        /// The interceptors, in the order in which they are called.
        public var interceptors: [any RequestInterceptor] = []
        /// Whether equal GET and HEAD requests in flight share one response. The default is `true`. If the first caller is cancelled, the request is sent
        /// again for the others. A request never shares the response of one that began before the end of a POST, PUT, PATCH or DELETE of the same client,
        /// because that response can be out of date.
        public var coalescesRequests = true
        /// The limits of requests at the same time; `nil` for none.
        public var concurrencyLimits: ConcurrencyLimits?
        /// The rule for large transfers on metered networks.
        public var meteredPolicy = MeteredPolicy.allow
        /// The limits of memory.
        var limits = Limits()

        struct Limits: Sendable {
            var contentLength: Int?
            var errorContentLength = 64 << 10
        }

        /// Creates settings.
        ///
        /// - Parameter session: The settings of the session. The client uses a copy.
        public init(session: URLSessionConfiguration = .default) { self.session = session }

        /// The maximum number of bytes of a response in memory; `nil` for no limit, as in `URLSession`. Downloads and streams have no limit.
        public var maximumContentLength: Int? {
            get { limits.contentLength }
            set { limits.contentLength = newValue.map { max($0, 0) } }
        }

        /// The maximum number of bytes of a response that an error keeps. The default is 65,536.
        public var maximumErrorContentLength: Int {
            get { limits.errorContentLength }
            set { limits.errorContentLength = max(newValue, 0) }
        }
    }
}
