import ArgumentParser
import Foundation
import Testing

@testable import nw

extension LoopbackCommands {
    /// Tests options that are spelled as in ping, tcpdump, nmap and netcat, and the messages for wrong options.
    @Suite("Familiar options")
    struct FamiliarOptionsTests {
        struct Words: CustomTestStringConvertible, Sendable {
            var command: any ParsableCommand.Type
            var given: [String]
            var expected: [String]
            var testDescription: String { given.joined(separator: " ") }

            init(_ command: any ParsableCommand.Type, _ given: String, _ expected: String) {
                self.command = command
                self.given = given.split(separator: " ").map(String.init)
                self.expected = expected.split(separator: " ").map(String.init)
            }
        }

        static let words = [
            Words(PingCommand.self, "-c1 H", "-c=1 H"),
            Words(PingCommand.self, "-qnc3 -i0.2 H", "-q -n -c=3 -i=0.2 H"),
            Words(PingCommand.self, "-c=3 -c 3 H", "-c=3 -c 3 H"),
            Words(TraceCommand.self, "-nm3 H", "-n -m=3 H"),
            Words(ScanCommand.self, "-p80,443 -Pn -sT H", "-p=80,443 -Pn -sT H"),
            Words(CaptureCommand.self, "-nnvvieth0 -c1", "-n -n -v -v -i=eth0 -c=1"),
            Words(CaptureCommand.self, "-wv -s96 tcp[13]&2!=0", "-w=v -s=96 tcp[13]&2!=0"),
            Words(CatCommand.self, "-lkw1 -p9000", "-l -k -w=1 -p=9000"),
            Words(CatCommand.self, "-nzv H 1-9", "-n -z -v H 1-9"),
            Words(HTTPCommand.self, "-fsSLo f -da=1 -XPUT U", "-f -s -S -L -o f -d=a=1 -X=PUT U"),
            // Unknown options, values and the arguments after `--` stay unchanged.
            Words(PingCommand.self, "-Zc1 H", "-Zc1 H"),
            Words(PacketCommand.self, "udp 192.0.2.1:1 --data -abc", "udp 192.0.2.1:1 --data -abc"),
            Words(PingCommand.self, "-I -c1 H", "-I -c1 H"),
            Words(PingCommand.self, "-c1 -- -c2", "-c=1 -- -c2"),
        ]

        @Test("Combined flags and values are separated", arguments: words)
        func split(_ row: Words) {
            #expect(CommandWords(of: row.command).split(row.given) == row.expected)
        }

        static let unknown: [(any ParsableCommand.Type, String, String?)] = [
            (HTTPCommand.self, "--retry 2 u", nil), (HTTPCommand.self, "--retrys 2 u", "--retrys"),
            (HTTPCommand.self, "-d -Q u", nil), (HTTPCommand.self, "-Q u", "-Q"), (HTTPCommand.self, "-- -Q", nil),
            (HTTPCommand.self, "-sfQ u", "-Q"), (HTTPCommand.self, "--nothing=1 u", "--nothing"),
            (HTTPCommand.self, "--nothing --help", nil), (ScanCommand.self, "-Pn -sX h", "-s"),
            (CaptureCommand.self, "- x", nil), (PingCommand.self, "-c1 h -W 2", nil),
        ]

        @Test("An unknown option is found, also before a value", arguments: unknown)
        func unknownOptions(_ command: any ParsableCommand.Type, _ words: String, _ expected: String?) {
            let words = words.split(separator: " ").map(String.init)
            #expect(CommandWords(of: command).unknownOption(in: words)?.option == expected)
        }

