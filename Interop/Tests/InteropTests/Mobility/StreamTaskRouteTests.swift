import Foundation
import Testing

extension Interop {
    @Suite("Mobility of stream tasks", .enabled(if: TwoPaths.isAvailable, "network namespaces need root and ip(8)"))
    struct StreamTaskRouteTests {
        @Test("§15: a delegate learns of a better route once, and the task goes on over its connection")
        func betterRoutes() async throws {
            try await TwoPaths.run { hosts, scratch in
                let server = try hosts.start(["serve", "echo", "--port", "7000"], on: hosts.server, in: scratch)
                try await eventually("the server listens") {
                    !server.output.isEmpty || server.errors.contains("listening")
                }
                let words = ["CAUSEWAY_INTERFACES=\(TwoPaths.types)", try Built.program("NetServiceProgram")]
                let program = try scratch.start(
                    "/usr/bin/env", words + ["--routes", "10.77.9.9", "7000"], on: hosts.client, input: .held)
                var expected = "heard hello\n"
                try await program.prints(expected)
                let better = "default via 10.77.2.1 dev cell0 metric 50"
                try hosts.ip(["route add \(better)"], on: hosts.client)
                expected += "better route for 1\n"
                try await program.prints(expected)
                // Network changes that bring no better route must cause no event.
                for change in ["route del \(better)", "link set cell0 down"] {
                    try hosts.ip([change], on: hosts.client)
                    try program.write("\n")
                    expected += "heard hello\n"
                    try await program.prints(expected)
                }
                try program.endInput()
                #expect(try await program.finished() == 0)
                #expect(program.text == expected)
            }
        }
    }
}
