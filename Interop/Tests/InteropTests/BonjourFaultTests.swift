import Foundation
import Testing

extension Interop {
    /// Tests Bonjour on links that lose packets.
    ///
    /// Lost packets must be repeated, but repeats must not flood the link. So the tests limit the number of packets,
    /// not the time.
    @Suite("Bonjour on lossy links", .enabled(if: TwoHosts.isAvailable, "needs root, ip and python3"))
    struct BonjourFaultTests {
        @Test(
            "Services are found and removed despite lost, duplicated and reordered frames",
            arguments: [(0.0, 0.3, 60), (0.2, 0.05, 30), (0.5, 0.05, 30)])
        func faults(_ loss: Double, _ doubling: Double, _ delay: Int) async throws {
            try await FaultyLink.run(loss: loss, doubling: doubling, delay: delay) { hosts, scratch in
                let browser = try scratch.start(try Built.nw(), ["browse", "_bad._tcp"], on: hosts.near)
                let registrar = try scratch.start(
                    try Built.nw(), ["register", "s", "_bad._tcp", "9", "--count", "5"], on: hosts.far)
                try await eventually("all are found: \(browser.text)") {
                    browser.text.split(separator: "\n").count { $0.hasPrefix("+ s") } == 5
                }
                let (near, far) = (try hosts.sent(by: hosts.near), try hosts.sent(by: hosts.far))
                print("loss \(loss), duplication \(doubling): the browser sent \(near) packets, the registrar \(far)")
                // Each limit counts the packets of both address families. It also allows about a dozen packets for
                // neighbour discovery and group reports.
                #expect(near <= 60 && far <= 100)
                // Wait until the host has sent its last announcement, nine seconds after the first one. This
                // announcement must not follow the goodbye.
                if loss == 0 { try await Task.sleep(for: .seconds(11)) }
                try registrar.interrupt()
                // A host sends its goodbye packet only once. If this packet may have been lost, do not expect the
                // removal.
                guard loss == 0 else { return }
                try await eventually("all are removed: \(browser.text)") {
                    browser.text.split(separator: "\n").count { $0.hasPrefix("- s") } == 5
                }
            }
        }

        @Test("A loss of 80 per cent of frames causes no packet storm")
        func terrible() async throws {
            try await FaultyLink.run(loss: 0.8, doubling: 0.05, delay: 30) { hosts, scratch in
                let browser = try scratch.start(try Built.nw(), ["browse", "_bad._tcp", "-t", "12"], on: hosts.near)
                _ = try scratch.start(
                    try Built.nw(), ["register", "s", "_bad._tcp", "9", "--count", "5"], on: hosts.far)
                #expect(try await browser.finished() == 0)
                let (near, far) = (try hosts.sent(by: hosts.near), try hosts.sent(by: hosts.far))
                print("loss 0.8: the browser sent \(near) packets, the registrar \(far)")
                #expect(near <= 60 && far <= 100)
            }
        }

        @Test("A host with two interfaces on one link does not conflict with itself")
        func twoLinks() async throws {
            try await TwoHosts.run { hosts, scratch in
                for words in ["link add lan type bridge", "link set \(TwoHosts.link) master lan", "link set lan up"] {
                    try hosts.farIP(words)
                }
                try hosts.ip("link add second type veth peer name second netns \(hosts.far)")
                try hosts.farIP("link set second master lan up")
                try hosts.ip("address add 10.77.8.9/24 dev second")
                try hosts.ip("link set second up")
                let registrar = try scratch.start(
                    try Built.nw(), ["register", "s", "_two._tcp", "9"], on: hosts.near)
                try await eventually("it is registered: \(registrar.text)") {
                    registrar.text.contains("registered as s")
                }
                // An announcement may cause a conflict with another host. The packet that shows the conflict may be
                // lost. In that case, another one follows within seconds.
                let query = try scratch.start(
                    try Built.nw(), ["query", "s._two._tcp.local", "SRV", "-t", "10"], on: hosts.near)
                #expect(try await query.finished() == 0)
                let name = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
                    .trimmingCharacters(in: .whitespacesAndNewlines).prefix { $0 != "." }
                let targets = query.text.split(separator: "\n").map { line in
                    line.split(separator: " ").first { $0.hasSuffix(".local.") && !$0.hasPrefix("s.") } ?? ""
                }
                #expect(!targets.isEmpty && targets.allSatisfy { $0 == "\(name).local." }, "\(query.text)")
            }
        }
    }
}
