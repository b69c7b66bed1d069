internal import CausewayProtocols
internal import CausewayRuntime

/// Authenticates the connections to a proxy by messages that depend on each other, such as those of Negotiate or NTLM.
package protocol ConnectionAuthenticator: Sendable {
    /// The name of the scheme in lower case.
    var scheme: String { get }
    /// Creates the context of one connection; `nil` if that fails.
    func makeContext() -> (any AuthenticationContext)?
}

/// The authentication of one connection.
package protocol AuthenticationContext: AnyObject, Sendable {
    /// Makes the next message, on a thread that may wait for servers of the network.
    ///
    /// - Parameters:
    ///   - token: The message of the peer; `nil` for the first step.
    ///   - then: Receives the value of the field `Proxy-Authorization`; `nil` if there is none.
    func next(_ token: [UInt8]?, then: @escaping @Sendable (String?) -> Void)
}

/// The authentication of a connection that may have begun already.
package struct BegunAuthentication: Sendable {
    package let context: any AuthenticationContext
    /// The first value of `Proxy-Authorization`; `nil` if the context has not made it yet.
    package let first: String?

    package init(_ context: any AuthenticationContext, first: String?) {
        self.context = context
        self.first = first
    }
}

/// Answers the questions of a handshake with a proxy.
final class TunnelDelegate: StageDelegate {
    private let context: any AuthenticationContext

    init(_ context: any AuthenticationContext) { self.context = context }

    var callsProgram: Bool { false }

    func stageReported(_ event: any StageEvent, from place: StagePlace) {
        guard let question = event as? TunnelQuestion else { return }
        context.next(question.token) { value in place.withStage(as: TunnelStage.self) { $0.answered(value) } }
    }
}
