import Foundation
import Testing

extension Interop {
    /// Changes the networks, and checks the events of path monitors and connections. The events must match the table in
    /// ``MobilityScenario``.
    @Suite("Mobility", .enabled(if: TwoPaths.isAvailable, "network namespaces need root and ip(8)"))
    struct MobilityTests {
        @Test("Callbacks match the table exactly, without missing or repeated events", arguments: MobilityScenario.all)
        func follows(_ scenario: MobilityScenario) async throws {
            try await TwoPaths.run { hosts, scratch in
                let server = try hosts.start(["serve", "echo", "--port", "7000"], on: hosts.server, in: scratch)
                try await eventually("the server listens") {
                    !server.output.isEmpty || server.errors.contains("listening")
                }
                if !scenario.before.isEmpty { try hosts.ip(scenario.before, on: hosts.client) }
                let monitor = try hosts.start(
                    ["path", "--watch", "--json"] + scenario.monitor, on: hosts.client, in: scratch)
                let connection = try hosts.start(
                    ["status", scenario.host, "\(scenario.port)", "--connect", "--json"] + scenario.demands,
                    on: hosts.client, in: scratch)
                var told = Told(monitor: monitor, connection: connection)
                try await told.expect(scenario.first, isExact: true, "at first")
                for step in scenario.steps {
                    if !step.client.isEmpty { try hosts.ip(step.client, on: hosts.client) }
                    if !step.server.isEmpty { try hosts.ip(step.server, on: hosts.server) }
                    try await told.expect(
                        step.expected, isExact: step.isOneChange, "after \(step.client + step.server)")
                }
                // Wait a moment: if the program sends superfluous events, they arrive within this time.
                try await Task.sleep(for: .milliseconds(120))
                try await told.expect(.init(), isExact: true, "afterwards")
            }
        }

        @Test("nw status lists every route with the reason for its rank, and nw path describes the interfaces")
        func once() async throws {
            try await TwoPaths.run { hosts, scratch in
                let status = try hosts.start(["status", "10.77.9.9"], on: hosts.client, in: scratch)
                #expect(try await status.finished() == 0)
                try await status.prints(
                    """
                    10.77.9.9: satisfied
                      1. wifi0 (wifi) via 10.77.1.1 from 10.77.1.2, metric 100: selected by the system
                      2. cell0 (cellular) via 10.77.2.1 from 10.77.2.2, metric 200: fallback

                    """)
                let path = try hosts.start(["path"], on: hosts.client, in: scratch)
                #expect(try await path.finished() == 0)
                let lines = String(decoding: path.output, as: UTF8.self).split(separator: "\n")
                #expect(lines.contains { $0.hasPrefix("cell0  cellular  up  expensive  10.77.2.2/24 fd77:2::2/64") })
                #expect(lines.last?.hasPrefix("path: satisfied over wifi0 (wifi), then cell0; ipv4 ipv6") == true)
                let mistake = try hosts.start(["status", "10.77.9.9", "--connect"], on: hosts.client, in: scratch)
                #expect(try await mistake.finished() == 64)
            }
        }

        @Test(
            "nw path --captive distinguishes an open network from one with a login page",
            arguments: [
                ("204 No Content", "open\n", 0 as Int32),
                ("302 Found\\r\\nLocation: /login", "captive: http://10.77.9.9:7600/login\n", 1),
                ("200 OK", "captive\n", 1), ("503 Busy", "", 1),
            ])
        func captive(_ answer: String, _ told: String, _ code: Int32) async throws {
            try await TwoPaths.run { hosts, scratch in
                let words = "printf 'HTTP/1.1 \(answer)\\r\\n\\r\\n' | exec \(try Built.nw()) cat -l -v 7600"
                let server = try scratch.start("/bin/sh", ["-c", words], on: hosts.server)
                try await eventually("the server listens") { server.errors.contains("listening") }
                let asking = try hosts.start(
                    ["path", "--captive", "http://10.77.9.9:7600/204"], on: hosts.client, in: scratch)
                #expect(try await asking.finished() == code)
                #expect(asking.text == told)
            }
        }

        @Test("A transfer resumes after an outage, without loss")
        func outage() async throws {
            try await TwoPaths.run { hosts, scratch in
                let payload = Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
                let source = try scratch.newFile("payload")
                try payload.write(to: source)
                let receiver = try hosts.start(["cat", "-l", "7100"], on: hosts.server, in: scratch)
                try await eventually("the receiver listens") { (try? hosts.listens(7_100)) == true }
                // A slow link makes the transfer long enough that the outage happens during the transfer.
                try hosts.shape(link: "wifi0", rate: "20mbit")
                let nw = try Built.nw()
                let sender = try scratch.start(
                    nw, ["cat", "-N", "10.77.1.1", "7100"], on: hosts.client, input: .file(source))
                try await eventually("the transfer is under way") { receiver.output.count > 500_000 }
                try hosts.ip(["link set to-wifi0 down"], on: hosts.server)
                try await Task.sleep(for: .milliseconds(700))
                try hosts.ip(["link set to-wifi0 up"], on: hosts.server)
                #expect(try await sender.finished() == 0)
                #expect(try await receiver.finished() == 0)
                #expect(receiver.output == payload)
            }
        }

        @Test("Datagrams of a program without a path monitor are sent from a working address")
        func datagrams() async throws {
            try await TwoPaths.run { hosts, scratch in
                let receiver = try hosts.start(["cat", "-lkvu", "7500"], on: hosts.server, in: scratch)
                try await eventually("the receiver listens") { receiver.errors.contains("listening") }
                let sender = try scratch.start(
                    try Built.nw(), ["cat", "-u", "10.77.9.9", "7500"], on: hosts.client, input: .held)
                try sender.write("one\n")
                try await eventually("the first arrives") { receiver.output == Data("one\n".utf8) }
                #expect(receiver.errors.contains("datagrams from 10.77.1.2:"))
                try hosts.ip(["link set wifi0 down"], on: hosts.client)
                try await eventually("others arrive from the other network") {
                    try sender.write("more\n")
                    return receiver.errors.contains("datagrams from 10.77.2.2:")
                }
            }
        }
    }
}
