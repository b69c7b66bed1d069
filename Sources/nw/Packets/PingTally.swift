import CausewayTypes

/// The results of a run of `nw ping`.
struct PingTally {
    var sent = 0
    var errors = 0
    var duplicates = 0
    /// The round-trip times in milliseconds.
    private var times: [Double] = []

    var received: Int { times.count }

    mutating func received(after milliseconds: Double) { times.append(milliseconds) }

    /// The results as a JSON object.
    func json() -> PrintableText {
        "{\"transmitted\":\(sent),\"received\":\(received),\"errors\":\(errors),\"duplicates\":\(duplicates),"
            + "\"minimum\":\(PingSession.decimals(minimum)),\"mean\":\(PingSession.decimals(mean)),\"maximum\":\(PingSession.decimals(maximum)),"
            + "\"deviation\":\(PingSession.decimals(deviation))}"
    }

    /// The results as lines of text, as ping prints them.
    func lines(host: String, _ duration: Duration) -> [PrintableText] {
        let more = (duplicates > 0 ? ", +\(duplicates) duplicates" : "") + (errors > 0 ? ", +\(errors) errors" : "")
        var lines: [PrintableText] = [
            "\n--- \(host) ping statistics ---",
            "\(sent) packets transmitted, \(received) received\(more), \(Self.percent(loss))% packet loss, time \(Int(duration / .milliseconds(1)))ms",
        ]
        if !times.isEmpty {
            lines.append(
                "rtt min/avg/max/mdev = \([minimum, mean, maximum, deviation].map(PingSession.decimals).joined(separator: "/")) ms"
            )
        }
        return lines
    }

    private var loss: Double { sent == 0 ? 0 : Double(sent - received) * 100 / Double(sent) }
    private var minimum: Double { times.min() ?? 0 }
    private var maximum: Double { times.max() ?? 0 }
    private var mean: Double { times.isEmpty ? 0 : times.reduce(0, +) / Double(times.count) }
    private var deviation: Double {
        let square = times.isEmpty ? 0 : times.map { $0 * $0 }.reduce(0, +) / Double(times.count)
        return max(0, square - mean * mean).squareRoot()
    }

    private static func percent(_ value: Double) -> String {
        value == value.rounded() ? "\(Int(value))" : PingSession.fixed(value, 4)
    }
}
