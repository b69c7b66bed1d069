import Causeway
import Foundation
import Testing

extension LoopbackCommands {
    /// Tests the information that commands print: timelines of failed connections, available paths, and JSON.
    @Suite("Facts printed by commands")
    struct CommandFactsTests {
        private struct Report: Decodable {
            struct Entry: Decodable {
                var kind: String
                var label: String
                var outcome: String
            }
            var entries: [Entry]
        }

        @Test("The time line shows an attempt on a refusing address", arguments: ["127.0.0.1", "::1"])
        func refusedAddress(_ host: String) async throws {
            guard host == "127.0.0.1" || Medium.hasIPv6 else { return print("SKIPPED: this host has no IPv6") }
            try await Scratch.run { scratch in
                let port = try await scratch.freePort(NWEndpoint.Host(host), using: .tcp)
                let nw = try scratch.startNW(["connect", host, "\(port)", "--timeline", "--json"])
                #expect(try await nw.finished() == 1)
                let report = try JSONDecoder().decode(Report.self, from: nw.output)
                #expect(report.entries.map(\.kind) == ["attempt"])
                #expect(report.entries.first?.outcome == "Connection refused")
                #expect(report.entries.first?.label.hasSuffix(":\(port)") == true)
            }
        }

        @Test("The time line shows the unfinished handshake of a silent peer")
        func unfinishedHandshake() async throws {
            try await Scratch.run { scratch in
                let server = try scratch.startNW(["serve", "sink", "--port", "0"])
                let port = try await server.announcedPort()
                let nw = try scratch.startNW(
                    ["connect", "127.0.0.1", "\(port)", "--tls", "-w0.3", "--timeline", "--json"])
                #expect(try await nw.finished() == 1)
                let report = try JSONDecoder().decode(Report.self, from: nw.output)
                #expect(report.entries.map(\.kind) == ["attempt", "handshake"])
                #expect(report.entries.map(\.outcome) == ["connected", "unfinished"])
            }
        }

        @Test("Prohibited interface types leave no path, also without a connection")
        func prohibitedWays() async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(["status", "127.0.0.1", "--prohibit", "loopback", "--json"])
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(nw.text.contains(#""status":"unsatisfied""#) && nw.text.contains(#""ways":[]"#), "\(nw.text)")
            }
        }

        static let listings: [[String]] = [
            ["filter", "--json", "udp port 53"], ["packet", "udp", "192.0.2.1:53", "--json"],
            ["demo", "--mebibytes", "1", "--json"],
        ]

        @Test("JSON output is one object per line, with numbers as numbers", arguments: listings)
        func json(_ arguments: [String]) async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(arguments)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let lines = nw.text.split(separator: "\n")
                #expect(!lines.isEmpty)
                for line in lines {
                    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    #expect(object != nil, "\(line)")
                    // Skip the capture time. It has nine decimals, so it is printed as text: a floating-point number
                    // would lose digits.
                    let values = (object ?? [:]).filter { $0.key != "time" }.values
                    for case let text as String in values { #expect(Double(text) == nil, "\(line)") }
                }
            }
        }

        @Test("The JSON of echo, send and receive has counts and times as numbers")
        func transferJSON() async throws {
            struct Line: Decodable {
                var event: String?
                var bytes: Int?
                var milliseconds: Double?
                var roundTrips: Int?
                var median: Double?
            }
            func lines(_ child: Child) throws -> [Line] {
                try child.text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            }
            try await Scratch.run { scratch in
                let server = try scratch.startNW(["serve", "echo", "--port", "0"])
                let port = try await server.announcedPort()
                let echo = try scratch.startNW(["echo", "127.0.0.1", "\(port)", "-c2", "-i0", "-s9", "--json"])
                #expect(try await echo.finished() == 0, "\(echo.errors)")
                let trips = try lines(echo)
                try #require(trips.count == 3)
                #expect(trips[0].bytes == 9 && trips[0].milliseconds != nil)
                #expect(trips[2].roundTrips == 2 && trips[2].median != nil)

                let inbox = try scratch.newDirectory("inbox")
                let receiver = try scratch.startNW(["receive", inbox.path, "--port", "0", "--once"])
                let place = try await receiver.announcedPort()
                let url = scratch.directory.appendingPathComponent("note")
                try Data("note".utf8).write(to: url)
                let sender = try scratch.startNW(["send", url.path, "127.0.0.1", "\(place)", "--json"])
                #expect(try await sender.finished() == 0, "\(sender.errors)")
                #expect(try lines(sender).map(\.event) == ["sent"] && lines(sender)[0].bytes == 4)
            }
        }
    }
}
