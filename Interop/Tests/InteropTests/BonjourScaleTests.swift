import Foundation
import Testing

extension Interop {
    /// Tests a large number of services. One process registers them, and another process finds them. The environment
    /// variable `CAUSEWAY_SCALE=10000` sets their number.
    @Suite("Bonjour with many services", .enabled(if: TwoHosts.isAvailable, "needs root and ip"))
    struct BonjourScaleTests {
        private static let count =
            ProcessInfo.processInfo.environment["CAUSEWAY_SCALE"].flatMap { Int($0) } ?? 300

        @Test("Many services are registered, found and removed within the packet limits of the requirements")
        func many() async throws {
            let count = Self.count
            try await TwoHosts.run { hosts, scratch in
                var mark = ContinuousClock.now
                func lap(_ what: String) {
                    print("\(count) services: \(what) after \(mark.duration(to: .now))")
                    mark = .now
                }
                let registrar = try scratch.start(
                    try Built.nw(), ["register", "s", "_scale._tcp", "9", "--count", "\(count)"], on: hosts.near)
                try await eventually("all are registered") { Self.lines(registrar.text, "registered") == count }
                lap("registered")
                // Wait for the second announcement, which follows one second after the first.
                try await Task.sleep(for: .seconds(2))
                let registering = try Self.sent(by: hosts.near)
                let usage = try registrar.usage()
                print("to register: \(registering); \(usage.seconds) s of processors, \(usage.memory) MiB")
                mark = .now
                let browser = try scratch.start(try Built.nw(), ["browse", "_scale._tcp"], on: hosts.far)
                try await eventually("all are found") { Self.lines(browser.text, "+ s") == count }
                lap("found")
                let answering = try Self.sent(by: hosts.near).packets - registering.packets
                let finding = try browser.usage()
                print("to answer: \(answering) packets; browser: \(finding.seconds) s, \(finding.memory) MiB")
                try registrar.interrupt()
                mark = .now
                try await eventually("all are removed") { Self.lines(browser.text, "- s") == count }
                lap("gone")
                // In each address family, a host sends three probes and two announcements. The limit allows twice as
                // many packets.
                #expect(registering.packets <= 2 * (count / 5 + 80))
                #expect(answering <= 2 * (count / 20 + 60))
            }
        }

        private static func lines(_ text: String, _ start: String) -> Int {
            text.split(separator: "\n").count { $0.hasPrefix(start) }
        }

        private static func sent(by host: String) throws -> (packets: Int, bytes: Int) {
            func read(_ name: String) throws -> Int {
                let process = Process()
                let pipe = Pipe()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.arguments = [
                    "ip", "netns", "exec", host, "cat", "/sys/class/net/\(TwoHosts.link)/statistics/\(name)",
                ]
                process.standardOutput = pipe
                try process.run()
                process.waitUntilExit()
                let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            }
            return (try read("tx_packets"), try read("tx_bytes"))
        }
    }
}
