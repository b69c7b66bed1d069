public import Foundation

/// Measurements of a task.
///
/// Counterpart: macOS 10.12, iOS 10.
// SAFETY: all stored properties of this class are constants. Subclasses of programs answer for their own.
@preconcurrency open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    /// Where a resource came from.
    public enum ResourceFetchType: Int, Sendable {
        /// It is not known.
        case unknown = 0
        /// From the network, or from the loader of another scheme.
        case networkLoad = 1
        /// Pushed by the server.
        case serverPush = 2
        /// From the cache.
        case localCache = 3
    }

    /// How a name was resolved. macOS 11, iOS 14.
    public enum DomainResolutionProtocol: Int, Sendable {
        /// It is not known.
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

    private let transactions: [URLSessionTaskTransactionMetrics]
    private let interval: DateInterval
    private let redirects: Int

    init(transactions: [URLSessionTaskTransactionMetrics], interval: DateInterval, redirectCount: Int) {
        self.transactions = transactions
        self.interval = interval
        redirects = redirectCount
        super.init()
    }

    /// One element per request and response, in order.
    open var transactionMetrics: [URLSessionTaskTransactionMetrics] { transactions }

    /// The time from the creation of the task to its end.
    open var taskInterval: DateInterval { interval }

    /// The number of redirects that were followed.
    open var redirectCount: Int { redirects }
}
