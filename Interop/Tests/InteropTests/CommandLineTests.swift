import Causeway
import Foundation
import Testing

extension LoopbackInterop {
    /// Tests how `nw` behaves for people and scripts: exit codes, one line per failure, and servers.
    @Suite("Command line")
    struct CommandLineTests {
        struct Failing: CustomTestStringConvertible, Sendable {
            var arguments: [String]
            var code: Int32
            /// The text that the program's standard error output must begin with.
            var message: String

            var testDescription: String { arguments.joined(separator: " ") }
        }

        static let failing = [
            Failing(arguments: ["cat"], code: 64, message: "Error: "),
            Failing(arguments: ["cat", "host", "no-such-service"], code: 64, message: "Error: "),
            Failing(arguments: ["cat", "-k", "127.0.0.1", "1"], code: 64, message: "Error: "),
            Failing(arguments: ["packet", "tcp", "192.0.2.1:80", "--flags", "SZ"], code: 64, message: "Error: "),
            Failing(arguments: ["serve", "tea", "--port", "1"], code: 64, message: "Error: "),
            Failing(
                arguments: ["cat", "-U", "/nonexistent/socket"], code: 1,
                message: "nw: cat: connection to /nonexistent/socket failed: No such file or directory\n"),
            Failing(
                arguments: ["receive", "/nonexistent", "--port", "0"], code: 1,
                message: "nw: receive: cannot receive into /nonexistent: No such file or directory\n"),
            Failing(
                arguments: ["path", "--captive", "https://example.com"], code: 1,
                message: "nw: path: --captive requires an http:// URL\n"),
            Failing(
                arguments: ["send", "--multipath-endpoints", "f", "127.0.0.1", "1"], code: 64, message: "Error: "),
        ]

