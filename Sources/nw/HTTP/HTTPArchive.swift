import Causeway
import CausewayHTTP
import CausewayProtocols
import CausewaySystem
import CausewayWire
import FoundationEssentials

/// A run's exchanges as an HTTP Archive 1.2, which browsers and other tools read. Times are milliseconds; -1 means unknown.
struct HTTPArchive: Encodable {
    struct Log: Encodable {
        struct Creator: Encodable {
            var name = "nw"
            var version = "1"
        }

        var version = "1.2"
        var creator = Creator()
        var entries: [Entry]
    }

    struct Pair: Encodable {
        var name: String
        var value: String
    }

    struct Request: Encodable {
        struct Posted: Encodable {
            var mimeType: String
            var text: String
        }

        var method: String
        var url: String
        var httpVersion: String
        var cookies: [Pair] = []
        var headers: [Pair]
        var queryString: [Pair]
        var postData: Posted?
        var headersSize = -1
        var bodySize: Int
    }

    struct Response: Encodable {
        struct Content: Encodable {
            var size: Int
            var mimeType: String
            var text: String?
            var encoding: String?
        }

        var status: Int
        var statusText: String
        var httpVersion: String
        var cookies: [Pair] = []
        var headers: [Pair]
        var content: Content
        var redirectURL: String
        var headersSize = -1
        var bodySize = -1
    }

    struct Timings: Encodable {
        var blocked = -1.0
        var dns = -1.0
        var connect = -1.0
        var ssl = -1.0
        var send = 0.0
        var wait: Double
        var receive: Double

        /// The sum of all times except the TLS time, which is already part of the connect time.
        var total: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
    }

    struct Entry: Encodable {
        struct Cache: Encodable {}

        var startedDateTime: String
        var time: Double
        var request: Request
        var response: Response
        var cache = Cache()
        var timings: Timings
        var serverIPAddress: String?
    }

    var log: Log

    /// - Parameters:
    ///   - content: The final response's content.
    ///   - sent: The first request's content.
    init(_ records: [HTTPExchangeRecord], _ content: HTTPReport.Content, sent: RequestContent) {
        let now = (monotonic: System.now, date: Date())
        var entries: [Entry] = []
        for (index, record) in records.enumerated() {
            let timings = Timings(record)
            let started = now.date.addingTimeInterval((record.started - now.monotonic) / .seconds(1))
            entries.append(
                Entry(
                    startedDateTime: started.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
                    time: timings.total, request: Request(record, index == 0 ? sent : .none),
                    response: Response(record, index == records.count - 1 ? content : HTTPReport.Content()),
                    timings: timings, serverIPAddress: record.connection?.winner))
        }
        log = Log(entries: entries)
    }
}

extension HTTPArchive.Pair {
    /// Returns the fields. Credentials are hidden, because people share archives.
    fileprivate static func all(_ fields: FieldSection) -> [Self] {
        HTTPHeadText.shown(fields).map { field in
            Self(name: String(decoding: field.name, as: UTF8.self), value: String(decoding: field.value, as: UTF8.self))
        }
    }
}

extension HTTPArchive.Request {
    fileprivate init(_ record: HTTPExchangeRecord, _ content: RequestContent) {
        let query = (record.target.query ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return HTTPArchive.Pair(name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
        let bytes = content.bytes
        self.init(
            method: record.request.method, url: record.target.description,
            httpVersion: HTTPArchive.version(record.protocolName), headers: HTTPArchive.Pair.all(record.request.fields),
            queryString: query, bodySize: bytes?.count ?? -1)
        if let bytes, !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) {
            let type = record.request.fields.firstValue(of: "Content-Type") ?? ""
            postData = Posted(mimeType: type, text: text)
        }
    }
}

extension HTTPArchive.Response {
    fileprivate init(_ record: HTTPExchangeRecord, _ content: HTTPReport.Content) {
        let fields = record.response?.fields ?? FieldSection()
        var stored = Content(size: content.count, mimeType: fields.firstValue(of: "Content-Type") ?? "")
        if let data = content.data {
            stored.text = String(validating: data, as: UTF8.self)
            if stored.text == nil {
                stored.text = data.base64EncodedString()
                stored.encoding = "base64"
            }
        }
        self.init(
            status: record.response?.status ?? 0, statusText: record.response?.reason ?? "",
            httpVersion: HTTPArchive.version(record.protocolName), headers: HTTPArchive.Pair.all(fields),
            content: stored, redirectURL: fields.firstValue(of: "Location") ?? "")
    }
}

extension HTTPArchive.Timings {
    fileprivate init(_ record: HTTPExchangeRecord) {
        let ready = record.connection?.total ?? 0
        let head = record.responded.map { ($0 - record.started) / .milliseconds(1) } ?? record.total ?? ready
        self.init(wait: max(0, head - ready), receive: max(0, (record.total ?? head) - head))
        guard let entries = record.connection?.entries else { return }
        let end = { (kind: String) in entries.filter { $0.kind == kind }.compactMap(\.end).max() }
        if let answered = end("query") { dns = answered }
        // The time for TLS is part of the connect time, as in the archives that browsers write.
        if end("attempt") != nil { connect = max(0, ready - max(0, dns)) }
        let handshakes = entries.filter { $0.kind == "handshake" }
        if !handshakes.isEmpty { ssl = handshakes.reduce(0) { $0 + (($1.end ?? $1.start) - $1.start) } }
    }
}

extension HTTPArchive {
    fileprivate static func version(_ name: String?) -> String { name == "h2" ? "HTTP/2" : "HTTP/1.1" }
}
