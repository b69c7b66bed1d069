import Causeway
import CausewayHTTP
import CausewayHTTPProtocols
import CausewayProtocols
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// One request in a run with its response, for `-v`, `--timeline` and `--json`.
struct HTTPExchangeRecord: Sendable {
    var request: HTTPRequestHead
    var target: URIReference
    var response: HTTPResponseHead?
    var interim: [HTTPResponseHead] = []
    /// How the connection was established; `nil` if it was reused.
    var connection: ConnectReport?
    var protocolName: String?
    /// Whether a proxy forwarded the request.
    var isForwarded = false
    /// Times on the monotonic clock.
    var started: Duration
    var responded: Duration?
    var ended: Duration?
    /// The number of decoded content bytes.
    var receivedCount = 0
    /// The number of content bytes sent before the response.
    var sentCount = 0

    /// The connection and exchange steps. Times are milliseconds since the start.
    var steps: [ConnectReport.Entry] {
        var steps = connection?.entries ?? []
        guard connection?.problem == nil else { return steps }
        let ready = connection?.total ?? 0
        let head = responded.map { ($0 - started) / .milliseconds(1) }
        let status = response.map { "\($0.status) \($0.reason)" } ?? "no response"
        steps.append(
            ConnectReport.Entry(
                kind: "request", label: request.method, start: ready, end: head ?? total, outcome: status))
        if let head, let total, response.map({ !RedirectChain.isRedirect($0.status) }) == true {
            steps.append(
                ConnectReport.Entry(
                    kind: "content", label: Amounts.bytes(UInt64(receivedCount)), start: head, end: total,
                    outcome: Amounts.rate(UInt64(receivedCount), over: .milliseconds(max(0, total - head)))))
        }
        return steps
    }

    /// The time in milliseconds until the exchange ended; `nil` if it has not ended.
    var total: Double? { ended.map { ($0 - started) / .milliseconds(1) } }

    /// Returns the timeline.
    func picture() -> PrintableText {
        let summary = connection?.summary ?? "the connection was used again"
        return PrintableText(lines: ConnectReport.bars(steps, end: total ?? 0) + [summary])
    }

    /// Returns the heads of the request and its responses as text.
    func heads() -> PrintableText {
        var lines = HTTPHeadText.lines(request, protocolName: protocolName).map { "> " + $0 } + [">"]
        for head in interim + [response].compactMap({ $0 }) {
            lines += HTTPHeadText.lines(head).map { "< " + $0 } + ["<"]
        }
        return PrintableText(lines: lines)
    }

    /// Prints on a terminal that the response is a redirect.
    func hint() {
        guard let response, RedirectChain.isRedirect(response.status), OpenFile.standardError.kind == .terminal,
            let location = response.fields.firstValue(of: "Location")
        else { return }
        printError("nw: http: redirected to \(location); follow redirects with -L")
    }
}

/// The JSON object of `nw http`. Times are milliseconds.
struct HTTPReport: Encodable {
    /// The final response's content.
    struct Content {
        var count = 0
        var data: Data?
        var file: String?
    }

    struct Field: Encodable {
        var name: String
        var value: String
    }

    struct Exchange: Encodable {
        var method: String
        var url: String
        var status: Int?
        var reason: String?
        var `protocol`: String?
        var fields: [Field]
        var peer: String?
        var steps: [ConnectReport.Entry]
        var total: Double?
    }

    /// All exchanges in order. The last element is the final exchange.
    var exchanges: [Exchange]
    /// The number of decoded content bytes.
    var bytes: Int
    /// The content as text, if it is valid UTF-8.
    var body: String?
    /// The content as Base64, if it is not UTF-8.
    var bodyBase64: String?
    var file: String?
    var problem: String?

    init(_ records: [HTTPExchangeRecord], _ content: Content, problem failure: HTTPCommandFailure?) {
        exchanges = records.map { record in
            let fields = (record.response?.fields ?? FieldSection()).map { field in
                Field(
                    name: String(decoding: field.name, as: UTF8.self),
                    value: String(decoding: field.value, as: UTF8.self))
            }
            return Exchange(
                method: record.request.method, url: record.target.description, status: record.response?.status,
                reason: record.response?.reason, protocol: record.protocolName, fields: fields,
                peer: record.connection?.winner, steps: record.steps, total: record.total)
        }
        bytes = content.count
        if let data = content.data {
            body = String(validating: data, as: UTF8.self)
            if body == nil { bodyBase64 = data.base64EncodedString() }
        }
        file = content.file
        problem = failure?.message.text
    }
}
