internal import Causeway
internal import CausewayHTTP
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension TransactionRecord {
    /// Records the head of the response and the connection that carries it.
    mutating func note(
        _ head: HTTPResponseHead, _ response: HTTPURLResponse, _ information: HTTPConnectionInformation, target: String
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
        note(details.path)
        if !information.isReused {
            dates.domainLookup = clock.pair(details.resolution)
            dates.connect = clock.pair(details.connect)
            dates.secureConnection = clock.pair(details.secureConnect)
        }
        let start = information.began.map { clock.date($0) } ?? dates.connect.end ?? dates.fetchStart
        dates.request = DatePair(start: start, end: start)
        counts.requestHeader = Int64(
            Self.headerBytes(request.values.fields) + request.values.method.utf8.count + target.utf8.count + 12)
        counts.requestBodyBeforeEncoding = counts.requestBody
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

    /// The number of bytes of a field section in HTTP/1.1.
    private static func headerBytes(_ fields: FieldSection) -> Int {
        fields.reduce(2) { $0 + $1.name.count + $1.value.count + 4 }
    }
}

/// Converts times of the monotonic clock to dates.
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
