import Foundation
import Testing

extension Interop {
    /// Tests with a real NetworkManager on a private bus. It reports which networks are metered.
    @Suite(
        "Managed interfaces",
        .enabled(if: TwoPaths.isAvailable && ManagedHost.isAvailable, "NetworkManager, a bus and network namespaces"))
    struct ManagedInterfacesTests {
        @Test("A path is expensive as long as NetworkManager reports its network as metered")
        func follows() async throws {
            try await TwoPaths.run { hosts, scratch in
                let host = try await ManagedHost.start(hosts, scratch)
                let monitor = try host.watch()
                let overridden = try host.watch(interfaces: "wifi0=inexpensive")
                try await monitor.tells("path wifi0,cell0", isExpensive: false)
                try await host.connect(metered: "yes")
                try await monitor.tells("path wifi0,cell0", isExpensive: true)
                // The new watcher asks NetworkManager. It first reports a path without the answer, so it may report two
                // paths.
                let late = try host.watch()
                try await late.tells("path wifi0,cell0", isExpensive: true)
                #expect(try late.events(ofMonitor: true).count <= 2)
                try await host.set(metered: "no")
                try await monitor.tells("path wifi0,cell0", isExpensive: false)
                try await late.tells("path wifi0,cell0", isExpensive: false)
                try await host.set(metered: "yes")
                try await monitor.tells("path wifi0,cell0", isExpensive: true)
                // NetworkManager ends here. Its report about the metered network is then no longer valid.
                host.manager.kill()
                try await monitor.tells("path wifi0,cell0", isExpensive: false)
                try await late.tells("path wifi0,cell0", isExpensive: false)
                // The user's setting has priority over NetworkManager's report. So it applied all the time.
                #expect(try overridden.events(ofMonitor: true).allSatisfy { !$0.hasSuffix("$") })
            }
        }

        @Test("When the bus ends, interface types count again, and nothing queries until the network changes")
        func busEnds() async throws {
            try await TwoPaths.run { hosts, scratch in
                let host = try await ManagedHost.start(hosts, scratch)
                try await host.connect(metered: "yes")
                let monitor = try host.watch()
                try await monitor.tells("path wifi0,cell0", isExpensive: true)
                host.bus.kill()
                try await monitor.tells("path wifi0,cell0", isExpensive: false)
                // The message bus has ended, but the program still receives changes from the kernel.
                try hosts.ip(["link set cell0 down"], on: hosts.client)
                try await monitor.tells("path wifi0 ", isExpensive: false)
            }
        }
    }
}

extension Child {
    /// Waits until the latest path that the program has reported contains the text `path` and has the given cost.
    fileprivate func tells(_ path: String, isExpensive: Bool) async throws {
        try await eventually("\(name) reports \(path), \(isExpensive ? "expensive" : "free")") {
            guard let last = try events(ofMonitor: true).last else { return false }
            return last.hasPrefix(path) && last.hasSuffix("$") == isExpensive
        }
    }
}
