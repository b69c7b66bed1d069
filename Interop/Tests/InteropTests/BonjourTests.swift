import Foundation
import Testing

extension Interop {
    /// `nw` and python-zeroconf on two hosts with one link.
    @Suite(
        "Bonjour", .enabled(if: TwoHosts.isAvailable && Zeroconf.isAvailable, "needs root, ip and python3-zeroconf"))
    struct BonjourTests {
        private static let type = "_nwtest._tcp"

        @Test("zeroconf finds a service of nw, and receives its goodbye")
        func registers() async throws {
            try await TwoHosts.run { hosts, scratch in
                let browser = try scratch.start(Zeroconf.python, Zeroconf.browse(Self.type), on: hosts.far)
                let nw = try scratch.start(
                    try Built.nw(), ["register", "Küche. 1", Self.type, "4711", "a=b"], on: hosts.near)
                try await eventually("nw registers") { nw.text == "registered as Küche. 1\n" }
                try await eventually("zeroconf finds it") {
                    browser.text.contains("+ Küche. 1.\(Self.type).local. 4711 a=b \(TwoHosts.near4)")
                }
                try nw.interrupt()
                try await eventually("zeroconf receives the goodbye") {
                    browser.text.contains("- Küche. 1.\(Self.type).local.")
                }
            }
        }

        @Test("nw finds a service of zeroconf, and receives its goodbye")
        func browses() async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try scratch.start(try Built.nw(), ["browse", Self.type, "-v"], on: hosts.near)
                let service = try scratch.start(
                    Zeroconf.python, Zeroconf.register(Self.type, "Far", TwoHosts.far4), on: hosts.far, input: .held)
                let line = "Far  \(Self.type) local. [\(TwoHosts.link)] path=/x\n"
                try await nw.printsEvents("+ \(line)")
                try service.endInput()
                try await nw.printsEvents("+ \(line)- \(line)")
            }
        }

        @Test("nw exits after the first service found, and reports if there is none")
        func first() async throws {
            try await TwoHosts.run { hosts, scratch in
                let type = Self.type
                let nw = try scratch.start(try Built.nw(), ["browse", type, "--first", "-v"], on: hosts.near)
                _ = try scratch.start(try Built.nw(), ["register", "Far", type, "1", "a=b"], on: hosts.far)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(nw.text.hasPrefix("+ Far  \(type) local. [\(TwoHosts.link)] a=b\n= Far "), "\(nw.text)")
                let none = try scratch.start(
                    try Built.nw(), ["browse", "_none._tcp", "--first", "-t", "0.2"], on: hosts.near)
                #expect(try await none.finished() == 1)
                #expect(none.errors.contains("no service of type _none._tcp"))
            }
        }

        @Test("A NetService program publishes and listens; another one finds, resolves and connects to it")
        func netService() async throws {
            try await TwoHosts.run { hosts, scratch in
                let program = try Built.program("NetServiceProgram")
                let seeker = try scratch.start(program, [], on: hosts.near)
                let publisher = try scratch.start(program, ["Écho. 1"], on: hosts.far)
                #expect(try await publisher.finished() == 0, "\(publisher.text)")
                #expect(try await seeker.finished() == 0, "\(seeker.text)")
                #expect(publisher.text == "will publish Écho. 1\npublished Écho. 1\naccepted\nstopped\n")
                let lines = seeker.text.split(separator: "\n").map(String.init)
                #expect(
                    lines.sorted() == [
                        "found Écho. 1 _nwecho._tcp. local.", "gone Écho. 1, known: true", "heard hello",
                        "resolved, true", "search stopped", "version 1", "will search",
                    ])
                #expect(lines.first == "will search" && lines.last == "search stopped")
            }
        }

        @Test("A stream task of URLSession connects to a service that was not resolved")
        func streamTask() async throws {
            try await TwoHosts.run { hosts, scratch in
                let program = try Built.program("NetServiceProgram")
                let publisher = try scratch.start(program, ["Écho. 2"], on: hosts.far)
                try await publisher.prints("will publish Écho. 2\npublished Écho. 2\n")
                let talker = try scratch.start(program, ["--stream", "Écho. 2"], on: hosts.near)
                #expect(try await talker.finished() == 0, "\(talker.text)")
                #expect(talker.text == "heard hello\n")
                #expect(try await publisher.finished() == 0, "\(publisher.text)")
            }
        }

        @Test("C111: async sequences find, follow and lose a service, and read its records")
        func discovery() async throws {
            try await TwoHosts.run { hosts, scratch in
                let program = try Built.program("NetServiceProgram")
                let seeker = try scratch.start(program, ["--seek"], on: hosts.near)
                let publisher = try scratch.start(program, ["--offer"], on: hosts.far)
                #expect(try await publisher.finished() == 0, "\(publisher.text)")
                #expect(try await seeker.finished() == 0, "\(seeker.text)")
                #expect(publisher.text == "registered Sought. 1\nwithdrawn\n")
                let told = seeker.text.split(separator: "\n").map(String.init)
                // The host and port are reported again for each further address. Count equal lines once.
                var lines: [String] = []
                for line in told where !line.hasPrefix("address ") && lines.last != line { lines.append(line) }
                #expect(
                    lines == [
                        "added Sought. 1 _nwseek._tcp local.", "port 4711 step 1", "port 4711 step 2",
                        "record SRV true", "removed Sought. 1", "called: added \\# 3 010203 more false",
                        "called: removed",
                    ])
                #expect(told.contains { $0.hasPrefix("address ") })
            }
        }

        @Test("The second host to claim a name appends a number to it")
        func conflict() async throws {
            try await TwoHosts.run { hosts, scratch in
                let first = try scratch.start(try Built.nw(), ["register", "Same", Self.type, "1"], on: hosts.near)
                try await first.prints("registered as Same\n")
                let second = try scratch.start(try Built.nw(), ["register", "Same", Self.type, "2"], on: hosts.far)
                try await second.prints("registered as Same (2)\n")
                let third = try scratch.start(
                    try Built.nw(), ["register", "--no-rename", "Same", Self.type, "3"], on: hosts.far)
                #expect(try await third.finished() == 1)
                #expect(third.errors.contains("the name Same is already taken"))
            }
        }

        @Test(
            "C117: A listener's service is reachable by its name over either address family",
            arguments: ["", "-4", "-6"])
        func connects(_ onlyFamily: String) async throws {
            try await TwoHosts.run { hosts, scratch in
                if onlyFamily == "-4" { try hosts.ip("-6 address flush dev \(TwoHosts.link)") }
                if onlyFamily == "-6" { try hosts.ip("-4 address flush dev \(TwoHosts.link)") }
                _ = try scratch.start(
                    try Built.nw(), ["serve", "echo", "--port", "7007", "--advertise", "Echo"], on: hosts.far)
                let nw = try scratch.start(
                    try Built.nw(), ["lookup", "Echo", "_echo._tcp", "--connect"], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(nw.text.hasSuffix(":7007\n"), "\(nw.text)")
                #expect(onlyFamily != "-4" || nw.text.hasPrefix("10.77.8."))
                #expect(onlyFamily != "-6" || nw.text.hasPrefix("["))
            }
        }

        @Test("A link that goes down and comes up again is searched again, and its services are reported again")
        func flap() async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try scratch.start(try Built.nw(), ["register", "Near", Self.type, "1"], on: hosts.near)
                try await nw.prints("registered as Near\n")
                try hosts.ip("link set \(TwoHosts.link) down")
                let far = try scratch.start(try Built.nw(), ["browse", Self.type], on: hosts.far)
                try hosts.ip("link set \(TwoHosts.link) up")
                try await eventually("the far host finds it") { far.text.hasPrefix("+ Near  \(Self.type)") }
            }
        }
    }
}

