import CausewayTypes
import Testing

@testable import CausewayTLS

@Suite("TLS content")
struct TransferTests {
    static let versions: [TLSVersion] = [.tls12, .tls13]

    private func pair(_ version: TLSVersion = .tls13) throws -> EnginePair {
        let pair = try EnginePair(.client { $0.maximumVersion = version }, .server())
        pair.establish()
        return pair
    }

    private func content(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    @Test("Megabytes in both directions", arguments: versions)
    func large(_ version: TLSVersion) throws {
        let pair = try pair(version)
        let content = content(3_000_000)
        #expect(try pair.transfer(content, from: pair.client, to: pair.server) == content)
        #expect(try pair.transfer(content, from: pair.server, to: pair.client) == content)
    }

    @Test("Random cuts", arguments: [1, 2, 3] as [UInt64])
    func cuts(_ seed: UInt64) throws {
        let pair = try EnginePair(.client(), .server())
        var state = seed &* 0x9e37_79b9_7f4a_7c15
        pair.cut = { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % 4_000 + 1
        }
        pair.establish()
        let content = content(200_000)
        #expect(try pair.transfer(content, from: pair.client, to: pair.server) == content, "seed \(seed)")
    }

    @Test("Small read buffers", arguments: [1, 7, 16_384])
    func smallReads(_ blockSize: Int) throws {
        let pair = try pair()
        let content = content(20_000)
        let taken = try content.withUnsafeBytes { bytes throws(TLSFailure) in try pair.client.write(bytes) }
        #expect(taken == content.count)
        pair.carry(from: pair.client, to: pair.server)
        #expect(pair.server.readAll(blockSize: blockSize).bytes == content)
    }

    @Test("Plaintext is read while ciphertext is borrowed, without a rest")
    func lent() throws {
        let pair = try pair()
        try pair.client.write("direct")
        var text = ""
        pair.client.sendCiphertext { bytes in
            text = pair.server.ciphertextArrived(bytes) { pair.server.readText }
            return bytes.count
        }
        #expect(text == "direct")
    }

    @Test("Writing stops when enough output is pending, and continues afterwards")
    func backPressure() throws {
        let pair = try pair()
        let content = content(4_000_000)
        let taken = try content.withUnsafeBytes { bytes throws(TLSFailure) in try pair.client.write(bytes) }
        #expect(taken >= 200_000 && taken < 400_000)
        let more = try content.withUnsafeBytes { bytes throws(TLSFailure) in try pair.client.write(bytes) }
        #expect(more == 0)
        pair.client.sendCiphertext { _ in 1_000 }
        #expect(pair.client.unsentCount > 0)
        pair.client.sendCiphertext { $0.count }
        #expect(pair.client.unsentCount == 0)
    }

    @Test("Content before the end of the handshake is not accepted")
    func tooEarly() throws {
        let pair = try EnginePair(.client(), .server())
        #expect(try [1].withUnsafeBytes { bytes throws(TLSFailure) in try pair.client.write(bytes) } == 0)
        #expect(pair.client.readAll().end == .needsCiphertext)
    }

    @Test("Each side closes; content sent before arrives", arguments: versions, [true, false])
    func close(_ version: TLSVersion, _ isClientFirst: Bool) throws {
        let pair = try pair(version)
        let (first, second) = isClientFirst ? (pair.client, pair.server) : (pair.server, pair.client)
        try first.write("last words")
        first.close()
        first.close()
        #expect(throws: TLSFailure.self) { try first.write("more") }
        pair.carry(from: first, to: second)
        let heard = second.readAll()
        #expect(String(decoding: heard.bytes, as: UTF8.self) == "last words" && heard.end == .ended)
        #expect(second.readAll().end == .ended)
        // In TLS 1.3, the other direction stays open (RFC 8446 §6.1).
        if version == .tls13 {
            try second.write("answer")
            pair.carry(from: second, to: first)
            #expect(first.readText == "answer")
        }
        second.close()
        pair.carry(from: second, to: first)
        #expect(first.readAll().end == .ended)
        first.ciphertextEnded()
        #expect(first.readAll().end == .ended)
    }

    // Closing alerts: RFC 8446 §6.1.
    @Test("An end without a close_notify is an error, after the content before it", arguments: versions)
    func truncation(_ version: TLSVersion) throws {
        let pair = try pair(version)
        try pair.client.write("half of")
        pair.carry(from: pair.client, to: pair.server)
        pair.server.ciphertextEnded()
        let heard = pair.server.readAll()
        #expect(String(decoding: heard.bytes, as: UTF8.self) == "half of")
        guard case .failed(let failure) = heard.end else {
            Issue.record("taken for complete: \(heard.end)")
            return
        }
        #expect(failure.code == .truncated && failure.status == errSSLClosedNoNotify)
        #expect(pair.server.readAll().end == heard.end)
    }

    @Test("An end inside a record, and during the handshake")
    func cutOff() throws {
        let pair = try pair()
        try pair.client.write("whole")
        pair.client.sendCiphertext { bytes in
            pair.hand(Array(bytes.dropLast()), to: pair.server)
            return bytes.count
        }
        pair.server.ciphertextEnded()
        guard case .failed(let failure) = pair.server.readAll().end else {
            Issue.record("taken for complete")
            return
        }
        #expect(failure.code == .truncated)

        let unfinished = try EnginePair(.client(), .server())
        unfinished.clientProgress = unfinished.client.handshake()
        unfinished.client.ciphertextEnded()
        guard case .failed(let ended) = unfinished.client.handshake() else {
            Issue.record("still in the handshake")
            return
        }
        #expect(ended.code == .endedInHandshake && ended.status == errSSLClosedAbort)
    }

    // RFC 8446 §5.2, §6.2.
    @Test("A forged record is an error, and the peer is notified", arguments: versions)
    func forged(_ version: TLSVersion) throws {
        let pair = try pair(version)
        pair.deliver = { piece in piece.dropLast() + [piece[piece.count - 1] ^ 1] }
        try pair.client.write("pay 100")
        pair.carry(from: pair.client, to: pair.server)
        guard case .failed(let failure) = pair.server.readAll().end else {
            Issue.record("accepted")
            return
        }
        #expect(failure.code == .badRecord && failure.status == errSSLBadRecordMac, "\(failure)")
        pair.deliver = nil
        pair.carry(from: pair.server, to: pair.client)
        guard case .failed(let told) = pair.client.readAll().end else {
            Issue.record("the client was not notified")
            return
        }
        #expect(told.code == .alert(20))
    }

    @Test("A peer that only receives is limited")
    func unreadCiphertext() throws {
        let pair = try pair()
        let content = content(200_000)
        for _ in 0..<7 {
            _ = try content.withUnsafeBytes { bytes throws(TLSFailure) in try pair.client.write(bytes) }
            pair.client.sendCiphertext { bytes in
                pair.server.ciphertextArrived(bytes) {}
                return bytes.count
            }
        }
        guard case .failed = pair.server.readAll().end else {
            Issue.record("all output was buffered")
            return
        }
    }

    // Key updates: RFC 8446 §4.6.3.
    @Test("A key update does not change the content")
    func keyUpdate() throws {
        let pair = try pair()
        pair.client.writing = .open(recordsUntilKeyUpdate: 3)
        let content = content(300_000)
        #expect(try pair.transfer(content, from: pair.client, to: pair.server) == content)
        guard case .open(let count) = pair.client.writing, count > 1_000 else {
            Issue.record("the key was not updated: \(pair.client.writing)")
            return
        }
        #expect(try pair.transfer(content, from: pair.server, to: pair.client) == content)
    }

    @Test("A plaintext handshake message after the handshake ends the connection")
    func noise() throws {
        let pair = try pair(.tls12)
        pair.hand([22, 3, 3, 0, 4, 0, 0, 0, 0], to: pair.server)
        guard case .failed = pair.server.readAll().end else {
            Issue.record("accepted")
            return
        }
    }
}