        @Test(arguments: failing)
        func fails(_ expected: Failing) async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(expected.arguments)
                #expect(try await nw.finished() == expected.code)
                #expect(nw.errors.hasPrefix(expected.message), "\(nw.errors)")
                #expect(nw.output.isEmpty)
            }
        }

        @Test(
            "Output that cannot be written is an error",
            arguments: [
                ["interfaces"], ["byteorder"], ["filter", "icmp"], ["--help"], ["http", "--help"], ["--version"],
                ["--generate-completion-script", "bash"], ["interfaces", "--json"], ["resolve", "localhost"], ["path"],
                ["packet", "udp", "192.0.2.1:9"],
            ])
        func fullDisk(_ arguments: [String]) async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startProgram(
                    "sh", ["-c", "exec \"$0\" \"$@\" > /dev/full", try Built.nw()] + arguments)
                #expect(try await nw.finished() == 1)
                #expect(nw.errors.contains("No space left on device"), "\(nw.errors)")
                #expect(nw.errors.split(separator: "\n").count == 1, "\(nw.errors)")
            }
        }

        @Test("A reader that has closed the pipe ends the command silently")
        func closedPipe() async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startProgram(
                    "bash", ["-c", "{ \"$0\" interfaces; echo $? >&2; } | sleep 0; exit 0", try Built.nw()])
                #expect(try await nw.finished() == 0)
                #expect(["0\n", "141\n"].contains(nw.errors), "\(nw.errors)")
            }
        }

        @Test("A receiver that takes nothing ends nw send")
        func idleReceiver() async throws {
            try await Scratch.run { scratch in
                // The server `sink` never confirms a file.
                let server = try scratch.startNW(["serve", "sink", "--port", "0", "--host", "127.0.0.1"])
                let port = try await server.announcedPort()
                let file = scratch.directory.appendingPathComponent("note")
                try Data("note".utf8).write(to: file)
                let nw = try scratch.startNW(["send", "--idle", "0.3", file.path, "127.0.0.1", "\(port)"])
                #expect(try await nw.finished() == 1)
                #expect(nw.errors == "nw: send: 127.0.0.1:\(port) took nothing for 0.300 s\n", "\(nw.errors)")
            }
        }

        @Test("A server that does not answer ends nw resolve after -w", arguments: [["A"], []])
        func silentServer(_ type: [String]) async throws {
            try await Scratch.run { scratch in
                let server = try scratch.startNW(["serve", "sink", "--udp", "--port", "0", "--host", "127.0.0.1"])
                let port = try await server.announcedPort()
                let nw = try scratch.startNW(["resolve", "-w", "0.3", "@127.0.0.1:\(port)", "name.example"] + type)
                #expect(try await nw.finished() == 1)
                #expect(nw.errors == "nw: resolve: name.example: no answer within 0.300 s\n", "\(nw.errors)")
            }
        }

        @Test("A refused connection prints one line and exits with code 1", arguments: [["-N"], ["-z"], ["-u", "-z"]])
        func refused(_ options: [String]) async throws {
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: options.contains("-u") ? .udp : .tcp)
                let nw = try scratch.startNW(["cat"] + options + ["127.0.0.1", "\(port)"])
                #expect(try await nw.finished() == 1)
                #expect(nw.errors == "nw: cat: connection to 127.0.0.1:\(port) failed: Connection refused\n")
            }
        }

        @Test(
            "Without free descriptors the tool reports an error and does not crash",
            arguments: [
                ["cat", "127.0.0.1", "1"], ["cat", "-l", "0"], ["serve", "echo", "--port", "0"],
                ["resolve", "localhost"], ["path"], ["connect", "127.0.0.1", "1", "--timeline"],
                ["serve", "echo", "--port", "0", "--style", "dispatch-source"],
                ["serve", "echo", "--port", "0", "--udp"],
                ["chat", "-l", "0", "--transport", "sockets"],
            ])
        func fewDescriptors(_ arguments: [String]) async throws {
            try await Self.runWithFewDescriptors(arguments)
        }

        /// Runs a command repeatedly, each time with a different limit on open descriptors. The command must succeed or
        /// report an error.
        static func runWithFewDescriptors(_ arguments: [String]) async throws {
            try await Scratch.run { scratch in
                for limit in [4, 6, 8, 11, 26, 27, 28, 32] {
                    // Close inherited descriptors, because they would count toward the limit.
                    let shell =
                        "for fd in /proc/self/fd/*; do n=${fd##*/}; [ $n -gt 2 ] && eval \"exec $n>&-\"; done;"
                        + " ulimit -n \(limit); exec timeout -s KILL 2 \"$0\" \"$@\""
                    let child = try scratch.startProgram("bash", ["-c", shell, try Built.nw()] + arguments)
                    let status = try await child.finished()
                    // The command was killed after two seconds because it was still running. Its status is then 137.
                    #expect([0, 1, 137].contains(status), "\(limit): \(status) \(child.errors)")
                    if status == 1 { #expect(!child.errors.isEmpty && !child.errors.contains("Backtrac"), "\(limit)") }
                }
            }
        }

        @Test("A library with a system library's name next to the program is not loaded")
        func libraryBeside() async throws {
            try await Scratch.run { scratch in
                let copy = scratch.directory.appendingPathComponent("nw").path
                // Let another process write the copy. Other tests start processes, which inherit the descriptors of
                // this process. If one of these descriptors were open for writing the copy, the kernel would refuse to
                // run it.
                #expect(try await scratch.startProgram("cp", [Built.nw(), copy]).finished() == 0)
                for name in ["libcrypto.so.3", "libssl.so.3"] {
                    try Data("no library".utf8).write(to: scratch.directory.appendingPathComponent(name))
                }
                let server = try scratch.startProgram(copy, ["cat", "-l", "-v", "--tls", "--psk", "me:00112233", "0"])
                // This shows that the server has loaded OpenSSL. Otherwise it could not listen.
                #expect(try await server.listeningPort() > 0)
            }
        }

        @Test("Idle connections end after -w with success")
        func idle() async throws {
            try await Scratch.run { scratch in
                let server = try scratch.startNW(["serve", "sink", "--port", "0"])
                let port = try await server.announcedPort()
                let nw = try scratch.startNW(["cat", "-w", "0.2", "127.0.0.1", "\(port)"], input: .held)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
            }
        }

        @Test("With -k, clients are served one after the other")
        func keepsListening() async throws {
            let peer = try #require(Peer.present.first)
            try await Scratch.run { scratch in
                let place = try await scratch.newPlace(.ipv4)
                let nw = try scratch.startNW(["cat", "-lk"] + place.arguments)
                try await Sockets.waitForListener(at: place)
                for (number, expected) in [(1, "1"), (2, "12"), (3, "123")] {
                    let client = try scratch.start(peer, peer.connecting(to: place), input: .held)
                    try client.write("\(number)")
                    try client.endInput()
                    _ = try await client.finished()
                    try await nw.prints(expected)
                }
            }
        }

        @Test(
            "Echo servers of every style answer the echo client",
            arguments: ["callbacks", "async", "dispatch-source", "structured", "structured-pool"],
            [["--count", "100"], ["--count", "3", "--size", "1000000"]])
        func echo(style: String, options: [String]) async throws {
            try await Scratch.run { scratch in
                let server = try scratch.startNW(["serve", "echo", "--port", "0", "--style", style])
                let port = try await server.announcedPort()
                let client = try scratch.startNW(["echo", "127.0.0.1", "\(port)", "--interval", "0", "-q"] + options)
                #expect(try await client.finished() == 0, "\(client.errors)")
                #expect(String(decoding: client.output, as: UTF8.self).contains("\(options[1]) round trips, 0 lost"))
            }
        }

        @Test("A server based on tasks has only the threads of its event loops", arguments: ["async", "structured"])
        func threads(style: String) async throws {
            try await Scratch.run { scratch in
                let server = try scratch.startNW(["serve", "echo", "--port", "0", "--style", style, "--loops", "2"])
                let port = try await server.announcedPort()
                let client = try scratch.startNW(["echo", "127.0.0.1", "\(port)", "--interval", "0", "--count", "9"])
                #expect(try await client.finished() == 0, "\(client.errors)")
                let place = "/proc/\(try server.program())/task"
                let names = try FileManager.default.contentsOfDirectory(atPath: place).map { thread in
                    try String(contentsOfFile: "\(place)/\(thread)/comm", encoding: .utf8)
                }
                // There is no thread for the first event loop, because the program's main thread runs it.
                #expect(names.sorted() == ["causeway-1\n", "nw\n"])
            }
        }

        @Test("The datagram sink counts bytes", arguments: ["callbacks", "async", "dispatch-source"])
        func datagramSink(style: String) async throws {
            try await Scratch.run { scratch in
                let server = try scratch.startNW(
                    ["serve", "udp-sink", "--port", "0", "--style", style, "--host", "127.0.0.1"])
                let port = try #require(NWEndpoint.Port(rawValue: try await server.announcedPort()))
                let client = NWConnection(host: "127.0.0.1", port: port, using: .udp)
                defer { client.cancel() }
                try await client.open()
                for _ in 0..<10 { try await client.send(Data(count: 1_200)) }
                try await client.send(Data(count: 1))
                let answer = try #require(try await client.receive(atMost: 100))
                #expect(answer == Data([10, 0, 0, 0, 0, 0, 0, 0]))
            }
        }

        @Test("The source sends until the client closes")
        func source() async throws {
            try await Scratch.run { scratch in
                let server = try scratch.startNW(["serve", "source", "--port", "0"])
                let port = try #require(NWEndpoint.Port(rawValue: try await server.announcedPort()))
                let client = NWConnection(host: "127.0.0.1", port: port, using: .tcp)
                defer { client.cancel() }
                try await client.open()
                var count = 0
                while count < 20_000_000, let content = try await client.receive(atMost: 262_144) {
                    count += content.count
                }
                #expect(count >= 20_000_000)
            }
        }

        @Test("Interfaces are listed as JSON")
        func interfaces() async throws {
            struct Listing: Decodable {
                struct Interface: Decodable {
                    var name: String
                    var type: String
                    var addresses: [String]
                }
                var interfaces: [Interface]
            }
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(["interfaces", "--json"])
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let listing = try JSONDecoder().decode(Listing.self, from: nw.output)
                let loopback = try #require(listing.interfaces.first { $0.type == "loopback" })
                #expect(loopback.addresses.contains("127.0.0.1/8"))
            }
        }

        @Test("The demonstration succeeds")
        func demo() async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(["demo", "--mebibytes", "16"])
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let text = String(decoding: nw.output, as: UTF8.self)
                #expect(text.contains("waiting: Connection refused"))
                #expect(text.contains("everything verified"))
            }
        }
    }
}
