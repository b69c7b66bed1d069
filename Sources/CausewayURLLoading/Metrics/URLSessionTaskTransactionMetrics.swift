public import Causeway
public import Foundation

/// Measurements of one request and its response.
///
/// Counterpart: macOS 10.12, iOS 10.
// SAFETY: the stored property of this class is a constant. Subclasses of programs answer for their own.
@preconcurrency open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    private let record: TransactionRecord

    init(_ record: TransactionRecord) {
        self.record = record
        super.init()
    }

    /// The request.
    open var request: URLRequest { record.request }
    /// The response; `nil` if none arrived.
    open var response: URLResponse? { record.response }
    /// When the task began to fetch the resource.
    open var fetchStartDate: Date? { record.dates.fetchStart }
    /// When the resolution of the name began.
    open var domainLookupStartDate: Date? { record.dates.domainLookup.start }
    /// When the resolution of the name ended.
    open var domainLookupEndDate: Date? { record.dates.domainLookup.end }
    /// When connecting began.
    open var connectStartDate: Date? { record.dates.connect.start }
    /// When the TLS handshake began.
    open var secureConnectionStartDate: Date? { record.dates.secureConnection.start }
    /// When the TLS handshake ended.
    open var secureConnectionEndDate: Date? { record.dates.secureConnection.end }
    /// When the connection was ready, after the TLS handshake.
    open var connectEndDate: Date? { record.dates.connect.end }
    /// When the first byte of the request was sent.
    open var requestStartDate: Date? { record.dates.request.start }
    /// When the last byte of the request was sent.
    open var requestEndDate: Date? { record.dates.request.end }
    /// When the first byte of the response arrived.
    open var responseStartDate: Date? { record.dates.response.start }
    /// When the last byte of the response arrived.
    open var responseEndDate: Date? { record.dates.response.end }
    /// The name of the protocol in ALPN, such as `h2`.
    open var networkProtocolName: String? { record.connection.protocolName }
    /// Whether a proxy carried the connection.
    open var isProxyConnection: Bool { record.connection.traits.contains(.proxied) }
    /// Whether the connection had carried another transaction before.
    open var isReusedConnection: Bool { record.connection.traits.contains(.reused) }
    /// Where the resource came from.
    open var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType { record.fetchType }
    /// Bytes of the request's head on the wire. macOS 10.15, iOS 13.
    open var countOfRequestHeaderBytesSent: Int64 { record.counts.requestHeader }
    /// Bytes of the request's content on the wire. macOS 10.15, iOS 13.
    open var countOfRequestBodyBytesSent: Int64 { record.counts.requestBody }
    /// Bytes of the request's content. macOS 10.15, iOS 13.
    open var countOfRequestBodyBytesBeforeEncoding: Int64 { record.counts.requestBodyBeforeEncoding }
    /// Bytes of the response's head on the wire. macOS 10.15, iOS 13.
    open var countOfResponseHeaderBytesReceived: Int64 { record.counts.responseHeader }
    /// Bytes of the response's content on the wire. macOS 10.15, iOS 13.
    open var countOfResponseBodyBytesReceived: Int64 { record.counts.responseBody }
    /// Bytes of the response's content as delivered. macOS 10.15, iOS 13.
    open var countOfResponseBodyBytesAfterDecoding: Int64 { record.counts.responseBodyAfterDecoding }
    /// The local address. macOS 10.15, iOS 13.
    open var localAddress: String? { record.connection.local?.address }
    /// The local port. macOS 10.15, iOS 13.
    open var localPort: Int? { record.connection.local?.port }
    /// The address of the server or proxy. macOS 10.15, iOS 13.
    open var remoteAddress: String? { record.connection.remote?.address }
    /// The port of the server or proxy. macOS 10.15, iOS 13.
    open var remotePort: Int? { record.connection.remote?.port }
    /// The version of TLS. macOS 10.15, iOS 13.
    open var negotiatedTLSProtocolVersion: tls_protocol_version_t? { record.connection.tlsVersion }
    /// The cipher suite of TLS. macOS 10.15, iOS 13.
    open var negotiatedTLSCipherSuite: tls_ciphersuite_t? { record.connection.cipherSuite }
    /// Whether a cellular interface carried the connection. macOS 10.15, iOS 13.
    open var isCellular: Bool { record.connection.traits.contains(.cellular) }
    /// Whether an expensive interface carried the connection. macOS 10.15, iOS 13.
    open var isExpensive: Bool { record.connection.traits.contains(.expensive) }
    /// Whether an interface in Low Data Mode carried the connection. macOS 10.15, iOS 13.
    open var isConstrained: Bool { record.connection.traits.contains(.constrained) }
    /// Whether several paths carried the connection. macOS 10.15, iOS 13.
    open var isMultipath: Bool { record.connection.traits.contains(.multipath) }
    /// How the name was resolved. macOS 11, iOS 14.
    open var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { record.connection.resolution }
}
