import Causeway
import Foundation

/// One server, and the expected verdict.
struct MatrixRow: Sendable {
    enum Verdict: Sendable, Equatable {
        case accepted
        /// The client refuses the server's certificate chain. The value is the expected status; `nil` permits any
        /// status.
        case refused(OSStatus?)

        var isAccepted: Bool { self == .accepted }
    }

    /// The kind of server and its configuration.
    enum Server: Sendable, Equatable {
        case usual
        /// The server limits the TLS version and the cipher suites. Both are named as in Python's `ssl` module.
        case limited(version: String, suites: String)
        /// The server of OpenSSL, with a stapled OCSP response.
        case stapling
    }

    var name: String
    var host = "server.test"
    /// The certificates that the server sends. The server's own certificate is the first.
    var sent: [String]
    var anchors = ["root"]
    var verdict: Verdict
    var server = Server.usual
    /// Why other TLS programs reach another verdict about these certificates; empty if they agree.
    var others = ""

    static func good(
        _ name: String, _ sent: [String], host: String = "server.test", anchors: [String] = ["root"],
        server: Server = .usual, others: String = ""
    ) -> MatrixRow {
        MatrixRow(
            name: name, host: host, sent: sent, anchors: anchors, verdict: .accepted, server: server, others: others)
    }

    static func bad(
        _ name: String, _ sent: [String], _ status: OSStatus? = errSSLXCertChainInvalid, host: String = "server.test",
        anchors: [String] = ["root"], server: Server = .usual, others: String = ""
    ) -> MatrixRow {
        MatrixRow(
            name: name, host: host, sent: sent, anchors: anchors, verdict: .refused(status), server: server,
            others: others)
    }
}

/// What several programs decide about one server: each accepts or refuses it.
struct MatrixResult: Sendable {
    var row: MatrixRow
    /// What this library did: `accepted`, or the reason for its refusal.
    var ours: String
    /// The time that this library took, from the start of the connection.
    var time: Duration
    var curl: String
    var python: String

    static let accepted = "accepted"

    var isRight: Bool {
        switch row.verdict {
        case .accepted: ours == Self.accepted
        case .refused(let status): ours != Self.accepted && status.map { ours == "\($0)" } ?? true
        }
    }

    private var differs: Bool {
        [curl, python].contains { $0 != "-" && ($0 == Self.accepted) != row.verdict.isAccepted }
    }

    static func table(_ results: [MatrixResult]) -> String {
        let rows =
            [["server", "asked for", "right", "ours", "ms", "curl", "python", "where they differ"]]
            + results.map(\.cells)
        let widths = rows[0].indices.map { column in min(46, rows.map { $0[column].count }.max() ?? 0) }
        return rows.map { cells in
            zip(cells, widths).map { cell, width in
                String(cell.prefix(120)) + String(repeating: " ", count: max(0, width - cell.count))
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private var milliseconds: String { "\((time / .milliseconds(0.1)).rounded() / 10)" }

    private var cells: [String] {
        [
            row.name, row.host, row.verdict.isAccepted ? "accept" : "refuse", ours, milliseconds, curl, python,
            differs ? (row.others.isEmpty ? "?" : row.others) : "",
        ]
    }
}
