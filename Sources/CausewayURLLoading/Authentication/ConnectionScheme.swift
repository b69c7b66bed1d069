internal import Causeway
internal import CausewayProtocols
internal import Foundation

/// An authentication scheme for whole connections, such as Negotiate: its names and the mechanism that makes its messages.
struct ConnectionScheme: Sendable {
    /// The scheme name in header fields.
    let name: String
    let mechanism: any NegotiateMechanism
    /// Whether the client must always send two messages or more. The server then rejects the request with the first
    /// message, so this request has no content.
    let needsAnswer: Bool

    /// Returns the reason why a host's challenge cannot be answered, and what to install; `nil` if it can be answered.
    ///
    /// - Parameter place: The host, such as `The server www.example.com`.
    func obstacle(at place: String) -> String? {
        mechanism.problem.map { "\(place) demands \(name), which is not available. \($0)" }
    }

    /// Returns the header field value that carries a message.
    func value(_ message: Data) -> String { name + " " + message.base64EncodedString() }
}

extension SessionSettings.Transport {
    /// Returns the connection scheme with this name; `nil` if the scheme authenticates single requests.
    func connectionScheme(_ scheme: String) -> ConnectionScheme? {
        switch scheme {
        case "negotiate": ConnectionScheme(name: "Negotiate", mechanism: negotiation, needsAnswer: false)
        case "ntlm": ConnectionScheme(name: "NTLM", mechanism: ntlm, needsAnswer: true)
        default: nil
        }
    }
}

/// Authenticates connections to a proxy with the program's credential.
struct ProxyAuthenticator: ConnectionAuthenticator {
    let proxy: String
    let credential: URLCredential
    let kind: ConnectionScheme

    var scheme: String { kind.name.lowercased() }

    func makeContext() -> (any AuthenticationContext)? { makeProxyContext() }

    func makeProxyContext() -> ProxyContext? {
        HTTPNetwork.makeContext(kind, with: proxy, credential).map { ProxyContext($0, kind) }
    }
}

/// The security context for one proxy connection.
final class ProxyContext: AuthenticationContext {
    private let context: any NegotiateContext
    private let kind: ConnectionScheme

    init(_ context: any NegotiateContext, _ kind: ConnectionScheme) {
        self.context = context
        self.kind = kind
    }

    func next(_ token: [UInt8]?, then: @escaping @Sendable (String?) -> Void) {
        NegotiateQueue.step(context, token.map { Data($0) }) { [kind] answer in then(answer.map(kind.value)) }
    }
}
