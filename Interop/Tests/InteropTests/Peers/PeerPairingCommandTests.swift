import Foundation
import Testing

extension Interop {
    /// Tests `nw peers pair`, `pins`, `forget` and `doctor`, `nw send --peer` and `nw receive --peers` between two
    /// hosts. Each host has its own home directory.
    @Suite("Pairing commands", .enabled(if: TwoHosts.isAvailable, "needs root and ip"))
    struct PeerPairingCommandTests {
        /// Starts `nw` with the keys of one user. The directory `home` contains these keys.
        private func nw(
            _ words: [String], on host: String, home: String, _ scratch: Scratch, input: Child.Input = .nothing,
            on terminal: Bool = false
        ) throws -> Child {
            let data = scratch.directory.appendingPathComponent(home).path
            guard terminal else {
                return try scratch.start(
                    "/usr/bin/env", ["XDG_DATA_HOME=\(data)", try Built.nw()] + words, on: host, input: input)
            }
            let script = try #require(Peer.find("script"), "script(1) is needed")
            let command = "XDG_DATA_HOME=\(data) \(try Built.nw()) \(words.joined(separator: " "))"
            return try scratch.start(script, ["-qec", command, "/dev/null"], on: host, input: input)
        }

        private func pair(_ hosts: TwoHosts, _ scratch: Scratch) async throws {
            let ann = try nw(["peers", "pair", "nw-files", "--name", "Ann"], on: hosts.near, home: "ann", scratch)
            try await eventually("Ann shows a text: \(ann.errors)") { ann.text.hasSuffix("\n") }
            let text = ann.text.trimmingCharacters(in: .newlines).lowercased()
            let bob = try nw(["peers", "pair", "nw-files", text, "--name", "Bob"], on: hosts.far, home: "bob", scratch)
            #expect(try await bob.finished() == 0, "\(bob.errors)")
            #expect(try await ann.finished() == 0, "\(ann.errors)")
            #expect(bob.text.hasPrefix("paired with Ann  ") && ann.text.contains("paired with Bob  "))
        }

