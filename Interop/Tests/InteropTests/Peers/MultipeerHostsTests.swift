import Foundation
import Testing

extension Interop {
    /// Tests two processes on two hosts. The processes share only the framework's interface, and the hosts share only a
    /// link.
    @Suite("MultipeerConnectivity between hosts", .enabled(if: TwoHosts.isAvailable, "needs root and ip"))
    struct MultipeerHostsTests {
        enum Addresses: String, CaseIterable, CustomTestStringConvertible, Sendable {
            case ipv4Only, linkLocalIPv6Only, both

            var testDescription: String { rawValue }

            func apply(to hosts: TwoHosts) throws {
                let words: [String] =
                    switch self {
                    case .ipv4Only: ["-6 address flush dev \(TwoHosts.link)"]
                    case .linkLocalIPv6Only:
                        ["-4 address flush dev \(TwoHosts.link)", "-6 address flush dev \(TwoHosts.link) scope global"]
                    case .both: []
                    }
                for word in words {
                    try hosts.ip(word)
                    try hosts.farIP(word)
                }
            }
        }

        private struct Pair {
            let ann: Child
            let bob: Child
            let annFiles: URL
            let bobFiles: URL
        }

        private func pair(_ hosts: TwoHosts, _ scratch: Scratch) async throws -> Pair {
            let program = try Built.program("MultipeerProgram")
            let (one, two) = (try scratch.newDirectory("ann"), try scratch.newDirectory("bob"))
            let pair = Pair(
                ann: try scratch.start(program, ["Ann", one.path], on: hosts.near, input: .held),
                bob: try scratch.start(program, ["Bob", two.path], on: hosts.far, input: .held), annFiles: one,
                bobFiles: two)
            try await shows(pair.ann, "connected Bob")
            try await shows(pair.bob, "connected Ann")
            return pair
        }

        private func shows(_ child: Child, _ text: String) async throws {
            try await eventually("'\(text)' in \(child.text)") { child.text.contains(text) }
        }

        private func order(_ child: Child, _ words: [String]) -> Bool {
            let places = words.compactMap { child.text.range(of: $0)?.lowerBound }
            return places.count == words.count && places == places.sorted()
        }

        @Test(
            "Messages of both modes, a file with progress on both sides, a cancel from each, 10 streams both ways",
            arguments: Addresses.allCases)
        func exchange(_ addresses: Addresses) async throws {
            try await TwoHosts.run { hosts, scratch in
                try addresses.apply(to: hosts)
                let pair = try await pair(hosts, scratch)
                #expect(order(pair.ann, ["found Bob", "connecting Bob", "connected Bob"]))
                #expect(order(pair.bob, ["invited Ann", "connecting Ann", "connected Ann"]))
                try pair.ann.write("say hello\nwhisper psst\nnumbers 500 100\n")
                try pair.bob.write("say hi\nwhisper pst\nnumbers 500 100\n")
                for text in ["said Ann hello", "said Ann psst", "all Ann 500"] { try await shows(pair.bob, text) }
                for text in ["said Bob hi", "said Bob pst", "all Bob 500"] { try await shows(pair.ann, text) }
                try await files(pair, scratch)
                try await streams(pair)
                try pair.ann.write("leave\n")
                for (child, other) in [(pair.ann, "Bob"), (pair.bob, "Ann")] { try await shows(child, "lost \(other)") }
                #expect(!pair.ann.text.contains("fault") && !pair.bob.text.contains("fault"))
            }
        }

        @Test("Two guests who only know the host are introduced to each other", arguments: Addresses.allCases)
        func guests(_ addresses: Addresses) async throws {
            try await TwoHosts.run { hosts, scratch in
                try addresses.apply(to: hosts)
                let program = try Built.program("MultipeerProgram")
                let place = scratch.directory.path
                let host = try scratch.start(program, ["Zoe", place], on: hosts.far, input: .held)
                let guests = try ["Ann", "Bob"].map { name in
                    try scratch.start(program, [name, place, "guest"], on: hosts.near, input: .held)
                }
                for name in ["Ann", "Bob"] { try await shows(host, "connected \(name)") }
                try await shows(guests[0], "connected Bob")
                try await shows(guests[1], "connected Ann")
                try guests[0].write("say hello\n")
                try await shows(guests[1], "said Ann hello")
            }
        }

