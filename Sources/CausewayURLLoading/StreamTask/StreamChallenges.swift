internal import Causeway
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Passes TLS challenges from a stream task's connection to the task's delegates.
final class StreamChallenges: Sendable {
    private let core: TaskCore
    private let host: String
    private let port: UInt16
    private let rejected: @Sendable (TrustRejection) -> Void

    /// - Parameter rejected: Called if the server's certificate chain is rejected.
    init(_ core: TaskCore, _ host: String, _ port: UInt16, _ rejected: @escaping @Sendable (TrustRejection) -> Void) {
        self.core = core
        self.host = host
        self.port = port
        self.rejected = rejected
    }

    /// Sets the TLS blocks that verify the server's certificates and supply a client identity.
    ///
    /// Both blocks ask the program.
    func install(in options: sec_protocol_options_t) {
        let queue = core.session.core.work
        sec_protocol_options_set_verify_block(
            options,
            { [self] _, trust, complete in
                let complete = Unchecked(complete)
                verify(trust.trust) { complete.value($0) }
            }, queue)
        sec_protocol_options_set_challenge_block(
            options,
            { [self] metadata, complete in
                let complete = Unchecked(complete)
                let space = space(trust: nil, names: metadata.values.distinguishedNames)
                ask(space) { disposition, credential in
                    complete.value(disposition == .useCredential ? credential?.securityIdentity : nil)
                }
            }, queue)
    }

    private func verify(_ trust: SecTrust, _ complete: @escaping @Sendable (Bool) -> Void) {
        ask(space(trust: trust, names: nil)) { [self] disposition, credential in
            let rejection = TrustRejection(of: trust, disposition, credential)
            if let rejection { rejected(rejection) }
            complete(rejection == nil)
        }
    }

    private func space(trust: SecTrust?, names: [Data]?) -> URLProtectionSpace {
        URLProtectionSpace(host: host, port: Int(port), trust: trust, distinguishedNames: names)
    }

    /// Asks the delegates. Without a delegate, default handling applies.
    private func ask(_ space: URLProtectionSpace, _ answer: @escaping ChallengeAnswer) {
        let stored = core.session.core.settings.stores.credentials?.defaultCredential(for: space)
        let answered: ChallengeAnswer = { disposition, credential in
            guard disposition == .performDefaultHandling, let stored, stored.identity != nil else {
                return answer(disposition, credential)
            }
            answer(.useCredential, stored)
        }
        guard core.hasDelegate else { return answered(.performDefaultHandling, nil) }
        let challenge = URLAuthenticationChallenge(space, proposed: stored)
        core.perform { core in core.ask(challenge, answered) }
    }
}
