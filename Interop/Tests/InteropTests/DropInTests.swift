import Foundation
import Testing

extension Interop {
    /// Tests a program that imports the drop-in modules Security and SystemConfiguration, and also a library whose
    /// types have the same names.
    @Suite("Drop-in modules")
    struct DropInTests {
        @Test("A library's own types keep their names, and the drop-in modules show the system's authorities")
        func names() async throws {
            try await Scratch.run { scratch in
                let program = try scratch.startProgram(try Built.program("DropInProgram"), ["names"])
                #expect(try await program.finished() == 0, "\(program.errors)")
                let lines = program.text.split(separator: "\n")
                #expect(lines.first == "WebSocket ws://example.com plain plain modern Coder Browser Bonjour")
                #expect(lines.last == "trust true")
            }
        }

        @Test(
            "Reachability reports each change on a queue and in a run loop, and nothing before a change",
            .enabled(if: TwoPaths.isAvailable, "network namespaces need root and ip(8)"),
            arguments: ["example.com", "10.77.1.9"])
        func reachability(_ name: String) async throws {
            try await TwoPaths.run { hosts, scratch in
                let program = try scratch.start(
                    try Built.program("DropInProgram"), ["follow", name], on: hosts.client)
                try await program.prints("now \(name) reachable\nfollowing \(name) reachable\n")
                try hosts.ip(["link set wifi0 down", "link set cell0 down"], on: hosts.client)
                try await eventually("the loss is reported: \(program.text)") {
                    program.text.contains("queue \(name) unreachable")
                        && program.text.contains("loop \(name) unreachable")
                }
                try hosts.ip(["link set wifi0 up", "addr replace 10.77.1.2/24 dev wifi0"], on: hosts.client)
                try hosts.ip(["route replace default via 10.77.1.1 dev wifi0"], on: hosts.client)
                try await eventually("the return is reported: \(program.text)") {
                    program.text.contains("queue \(name) reachable") && program.text.contains("loop \(name) reachable")
                }
                #expect(!program.text.contains("another thread"))
            }
        }
    }
}
