internal import Foundation

/// The client's side of a Negotiate (RFC 4559) or NTLM (MS-NTHT) authentication on one connection. It is for programs
/// that use the HTTP engine without a session.
package final class ConnectionAuthentication: Sendable {
    package enum Scheme: String, Sendable {
        case negotiate
        case ntlm

        fileprivate var scheme: ConnectionScheme? { SessionSettings.Transport().connectionScheme(rawValue) }

        /// The scheme name in header fields.
        package var name: String { scheme?.name ?? rawValue }

        /// Whether the client always needs two or more messages. In that case, the server rejects the request that
        /// carries the first message. So this request needs no content.
        package var needsAnswer: Bool { scheme?.needsAnswer ?? false }

        /// The reason why this scheme cannot be used, with advice on what to install; `nil` if the scheme can be used.
        package var problem: String? { scheme?.mechanism.problem }
    }

    private let scheme: ConnectionScheme
    private let context: any NegotiateContext

    /// Creates a security context for a connection.
    ///
    /// Returns `nil` if the library for the scheme is missing. NTLM needs a user name; without it, the result is also
    /// `nil`.
    ///
    /// - Parameters:
    ///   - host: The host name of the server or proxy.
    ///   - user: The user name; `nil` for the system's default.
    ///   - password: The password; `nil` if the system has the user's credentials, such as a Kerberos ticket.
    package init?(_ scheme: Scheme, with host: String, user: String?, password: String?) {
        guard let kind = scheme.scheme, kind.mechanism.isAvailable,
            let context = kind.mechanism.makeContext(service: "HTTP@\(host)", user: user, password: password)
        else { return nil }
        self.scheme = kind
        self.context = context
    }

    /// Returns the `Authorization` value for the next request; `nil` if the negotiation has failed or is complete.
    ///
    /// Cancellation: has no effect. The call can wait for network servers, such as a Kerberos KDC.
    ///
    /// - Parameter token: The server's message; `nil` for the first step.
    package func next(_ token: [UInt8]?) async -> String? {
        let scheme = scheme
        return await withCheckedContinuation { continuation in
            NegotiateQueue.step(context, token.map { Data($0) }) {
                continuation.resume(returning: $0.map(scheme.value))
            }
        }
    }
}
