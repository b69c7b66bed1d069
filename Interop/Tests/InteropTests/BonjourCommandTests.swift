import Foundation
import Testing

extension Interop {
    /// Tests the commands that find services and show their addresses.
    @Suite("Bonjour commands", .enabled(if: TwoHosts.isAvailable, "needs root and ip"))
    struct BonjourCommandTests {
        private struct Place: Decodable {
            var name, type, domain, host: String
            var port: Int
            var addresses: [String]
            var text: [String: String?]
        }

        private struct Record: Decodable {
            var event, type, content: String
            var ttl: Int
        }

        private func register(_ type: String, _ hosts: TwoHosts, _ scratch: Scratch) async throws {
            let service = try scratch.start(
                try Built.nw(), ["register", "My. page", type, "4711", "path=/x", "flag"], on: hosts.far)
            try await service.prints("registered as My. page\n")
        }

        @Test(
            "Without free descriptors a browser and a published server report an error and do not crash",
            arguments: [
                ["browse", "_none._tcp"], ["serve", "echo", "--port", "0", "--style", "async", "--advertise", "x"],
            ])
        func fewDescriptors(_ arguments: [String]) async throws {
            try await LoopbackInterop.CommandLineTests.runWithFewDescriptors(arguments)
        }

        @Test("lookup shows host, port, addresses and TXT without connecting, by name and type or by the full name")
        func lookup() async throws {
            try await TwoHosts.run { hosts, scratch in
                try await register("_nwtest._tcp", hosts, scratch)
                for words in [["My. page", "_nwtest._tcp"], ["My. page._nwtest._tcp.local"]] {
                    let nw = try scratch.start(try Built.nw(), ["lookup"] + words, on: hosts.near)
                    #expect(try await nw.finished() == 0, "\(nw.errors)")
                    #expect(nw.text.hasPrefix("My\\. page._nwtest._tcp.local.\n  host     "), "\(nw.text)")
                    for line in ["port     4711", "address  \(TwoHosts.far4)", "txt      flag", "txt      path=/x"] {
                        #expect(nw.text.contains("\n  \(line)\n"), "\(line) in \(nw.text)")
                    }
                }
                let nw = try scratch.start(
                    try Built.nw(), ["lookup", "My. page", "_nwtest._tcp", "--json"], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let place = try JSONDecoder().decode(Place.self, from: nw.output)
                #expect(place.name == "My. page" && place.port == 4_711 && place.domain == "local.")
                #expect(place.addresses.contains(TwoHosts.far4))
                #expect(place.text["path"] == "/x" && place.text["flag"] == .some(nil))
            }
        }

        @Test("lookup --connect connects and prints the address; without it, no connection is made")
        func lookupConnects() async throws {
            try await TwoHosts.run { hosts, scratch in
                let server = try scratch.start(
                    try Built.nw(), ["serve", "sink", "--port", "4711", "-v"], on: hosts.far)
                _ = try await server.announcedPort()
                try await register("_nwtest._tcp", hosts, scratch)
                let plain = try scratch.start(try Built.nw(), ["lookup", "My. page", "_nwtest._tcp"], on: hosts.near)
                #expect(try await plain.finished() == 0, "\(plain.errors)")
                let nw = try scratch.start(
                    try Built.nw(), ["lookup", "My. page._nwtest._tcp.local", "--connect"], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let addresses = [
                    "\(TwoHosts.far4)", "\(TwoHosts.other4)", "[\(TwoHosts.far6)]", "[\(TwoHosts.other6)]",
                ]
                let isLinkLocal = nw.text.hasPrefix("[fe80::") && nw.text.hasSuffix("]:4711\n")
                #expect(isLinkLocal || addresses.map { "\($0):4711\n" }.contains(nw.text), "\(nw.text)")
                try await eventually("the connection is reported") { server.errors.contains(" connected\n") }
                #expect(server.errors.components(separatedBy: " connected\n").count == 2, "\(server.errors)")
            }
        }

        @Test("lookup of an absent service reports the timeout")
        func nothing() async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try scratch.start(try Built.nw(), ["lookup", "None", "_x._tcp", "-w", "0.5"], on: hosts.near)
                #expect(try await nw.finished() == 1)
                #expect(nw.errors == "nw: lookup: no service 'None' of type _x._tcp answered in time\n")
                #expect(nw.text == "")
            }
        }

        @Test("browse without a type lists services of every type, also of types longer than RFC 6335 allows")
        func everyType() async throws {
            try await TwoHosts.run { hosts, scratch in
                try await register("_nwtest._tcp", hosts, scratch)
                let long = try scratch.start(
                    try Built.nw(), ["register", "Remote", "_androidtvremote2._tcp", "6466"], on: hosts.far)
                try await long.prints("registered as Remote\n")
                #expect(long.errors.contains("more than 15 characters (RFC 6335)"), "\(long.errors)")
                let nw = try scratch.start(try Built.nw(), ["browse", "-t", "3"], on: hosts.near)
                #expect(try await nw.finished() == 0)
                for line in ["My. page  _nwtest._tcp", "Remote  _androidtvremote2._tcp"] {
                    #expect(nw.text.contains("+ \(line) local. [\(TwoHosts.link)]\n"), "\(nw.text)")
                }
                let one = try scratch.start(
                    try Built.nw(), ["browse", "_androidtvremote2._tcp", "--first", "-t", "5"], on: hosts.near)
                #expect(try await one.finished() == 0, "\(one.errors)")
            }
        }

