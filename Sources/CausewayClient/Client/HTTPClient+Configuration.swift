public import CausewayURLLoading
public import Foundation

extension HTTPClient {
    /// A client's settings.
    public struct Configuration: Sendable {
        /// Header fields for every request. Fields with the same names in a request replace them.
        public var headers: [String: String] = [:]
        /// The session's settings: cache, cookies, timeouts, proxies, TLS, and the observers for logs, metrics and traces.
        public var session: URLSessionConfiguration
        /// The decoder for typed responses. Several tasks use it at the same time, so it must not be changed.
        public var decoder = JSONDecoder()
        /// The policy that decides when failed requests are repeated.
        public var retryPolicy = RetryPolicy.standard
        /// The interceptors, in the order in which they are called.
        public var interceptors: [any RequestInterceptor] = []
        /// Whether equal GET and HEAD requests in flight share one response. The default is `true`. If the first caller
        /// is cancelled, the request is sent again for the others. After a POST, PUT, PATCH or DELETE by the same
        /// client has ended, no request shares an earlier response, because the earlier response can be out of date.
        public var coalescesRequests = true
        /// The limits for concurrent requests; `nil` for none.
        public var concurrencyLimits: ConcurrencyLimits?
        /// The policy for large transfers on metered networks.
        public var meteredPolicy = MeteredPolicy.allow
        /// The memory limits.
        var limits = Limits()

        struct Limits: Sendable {
            var contentLength: Int?
            var errorContentLength = 64 << 10
        }

        /// Creates settings.
        ///
        /// - Parameter session: The session's settings. The client uses a copy.
        public init(session: URLSessionConfiguration = .default) { self.session = session }

        /// The maximum size of a response in memory, in bytes; `nil` for no limit, as in `URLSession`. Downloads and streams have no limit.
        public var maximumContentLength: Int? {
            get { limits.contentLength }
            set { limits.contentLength = newValue.map { max($0, 0) } }
        }

        /// The maximum number of response bytes that an error keeps. The default is 65,536.
        public var maximumErrorContentLength: Int {
            get { limits.errorContentLength }
            set { limits.errorContentLength = max(newValue, 0) }
        }
    }
}
