import Foundation
import Testing

@testable import CausewayPeers

extension Interop {
    /// Tests that a peer in Python can join a group. The peer was written only from the description of the protocol.
    @Suite("Peers in other languages", .enabled(if: Peer.find("python3") != nil, "needs python3"))
    struct PythonPeerTests {
        private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Peers/Python/cwp1.py").path

        private func keys(_ scratch: Scratch) async throws -> (key: String, certificate: String) {
            let key = scratch.directory.appendingPathComponent("key.pem").path
            let certificate = scratch.directory.appendingPathComponent("cert.pem").path
            let openssl = try scratch.startOpenSSL([
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                "-out", certificate, "-subj", "/CN=peer", "-days", "1",
            ])
            #expect(try await openssl.finished() == 0, "\(openssl.errors)")
            return (key, certificate)
        }

        @Test("A5: it invites, joins, exchanges messages, a stream and files, and leaves")
        func joins() async throws {
            try await Scratch.run { scratch in
                let keys = try await keys(scratch)
                let host = try PythonPeerHost("Swift")
                let port = await host.port
                let file = scratch.directory.appendingPathComponent("offered")
                let contents = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
                try contents.write(to: file)
                let python = try scratch.startPython([
                    Self.script, "--dial", "127.0.0.1:\(port)", "--key", keys.key, "--certificate", keys.certificate,
                    "--send", "hello", "--send", String(repeating: "x", count: 100_000), "--stream", "streamed",
                    "--file", file.path, "--echo", "--seconds", "3",
                ])
                try await eventually("Python joins: \(python.errors)") { host.log.contains("connected Python") }
                let peer = try #require(host.group.connectedPeers.first)
                try host.group.send(Data("to Python".utf8), to: [peer], .reliable)
                let progress = host.group.sendFile(at: file, name: "sent", to: peer) { failure in
                    host.note("sent \(failure?.message ?? "whole")")
                }
                for line in [
                    "message hello", "message 100000 bytes", "stream streamed", "file offered 700000 bytes true",
                    "message to Python", "sent whole",
                ] {
                    try await eventually("\(line): \(host.log), \(python.errors)") { host.log.contains(line) }
                }
                #expect(progress.completedUnitCount == 700_000)
                try await eventually("Python leaves: \(host.log)") {
                    host.log.contains("notConnected the peer left the session")
                }
                let output = String(decoding: python.output, as: UTF8.self)
                for part in [
                    #""event": "delivered", "bytes": 700000"#, #""event": "file", "name": "sent", "bytes": 700000"#,
                ] {
                    #expect(output.contains(part), "\(output) \(python.errors)")
                }
            }
        }

        @Test("A5: it accepts a link and an invitation, and exchanges messages")
        func accepts() async throws {
            try await Scratch.run { scratch in
                let keys = try await keys(scratch)
                let host = try PythonPeerHost("Swift")
                let port = await host.port
                let python = try scratch.startPython([
                    Self.script, "--dial", "127.0.0.1:\(port)", "--key", keys.key, "--certificate", keys.certificate,
                    "--accept", "--send", "hello", "--echo", "--seconds", "3600",
                ])
                var listening: Listening?
                try await eventually("Python listens: \(python.errors)") {
                    listening = Listening(python.output)
                    return listening != nil
                }
                let peer = try #require(listening)
                host.invite(peer.identity, at: peer.port, "from Swift")
                try await eventually("\(host.log), \(python.errors)") { host.log.contains("message hello") }
                try host.group.send(Data("back".utf8), to: [peer.identity], .reliable)
                try await eventually("\(host.log), \(python.errors)") { host.log.contains("message back") }
                let output = String(decoding: python.output, as: UTF8.self)
                #expect(output.contains(#""event": "invited", "context": "from Swift""#), "\(output)")
            }
        }

        @Test("A5: a file that was cut goes on in the next session, from it and to it, and the digests are equal")
        func resumes() async throws {
            try await Scratch.run { scratch in
                let keys = try await keys(scratch)
                let host = try PythonPeerHost("Swift", parts: scratch.directory.appendingPathComponent("parts"))
                let file = scratch.directory.appendingPathComponent("film")
                let contents = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
                try contents.write(to: file)
                let part = scratch.directory.appendingPathComponent("part")
                try contents.prefix(1_000_000).write(to: part)
                let common = [
                    Self.script, "--dial", "127.0.0.1:\(await host.port)", "--key", keys.key, "--certificate",
                    keys.certificate, "--file", file.path, "--part", part.path,
                ]
                let first = try scratch.startPython(common + ["--until", "2000000"])
                #expect(try await first.finished() == 0, "\(first.errors)")
                try await eventually("the file is cut: \(host.log)") { host.log.contains("failed film") }
                let second = try scratch.startPython(common + ["--seconds", "3600"])
                try await eventually("\(host.log), \(second.errors)") {
                    host.log.contains("file film 3000000 bytes true")
                }
                let peer = try #require(host.group.connectedPeers.first)
                _ = host.group.sendFile(at: file, name: "sent", to: peer) { failure in
                    host.note("sent \(failure?.message ?? "whole")")
                }
                try await eventually("\(host.log), \(second.errors)") { host.log.contains("sent whole") }
                let output = String(decoding: second.output, as: UTF8.self)
                let offset = try #require(output.firstMatch(of: #/"wanted", "offset": (\d+)/#).flatMap { Int($0.1) })
                #expect(offset > 0 && offset <= 2_100_000, "\(output)")
                #expect(output.contains(#""compared": true"#), "\(output)")
            }
        }

        /// The first line that a listening Python peer prints.
        private struct Listening {
            let identity: PeerIdentity
            let port: UInt16

            init?(_ output: Data) {
                let line = output.split(separator: UInt8(ascii: "\n")).first.map { Data($0) } ?? Data()
                guard let values = try? JSONSerialization.jsonObject(with: line) as? [String: Any],
                    let id = (values["id"] as? String).flatMap({ UInt64($0, radix: 16) }),
                    let fingerprint = values["fingerprint"] as? String, let port = values["port"] as? Int
                else { return nil }
                let digits = Array(fingerprint)
                let bytes = stride(from: 0, to: digits.count, by: 2)
                    .compactMap { UInt8(String(digits[$0..<($0 + 2)]), radix: 16) }
                identity = PeerIdentity(id: id, fingerprint: bytes, name: "Python")
                self.port = UInt16(port)
            }
        }
    }
}
