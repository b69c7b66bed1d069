import Causeway
import Dispatch
import Foundation
import Synchronization
import Testing

/// The TLS options for one side of a connection, as a program would set them.
enum TLSParty {
    typealias Tuning = (sec_protocol_options_t) throws -> Void

    /// Returns a client's options: expects `server.test` and trusts one authority in a verify block.
    static func client(
        _ files: TLSFiles, trusting anchor: String? = "root", version: TLSChoice? = nil, _ tune: Tuning = { _ in }
    ) throws -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        sec_protocol_options_set_tls_server_name(options.securityProtocolOptions, "server.test")
        if let anchor { trust(try files.anchor(anchor), options.securityProtocolOptions) }
        version?.apply(to: options.securityProtocolOptions)
        try tune(options.securityProtocolOptions)
        return options
    }

    /// Returns a server's options with the named certificate.
    static func server(
        _ files: TLSFiles, as name: String? = "ec", version: TLSChoice? = nil, _ tune: Tuning = { _ in }
    ) throws -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        if let name {
            sec_protocol_options_set_local_identity(options.securityProtocolOptions, try files.identity(name))
        }
        version?.apply(to: options.securityProtocolOptions)
        try tune(options.securityProtocolOptions)
        return options
    }

    static func trust(_ anchor: SecCertificate, _ options: sec_protocol_options_t) {
        sec_protocol_options_set_verify_block(
            options,
            { _, trust, complete in
                let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                SecTrustSetAnchorCertificates(trust, [anchor] as CFArray)
                complete(SecTrustEvaluateWithError(trust, nil))
            }, .global())
    }

    static func data(_ text: String) -> __DispatchData {
        Data(text.utf8).withUnsafeBytes { DispatchData(bytes: $0) } as __DispatchData
    }

    static func connection(to port: UInt16, _ parameters: NWParameters) -> NWConnection {
        NWConnection(host: "127.0.0.1", port: NWEndpoint.Port(integerLiteral: port), using: parameters)
    }
}

/// A single version of TLS.
enum TLSChoice: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case v12, v13

    var testDescription: String { self == .v12 ? "TLS 1.2" : "TLS 1.3" }
    var openSSL: String { self == .v12 ? "-tls1_2" : "-tls1_3" }
    var gnuTLS: String { "NORMAL:-VERS-ALL:+VERS-TLS1.\(self == .v12 ? 2 : 3)" }
    var python: String { self == .v12 ? "1.2" : "1.3" }

    func apply(to options: sec_protocol_options_t) {
        let version: tls_protocol_version_t = self == .v12 ? .TLSv12 : .TLSv13
        sec_protocol_options_set_min_tls_protocol_version(options, version)
        sec_protocol_options_set_max_tls_protocol_version(options, version)
    }
}

/// A listener in this process. A task serves each of its connections.
final class InProcessServer: Sendable {
    let listener: NWListener
    private let ended = Mutex<[NWConnection.State]>([])

    private init(_ listener: NWListener) { self.listener = listener }

    /// - Parameter serve: Serves a connection. Its errors are ignored, because the tests check the peer or
    ///   ``failures``.
    static func run(
        _ parameters: NWParameters, serve: @escaping @Sendable (NWConnection) async throws -> Void,
        _ body: (InProcessServer, UInt16) async throws -> Void
    ) async throws {
        parameters.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: .any)
        let server = InProcessServer(try NWListener(using: parameters))
        let queue = DispatchQueue(label: "server")
        server.listener.newConnectionHandler = { connection in
            connection.stateUpdateHandler = { state in server.note(state) }
            connection.start(queue: queue)
            Task {
                try? await serve(connection)
                connection.cancel()
            }
        }
        server.listener.start(queue: queue)
        defer { server.listener.cancel() }
        try await eventually("the listener is ready") { server.listener.state == .ready }
        try await body(server, try #require(server.listener.port?.rawValue))
    }

    private func note(_ state: NWConnection.State) {
        if case .failed = state { ended.withLock { $0.append(state) } }
    }

    /// The errors of failed connections so far.
    var failures: [NWError] {
        ended.withLock { states in
            states.compactMap { if case .failed(let error) = $0 { error } else { nil } }
        }
    }
}

extension NWConnection {
    /// Receives this number of bytes, or fewer if the peer ends the stream earlier.
    func receive(exactly count: Int) async throws -> Data {
        var content = Data()
        while content.count < count, let more = try await receive(atMost: count - content.count) {
            content.append(more)
        }
        return content
    }

    func text(_ count: Int) async throws -> String {
        String(decoding: try await receive(exactly: count), as: UTF8.self)
    }

    /// Receives all content until the peer ends the stream.
    func everything() async throws -> Data {
        var content = Data()
        while let more = try await receive(atMost: 1 << 20) { content.append(more) }
        return content
    }

    /// Reads and returns one line.
    func line() async throws -> String {
        var content = Data()
        while content.last != 10, let more = try await receive(atMost: 1) { content.append(more) }
        return String(decoding: content, as: UTF8.self)
    }

    var security: sec_protocol_metadata_t? {
        (metadata(definition: NWProtocolTLS.definition) as? NWProtocolTLS.Metadata)?.securityProtocolMetadata
    }

    var negotiatedProtocol: String? {
        security.flatMap { sec_protocol_metadata_get_negotiated_protocol($0) }.map { String(cString: $0) }
    }
}
