import Foundation
import Testing

extension Interop {
    /// Tests the commands for peers between two hosts. The hosts share nothing but a link.
    @Suite("Peer commands", .enabled(if: TwoHosts.isAvailable, "needs root and ip"))
    struct PeerCommandTests {
        private func shown(_ child: Child) -> String { String(decoding: child.output, as: UTF8.self) }

        private func chat(_ name: String, on host: String, _ scratch: Scratch) throws -> Child {
            try scratch.start(
                try Built.nw(), ["chat", "--peers", "nw-chat", "--name", name], on: host, input: .held)
        }

        @Test("Two chats of one type find each other, lines arrive with their sender, peers lists both")
        func chats() async throws {
            try await TwoHosts.run { hosts, scratch in
                let ann = try chat("Ann", on: hosts.near, scratch)
                let bob = try chat("Bob", on: hosts.far, scratch)
                try await eventually("both join: \(ann.errors) \(bob.errors)") {
                    ann.errors.contains("Bob joined") && bob.errors.contains("Ann joined")
                }
                try ann.write("who is there?\n\u{1B}[2J\n")
                try await bob.prints("Ann: who is there?\nAnn: \\u{1B}[2J\n")
                try bob.write("me\n")
                try await ann.prints("Bob: me\n")
                let list = try scratch.start(
                    try Built.nw(), ["peers", "nw-chat", "-t", "3", "--json"], on: hosts.near)
                #expect(try await list.finished() == 0, "\(list.errors)")
                #expect(
                    shown(list).contains(#""event":"added""#) && shown(list).contains(#""name":"Bob""#),
                    "\(shown(list))")
                try bob.interrupt()
                try await eventually("Ann sees that Bob left: \(ann.errors)") { ann.errors.contains("Bob left") }
            }
        }

        @Test("pick shows a peer on the terminal, Enter invites it, d prints its name")
        func picks() async throws {
            let script = try #require(Peer.find("script"), "script(1) is needed")
            try await TwoHosts.run { hosts, scratch in
                let bob = try chat("Bob", on: hosts.far, scratch)
                let picker = try scratch.start(
                    script, ["-qec", "\(try Built.nw()) peers pick --name Ann nw-chat", "/dev/null"], on: hosts.near,
                    input: .held)
                try await eventually("Bob is listed: \(shown(picker))") { shown(picker).contains("> Bob") }
                try picker.write("\r")
                try await eventually("Bob is connected: \(shown(picker))") {
                    shown(picker).contains("Bob   connected") && bob.errors.contains("Ann joined")
                }
                try picker.write("d")
                #expect(try await picker.finished() == 0, "\(shown(picker))")
                #expect(shown(picker).hasSuffix("Bob\r\n"), "\(shown(picker))")
            }
        }

        @Test("pick fails without a terminal, with the reason")
        func withoutTerminal() async throws {
            try await Scratch.run { scratch in
                // Start `nw` through timeout(1), which runs it in the background of the terminal, if there is one.
                let picker = try scratch.startNW(["peers", "pick", "nw-chat"])
                #expect(try await picker.finished() == 1)
                #expect(picker.errors.contains("there is no terminal"), "\(picker.errors)")
            }
        }
    }
}
