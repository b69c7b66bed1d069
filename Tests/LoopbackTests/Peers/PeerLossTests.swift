import Causeway
import CausewayPeers
import Foundation
import Testing

extension Loopback {
    @Suite("Peers: loss and hostile connections")
    struct PeerLossTests {
        @Test("Links that are cut are replaced, and each message arrives once and in order")
        func resumes() async throws {
            let (ann, bob) = try await PeerProbe.pair()
            let count = 400
            for number in 0..<count {
                if number % 100 == 50 { (number % 200 == 50 ? ann : bob).node.cutLinks() }
                try ann.send("\(number)", to: bob)
                try bob.send("\(number)", to: ann)
            }
            for peer in [ann, bob] {
                var next = 0
                while next < count {
                    switch try await peer.seen.next() {
                    case .message(let text, _):
                        #expect(text == "\(next)")
                        next += 1
                    case .suspended, .resumed: break
                    case let other:
                        Issue.record("unexpected: \(other)")
                        return
                    }
                }
            }
            #expect(ann.group?.connectedPeers == [bob.me] && bob.group?.connectedPeers == [ann.me])
            ann.close()
            bob.close()
        }

        @Test("Connections that send garbage, or nothing, are closed, and peers still connect")
        func hostile() async throws {
            let (ann, bob) = (try PeerProbe("Ann"), try PeerProbe("Bob"))
            try await ann.meet(bob)
            let port = try #require(NWEndpoint.Port(rawValue: await bob.port))
            let ended = Mailbox<Bool>()
            let queue = DispatchQueue(label: "hostile")
            var connections: [NWConnection] = []
            for number in 0..<40 {
                let connection = NWConnection(host: .ipv4(.loopback), port: port, using: .tcp)
                connections.append(connection)
                connection.start(queue: queue)
                // Send bytes that belong to another protocol. Half of the connections send the first bytes of Apple's
                // framework. The others send invalid bytes.
                let garbage =
                    number % 2 == 0
                    ? [0x07, 0xD0] + [UInt8](repeating: 0, count: 14) : [UInt8](repeating: 0xFF, count: 64)
                connection.send(content: Data(garbage), completion: .contentProcessed { _ in })
                connection.receive(minimumIncompleteLength: 1_000, maximumLength: 2_000) { _, _, _, _ in ended.put(true)
                }
            }
            _ = try await ended.next(40)
            ann.invite(bob)
            try await ann.seen.first { $0 == .connected("Bob") }
            ann.close()
            bob.close()
            connections.forEach { $0.forceCancel() }
        }

        @Test("A TLS peer that breaks the framing, or sends no HELLO first, is closed")
        func withoutHello() async throws {
            let bob = try PeerProbe("Bob")
            let port = try #require(NWEndpoint.Port(rawValue: await bob.port))
            let mallory = try LocalPeer(named: "Mallory")
            for bytes in [
                [0xFF, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF], [0x08, 0, 0, 0, 0, 0, 0, 1, 7],
                [0x01, 0, 0, 0, 0, 0, 0, 2, 1, 1],
            ] as [[UInt8]] {
                let ended = Mailbox<Bool>()
                let link = PeerTestLink(mallory, port) { ended.put(true) }
                link.send(bytes)
                _ = try await ended.next()
                link.cancel()
            }
            #expect(bob.seen.history.isEmpty && bob.invitations.history.isEmpty)
            bob.close()
        }
    }
}

/// A TLS connection with a certificate, like those between peers. The test sends arbitrary bytes over it.
final class PeerTestLink: Sendable {
    private let connection: NWConnection

    init(_ local: LocalPeer, _ port: NWEndpoint.Port, ended: @escaping @Sendable () -> Void) {
        let tls = NWProtocolTLS.Options()
        if let identity = sec_identity_create(local.identity) {
            sec_protocol_options_set_local_identity(tls.securityProtocolOptions, identity)
        }
        sec_protocol_options_add_tls_application_protocol(tls.securityProtocolOptions, "cw-peers/1")
        sec_protocol_options_set_verify_block(
            tls.securityProtocolOptions, { _, _, complete in complete(true) }, .global())
        connection = NWConnection(host: .ipv4(.loopback), port: port, using: NWParameters(tls: tls))
        connection.start(queue: DispatchQueue(label: "test link"))
        read(ended)
    }

    private func read(_ ended: @escaping @Sendable () -> Void) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { [self] _, _, isEnd, error in
            if isEnd || error != nil { ended() } else { read(ended) }
        }
    }

    func send(_ bytes: [UInt8]) { connection.send(content: Data(bytes), completion: .contentProcessed { _ in }) }
    func cancel() { connection.forceCancel() }
}
