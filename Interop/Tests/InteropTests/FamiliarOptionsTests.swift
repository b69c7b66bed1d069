import Foundation
import Testing

extension Interop {
    /// Tests options that are spelled as in ping, traceroute, nmap and tcpdump. Some of them need root.
    @Suite("Familiar options")
    struct FamiliarOptionsTests {
        static let accepted: [[String]] = [
            ["ping", "-qnc1", "-W1", "-I127.0.0.1", "127.0.0.1"], ["ping", "-c1", "-Ilo", "127.0.0.1"],
            ["trace", "-nm3", "-q1", "127.0.0.1"], ["scan", "-n", "-Pn", "-sT", "-p9", "127.0.0.1"],
            ["capture", "-D"], ["capture", "-D", "--json"], ["http", "--version"],
            ["resolve", "-w5", "localhost"], ["nat64", "--help"], ["nat64", "--version"],
        ]

        @Test("The spellings of the original tools work", arguments: accepted)
        func accepts(_ arguments: [String]) async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(arguments)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(!nw.output.isEmpty)
            }
        }
    }
}
