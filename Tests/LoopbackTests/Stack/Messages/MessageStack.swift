import CausewayTLS
import CausewayTypes
import Dispatch
import Foundation
import Testing

@testable import Causeway

/// The protocols above a transport that carry the messages.
enum MessageStack: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case framer = "a framer over TCP"
    case framerOverTLS = "a framer over TLS over TCP"
    case twoFramers = "two framers over TCP"
    case webSocket = "WebSocket over TCP"
    case webSocketOverTLS = "WebSocket over TLS over TCP"
    case framerOverWebSocket = "a framer over WebSocket over TCP"
    case framerOverUDP = "a framer over UDP"
    case framerOverDTLS = "a framer over DTLS over UDP"

    var testDescription: String { rawValue }
    var isDatagram: Bool { self == .framerOverUDP || self == .framerOverDTLS }
    /// Whether the topmost protocol is the test's own framer. Only this framer's messages have a kind.
    var hasKinds: Bool { self != .webSocket && self != .webSocketOverTLS }

    /// The maximum message length. A message and the headers of its pieces must fit into one datagram. With DTLS, it
    /// must fit into a datagram of the smallest size that DTLS assumes.
    var longestMessage: Int {
        switch self {
        case .framerOverUDP: 60_000
        case .framerOverDTLS: 1_000
        default: 300_000
        }
    }

    func parameters(isServer: Bool, seed: UInt64 = 1) throws -> NWParameters {
        let parameters: NWParameters
        switch self {
        case .framer, .twoFramers, .webSocket, .framerOverWebSocket: parameters = .tcp
        case .framerOverUDP: parameters = .udp
        case .framerOverTLS, .webSocketOverTLS:
            parameters = NWParameters(tls: try TestIdentity.options(isServer: isServer), tcp: NWProtocolTCP.Options())
        case .framerOverDTLS:
            parameters = NWParameters(dtls: try TestIdentity.options(isServer: isServer), udp: NWProtocolUDP.Options())
        }
        let above = layers(seed)
        parameters.defaultProtocolStack.applicationProtocols.insert(contentsOf: above, at: 0)
        return parameters
    }

    private func layers(_ seed: UInt64) -> [NWProtocolOptions] {
        let pieces = PieceFramer.options(greets: !isDatagram, seed: seed)
        switch self {
        case .framer, .framerOverTLS, .framerOverUDP, .framerOverDTLS: return [pieces]
        case .twoFramers: return [pieces, NWProtocolFramer.Options(definition: LengthFramer.definition)]
        case .webSocket, .webSocketOverTLS: return [NWProtocolWebSocket.Options()]
        case .framerOverWebSocket: return [pieces, NWProtocolWebSocket.Options()]
        }
    }

    /// Returns the content context for a message that is about to be sent.
    func context(kind: Int) -> NWConnection.ContentContext {
        let metadata: NWProtocolMetadata
        if hasKinds {
            let message = NWProtocolFramer.Message(definition: PieceFramer.definition)
            message["kind"] = kind
            metadata = message
        } else {
            metadata = NWProtocolWebSocket.Metadata(opcode: .binary)
        }
        return NWConnection.ContentContext(identifier: "message \(kind)", metadata: [metadata])
    }

    /// Whether a message is a WebSocket close frame.
    func isGoodbye(_ context: NWConnection.ContentContext?) -> Bool {
        let metadata = context?.protocolMetadata(definition: NWProtocolWebSocket.definition)
        return !hasKinds && (metadata as? NWProtocolWebSocket.Metadata)?.opcode == .close
    }

    /// Returns whether the metadata of a received piece contain this kind of message.
    func isOfKind(_ kind: Int, _ context: NWConnection.ContentContext?) -> Bool {
        if hasKinds {
            let metadata = context?.protocolMetadata(definition: PieceFramer.definition)
            return (metadata as? NWProtocolFramer.Message)?["kind"] as? Int == kind
        }
        let metadata = context?.protocolMetadata(definition: NWProtocolWebSocket.definition)
        return (metadata as? NWProtocolWebSocket.Metadata)?.opcode == .binary
    }
}

/// A server certificate, and a client that does not verify it. The tests that use them check the transferred data, not
/// the identity.
enum TestIdentity {
    private static let server = Result {
        let now = Int64(Date().timeIntervalSince1970)
        var leaf = CertificateTemplate(subject: "server", notBefore: now - 3_600, notAfter: now + 86_400)
        leaf.names = [.name("server.test")]
        return SecIdentity(try leaf.issue())
    }

    static func options(isServer: Bool) throws -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        let security = options.securityProtocolOptions
        if isServer {
            let identity = try #require(sec_identity_create(try server.get()))
            sec_protocol_options_set_local_identity(security, identity)
        } else {
            sec_protocol_options_set_tls_server_name(security, "server.test")
            sec_protocol_options_set_verify_block(
                security, { _, _, complete in complete(true) }, DispatchQueue(label: "verify"))
        }
        return options
    }
}
