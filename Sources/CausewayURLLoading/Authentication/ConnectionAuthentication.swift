internal import Foundation

/// The client's side of Negotiate (RFC 4559) or NTLM (MS-NTHT) on one connection, for programs that use the HTTP engine without a session.
package final class ConnectionAuthentication: Sendable {
    package enum Scheme: String, Sendable {
        case negotiate
        case ntlm

        fileprivate var scheme: ConnectionScheme? { SessionSettings.Transport().connectionScheme(rawValue) }

        /// The name in a field.
        package var name: String { scheme?.name ?? rawValue }

        /// Whether the first message never suffices, so that its request needs no content.
        package var needsAnswer: Bool { scheme?.needsAnswer ?? false }

        /// The reason why no server can be answered, with what to install; `nil` if servers can.
        package var problem: String? { scheme?.mechanism.problem }
    }

    private let scheme: ConnectionScheme
    private let context: any NegotiateContext

    /// Creates the context of one connection. Returns `nil` without the library, without a user for NTLM, and without a credential of the
    /// system for Negotiate.
    ///
    /// - Parameters:
    ///   - host: The host of the server, or of the proxy.
    ///   - user: The name of the user; `nil` for the default of the system.
    ///   - password: The password; `nil` if the system has a credential of the user, such as a Kerberos ticket.
    package init?(_ scheme: Scheme, with host: String, user: String?, password: String?) {
        guard let kind = scheme.scheme, kind.mechanism.isAvailable,
            let context = kind.mechanism.makeContext(service: "HTTP@\(host)", user: user, password: password)
        else { return nil }
        self.scheme = kind
        self.context = context
    }

    /// Returns the value of `Authorization` with the next message; `nil` if there is none, because the negotiation failed or is over.
    ///
    /// Cancellation: has no effect. The call can wait for servers of the network.
    ///
    /// - Parameter token: The message of the server; `nil` for the first one.
    package func next(_ token: [UInt8]?) async -> String? {
        let scheme = scheme
        return await withCheckedContinuation { continuation in
            NegotiateQueue.step(context, token.map { Data($0) }) {
                continuation.resume(returning: $0.map(scheme.value))
            }
        }
    }
}
