import Foundation
import Testing

extension Interop {
    /// Tests `nw bridge` on a router between two links with one host each. They are nodes 0, 1 and 2 of the chain.
    @Suite("Bonjour across links", .enabled(if: TwoHosts.isAvailable, "needs root and ip"))
    struct BonjourBridgeTests {
        private static let (near, far) = ("l0", "l1")
        private static let type = "_nwtest._tcp"

        private static func bridge(
            _ chain: RouterChain, _ scratch: Scratch, _ options: [String] = []
        ) async throws -> Child {
            try scratch.start(
                try Built.nw(), ["bridge", near, far, "--type", "_nwtest._tcp,_sub"] + options, on: chain.node(1))
        }

        @Test("C125: a host finds a service on the other link, connects to it, and sees it removed")
        func bridges() async throws {
            try await RouterChain.run { chain, scratch in
                let bridge = try await Self.bridge(chain, scratch)
                let browser = try scratch.start(try Built.nw(), ["browse", Self.type, "-v"], on: chain.node(0))
                let server = try scratch.start(
                    try Built.nw(), ["serve", "echo", "--port", "7007"], on: chain.node(2))
                let service = try scratch.start(
                    try Built.nw(), ["register", "Far. 1", Self.type, "7007", "a=b"], on: chain.node(2))
                let line = "Far. 1  \(Self.type) local. [\(Self.near)] a=b\n"
                try await browser.printsEvents("+ \(line)")
                try await bridge.prints("+ Far. 1  \(Self.type) [\(Self.near)]\n")
                let lookup = try scratch.start(
                    try Built.nw(), ["lookup", "Far. 1", Self.type, "--connect"], on: chain.node(0))
                #expect(try await lookup.finished() == 0, "\(lookup.errors)")
                let place = try #require(lookup.text.split(separator: "\n").first)
                let host = place.dropLast(":7007".count).filter { !"[]".contains($0) }
                #expect(["10.77.21.2", "fd77:21::2"].contains(host), "\(lookup.text)")
                let echo = try scratch.start(
                    try Built.nw(), ["echo", String(host), "7007", "--count", "1"], on: chain.node(0))
                #expect(try await echo.finished() == 0, "\(echo.errors)")
                try service.interrupt()
                try await browser.printsEvents("+ \(line)- \(line)")
                #expect(server.errors == "")
            }
        }

        @Test("C125: link-local addresses stay on their link; the reverse direction and other types must be requested")
        func limits() async throws {
            try await RouterChain.run { chain, scratch in
                let bridge = try await Self.bridge(chain, scratch, ["--json"])
                // All nodes of the test run on one machine and share its host name. The near host uses this name on its
                // own link. So the far host has another name on that link.
                for (name, type, node) in [("Near", Self.type, 0), ("Other", "_other._tcp", 2), ("Far", Self.type, 2)] {
                    let service = try scratch.start(
                        try Built.nw(), ["register", name, type, "9"], on: chain.node(node))
                    try await service.prints("registered as \(name)\n")
                }
                try await bridge.prints(
                    "{\"event\":\"bridged\",\"interface\":\"l0\",\"name\":\"Far\",\"type\":\"_nwtest._tcp\"}\n")
                let location = try scratch.start(
                    try Built.nw(), ["query", "Far.\(Self.type).local", "SRV", "--first"], on: chain.node(0))
                #expect(try await location.finished() == 0, "\(location.errors)")
                let host = try #require(location.text.split(separator: " ").first { $0.hasSuffix("-2.local.") })
                let heard = try scratch.start(
                    try Built.nw(), ["query", String(host), "AAAA", "-t", "1.5"], on: chain.node(0))
                _ = try await heard.finished()
                #expect(heard.text.contains("fd77:21::2") && !heard.text.contains("fe80:"), "\(heard.text)")
                let browsers = try [("_other._tcp", 0), (Self.type, 2)].map { type, node in
                    try scratch.start(try Built.nw(), ["browse", type, "-t", "2"], on: chain.node(node))
                }
                for browser in browsers { _ = try await browser.finished() }
                #expect(browsers[0].text == "")
                #expect(!browsers[1].text.contains("Near"), "\(browsers[1].text)")
            }
        }

        @Test("C125: with two bidirectional bridges, a removed service disappears on both links and does not return")
        func twoBridges() async throws {
            try await RouterChain.run { chain, scratch in
                // Run a second bridge as another process.
                let bridges = try await [
                    Self.bridge(chain, scratch, ["--both"]), Self.bridge(chain, scratch, ["--both"]),
                ]
                let near = try scratch.start(try Built.nw(), ["browse", Self.type], on: chain.node(0))
                let far = try scratch.start(
                    try Built.nw(), ["browse", Self.type, "--interface", Self.far], on: chain.node(2))
                let service = try scratch.start(try Built.nw(), ["register", "Far", Self.type, "9"], on: chain.node(2))
                let here = "Far  \(Self.type) local. [\(Self.near)]\n"
                let there = "Far  \(Self.type) local. [\(Self.far)]\n"
                try await near.prints("+ \(here)")
                try service.interrupt()
                try await near.prints("+ \(here)- \(here)")
                try await Task.sleep(for: .seconds(4))
                #expect(near.text == "+ \(here)- \(here)")
                #expect(far.text == "+ \(there)- \(there)")
                #expect(!bridges.contains { $0.text.contains("[\(Self.far)]") })
            }
        }

        @Test(
            "C125: Avahi's service crosses the bridge, and Avahi finds services that crossed it",
            .enabled(if: Avahi.isAvailable, "needs unshare, dbus and avahi-daemon"))
        func avahi() async throws {
            try await RouterChain.run { chain, scratch in
                _ = try await Self.bridge(chain, scratch, ["--both"])
                let avahi = try await Avahi.start(on: chain.node(2), link: Self.far, scratch)
                let theirs = try avahi.run("avahi-publish -s Theirs \(Self.type) 4712 path=/x", scratch)
                let browser = try avahi.run("avahi-browse -p -r \(Self.type)", scratch)
                let nw = try scratch.start(try Built.nw(), ["browse", Self.type, "-v"], on: chain.node(0))
                let line = "Theirs  \(Self.type) local. [\(Self.near)] path=/x\n"
                try await nw.printsEvents("+ \(line)")
                let ours = try scratch.start(
                    try Built.nw(), ["register", "Ours", "\(Self.type),_sub", "9", "a=b"], on: chain.node(0))
                try await eventually("Avahi resolves it: \(browser.text)") {
                    browser.text.split(separator: "\n").contains {
                        $0.hasPrefix("=;\(Self.far);") && $0.contains(";Ours;") && $0.hasSuffix(";9;\"a=b\"")
                    }
                }
                let subtype = try avahi.run("avahi-browse -p -t _sub._sub.\(Self.type)", scratch)
                try await eventually("Avahi finds it by its subtype") { subtype.text.contains(";Ours;") }
                try ours.interrupt()
                try await eventually("Avahi receives the goodbye") { browser.text.contains("-;\(Self.far);IPv4;Ours;") }
                theirs.kill()
                try await eventually("nw receives the goodbye: \(nw.text)") { nw.text.contains("- \(line)") }
            }
        }
    }
}
