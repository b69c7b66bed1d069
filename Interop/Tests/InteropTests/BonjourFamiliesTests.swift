import Foundation
import Testing

extension Interop {
    /// Tests links on which both hosts have only one kind of address.
    @Suite(
        "Bonjour with one kind of address",
        .enabled(if: TwoHosts.isAvailable && Avahi.isAvailable && Zeroconf.isAvailable, "needs root, ip and peers"))
    struct BonjourFamiliesTests {
        private static let type = "_nwkind._tcp"

        /// The kind of IP address that both hosts have.
        enum Kind: CaseIterable {
            case ipv6, ipv6LinkLocal, ipv4LinkLocal

            private static let link = TwoHosts.link

            /// Removes the addresses of all other kinds from both hosts.
            func arrange(_ hosts: TwoHosts) throws {
                for ip in [hosts.ip, hosts.farIP] {
                    try ip("-4 address flush dev \(Self.link)")
                    switch self {
                    case .ipv6: break
                    case .ipv6LinkLocal: try ip("-6 address flush dev \(Self.link) scope global")
                    case .ipv4LinkLocal: try ip("-6 address flush dev \(Self.link)")
                    }
                }
                guard self == .ipv4LinkLocal else { return }
                try hosts.ip("address add 169.254.7.1/16 dev \(Self.link) scope link")
                try hosts.farIP("address add 169.254.7.2/16 dev \(Self.link) scope link")
            }

            /// The prefixes of the near host's addresses. Avahi reports only one of these addresses. zeroconf reports
            /// all of them, the newest first.
            var near: [String] {
                switch self {
                case .ipv6: [TwoHosts.near6, "fe80::"]
                case .ipv6LinkLocal: ["fe80::"]
                case .ipv4LinkLocal: ["169.254.7.1"]
                }
            }

            /// The far host's address, as an argument for the program zeroconf there. For IPv6 link-local addresses,
            /// zeroconf looks up the host's own address.
            var far: String {
                switch self {
                case .ipv6: TwoHosts.far6
                case .ipv6LinkLocal: "fe80::"
                case .ipv4LinkLocal: "169.254.7.2"
                }
            }

            /// Returns whether a line that `nw lookup` has printed shows the far host's address and port.
            func isFar(_ line: String, port: Int) -> Bool {
                switch self {
                case .ipv6: line.hasPrefix("[fd77:8::") && line.hasSuffix("]:\(port)\n")
                case .ipv6LinkLocal: line.hasPrefix("[fe80::") && line.hasSuffix("%\(Self.link)]:\(port)\n")
                case .ipv4LinkLocal: line == "169.254.7.2:\(port)\n"
                }
            }

            var avahiName: String { self == .ipv4LinkLocal ? "IPv4" : "IPv6" }
        }

        @Test("C37 C93: Avahi resolves a service of nw, and receives its goodbye", arguments: Kind.allCases)
        func avahiFinds(_ kind: Kind) async throws {
            try await TwoHosts.run { hosts, scratch in
                try kind.arrange(hosts)
                let avahi = try await Avahi.start(on: hosts.far, scratch)
                let nw = try scratch.start(
                    try Built.nw(), ["register", "Near", Self.type, "4711", "a=b"], on: hosts.near)
                try await nw.prints("registered as Near\n")
                let browser = try avahi.run("avahi-browse -p -r \(Self.type)", scratch)
                try await eventually("Avahi resolves it: \(browser.text)") {
                    browser.text.split(separator: "\n").contains { line in
                        line.hasPrefix("=;\(TwoHosts.link);\(kind.avahiName);Near;")
                            && kind.near.contains { line.contains(".local;\($0)") } && line.hasSuffix(";4711;\"a=b\"")
                    }
                }
                try nw.interrupt()
                try await eventually("Avahi receives the goodbye: \(browser.text)") {
                    browser.text.contains("-;\(TwoHosts.link);\(kind.avahiName);Near;")
                }
            }
        }

        @Test("C37 C93: nw resolves a service of Avahi, and receives its goodbye", arguments: Kind.allCases)
        func avahiIsFound(_ kind: Kind) async throws {
            try await Self.isFound(kind) { hosts, scratch in
                let avahi = try await Avahi.start(on: hosts.far, scratch)
                let service = try avahi.run("avahi-publish -s Far \(Self.type) 4712 path=/x", scratch)
                return { service.kill() }
            }
        }

