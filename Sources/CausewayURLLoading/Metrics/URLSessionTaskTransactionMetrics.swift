public import Causeway
public import Foundation

/// The metrics of one request and its response.
///
/// Counterpart: macOS 10.12, iOS 10.
// SAFETY: the stored property of this class changes only in its initializers. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    private var record: TransactionRecord

    /// Creates metrics for a request without a URL, for subclasses with an initializer of their own. This is the only
    /// designated initializer, as on Apple platforms. If there were another, the initializers of subclasses could not
    /// leave out `super.init()`.
    public override init() {
        record = TransactionRecord(request: URLRequest(values: NSURLRequest().values))
        super.init()
    }

    convenience init(_ record: TransactionRecord) {
        self.init()
        self.record = record
    }

    /// The request.
    open var request: URLRequest { record.request }
    /// The response; `nil` if none arrived.
    open var response: URLResponse? { record.response }
    /// When the task started to fetch the resource.
    open var fetchStartDate: Date? { record.dates.fetchStart }
    /// When the name lookup started.
    open var domainLookupStartDate: Date? { record.dates.domainLookup.start }
    /// When the name lookup ended.
    open var domainLookupEndDate: Date? { record.dates.domainLookup.end }
    /// When the connection attempt started.
    open var connectStartDate: Date? { record.dates.connect.start }
    /// When the TLS handshake started.
    open var secureConnectionStartDate: Date? { record.dates.secureConnection.start }
    /// When the TLS handshake ended.
    open var secureConnectionEndDate: Date? { record.dates.secureConnection.end }
    /// When the connection was established, including the TLS handshake.
    open var connectEndDate: Date? { record.dates.connect.end }
    /// When the first byte of the request was sent.
    open var requestStartDate: Date? { record.dates.request.start }
    /// When the last byte of the request was sent.
    open var requestEndDate: Date? { record.dates.request.end }
    /// When the first byte of the response arrived.
    open var responseStartDate: Date? { record.dates.response.start }
    /// When the last byte of the response arrived.
    open var responseEndDate: Date? { record.dates.response.end }
    /// The ALPN name of the network protocol, such as `h2`.
    open var networkProtocolName: String? { record.connection.protocolName }
    /// Whether the connection used a proxy.
    open var isProxyConnection: Bool { record.connection.traits.contains(.proxied) }
    /// Whether the connection was reused from an earlier transaction.
    open var isReusedConnection: Bool { record.connection.traits.contains(.reused) }
    /// How the resource was fetched.
    open var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType { record.fetchType }
    /// The number of request header bytes sent.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var countOfRequestHeaderBytesSent: Int64 { record.counts.requestHeader }
    /// The number of request body bytes sent.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var countOfRequestBodyBytesSent: Int64 { record.counts.requestBody }
    /// The size of the request body in bytes before encoding.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var countOfRequestBodyBytesBeforeEncoding: Int64 { record.counts.requestBodyBeforeEncoding }
    /// The number of response header bytes received.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var countOfResponseHeaderBytesReceived: Int64 { record.counts.responseHeader }
    /// The number of response body bytes received.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var countOfResponseBodyBytesReceived: Int64 { record.counts.responseBody }
    /// The size of the response body in bytes after decoding.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var countOfResponseBodyBytesAfterDecoding: Int64 { record.counts.responseBodyAfterDecoding }
    /// The connection's local IP address.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var localAddress: String? { record.connection.local?.address }
    /// The connection's local port.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var localPort: Int? { record.connection.local?.port }
    /// The IP address of the server or proxy.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var remoteAddress: String? { record.connection.remote?.address }
    /// The port of the server or proxy.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var remotePort: Int? { record.connection.remote?.port }
    /// The negotiated TLS version.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var negotiatedTLSProtocolVersion: tls_protocol_version_t? { record.connection.tlsVersion }
    /// The negotiated TLS cipher suite.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var negotiatedTLSCipherSuite: tls_ciphersuite_t? { record.connection.cipherSuite }
    /// Whether the connection used a cellular interface.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var isCellular: Bool { record.connection.traits.contains(.cellular) }
    /// Whether the connection used an expensive interface.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var isExpensive: Bool { record.connection.traits.contains(.expensive) }
    /// Whether the connection used an interface in Low Data Mode.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var isConstrained: Bool { record.connection.traits.contains(.constrained) }
    /// Whether the connection used multiple paths.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var isMultipath: Bool { record.connection.traits.contains(.multipath) }
    /// The DNS transport that resolved the host name.
    ///
    /// Counterpart: macOS 11, iOS 14.
    open var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { record.connection.resolution }
}
