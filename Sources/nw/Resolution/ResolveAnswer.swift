import CausewayRuntime
import CausewayTypes

/// The JSON object of `nw resolve`.
struct ResolveAnswer: Encodable {
    struct Address: Encodable {
        var address: String
        var origin: String
        var timeToLive: Int?
        /// The source address that this host would use for packets to this address; `nil` if there is no route.
        var source: String?
        var rule: String?
    }

    struct Record: Encodable {
        var name: String
        var type: String
        var timeToLive: Int
        var content: String
    }

    struct Step: Encodable {
        var type: String
        var name: String
        var outcome: String
        var origin: String
        var server: String?
        var milliseconds: Double
    }

    var name: String
    var milliseconds: Double
    var isAuthentic: Bool
    var addresses: [Address]
    var records: [Record]
    var queries: [Step]
    var problem: String?

    init(name: String, _ inquiry: NameQuery) {
        self.name = name
        milliseconds = inquiry.milliseconds
        isAuthentic = inquiry.isAuthentic
        addresses = inquiry.addresses.map {
            Address(address: $0.text, origin: $0.origin, timeToLive: $0.timeToLive, source: $0.source, rule: $0.rule)
        }
        records = inquiry.records.map {
            Record(name: $0.name, type: $0.type, timeToLive: $0.timeToLive, content: $0.content)
        }
        queries = inquiry.steps.map {
            Step(
                type: $0.type, name: $0.name, outcome: $0.outcome, origin: $0.origin, server: $0.server,
                milliseconds: $0.milliseconds)
        }
        if addresses.isEmpty, records.isEmpty {
            problem = inquiry.detail ?? inquiry.failure.map { describe($0.networkError).text } ?? "no records found"
        }
    }

    func json() -> PrintableText {
        PrintableText(json: self, isIndented: true)
    }

    func text(trace: Bool) -> PrintableText {
        var lines: [PrintableText] = []
        if trace { lines += queries.map(Self.line) }
        lines += records.map { "\($0.name)\t\($0.timeToLive)\tIN\t\($0.type)\t\($0.content)" }
        for address in addresses {
            let facts: [String?] = [
                address.origin, address.timeToLive.map { "ttl \($0)" },
                address.source.map { "from \($0)" } ?? "no route", address.rule,
            ]
            lines.append("\(address.address.padded(to: 39))  \(facts.compactMap(\.self).joined(separator: ", "))")
        }
        if trace { lines.append("; \(Amounts.decimal(milliseconds, places: 1)) ms in total") }
        return lines.joined(separator: "\n")
    }

    private static func line(_ step: Step) -> PrintableText {
        let place = step.server.map { "\(step.origin) \($0)" } ?? step.origin
        let time = Amounts.decimal(step.milliseconds, places: 1)
        return "; \(step.name) \(step.type): \(step.outcome), \(place), \(time) ms"
    }
}
