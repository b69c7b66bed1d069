internal import CausewayProtocols
internal import CausewayRuntime

/// Authenticates proxy connections with a multi-message scheme such as Negotiate or NTLM.
package protocol ConnectionAuthenticator: Sendable {
    /// The authentication scheme in lower case, such as `ntlm`.
    var scheme: String { get }
    /// Creates the authentication context for one connection; `nil` on failure.
    func makeContext() -> (any AuthenticationContext)?
}

/// The multi-message authentication of one connection.
package protocol AuthenticationContext: AnyObject, Sendable {
    /// Creates the next authentication message. This may query network servers and so take time, so it runs on another
    /// thread.
    ///
    /// - Parameters:
    ///   - token: The proxy's latest message; `nil` for the first step.
    ///   - then: Receives the `Proxy-Authorization` value; `nil` if there is none.
    func next(_ token: [UInt8]?, then: @escaping @Sendable (String?) -> Void)
}

/// Authentication that has begun on one connection to a proxy. It contains the first message, if the context has
/// already created it.
package struct BegunAuthentication: Sendable {
    package let context: any AuthenticationContext
    /// The first `Proxy-Authorization` value; `nil` if the authentication context has not created it yet.
    package let first: String?

    package init(_ context: any AuthenticationContext, first: String?) {
        self.context = context
        self.first = first
    }
}

/// Supplies the authentication messages for a proxy handshake.
final class TunnelDelegate: StageDelegate {
    private let context: any AuthenticationContext

    init(_ context: any AuthenticationContext) { self.context = context }

    var callsProgram: Bool { false }

    func stageReported(_ event: any StageEvent, from place: StagePlace) {
        guard let question = event as? TunnelQuestion else { return }
        context.next(question.token) { value in place.withStage(as: TunnelStage.self) { $0.answered(value) } }
    }
}
