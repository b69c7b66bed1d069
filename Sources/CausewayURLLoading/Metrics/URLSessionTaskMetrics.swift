public import Foundation

/// A task's metrics.
///
/// Counterpart: macOS 10.12, iOS 10.
// SAFETY: the stored properties of this class change only in its initializers. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    /// How a resource was fetched.
    public enum ResourceFetchType: Int, Sendable {
        /// The value is not known.
        case unknown = 0
        /// The resource was loaded from the network, or from a `data:` or `file:` URL.
        case networkLoad = 1
        /// The server pushed the resource.
        case serverPush = 2
        /// The resource came from the local cache.
        case localCache = 3
    }

    /// The DNS transport that resolved a host name.
    ///
    /// Counterpart: macOS 11, iOS 14.
    public enum DomainResolutionProtocol: Int, Sendable {
        /// The value is not known.
        case unknown = 0
        /// DNS over UDP.
        case udp = 1
        /// DNS over TCP.
        case tcp = 2
        /// DNS over TLS.
        case tls = 3
        /// DNS over HTTPS.
        case https = 4
    }

    private var transactions: [URLSessionTaskTransactionMetrics] = []
    private var interval = DateInterval()
    private var redirects = 0

    /// Creates metrics without transactions, for subclasses with an initializer of their own.
    // This is the only designated initializer, as on Apple platforms. If there were another, the initializers of
    // subclasses could not leave out `super.init()`.
    public override init() { super.init() }

    convenience init(transactions: [URLSessionTaskTransactionMetrics], interval: DateInterval, redirectCount: Int) {
        self.init()
        self.transactions = transactions
        self.interval = interval
        redirects = redirectCount
    }

    /// The metrics for each request and response, in order.
    open var transactionMetrics: [URLSessionTaskTransactionMetrics] { transactions }

    /// The time from the task's creation to its end.
    open var taskInterval: DateInterval { interval }

    /// The number of followed redirects.
    open var redirectCount: Int { redirects }
}
