import CausewayPeers
import Foundation
import Synchronization
import Testing

extension Interop {
    /// A peer in Python, written from the protocol page alone, joins a group.
    @Suite("Peers in other languages", .enabled(if: Peer.find("python3") != nil, "needs python3"))
    struct PythonPeerTests {
        private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Peers/Python/cwp1.py").path

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
                let host = try PeerHost("Swift")
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
    }
}

/// A group that accepts invitations, and writes down what happens.
private final class PeerHost: Sendable {
    private let lines: Lines
    let group: PeerGroup
    private let advertisement: PeerAdvertisement

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        let streams = Mutex<[PeerInputStream]>([])
        func note(_ line: String) { all.withLock { $0.append(line) } }
    }

    var log: [String] { lines.all.withLock { $0 } }
    func note(_ line: String) { lines.note(line) }

    init(_ name: String) throws {
        let node = PeerNode(try LocalPeer(named: name))
        let lines = Lines()
        let group = PeerGroup(node) { event in
            switch event {
            case .connected(let peer): lines.note("connected \(peer.name)")
            case .notConnected(_, let failure): lines.note("notConnected \(failure.message)")
            case .message(_, let data, _):
                lines.note(
                    "message " + (data.count < 100 ? String(decoding: data, as: UTF8.self) : "\(data.count) bytes"))
            case .stream(_, _, let stream):
                lines.streams.withLock { $0.append(stream) }
                stream.start {
                    if case .data(let data) = $0 { lines.note("stream \(String(decoding: data, as: UTF8.self))") }
                }
            case .fileFinished(_, let name, .success(let file)):
                let data = (try? Data(contentsOf: file.url)) ?? Data()
                let isWhole = data.enumerated().allSatisfy { $1 == UInt8(truncatingIfNeeded: $0 &* 13) }
                lines.note("file \(name) \(data.count) bytes \(isWhole)")
            default: break
            }
        }
        advertisement = node.advertise("cw-python") { [weak group] event in
            if case .invited(let invitation) = event, let group { invitation.accept(with: group) }
        }
        self.lines = lines
        self.group = group
    }

    var port: UInt16 {
        get async {
            await withCheckedContinuation { done in group.node.whenListening { done.resume(returning: $0) } }
        }
    }
}