        @Test("C37 C93: zeroconf resolves a service of nw, and receives its goodbye", arguments: Kind.allCases)
        func zeroconfFinds(_ kind: Kind) async throws {
            try await TwoHosts.run { hosts, scratch in
                try kind.arrange(hosts)
                let browser = try scratch.start(
                    Zeroconf.python, Zeroconf.follow(Self.type, at: kind.far), on: hosts.far)
                let nw = try scratch.start(
                    try Built.nw(), ["register", "Near", Self.type, "4711", "a=b"], on: hosts.near)
                try await eventually("zeroconf finds it: \(browser.text) \(browser.errors)") {
                    browser.text.hasPrefix("+ Near 4711 a=b ")
                        && kind.near.allSatisfy { browser.text.contains(" \($0)") }
                }
                try nw.interrupt()
                try await eventually("zeroconf receives the goodbye: \(browser.text)") {
                    browser.text.contains("- Near\n")
                }
            }
        }

        @Test("C37 C93: nw resolves a service of zeroconf, and receives its goodbye", arguments: Kind.allCases)
        func zeroconfIsFound(_ kind: Kind) async throws {
            try await Self.isFound(kind) { hosts, scratch in
                let service = try scratch.start(
                    Zeroconf.python, Zeroconf.publish(Self.type, "Far", at: kind.far), on: hosts.far, input: .held)
                return { try service.endInput() }
            }
        }

        /// Checks that the browser finds, resolves and later removes a service.
        ///
        /// - Parameter publish: Publishes an echo server as `Far` on the far host, and returns a closure that ends it.
        private static func isFound(
            _ kind: Kind, _ publish: (TwoHosts, Scratch) async throws -> () throws -> Void
        ) async throws {
            try await TwoHosts.run { hosts, scratch in
                try kind.arrange(hosts)
                let echo = try scratch.start(try Built.nw(), ["serve", "echo", "--port", "4712"], on: hosts.far)
                _ = try await echo.announcedPort()
                let browser = try scratch.start(try Built.nw(), ["browse", type, "-v"], on: hosts.near)
                let end = try await publish(hosts, scratch)
                let line = "Far  \(type) local. [\(TwoHosts.link)] path=/x\n"
                try await browser.printsEvents("+ \(line)")
                let lookup = try scratch.start(try Built.nw(), ["lookup", "Far", type, "--connect"], on: hosts.near)
                #expect(try await lookup.finished() == 0, "\(lookup.errors)")
                #expect(kind.isFar(lookup.text, port: 4_712), "\(lookup.text)")
                try end()
                try await browser.printsEvents("+ \(line)- \(line)")
            }
        }

        @Test("C59: nw reports every change that zeroconf makes in a service's TXT record")
        func updateIsSeen() async throws {
            try await TwoHosts.run { hosts, scratch in
                let browser = try scratch.start(try Built.nw(), ["browse", Self.type, "-v"], on: hosts.near)
                let service = try scratch.start(
                    Zeroconf.python, Zeroconf.publish(Self.type, "Far", at: TwoHosts.far4), on: hosts.far, input: .held)
                let line = "Far  \(Self.type) local. [\(TwoHosts.link)] path="
                var expected = "+ \(line)/x\n"
                try await browser.printsEvents(expected)
                for path in ["/y", "/a longer one, with ümlaut", ""] {
                    try service.write(path + "\n")
                    expected += "~ \(line)\(path)\n"
                    try await browser.printsEvents(expected)
                }
                try service.endInput()
                try await browser.printsEvents(expected + "- \(line)\n")
            }
        }

        @Test("C59: zeroconf reports every change that nw makes in a service's TXT record")
        func updateIsHeard() async throws {
            try await TwoHosts.run { hosts, scratch in
                let browser = try scratch.start(
                    Zeroconf.python, Zeroconf.follow("_nwseek._tcp", at: TwoHosts.far4), on: hosts.far)
                let service = try scratch.start(try Built.program("NetServiceProgram"), ["--offer"], on: hosts.near)
                try await eventually("zeroconf sees it: \(service.text) \(browser.text) \(browser.errors)") {
                    browser.text.hasPrefix("+ Sought. 1 4711 ") && browser.text.contains("~ Sought. 1 4711 step=2 ")
                        && browser.text.hasSuffix("- Sought. 1\n")
                }
            }
        }