        @Test("browse suggests what to try when it finds nothing")
        func hint() async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try scratch.start(try Built.nw(), ["browse", "_none._tcp", "-t", "0.5"], on: hosts.near)
                #expect(try await nw.finished() == 0)
                #expect(nw.text == "")
                #expect(nw.errors.contains("no service of type _none._tcp found; nw browse lists all types"))
            }
        }

        @Test(
            "On a terminal, browse draws a heading and a table in place, in colour unless NO_COLOR is set",
            arguments: ["", "1"])
        func table(noColor: String) async throws {
            let terminal = try #require(Peer.find("script"), "script is not installed")
            let path = try Built.nw()
            try await TwoHosts.run { hosts, scratch in
                try await register("_nwtest._tcp", hosts, scratch)
                // Run the command in a terminal with script(1), which copies the command's output.
                let command = "env TERM=xterm NO_COLOR=\(noColor) \(path) browse _nwtest._tcp -v -t 3"
                let nw = try scratch.start(terminal, ["-qec", command, "/dev/null"], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                // The terminal adds a carriage return before each line feed.
                let text = String(decoding: nw.output.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
                func styled(_ code: Int, _ text: String) -> String {
                    noColor.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
                }
                func heading(_ services: String) -> String {
                    styled(2, "_nwtest._tcp in local: \(services); press Ctrl-C to stop") + "\n"
                }
                #expect(text.contains("\u{1B}[J" + heading("0 services")), "\(text)")
                // The output moves the cursor up to the old heading. The new heading then replaces it.
                #expect(text.contains("\u{1B}[1F\u{1B}[J" + heading("1 service")), "\(text)")
                let bold = noColor.isEmpty ? "\u{1B}[1m" : ""
                #expect(text.contains("\n\(bold)NAME      TYPE          INTERFACE"), "\(text)")
                #expect(text.contains("\nMy. page  _nwtest._tcp  \(TwoHosts.link)"), "\(text)")
                #expect(text.contains("local.:4711") && text.contains("flag path=/x"), "\(text)")
                #expect(!text.contains("+ My. page"))
            }
        }

        @Test("browse and query print numbers as JSON numbers")
        func json() async throws {
            try await TwoHosts.run { hosts, scratch in
                try await register("_nwtest._tcp", hosts, scratch)
                let nw = try scratch.start(
                    try Built.nw(), ["browse", "_nwtest._tcp", "-v", "--json", "--first", "-t", "5"], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let resolved = try #require(nw.text.split(separator: "\n").first { $0.contains("\"resolved\"") })
                #expect(try JSONDecoder().decode(Place.self, from: Data(resolved.utf8)).port == 4_711)
                let query = try scratch.start(
                    try Built.nw(), ["query", "_nwtest._tcp.local", "PTR", "--json", "--first"], on: hosts.near)
                #expect(try await query.finished() == 0, "\(query.errors)")
                #expect(try JSONDecoder().decode(Record.self, from: query.output).ttl > 0)
            }
        }

        @Test("resolve accepts dig's arguments, prints no empty line, and distinguishes a refused from a silent server")
        func resolveRefused() async throws {
            try await TwoHosts.run { hosts, scratch in
                for words in [
                    ["@127.0.0.1:5999", "www.example", "MX"], ["www.example", "mx", "@127.0.0.1:5999"],
                    ["MX", "www.example", "IN", "--server", "127.0.0.1:5999"],
                ] {
                    let nw = try scratch.start(try Built.nw(), ["resolve"] + words, on: hosts.near)
                    #expect(try await nw.finished() == 1)
                    #expect(nw.errors == "nw: resolve: www.example: 127.0.0.1:5999: connection refused\n")
                    #expect(nw.text == "")
                }
                let known = try scratch.start(try Built.nw(), ["resolve", "-x", "127.0.0.1"], on: hosts.near)
                #expect(try await known.finished() == 0, "\(known.errors)")
                #expect(known.text.hasPrefix("1.0.0.127.in-addr.arpa.\t0\tIN\tPTR\t"), "\(known.text)")
                for words in [["a.example", "NOTYPE"], ["-x", "no.address"], [], ["@name", "a.example"]] {
                    let nw = try scratch.start(try Built.nw(), ["resolve"] + words, on: hosts.near)
                    #expect(try await nw.finished() == 64, "\(words) \(nw.errors)")
                }
            }
        }

        @Test("resolve --trace of a .local name lists its queries")
        func resolveTrace() async throws {
            try await TwoHosts.run { hosts, scratch in
                try await register("_nwtest._tcp", hosts, scratch)
                let lookup = try scratch.start(
                    try Built.nw(), ["lookup", "My. page", "_nwtest._tcp", "--json"], on: hosts.near)
                _ = try await lookup.finished()
                let host = try JSONDecoder().decode(Place.self, from: lookup.output).host
                let nw = try scratch.start(
                    try Built.nw(), ["resolve", String(host.dropLast()), "--trace"], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                for type in ["A", "AAAA"] { #expect(nw.text.contains("; \(host) \(type): "), "\(nw.text)") }
                #expect(nw.text.contains(", mdns, "), "\(nw.text)")
            }
        }
    }
}