/// Runs python-zeroconf through small scripts.
enum Zeroconf {
    static let python = "/usr/bin/python3"

    static let isAvailable = FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/zeroconf")

    /// Prints added and removed services until it is ended.
    static func browse(_ type: String) -> [String] {
        let program = """
            import sys, time
            from zeroconf import Zeroconf, ServiceBrowser
            class Listener:
                def add_service(self, zc, type, name):
                    info = zc.get_service_info(type, name, 3000)
                    entries = " ".join(k.decode() + "=" + v.decode() for k, v in info.properties.items())
                    print("+", name, info.port, entries, " ".join(info.parsed_addresses()), flush=True)
                def update_service(self, zc, type, name): pass
                def remove_service(self, zc, type, name): print("-", name, flush=True)
            zc = Zeroconf(interfaces=[sys.argv[2]])
            ServiceBrowser(zc, sys.argv[1], Listener())
            time.sleep(36000)
            """
        return ["-u", "-c", program, "\(type).local.", TwoHosts.far4]
    }

    /// Returns the arguments for a Python program that prints each service's name once.
    static func names(_ type: String) -> [String] {
        let program = """
            import sys, time
            from zeroconf import Zeroconf, ServiceBrowser
            class Listener:
                def add_service(self, zc, type, name): print(name[:-len(type) - 1], flush=True)
                def update_service(self, zc, type, name): pass
                def remove_service(self, zc, type, name): pass
            zc = Zeroconf(interfaces=[sys.argv[2]])
            ServiceBrowser(zc, sys.argv[1], Listener())
            time.sleep(36000)
            """
        return ["-u", "-c", program, "\(type).local.", TwoHosts.far4]
    }

    /// Registers a service until its input ends.
    static func register(_ type: String, _ name: String, _ address: String) -> [String] {
        let program = """
            import sys, socket
            from zeroconf import Zeroconf, ServiceInfo
            zc = Zeroconf(interfaces=[sys.argv[3]])
            zc.register_service(ServiceInfo(sys.argv[1], sys.argv[2] + "." + sys.argv[1], port=4712,
                addresses=[socket.inet_aton(sys.argv[3])], properties={"path": "/x"}, server="far.local."))
            sys.stdin.read()
            zc.unregister_all_services()
            zc.close()
            """
        return ["-u", "-c", program, "\(type).local.", name, address]
    }
}
