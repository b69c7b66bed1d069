import Causeway
import CausewayPeers
import Dispatch
import Foundation

/// An echo connection over TLS 1.3, with a listener and a connection in this process.
final class TLSTrip: RoundTrip {
    private let connection: NWConnection
    private let listener: NWListener

    init(certificate: String, key: String) async throws {
        let options = NWProtocolTLS.Options()
        if let identity = sec_identity_create(try SecIdentity(certificateFile: certificate, keyFile: key)) {
            sec_protocol_options_set_local_identity(options.securityProtocolOptions, identity)
        }
        listener = try NWListener(using: NWParameters(tls: options))
        listener.newConnectionHandler = { connection in
            connection.start(queue: .global())
            Self.echo(connection)
        }
        let trust = NWProtocolTLS.Options()
        sec_protocol_options_set_verify_block(trust.securityProtocolOptions, { $2(true) }, .global())
        let port = await Self.started(listener)
        connection = NWConnection(host: "127.0.0.1", port: port, using: NWParameters(tls: trust))
        connection.start(queue: DispatchQueue(label: "peer-ratios"))
    }

    private static func started(_ listener: NWListener) async -> NWEndpoint.Port {
        await withCheckedContinuation { continuation in
            listener.stateUpdateHandler = { state in
                if case .ready = state, let port = listener.port { continuation.resume(returning: port) }
            }
            listener.start(queue: .global())
        }
    }

    private static func echo(_ connection: NWConnection) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { content, _, _, error in
            guard let content, error == nil else { return connection.cancel() }
            connection.send(content: content, completion: .idempotent)
            echo(connection)
        }
    }

    func run(_ content: Data) async throws {
        connection.send(content: content, completion: .idempotent)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            connection.receive(minimumIncompleteLength: content.count, maximumLength: content.count) { _, _, _, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }
}

/// Measures the round trips of messages between two peers. One peer sends each message back to the other.
final class PeerTrip: RoundTrip {
    private let near: PeerSession
    private let far: PeerSession

    init() async throws {
        var options = PeerSession.Options()
        options.browses = false
        far = try PeerSession(as: .rotating(named: "far"), service: "cw-ratios", options: options)
        near = try PeerSession(as: .rotating(named: "near"), service: "cw-ratios")
        Task { [far] in
            for try await event in far.events {
                switch event {
                case .invited(let invite): invite.accept()
                case .received(let message, let peer): try await far.send(message, to: .peer(peer))
                default: break
                }
            }
        }
        for try await event in near.events {
            if case .found(let peer, _) = event, peer == far.me { break }
        }
        try await near.invite(far.me)
    }

    func run(_ content: Data) async throws {
        try await near.send(content)
        for try await event in near.events {
            if case .received = event { break }
        }
    }
}
