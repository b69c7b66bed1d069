package import CausewayWire

/// A scan's findings on one host, as text and as JSON.
package struct ScanReport: Sendable {
    package struct Row: Hashable, Sendable {
        package var port: UInt16
        package var finding: ScanFinding

        package init(port: UInt16, finding: ScanFinding) {
            self.port = port
            self.finding = finding
        }
    }

    /// If more ports than this have the same state and reason, the report only gives their number. Open ports are
    /// always listed.
    private static let maximumAlike = 25

    package var name: String
    package var address: InternetAddress
    package var technique: ScanTechnique
    private var shown: [Row] = []
    private var alike: [(finding: ScanFinding, count: Int)] = []

    /// - Parameter rows: The results, with one row for each port.
    package init(name: String, address: InternetAddress, technique: ScanTechnique, rows: [Row]) {
        self.name = name
        self.address = address
        self.technique = technique
        var counts: [ScanFinding: Int] = [:]
        for row in rows { counts[row.finding, default: 0] += 1 }
        let hidden = counts.filter {
            $0.key.state != .open && ($0.value > Self.maximumAlike || $0.key.state == .unknown)
        }
        shown = rows.filter { hidden[$0.finding] == nil }.sorted { $0.port < $1.port }
        alike = hidden.map { ($0.key, $0.value) }.sorted {
            ($1.count, $0.finding.reason.rawValue) < ($0.count, $1.finding.reason.rawValue)
        }
    }

    package var openCount: Int { shown.count { $0.finding.state == .open } }
    private var transport: String { technique == .udp ? "udp" : "tcp" }

    /// The scan results as a text table.
    package var text: String {
        var text = "Scan report for \(name == "\(address)" ? name : "\(name) (\(address))")\n"
        if !alike.isEmpty {
            let parts = alike.map {
                "\($0.count) \($0.finding.state.rawValue) \(transport) ports (\($0.finding.reason.name))"
            }
            text += "Not shown: \(parts.joined(separator: ", "))\n"
        }
        guard !shown.isEmpty else { return text }
        let cells =
            [["PORT", "STATE", "SERVICE", "REASON"]]
            + shown.map { row in
                [
                    "\(row.port)/\(transport)", row.finding.state.rawValue,
                    PortNames.name(of: row.port) ?? "unknown", row.finding.reason.name,
                ]
            }
        let widths = (0..<3).map { column in cells.map { $0[column].utf8.count }.max() ?? 0 }
        for row in cells {
            for column in 0..<3 {
                text += row[column] + String(repeating: " ", count: widths[column] - row[column].utf8.count + 1)
            }
            text += row[3] + "\n"
        }
        return text
    }

    /// Returns the findings as a JSON object on one line.
    ///
    /// - Parameter state: Whether the host is up; used if no port was probed.
    package func json(state: String? = nil) -> String {
        let ports = shown.map { row in
            let service = PortNames.name(of: row.port).map { ",\"service\":\"\($0)\"" } ?? ""
            return
                "{\"port\":\(row.port),\"protocol\":\"\(transport)\",\"state\":\"\(row.finding.state.rawValue)\",\"reason\":\"\(row.finding.reason.name)\"\(service)}"
        }
        let others = alike.map {
            "{\"count\":\($0.count),\"state\":\"\($0.finding.state.rawValue)\",\"reason\":\"\($0.finding.reason.name)\"}"
        }
        return
            "{\"host\":\"\(Self.escaped(name))\",\"address\":\"\(address)\",\(state.map { "\"state\":\"\($0)\"," } ?? "")\"ports\":[\(ports.joined(separator: ","))],\"others\":[\(others.joined(separator: ","))]}"
    }

    private static func escaped(_ text: String) -> String {
        var out = ""
        for character in text.unicodeScalars {
            switch character {
            case "\"", "\\": out += "\\\(character)"
            case _ where character.value < 0x20: out += "?"
            default: out.unicodeScalars.append(character)
            }
        }
        return out
    }
}
