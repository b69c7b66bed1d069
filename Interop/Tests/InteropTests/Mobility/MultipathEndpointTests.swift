import Foundation
import Testing

extension Interop {
    /// Tests programs that themselves register this host's addresses with the kernel's Multipath TCP path manager.
    @Suite("Endpoints of Multipath TCP", .enabled(if: TwoPaths.isAvailable, "network namespaces need root and ip(8)"))
    struct MultipathEndpointTests {
        @Test(
            "The path manager has the addresses of all networks while the program runs, and its earlier state afterwards"
        )
        func endpoints() async throws {
            try await TwoPaths.run { hosts, scratch in
                let foreign = "10.77.1.2 id 9 signal"
                try hosts.ip(
                    ["mptcp endpoint add \(foreign)", "mptcp limits set add_addr_accepted 1 subflows 1"],
                    on: hosts.client)
                let before = try hosts.pathManager()
                #expect(before.endpoints == [foreign] && before.limits == "add_addr_accepted 1 subflows 1")
                // The server sends content first. Further subflows join only after content has been acknowledged.
                let greeting = "echo hello | exec \(try Built.nw()) cat -l -v --multipath handover 7500"
                let server = try scratch.start("/bin/sh", ["-c", greeting], on: hosts.server)
                try await eventually("the server listens") { server.errors.contains("listening") }
                let client = try hosts.start(
                    [
                        "status", "10.77.9.9", "7500", "--connect", "--multipath", "handover",
                        "--multipath-endpoints",
                    ], on: hosts.client, in: scratch)
                try await eventually("the addresses are registered") {
                    try hosts.pathManager().endpoints.sorted() == [
                        "10.77.1.2 id 9 signal", "10.77.2.2 subflow backup dev cell0",
                        "fd77:1::2 subflow dev wifi0", "fd77:2::2 subflow backup dev cell0",
                    ]
                }
                #expect(try hosts.pathManager().limits == "add_addr_accepted 1 subflows 4")
                try await eventually("the second subflow has joined") { try hosts.subflows(to: 7_500) == 2 }
                try hosts.ip(["addr del 10.77.2.2/24 dev cell0"], on: hosts.client)
                try await eventually("a lost address is removed") {
                    try !hosts.pathManager().endpoints.joined().contains("10.77.2.2")
                }
                try hosts.ip(["addr add 10.77.2.7/24 dev cell0"], on: hosts.client)
                try await eventually("a new address is registered") {
                    try hosts.pathManager().endpoints.contains("10.77.2.7 subflow backup dev cell0")
                }
                try hosts.ip(["link set wifi0 down"], on: hosts.client)
                try await eventually("the other network is no longer a backup") {
                    try hosts.pathManager().endpoints.contains("10.77.2.7 subflow dev cell0")
                }
                try client.interrupt()
                _ = try await client.finished()
                #expect(try hosts.pathManager() == before)
            }
        }

        @Test("Without the privilege, the program reports an error and changes nothing")
        func forbidden() async throws {
            try await TwoPaths.run { hosts, scratch in
                let client = try scratch.start(
                    "/usr/bin/env",
                    [
                        "setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin", try Built.nw(), "status",
                        "10.77.9.9", "7500", "--connect", "--multipath", "aggregate", "--multipath-endpoints",
                    ], on: hosts.client)
                #expect(try await client.finished() != 0)
                #expect(client.errors.contains("path manager: Operation not permitted"), "\(client.errors)")
                #expect(try hosts.pathManager().endpoints.isEmpty)
            }
        }
    }
}