        @Test(
            "Two hosts pair by a text; then files arrive whole, a taken name and a host that is not paired are refused")
        func files() async throws {
            try await TwoHosts.run { hosts, scratch in
                try await pair(hosts, scratch)
                let inbox = try scratch.newDirectory("inbox")
                let ann = try nw(
                    ["receive", inbox.path, "--peers", "nw-files", "--name", "Ann", "--paired"], on: hosts.near,
                    home: "ann", scratch)
                try await eventually("Ann advertises: \(ann.errors)") { ann.text.hasPrefix("receiving as Ann") }
                let file = scratch.directory.appendingPathComponent("film")
                let contents = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) })
                try contents.write(to: file)
                let send = ["send", file.path, "--peer", "Ann", "-w", "10", "--name"]
                let bob = try nw(send + ["Bob"], on: hosts.far, home: "bob", scratch)
                #expect(try await bob.finished() == 0, "\(bob.errors) \(ann.errors)")
                #expect(try Data(contentsOf: inbox.appendingPathComponent("film")) == contents)
                #expect(ann.text.contains("film: ") && ann.text.contains(" from Bob ("), "\(ann.text)")
                let again = try nw(send + ["Bob"], on: hosts.far, home: "bob", scratch)
                #expect(try await again.finished() == 1)
                #expect(again.errors.contains("film: "), "\(again.errors)")
                let eve = try nw(send + ["Eve"], on: hosts.far, home: "eve", scratch)
                #expect(try await eve.finished() == 1)
                #expect(eve.errors.contains("accepts paired hosts only"), "\(eve.errors)")
                try await eventually("Ann sees it: \(ann.errors)") { ann.errors.contains("Eve was refused") }
                try ann.interrupt()
                _ = try await ann.finished()
            }
        }

        @Test("Two users confirm the same code; the keys are listed, and one is forgotten")
        func compares() async throws {
            try await TwoHosts.run { hosts, scratch in
                let words = ["peers", "pair", "nw-files", "--compare", "--name"]
                let ann = try nw(words + ["Ann"], on: hosts.near, home: "ann", scratch, input: .held, on: true)
                let bob = try nw(words + ["Bob"], on: hosts.far, home: "bob", scratch, input: .held, on: true)
                for child in [ann, bob] {
                    try await eventually("a code is shown: \(child.text)") { child.text.contains("[y/N]") }
                }
                let code = try #require(ann.text.firstMatch(of: /[0-9]{6}  [a-z ]+/)?.output)
                #expect(bob.text.contains(code))
                try ann.write("y\n")
                try bob.write("y\n")
                #expect(try await ann.finished() == 0, "\(ann.text)")
                #expect(try await bob.finished() == 0, "\(bob.text)")
                let list = try nw(["peers", "pins", "nw-files", "--json"], on: hosts.near, home: "ann", scratch)
                #expect(try await list.finished() == 0, "\(list.errors)")
                #expect(list.text.contains(#""name":"Bob","paired":true"#), "\(list.text)")
                let forget = try nw(["peers", "forget", "nw-files", "Bob"], on: hosts.near, home: "ann", scratch)
                #expect(try await forget.finished() == 0, "\(forget.errors)")
                let rest = try nw(["peers", "pins", "nw-files"], on: hosts.near, home: "ann", scratch)
                #expect(try await rest.finished() == 0 && rest.text.isEmpty)
            }
        }

        @Test(
            "doctor finds no fault on a host with a link, sees a peer and another program, and names a key that others can read"
        )
        func doctor() async throws {
            try await TwoHosts.run { hosts, scratch in
                let bob = try nw(["peers", "pair", "nw-test", "--name", "Bob"], on: hosts.far, home: "bob", scratch)
                try await eventually("Bob shows a text: \(bob.errors)") { !bob.text.isEmpty }
                let other = try nw(
                    ["register", "Other program", "_nw-test._tcp", "9"], on: hosts.far, home: "bob", scratch)
                try await eventually("the other program is registered: \(other.errors)") { !other.text.isEmpty }
                let words = ["peers", "doctor", "nw-test", "--json"]
                let healthy = try nw(words, on: hosts.near, home: "ann", scratch)
                #expect(try await healthy.finished() == 0, "\(healthy.text)")
                #expect(healthy.text.contains("Multipeer Connectivity: Other program"), "\(healthy.text)")
                #expect(healthy.text.contains("Bob (") && !healthy.text.contains(#""fault""#), "\(healthy.text)")
                let folder = scratch.directory.appendingPathComponent("ann/causeway/peers")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                let key = folder.appendingPathComponent("0000000000000001.pem")
                #expect(
                    FileManager.default.createFile(
                        atPath: key.path, contents: Data(), attributes: [.posixPermissions: 0o644]))
                let faulty = try nw(["peers", "doctor", "nw-test", "-t", "2"], on: hosts.near, home: "ann", scratch)
                #expect(try await faulty.finished() == 1)
                #expect(faulty.text.contains("!  keys:") && faulty.text.contains("run chmod 600"), "\(faulty.text)")
            }
        }

        @Test("doctor joins no session of the type that it checks, and no program of the type sees it")
        func unseen() async throws {
            try await TwoHosts.run { hosts, scratch in
                // Ann invites every peer that she finds, and accepts every invitation.
                let program = try Built.program("MultipeerProgram")
                let ann = try scratch.start(
                    program, ["Ann", scratch.directory.path, "cw-test"], on: hosts.far, input: .held)
                let witness = try nw(["peers", "cw-test"], on: hosts.far, home: "bob", scratch)
                try await eventually("Ann is listed: \(witness.errors)") { witness.text.contains("+ Ann") }
                let doctor = try nw(["peers", "doctor", "cw-test", "--json"], on: hosts.near, home: "bob", scratch)
                #expect(try await doctor.finished() == 0, "\(doctor.text)")
                #expect(doctor.text.contains("Ann (") && doctor.text.contains("was connected"), "\(doctor.text)")
                #expect(!ann.text.contains("doctor") && !witness.text.contains("doctor"), "\(ann.text)\(witness.text)")
            }
        }

        @Test(
            "Wrong words are usage errors with the reason",
            arguments: [
                (["peers", "pair", "abc", "nonsense"], "does not begin with CAUSEWAY-PEER:"),
                (["peers", "forget", "abc"], "Specify TYPE"),
                (["peers", "pair"], "pair needs a TYPE"), (["peers", "pins"], "pins needs a TYPE"),
                (["peers", "pick"], "pick needs a TYPE"), (["peers", "forget"], "forget needs a TYPE"),
                (["peers", "abc", "--compare"], "does not support --compare"),
                (["send", "file", "--peer", "Ann", "--type", "a--b"], "not a service type"),
                (["receive", ".", "--peers", "abc", "--port", "1"], "cannot be combined"),
                (["receive", "."], "--peers"),
            ])
        func usage(_ row: (words: [String], reason: String)) async throws {
            try await Scratch.run { scratch in
                let child = try scratch.startNW(row.words)
                #expect(try await child.finished() == 64)
                #expect(child.errors.contains(row.reason), "\(child.errors)")
            }
        }
    }
}
