import Foundation
import Testing

extension Interop {
    /// Tests what commands print about hosts that do not answer.
    @Suite("Facts printed by commands")
    struct CommandFactsTests {
        private struct Report: Decodable {
            struct Entry: Decodable {
                var kind: String
                var label: String
            }
            var entries: [Entry]
            var problem: String?
        }

        @Test("The time line shows an attempt that -w ends", .enabled(if: TwoHosts.isAvailable, "no namespaces"))
        func unfinishedAttempt() async throws {
            try await TwoHosts.run { hosts, scratch in
                // This address belongs to no host on the link.
                let silent = "10.77.8.9"
                let nw = try scratch.start(
                    try Built.nw(), ["connect", silent, "80", "-w", "0.3", "--timeline", "--json"], on: hosts.near)
                #expect(try await nw.finished() == 1)
                let report = try JSONDecoder().decode(Report.self, from: nw.output)
                #expect(report.entries.contains { $0.kind == "attempt" && $0.label.hasPrefix("\(silent):80") })
                #expect(report.problem != nil)
            }
        }
    }
}
