import CausewayTLS
import CausewayTypes
import Testing

/// A client and a server that exchange ciphertext in memory.
final class EnginePair {
    let client: OpenSSLEngine
    let server: OpenSSLEngine
    /// Determines the lengths of the pieces into which a flight of handshake messages is cut. If it is `nil`, each
    /// flight is one piece.
    var cut: ((Int) -> Int)?
    /// Changes a datagram or piece in transit. Returns `nil` to drop it.
    var deliver: (([UInt8]) -> [UInt8]?)?
    var clientProgress = TLSProgress.needsCiphertext
    var serverProgress = TLSProgress.needsCiphertext

    init(
        _ client: TLSSettings, _ server: TLSSettings, host: NWEndpoint.Host = "server.test", port: UInt16 = 443
    ) throws {
        self.client = try OpenSSLEngine(TLSContext(client), host: host, port: port)
        self.server = try OpenSSLEngine(TLSContext(server))
    }

    init(
        _ client: TLSContext, _ server: TLSContext, host: NWEndpoint.Host = "server.test", port: UInt16 = 443
    ) throws {
        self.client = try OpenSSLEngine(client, host: host, port: port)
        self.server = try OpenSSLEngine(server)
    }

    /// Passes the output of one engine to the other engine. Returns whether there was any output.
    @discardableResult
    func carry(from sender: OpenSSLEngine, to receiver: OpenSSLEngine) -> Bool {
        var pieces: [[UInt8]] = []
        sender.sendCiphertext { bytes in
            pieces.append([UInt8](bytes))
            return bytes.count
        }
        for piece in pieces {
            var rest = piece[...]
            while !rest.isEmpty {
                let count = min(rest.count, max(1, cut?(rest.count) ?? rest.count))
                let part = [UInt8](rest.prefix(count))
                rest = rest.dropFirst(count)
                guard let delivered = deliver?(part) ?? (deliver == nil ? part : nil) else { continue }
                hand(delivered, to: receiver)
            }
        }
        return !pieces.isEmpty
    }

    func hand(_ bytes: [UInt8], to receiver: OpenSSLEngine) {
        bytes.withUnsafeBytes { lent in
            receiver.ciphertextArrived(lent) {
                if receiver === client { clientProgress = client.handshake() }
                if receiver === server { serverProgress = server.handshake() }
            }
        }
    }

    /// Runs the client and the server in turn until neither has output.
    func run() {
        for _ in 0..<64 {
            clientProgress = client.handshake()
            let fromClient = carry(from: client, to: server)
            serverProgress = server.handshake()
            let fromServer = carry(from: server, to: client)
            if !fromClient, !fromServer { return }
        }
    }

    var isEstablished: Bool {
        if case .established = clientProgress, case .established = serverProgress { true } else { false }
    }

    var clientFailure: TLSFailure? { if case .failed(let failure) = clientProgress { failure } else { nil } }
    var serverFailure: TLSFailure? { if case .failed(let failure) = serverProgress { failure } else { nil } }

    /// Establishes both sides, or fails the test.
    func establish(sourceLocation: SourceLocation = #_sourceLocation) {
        run()
        #expect(
            isEstablished, "client: \(clientProgress), server: \(serverProgress)", sourceLocation: sourceLocation)
    }

    /// Sends `content`, and returns the bytes that the receiver has read. Whenever the sender's buffer is full, passes
    /// its output to the receiver first.
    func transfer(_ content: [UInt8], from sender: OpenSSLEngine, to receiver: OpenSSLEngine) throws -> [UInt8] {
        var rest = content[...]
        var result: [UInt8] = []
        while !rest.isEmpty {
            let taken = try rest.withUnsafeBytes { bytes throws(TLSFailure) in try sender.write(bytes) }
            rest = rest.dropFirst(taken)
            guard carry(from: sender, to: receiver) || taken > 0 else { return result }
            result += receiver.readAll().bytes
        }
        return result
    }
}

extension OpenSSLEngine {
    /// Reads all available bytes. Returns them together with the final read result.
    func readAll(blockSize: Int = 65_536) -> (bytes: [UInt8], end: TLSReadResult) {
        var result: [UInt8] = []
        var block = [UInt8](repeating: 0, count: blockSize)
        while true {
            let outcome = block.withUnsafeMutableBytes { read(into: $0) }
            guard case .bytes(let count) = outcome else { return (result, outcome) }
            result += block[..<count]
        }
    }

    func write(_ text: String) throws {
        _ = try Array(text.utf8).withUnsafeBytes { bytes throws(TLSFailure) in try write(bytes) }
    }

    var readText: String { String(decoding: readAll().bytes, as: UTF8.self) }
}
