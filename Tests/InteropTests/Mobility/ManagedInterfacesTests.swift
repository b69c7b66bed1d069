import Foundation
import Testing

extension Interop {
    /// A real NetworkManager on a bus of its own says what costs money.
    @Suite(
        "Managed interfaces",
        .enabled(if: TwoPaths.isAvailable && ManagedHost.isAvailable, "NetworkManager, a bus and network namespaces"))
    struct ManagedInterfacesTests {
        @Test("A path is expensive as long as NetworkManager says that its network is metered")
        func follows() async throws {
            try await TwoPaths.run { hosts, scratch in
                let host = try await ManagedHost.start(hosts, scratch)
                let monitor = try host.watch()
                let overridden = try host.watch(interfaces: "wifi0=inexpensive")
                try await monitor.tells("path wifi0,cell0", isExpensive: false)
                try await host.connect(metered: "yes")
                try await monitor.tells("path wifi0,cell0", isExpensive: true)
                // It asks when it begins as well, and its first word does not wait for the answer.
                let late = try host.watch()
                try await late.tells("path wifi0,cell0", isExpensive: true)
                #expect(try late.events(ofMonitor: true).count <= 2)
                try await host.set(metered: "no")
                try await monitor.tells("path wifi0,cell0", isExpensive: false)
                try await late.tells("path wifi0,cell0", isExpensive: false)
                try await host.set(metered: "yes")
                try await monitor.tells("path wifi0,cell0", isExpensive: true)
                // NetworkManager ends, and its word with it.
                host.manager.kill()
                try await monitor.tells("path wifi0,cell0", isExpensive: false)
                try await late.tells("path wifi0,cell0", isExpensive: false)
                // A person's word counted all the time.
                #expect(try overridden.events(ofMonitor: true).allSatisfy { !$0.hasSuffix("$") })
            }
        }

        @Test("When the bus ends, types count again, and nobody asks until the network changes")
        func busEnds() async throws {
            try await TwoPaths.run { hosts, scratch in
                let host = try await ManagedHost.start(hosts, scratch)
                try await host.connect(metered: "yes")
                let monitor = try host.watch()
                try await monitor.tells("path wifi0,cell0", isExpensive: true)
                host.bus.kill()
                try await monitor.tells("path wifi0,cell0", isExpensive: false)
                // It still follows the kernel.
                try hosts.ip(["link set cell0 down"], on: hosts.client)
                try await monitor.tells("path wifi0 ", isExpensive: false)
            }
        }
    }
}

extension Child {
    /// Waits until the last path that was told is over these interfaces, and costs money or not.
    fileprivate func tells(_ path: String, isExpensive: Bool) async throws {
        try await eventually("\(path), \(isExpensive ? "expensive" : "free"), is told by \(name)") {
            guard let last = try events(ofMonitor: true).last else { return false }
            return last.hasPrefix(path) && last.hasSuffix("$") == isExpensive
        }
    }
}
