import CausewayTLS
import CausewayTypes
import Testing

@Suite("DTLS")
struct DatagramTests {
    private func pair(_ adjust: (inout TLSSettings) -> Void = { _ in }) throws -> EnginePair {
        try EnginePair(
            .client {
                $0.usesDatagrams = true
                adjust(&$0)
            },
            .server {
                $0.usesDatagrams = true
                adjust(&$0)
            })
    }

    @Test("Messages keep their boundaries")
    func messages() throws {
        let pair = try pair()
        #expect(pair.client.timeout == nil)
        pair.establish()
        #expect(pair.client.negotiation?.version == .dtls12)
        for text in ["one", "two", "three"] { try pair.client.write(text) }
        pair.carry(from: pair.client, to: pair.server)
        var block = [UInt8](repeating: 0, count: 2_000)
        var heard: [String] = []
        while case .bytes(let count) = block.withUnsafeMutableBytes({ pair.server.read(into: $0) }) {
            heard.append(String(decoding: block[..<count], as: UTF8.self))
        }
        #expect(heard == ["one", "two", "three"])
        pair.client.close()
        pair.carry(from: pair.client, to: pair.server)
        #expect(pair.server.readAll().end == .ended)
    }

    @Test("No datagram exceeds the limit, and no message exceeds a datagram")
    func sizes() throws {
        let pair = try pair { $0.maximumDatagram = 600 }
        var largest = 0
        pair.deliver = { piece in
            largest = max(largest, piece.count)
            return piece
        }
        pair.establish()
        #expect((300...600).contains(largest))
        let message = [UInt8](repeating: 1, count: 601)
        do {
            _ = try message.withUnsafeBytes { bytes throws(TLSFailure) in try pair.client.write(bytes) }
            Issue.record("a message was truncated")
        } catch {
            #expect((error as? TLSFailure)?.code == .messageTooLong)
        }
        #expect(try pair.transfer([1, 2, 3], from: pair.client, to: pair.server) == [1, 2, 3])
    }

    @Test("A lost datagram at any position is repeated after the timeout", arguments: 0..<6)
    func loss(_ lost: Int) throws {
        let pair = try pair { $0.firstRetransmission = .milliseconds(20) }
        var number = 0
        pair.deliver = { piece in
            defer { number += 1 }
            return number == lost ? nil : piece
        }
        while !pair.isEstablished, pair.clientFailure == nil, pair.serverFailure == nil {
            pair.run()
            if pair.isEstablished { break }
            // Both sides must read. The side that has completed its handshake repeats lost messages only while it
            // reads.
            for engine in [pair.client, pair.server] { _ = engine.readAll() }
            // The TLS library has its own clock, so the test waits until that clock reports the timeout.
            for engine in [pair.client, pair.server] where engine.timeout == .zero { _ = engine.timeoutElapsed() }
        }
        #expect(pair.isEstablished)
        #expect(try pair.transfer([5], from: pair.client, to: pair.server) == [5])
    }

    @Test("A server answers the first datagram of an unknown client with fewer bytes than it received")
    func cookie() throws {
        let pair = try pair()
        _ = pair.client.handshake()
        pair.carry(from: pair.client, to: pair.server)
        #expect(pair.server.unsentCount > 0 && pair.server.unsentCount < 100)
    }

    @Test("Forged and foreign datagrams are dropped, and the connection continues")
    func forged() throws {
        let pair = try pair()
        pair.establish()
        pair.hand([1, 2, 3], to: pair.server)
        pair.deliver = { piece in piece.dropLast() + [piece[piece.count - 1] ^ 1] }
        try pair.client.write("forged")
        pair.carry(from: pair.client, to: pair.server)
        #expect(pair.server.readAll().end == .needsCiphertext)
        pair.deliver = nil
        #expect(try pair.transfer([9], from: pair.client, to: pair.server) == [9])
    }

    @Test("Early timeouts have no effect")
    func early() throws {
        let pair = try pair { $0.firstRetransmission = .seconds(60) }
        _ = pair.client.handshake()
        let timeout = try #require(pair.client.timeout)
        #expect(timeout > .seconds(50) && timeout <= .seconds(60))
        pair.client.sendCiphertext { $0.count }
        _ = pair.client.timeoutElapsed()
        #expect(pair.client.unsentCount == 0)
    }

    @Test("A server with an Ed25519 key, and a client with a certificate of any kind", arguments: [true, false])
    func edwards(isClientEdwards: Bool) throws {
        let server = try Authority.shared.issue { $0.keyKind = .ed25519 }
        let client = try Authority.shared.issue([.email("client@test")]) {
            $0.keyKind = isClientEdwards ? .ed25519 : .p256
        }
        let pair = try EnginePair(
            .client {
                $0.usesDatagrams = true
                $0.identity = client
            },
            .server {
                $0.usesDatagrams = true
                $0.identity = server
                $0.peerAuthentication = .required
            })
        pair.establish()
        #expect(pair.client.negotiation?.peerCertificates.first == server.certificates.first)
        #expect(pair.server.negotiation?.peerCertificates.first == client.certificates.first)
        #expect(try pair.transfer([7], from: pair.client, to: pair.server) == [7])
    }

    @Test("Pre-shared keys over datagrams")
    func preSharedKey() throws {
        let pair = try EnginePair(
            .client {
                $0.usesDatagrams = true
                $0.preSharedKeys = [AuthenticationTests.key]
            },
            .server {
                $0.usesDatagrams = true
                $0.identity = nil
                $0.preSharedKeys = [AuthenticationTests.key]
            })
        pair.establish()
        #expect(try pair.transfer([5], from: pair.server, to: pair.client) == [5])
    }
}
