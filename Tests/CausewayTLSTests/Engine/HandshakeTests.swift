import CausewayTLS
import CausewayTypes
import Testing

@Suite("TLS handshake")
struct HandshakeTests {
    @Test("Two engines agree and talk", arguments: [TLSVersion.tls12, .tls13])
    func talk(_ version: TLSVersion) throws {
        let pair = try EnginePair(.client { $0.maximumVersion = version }, .server())
        pair.establish()
        try pair.client.write("ping")
        pair.carry(from: pair.client, to: pair.server)
        #expect(pair.server.readText == "ping")
        try pair.server.write("pong")
        pair.carry(from: pair.server, to: pair.client)
        #expect(pair.client.readText == "pong")
        let negotiation = try #require(pair.client.negotiation)
        #expect(negotiation.version == version)
        #expect(negotiation.peerCertificates.first == (try Identities.server.get().certificates[0]))
        #expect(pair.server.negotiation?.serverName == "server.test")
        #expect(!negotiation.isResumed)
    }

    @Test("Octet by octet", arguments: [TLSVersion.tls12, .tls13])
    func drip(_ version: TLSVersion) throws {
        let pair = try EnginePair(.client { $0.maximumVersion = version }, .server())
        pair.cut = { _ in 1 }
        pair.establish()
        #expect(try pair.transfer(Array("hello".utf8), from: pair.client, to: pair.server) == Array("hello".utf8))
    }
}
