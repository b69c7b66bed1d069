internal import Causeway
internal import CausewayHTTP
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension TransactionRecord {
    /// Records the size of a request head. This is the size that the head has in HTTP/1.1 form.
    mutating func note(_ request: HTTPRequestValue, _ body: HTTPRequestBody) {
        let head = request.head
        // In addition to the method and the target, the request line contains 12 bytes: two spaces, the version and the
        // line end.
        let line = head.method.utf8.count + head.target.utf8.count + 12
        let framing =
            switch body {
            case .none: 0
            case .data(let data): "Content-Length: \(data.count)\r\n".utf8.count
            case .stream(_, let length?): "Content-Length: \(length)\r\n".utf8.count
            case .stream(_, nil): "Transfer-Encoding: chunked\r\n".utf8.count
            }
        counts.requestHeader = Int64(line + framing + Self.headerBytes(head.fields))
    }

    /// Adds to the number of content bytes sent. `count` is negative to subtract content that will be sent again.
    mutating func noteSent(_ count: Int) {
        counts.requestBody += Int64(count)
        counts.requestBodyBeforeEncoding = counts.requestBody
        dates.request.end = Date()
    }

    /// Records the response head and its connection.
    mutating func note(
        _ head: HTTPResponseHead, _ response: HTTPURLResponse, _ information: HTTPConnectionInformation
    ) {
        self.response = response
        let now = Date()
        let (details, clock) = (information.details, MonotonicOffset(now))
        dates.response.start = now
        connection.protocolName = details.protocolName
        connection.local = details.localEndpoint.flatMap(Self.address)
        connection.remote = details.remoteEndpoint.flatMap(Self.address)
        connection.tlsVersion = details.security?.version
        connection.cipherSuite = details.security?.cipherSuite
        if information.isReused { connection.traits.insert(.reused) }
        if details.usesProxy { connection.traits.insert(.proxied) }
        if details.isMultipath { connection.traits.insert(.multipath) }
        connection.resolution = details.resolution.map { .init($0.dnsProtocol) } ?? .unknown
        note(details.path)
        if !information.isReused {
            dates.domainLookup = clock.pair(details.resolution?.phase)
            dates.connect = clock.pair(details.connect)
            dates.secureConnection = clock.pair(details.secureConnect)
        }
        let start = information.began.map { clock.date($0) } ?? dates.connect.end ?? dates.fetchStart
        dates.request = DatePair(start: start, end: max(start ?? now, dates.request.end ?? start ?? now))
        counts.responseHeader = Int64(Self.headerBytes(head.fields) + head.reason.utf8.count + 15)
    }

    private mutating func note(_ path: NWPath?) {
        guard let path else { return }
        if path.isExpensive { connection.traits.insert(.expensive) }
        if path.isConstrained { connection.traits.insert(.constrained) }
        if path.usesInterfaceType(.cellular) { connection.traits.insert(.cellular) }
    }

    private static func address(_ endpoint: NWEndpoint) -> (address: String, port: Int)? {
        guard case .hostPort(let host, let port) = endpoint else { return nil }
        return (host.debugDescription, Int(port.rawValue))
    }

    /// The size of a field section in HTTP/1.1 form, in bytes.
    private static func headerBytes(_ fields: FieldSection) -> Int {
        fields.reduce(2) { $0 + $1.name.count + $1.value.count + 4 }
    }
}

extension URLSessionTaskMetrics.DomainResolutionProtocol {
    fileprivate init(_ other: NWConnection.EstablishmentReport.Resolution.DNSProtocol) {
        switch other {
        case .unknown: self = .unknown
        case .udp: self = .udp
        case .tcp: self = .tcp
        case .tls: self = .tls
        case .https: self = .https
        }
    }
}

/// Converts monotonic clock times to dates.
struct MonotonicOffset {
    private let now: Date
    private let time: Duration

    init(_ now: Date) {
        self.now = now
        time = System.now
    }

    func date(_ other: Duration) -> Date {
        let (seconds, attoseconds) = (time - other).components
        return now - (Double(seconds) + Double(attoseconds) / 1e18)
    }

    func pair(_ phase: HTTPConnectionDetails.Phase?) -> TransactionRecord.DatePair {
        guard let phase else { return TransactionRecord.DatePair() }
        return TransactionRecord.DatePair(start: date(phase.start), end: date(phase.end))
    }
}