        @Test("Completions know the servers, the interfaces and every command", arguments: ["bash", "zsh", "fish"])
        func completions(_ shell: String) async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(["--generate-completion-script", shell])
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(nw.text.contains("/sys/class/net"))
                for word in ["udp-sink", "upload"] + NW.commands.compactMap({ $0.outline.commandName }) {
                    #expect(nw.text.contains(word), "\(word)")
                }
                let servers = nw.text.split(separator: "\n").first { $0.contains("udp-sink") && $0.contains("echo") }
                #expect(servers?.contains("http") == true && servers?.contains("upload") == true, "\(servers ?? "")")
            }
        }

        @Test("A capture file is named as for tcpdump", arguments: [["read", "-nnr"], ["capture", "-r"], ["read"]])
        func captureFile(_ words: [String]) async throws {
            try await Scratch.run { scratch in
                let file = scratch.directory.appendingPathComponent("one.pcap").path
                let packet = try scratch.startNW(["packet", "udp", "192.0.2.1:53", "-w\(file)"])
                #expect(try await packet.finished() == 0, "\(packet.errors)")
                let shown = try scratch.startNW(words + [file, "udp", "port", "53"])
                #expect(try await shown.finished() == 0, "\(shown.errors)")
                #expect(shown.text.contains("192.0.2.1.53: "), "\(shown.text)")
                let other = try scratch.startNW(words + [file, "tcp"])
                #expect(try await other.finished() == 0, "\(other.errors)")
                #expect(other.output.isEmpty)
            }
        }

        struct Mistake: CustomTestStringConvertible, Sendable {
            var arguments: [String]
            /// Texts that standard error must contain.
            var parts: [String]
            var testDescription: String { arguments.joined(separator: " ") }
        }

        static let mistakes = [
            Mistake(arguments: ["brows"], parts: ["Did you mean 'browse'?", "Usage: nw <subcommand>"]),
            Mistake(arguments: ["help", "pign"], parts: ["Did you mean 'ping'?"]),
            Mistake(arguments: ["tarce"], parts: ["Did you mean 'trace'?"]),
            Mistake(
                arguments: ["xyzzy"], parts: ["'xyzzy' is not a command of nw. List the commands with: nw --help\n"]),
            Mistake(arguments: ["ping", "-cx", "h"], parts: ["'x' is invalid for '-c", "Usage: nw ping "]),
            Mistake(arguments: ["group", "239.7.7.7", "7", "--interface", "nosuch"], parts: ["Usage: nw group "]),
            Mistake(arguments: ["read"], parts: ["Specify a capture file", "Usage: nw read "]),
            Mistake(
                arguments: ["http", "--retri", "2", ":8080/get"],
                parts: ["Unknown option '--retri'. Did you mean '--retry'?", "Usage: nw http "]),
            Mistake(
                arguments: ["cat", "-q", "1", "127.0.0.1", "9"], parts: ["Unknown option '-q'.", "See 'nw cat --help'"]),
            Mistake(arguments: ["ping", "-Zc1", "h"], parts: ["Unknown option '-Z'."]),
            Mistake(arguments: ["ping", "-46", "h"], parts: ["-4 and -6 cannot be combined."]),
            Mistake(arguments: ["trace", "-4", "-6", "h"], parts: ["-4 and -6 cannot be combined."]),
            Mistake(arguments: ["scan", "-6", "-4", "h"], parts: ["-4 and -6 cannot be combined."]),
            Mistake(
                arguments: ["http", "-C", "9223372036854775808", "-o", "f", ":1"],
                parts: ["'9223372036854775808' is not an offset in bytes."]),
            Mistake(arguments: ["ping", "-i", "1e30", "h"], parts: ["-i must be 0.002 to 1000000 seconds."]),
            Mistake(arguments: ["ping", "-W", "nan", "h"], parts: ["-W must be 0 to 1000000 seconds."]),
            Mistake(
                arguments: ["serve", "http", ".", "-p", "1"],
                parts: ["Unknown option '-p'.", "See 'nw serve http --help'"]),
            Mistake(arguments: ["register", "X", "_bad_type._tcp", "1"], parts: ["See 'nw register --help' for"]),
            Mistake(arguments: ["http", "-w", "%{nothing}", ":1"], parts: ["%{nothing} is not a variable of -w"]),
            Mistake(arguments: ["tls", "127.0.0.1:1", "2"], parts: ["specify the port once"]),
            Mistake(arguments: ["packet", "udp", "[::1]:1", "--urgent", "1"], parts: ["--urgent requires tcp."]),
            Mistake(
                arguments: ["packet", "udp", "192.0.2.1:1", "--fragment-offset", "9"], parts: ["a multiple of 8 bytes"]),
            Mistake(arguments: ["resolve", "-w", "0", "localhost"], parts: ["-w must be more than 0"]),
            Mistake(
                arguments: ["nat64", "--nothing", "x"], parts: ["Unknown option '--nothing'.", "Usage: nw nat64 "]),
            Mistake(arguments: ["cert", "a_b"], parts: ["'a_b' is not a host name or an address."]),
        ]

        @Test("A mistake prints the usage of its command and a hint", arguments: mistakes)
        func mistake(_ row: Mistake) async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(row.arguments)
                #expect(try await nw.finished() == 64)
                #expect(nw.output.isEmpty)
                for part in row.parts { #expect(nw.errors.contains(part), "\(nw.errors)") }
            }
        }

        @Test("The version is printed", arguments: [["--version"], ["ping", "--version"]])
        func version(_ arguments: [String]) async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(arguments)
                #expect(try await nw.finished() == 0)
                #expect(nw.text == "nw \(NW.version)\n")
            }
        }

        @Test(
            "The help of every command lists its exit codes",
            arguments: NW.commands.map { $0.outline.commandName ?? "" })
        func exitCodes(command: String) throws {
            let type = try #require(NW.commands.first { $0.outline.commandName == command })
            #expect(type.helpMessage().contains("Exit codes:"))
        }
    }
}