        @Test("C72 C78: nw reads a hundred names of zeroconf with all kinds of characters unchanged")
        func names() async throws {
            // The zeroconf library treats each dot in a name as the end of a label. So replace the dots.
            let names = BonjourNamesTests.names.map { $0.replacingOccurrences(of: ".", with: "·") }
                .map { $0.utf8.count > 63 ? String($0.dropLast()) : $0 }
            let expected = Set(names.map(\.precomposedStringWithCanonicalMapping))
            #expect(expected.count == 100)
            try await TwoHosts.run { hosts, scratch in
                let browser = try scratch.start(try Built.nw(), ["browse", "--json", Self.type], on: hosts.near)
                let service = try scratch.start(
                    Zeroconf.python, Zeroconf.publishMany(Self.type, at: TwoHosts.far4), on: hosts.far, input: .held)
                try service.write(names.joined(separator: "\n") + "\n\n")
                try await eventually("nw finds them: \(Self.told("added", browser).symmetricDifference(expected))") {
                    Self.told("added", browser) == expected
                }
                try service.endInput()
                try await eventually("they are removed: \(Self.told("removed", browser).symmetricDifference(expected))")
                {
                    Self.told("removed", browser) == expected
                }
            }
        }

        private struct Line: Decodable {
            var event, name: String
        }

        private static func told(_ event: String, _ browser: Child) -> Set<String> {
            let lines = browser.text.split(separator: "\n").compactMap { line in
                try? JSONDecoder().decode(Line.self, from: Data(line.utf8))
            }
            return Set(lines.filter { $0.event == event }.map(\.name.precomposedStringWithCanonicalMapping))
        }
    }
}

extension Zeroconf {
    /// Python code that creates the object `zc` on the link. The text of `address` selects IPv4 or IPv6. If it ends
    /// with "::", the code uses a link-local address of the host.
    private static let begin = """
        import asyncio, socket, sys, time
        from zeroconf import IPVersion, ServiceBrowser, ServiceInfo, Zeroconf
        from zeroconf.asyncio import AsyncZeroconf
        kind, address, link = sys.argv[1], sys.argv[2], sys.argv[3]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        if address.endswith("::"):
            mine = [line.split()[0] for line in open("/proc/net/if_inet6") if line.split()[5] == link]
            address = socket.inet_ntop(family, bytes.fromhex([text for text in mine if text.startswith("fe80")][0]))
        place = dict(interfaces=[address])
        if family == socket.AF_INET6:
            place = dict(interfaces=[socket.if_nametoindex(link)], ip_version=IPVersion.V6Only)
        def service(name, entries):
            return ServiceInfo(kind, name + "." + kind, port=4712, addresses=[socket.inet_pton(family, address)],
                properties=entries, server="far.local.")

        """

    private static func run(_ program: String, _ arguments: [String]) -> [String] {
        ["-u", "-c", begin + program] + arguments + [TwoHosts.link]
    }

    /// Prints added, changed and removed services with port, TXT entries and addresses.
    static func follow(_ type: String, at address: String) -> [String] {
        let program = """
            class Listener:
                def show(self, mark, zc, type, name):
                    info = zc.get_service_info(type, name, 3000)
                    entries = " ".join(k.decode() + "=" + (v or b"").decode() for k, v in info.properties.items())
                    print(mark, name[:-len(type) - 1], info.port, entries, " ".join(info.parsed_addresses()), flush=True)
                def add_service(self, zc, type, name): self.show("+", zc, type, name)
                def update_service(self, zc, type, name): self.show("~", zc, type, name)
                def remove_service(self, zc, type, name): print("-", name[:-len(type) - 1], flush=True)
            ServiceBrowser(Zeroconf(**place), kind, Listener())
            time.sleep(36000)
            """
        return run(program, ["\(type).local.", address])
    }

    /// Registers a service until its standard input ends. Each input line sets the service's new `path` entry.
    static func publish(_ type: String, _ name: String, at address: String) -> [String] {
        let program = """
            zc = Zeroconf(**place)
            name = "\(name)"
            zc.register_service(service(name, {"path": "/x"}))
            for line in sys.stdin.buffer:
                zc.update_service(service(name, {"path": line.decode("utf-8").rstrip("\\n")}))
            zc.unregister_all_services()
            zc.close()
            """
        return run(program, ["\(type).local.", address])
    }

    /// Registers a service for each input line before an empty line. The services stay registered until the input ends.
    static func publishMany(_ type: String, at address: String) -> [String] {
        let program = """
            async def main():
                zc = AsyncZeroconf(**place)
                names = []
                while (line := sys.stdin.buffer.readline().decode("utf-8").rstrip("\\n")): names.append(line)
                async def one(name): await (await zc.async_register_service(service(name, {})))
                await asyncio.gather(*[one(name) for name in names])
                await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
                await zc.async_unregister_all_services()
                await zc.async_close()
            asyncio.run(main())
            """
        return run(program, ["\(type).local.", address])
    }
}
