import CausewayHTTPProtocols
import CausewayProtocols
import CausewayTypes
import CausewayWire

/// The -w variables for a transfer. Their names are the same as curl's.
enum TransferVariable: String, CaseIterable, Sendable {
    case contentType = "content_type"
    case errorMessage = "errormsg"
    case exitCode = "exitcode"
    case file = "filename_effective"
    case status = "http_code"
    case version = "http_version"
    case method = "method"
    case connections = "num_connects"
    case headers = "num_headers"
    case redirects = "num_redirects"
    case retries = "num_retries"
    case redirectURL = "redirect_url"
    case remoteAddress = "remote_ip"
    case remotePort = "remote_port"
    case responseCode = "response_code"
    case scheme = "scheme"
    case received = "size_download"
    case sent = "size_upload"
    case receiveSpeed = "speed_download"
    case sendSpeed = "speed_upload"
    case handshakeTime = "time_appconnect"
    case connectTime = "time_connect"
    case lookupTime = "time_namelookup"
    case requestTime = "time_pretransfer"
    case redirectTime = "time_redirect"
    case firstByteTime = "time_starttransfer"
    case totalTime = "time_total"
    case url = "url"
    case effectiveURL = "url_effective"
}

/// The requests, responses and content of a transfer after its end. Times are seconds since the start of the first request.
struct TransferResult {
    let url: URIReference
    let records: [HTTPExchangeRecord]
    let content: HTTPReport.Content
    let failure: HTTPCommandFailure?
    let retryCount: Int

    var exitCode: Int32 { failure?.code.rawValue ?? 0 }

    private var last: HTTPExchangeRecord? { records.last }
    var fields: FieldSection { last?.response?.fields ?? FieldSection() }

    func text(of variable: TransferVariable) -> String {
        switch variable {
        case .contentType: fields.firstValue(of: "Content-Type") ?? ""
        case .errorMessage: failure?.message.text ?? ""
        case .exitCode: "\(exitCode)"
        case .file: content.file ?? ""
        case .status, .responseCode: statusText
        case .version: last?.response == nil ? "0" : last?.protocolName == "h2" ? "2" : "1.1"
        case .method: records.last?.request.method ?? ""
        case .connections: "\(records.count { $0.connection != nil })"
        case .headers: "\(fields.count)"
        case .redirects: "\(redirectCount)"
        case .retries: "\(retryCount)"
        case .redirectURL: redirectURL
        case .remoteAddress: remote.address
        case .remotePort: remote.port
        case .scheme: last?.target.scheme ?? url.scheme ?? ""
        case .received: "\(content.count)"
        case .sent: "\(last?.sentCount ?? 0)"
        case .receiveSpeed: speed(content.count)
        case .sendSpeed: speed(last?.sentCount ?? 0)
        case .handshakeTime: seconds(end(of: "handshake"))
        case .connectTime: seconds(end(of: "attempt"))
        case .lookupTime: seconds(end(of: "query"))
        case .requestTime: seconds(last?.connection?.total)
        case .redirectTime: Amounts.decimal(redirectTime, places: 6)
        case .firstByteTime:
            seconds(last.flatMap { record in record.responded.map { ($0 - record.started) / .milliseconds(1) } })
        case .totalTime: Amounts.decimal(total, places: 6)
        case .url: url.description
        case .effectiveURL: last?.target.description ?? url.description
        }
    }

    private var statusText: String {
        let digits = String(last?.response?.status ?? 0)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }

    private var redirectCount: Int {
        zip(records, records.dropFirst()).count { $0.target != $1.target }
    }

    /// The target of a redirect that was not followed.
    private var redirectURL: String {
        guard let last, let status = last.response?.status, RedirectChain.isRedirect(status),
            let location = fields.firstValue(of: "Location").flatMap({ URIReference($0) })
        else { return "" }
        return location.resolved(against: last.target).description
    }

    private var remote: (address: String, port: String) {
        // The final request may use the connection that was made for an earlier request.
        guard let place = records.last(where: { $0.connection?.winner != nil })?.connection?.winner,
            let colon = place.lastIndex(of: ":")
        else { return ("", "0") }
        let address = place[..<colon].filter { $0 != "[" && $0 != "]" }
        return (address, String(place[place.index(after: colon)...]))
    }

    // MARK: Times

    /// The seconds from the first request to the final request.
    private var redirectTime: Double {
        guard redirectCount > 0, let first = records.first, let last else { return 0 }
        return (last.started - first.started).inSeconds
    }

    private var total: Double {
        guard let first = records.first, let end = last?.ended else { return 0 }
        return (end - first.started).inSeconds
    }

    private func end(of kind: String) -> Double? {
        last?.connection?.entries.filter { $0.kind == kind }.compactMap(\.end).max()
    }

    /// Converts a time from milliseconds since the start of the final exchange to seconds since the start of the first
    /// request, and formats it. Zero for `nil`.
    private func seconds(_ milliseconds: Double?) -> String {
        guard let milliseconds, let first = records.first, let last else { return "0.000000" }
        return Amounts.decimal((last.started - first.started).inSeconds + milliseconds / 1_000, places: 6)
    }

    private func speed(_ count: Int) -> String {
        total > 0 ? Amounts.decimal(Double(count) / total, places: 0) : "0"
    }

    // MARK: JSON

    /// All variables. Numeric values are JSON numbers.
    var all: [String: Value] {
        let texts: Set<TransferVariable> = [
            .contentType, .errorMessage, .file, .version, .method, .redirectURL, .remoteAddress, .scheme, .url,
            .effectiveURL,
        ]
        return Dictionary(
            uniqueKeysWithValues: TransferVariable.allCases.map { variable in
                let text = text(of: variable)
                return (variable.rawValue, texts.contains(variable) ? .text(text) : .number(Double(text) ?? 0))
            })
    }

    enum Value: Encodable {
        case text(String)
        case number(Double)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number):
                if let whole = Int(exactly: number) {
                    try container.encode(whole)
                } else {
                    try container.encode(number)
                }
            }
        }
    }

    /// The response fields by lower-case name.
    var fieldValues: [String: [String]] {
        Dictionary(
            fields.map { field in
                (
                    String(decoding: field.name, as: UTF8.self).lowercased(),
                    [String(decoding: field.value, as: UTF8.self)]
                )
            }, uniquingKeysWith: +)
    }
}
