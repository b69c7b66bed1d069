internal import Causeway
internal import CausewayProtocols
internal import Foundation

/// A scheme that authenticates whole connections, such as Negotiate. Contains the scheme's names and the mechanism that
/// makes its messages.
struct ConnectionScheme: Sendable {
    /// The scheme name in header fields.
    let name: String
    let mechanism: any NegotiateMechanism
    /// Whether this scheme always needs two or more messages from the client.
    ///
    /// If so, the server rejects the request that carries the first message. This request therefore has no content.
    let needsAnswer: Bool

    /// Returns why this program cannot answer a challenge from a server or proxy, and what the user must install. `nil`
    /// if it can answer.
    ///
    /// - Parameter place: The server or proxy in words, such as `The server www.example.com`.
    func obstacle(at place: String) -> String? {
        mechanism.problem.map { "\(place) demands \(name), which is not available. \($0)" }
    }

    /// Returns the header field value for an authentication message.
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
