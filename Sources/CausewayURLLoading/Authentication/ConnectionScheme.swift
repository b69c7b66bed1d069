internal import Causeway
internal import CausewayProtocols
internal import Foundation

/// An authentication scheme for whole connections: the mechanism that makes its messages, and its names.
struct ConnectionScheme: Sendable {
    /// The name in a field.
    let name: String
    let mechanism: any NegotiateMechanism
    /// Whether the first message never suffices, so that its request has no content.
    let needsAnswer: Bool
    /// The constant of the authentication method.
    let method: String

    /// The reason why the challenge of a host cannot be answered, with what to install; `nil` if it can.
    ///
    /// - Parameter place: The host, such as `The server www.example.com`.
    func obstacle(at place: String) -> String? {
        mechanism.problem.map { "\(place) demands \(name), which is not available. \($0)" }
    }

    /// Returns the value of a field with a message.
    func value(_ message: Data) -> String { name + " " + message.base64EncodedString() }
}

extension SessionSettings.Transport {
    /// Returns the scheme of a protection space; `nil` if it is not one for connections.
    func connectionScheme(_ scheme: String) -> ConnectionScheme? {
        switch scheme {
        case "negotiate":
            ConnectionScheme(
                name: "Negotiate", mechanism: negotiation, needsAnswer: false,
                method: NSURLAuthenticationMethodNegotiate)
        case "ntlm":
            ConnectionScheme(
                name: "NTLM", mechanism: ntlm, needsAnswer: true, method: NSURLAuthenticationMethodNTLM)
        default: nil
        }
    }
}

/// Authenticates the connections to a proxy with a credential of the program.
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

/// The context of a connection to a proxy.
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
