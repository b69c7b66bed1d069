import Causeway

/// Connects to a host name with several addresses, of which one accepts the connection (Happy Eyeballs, RFC 8305).
enum Race {
    private static let width = 40

    static func run() async throws {
        let carrier = Carrier(title: "race", kind: .tls, address: .hostPort(host: .ipv4(.loopback), port: .any))
        let listener = try carrier.makeListener()
        Exchange.echo(listener, isDatagram: false)
        try await listener.becomeReady()
        defer { listener.cancel() }
        // On most hosts, `localhost` also has the address ::1. No program listens there, so one of the attempts fails.
        let client = NWConnection(host: "localhost", port: listener.port ?? .any, using: carrier.makeParameters())
        defer { client.cancel() }
        _ = try await Exchange.verify(client, isDatagram: false)
        guard let report = await client.establishmentReport() else {
            throw TourFailure("a ready connection has no report")
        }
        print("\nThe race to localhost, where only 127.0.0.1 accepts TLS connections:")
        for line in picture(of: report) { print("  " + line) }
    }

    /// Returns a line for each step, with a bar from its start to its end.
    static func picture(of report: NWConnection.EstablishmentReport) -> [String] {
        var steps: [(title: String, start: Double, end: Double)] = []
        var time = 0.0
        for resolution in report.resolutions {
            steps.append(("name: \(resolution.endpointCount) addresses", time, time + resolution.duration))
            time += resolution.duration
        }
        if report.previousAttemptCount > 0 {
            let first = report.resolutions.first.map { ", first \($0.preferredEndpoint)" } ?? ""
            let end = report.attemptStartedAfterInterval
            steps.append(("\(report.previousAttemptCount) refused\(first)", min(time, end), end))
        }
        time = report.attemptStartedAfterInterval
        for handshake in report.handshakes {
            steps.append(("\(handshake.definition.name) handshake", time, time + handshake.handshakeDuration))
            time += handshake.handshakeDuration
        }
        let last = max(time, steps.map(\.end).max() ?? 0, 0.000_001)
        return steps.map { step in
            let start = min(width - 1, Int(step.start / last * Double(width)))
            let end = max(start + 1, Int((step.end / last * Double(width)).rounded(.up)))
            let bar = String(repeating: " ", count: start) + String(repeating: "=", count: end - start)
            let milliseconds = ((step.end - step.start) * 100_000).rounded() / 100
            return bar + String(repeating: " ", count: max(0, width - end)) + "  \(milliseconds) ms  \(step.title)"
        }
    }
}