        private func files(_ pair: Pair, _ scratch: Scratch) async throws {
            let content = Data((0..<(16 << 20)).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) })
            let photo = scratch.directory.appendingPathComponent("photo")
            try content.write(to: photo)
            try pair.ann.write("file \(photo.path)\n")
            try await shows(pair.bob, "received Ann photo whole")
            try await shows(pair.ann, "sent Bob photo whole")
            #expect(try Data(contentsOf: pair.bobFiles.appendingPathComponent("photo")) == content)
            #expect(pair.ann.text.contains("progress sender") && pair.bob.text.contains("progress receiver"))
            // Create sparse files that use no blocks on the disk. Their transfer takes too long to complete before it
            // is cancelled.
            for name in ["first", "second"] {
                let place = scratch.directory.appendingPathComponent(name)
                try Data().write(to: place)
                #expect(truncate(place.path, 1 << 30) == 0)
            }
            try pair.ann.write("file \(scratch.directory.path)/first cancel\n")
            try await shows(pair.ann, "sent Bob first cancelled")
            try await shows(pair.bob, "received Ann first cancelled")
            try pair.ann.write("refuse\n")
            try pair.bob.write("say refused?\n")
            try await shows(pair.ann, "said Bob refused?")
            try pair.bob.write("file \(scratch.directory.path)/second\n")
            try await shows(pair.bob, "sent Ann second cancelled")
            try await shows(pair.ann, "received Bob second cancelled")
            #expect(try FileManager.default.contentsOfDirectory(atPath: pair.annFiles.path).isEmpty)
        }

        private func streams(_ pair: Pair) async throws {
            for (from, to, name) in [(pair.ann, pair.bob, "Ann"), (pair.bob, pair.ann, "Bob")] {
                try from.write("streams 10 300000\n")
                for number in 0..<10 { try await shows(to, "stream \(name) s\(number) 300000\n") }
            }
        }

        // MARK: Terminals

        private func onTerminal(_ words: String, _ hosts: TwoHosts, _ scratch: Scratch) throws -> Child {
            let script = try #require(Peer.find("script"), "script(1) is needed")
            let directory = try scratch.newDirectory("terminal").path
            let program = try Built.program("MultipeerProgram")
            return try scratch.start(
                script, ["-qec", "\(program) Ann \(directory) \(words)", "/dev/null"], on: hosts.near, input: .held)
        }

        @Test("MCBrowserViewController on a terminal: Enter invites the marked peer, d ends with it, q cancels")
        func picker() async throws {
            try await TwoHosts.run { hosts, scratch in
                let program = try Built.program("MultipeerProgram")
                let bob = try scratch.start(
                    program, ["Bob", scratch.directory.path], on: hosts.far, input: .held)
                let picker = try onTerminal("pick", hosts, scratch)
                try await shows(picker, "> Bob")
                #expect(!picker.text.contains("d: done"))
                try picker.write("\r")
                try await shows(picker, "Bob   connected")
                try await shows(picker, "d: done")
                try await shows(bob, "connected Ann")
                try picker.write("d")
                #expect(try await picker.finished() == 0, "\(picker.text)")
                #expect(picker.text.contains("finished Bob"), "\(picker.text)")
                try await shows(bob, "lost Ann")
                let second = try onTerminal("pick", hosts, scratch)
                try await shows(second, "> Bob")
                try second.write("q")
                #expect(try await second.finished() == 0, "\(second.text)")
                #expect(second.text.contains("cancelled \r\n"), "\(second.text)")
            }
        }

        @Test(
            "MCAdvertiserAssistant asks on the terminal: y connects the inviter, n does not", arguments: [true, false])
        func assistant(_ accepts: Bool) async throws {
            try await TwoHosts.run { hosts, scratch in
                let host = try onTerminal("assist", hosts, scratch)
                try await shows(host, "advertises")
                let abe = try scratch.start(
                    try Built.program("MultipeerProgram"), ["Abe", scratch.directory.path], on: hosts.far, input: .held)
                try await shows(host, "'Abe' invites you to 'cw-accept'. Accept? [y/N]")
                try host.write(accepts ? "y\n" : "n\n")
                try await shows(host, "dismisses")
                try await shows(abe, accepts ? "connected Ann" : "lost Ann")
                #expect(order(host, ["asks", "Accept?", "dismisses"]) && abe.text.contains("connected") == accepts)
            }
        }
    }
}
