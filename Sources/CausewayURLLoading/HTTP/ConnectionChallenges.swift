internal import Causeway
internal import CausewayProtocols
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Passes challenges from TLS connections to the program.
///
/// Each connection belongs to the session, and each challenge to a task. A connection's challenge goes to the task
/// whose load has waited longest for a connection to the same origin.
final class ConnectionChallenges: Sendable {
    private struct State {
        var loads: [HTTPOrigin: [any ConnectingLoad]] = [:]
        /// For each origin, the reason why its latest certificate chain was rejected.
        var rejections: [HTTPOrigin: TrustRejection] = [:]
        /// The origins whose latest certificate chain has errors that the program accepted.
        var overridden: Set<HTTPOrigin> = []
        /// For each origin, the TLS options that contain the verification block and the challenge block. All
        /// connections to the origin use the same options.
        var templates: [HTTPOrigin: SecProtocolOptionValues] = [:]
    }

    private static let templateLimit = 256

    private let queue: DispatchQueue
    private let state = LockedValue(State())

    init(queue: DispatchQueue) { self.queue = queue }

    // MARK: Loads

    /// Adds a load that waits for a connection to an origin with TLS.
    func add(_ load: any ConnectingLoad, _ origin: HTTPOrigin) {
        state.withLock { state in state.loads[origin, default: []].append(load) }
    }

    /// Removes a load that no longer waits for a connection to this origin.
    func remove(_ load: any ConnectingLoad, _ origin: HTTPOrigin) {
        let removed = state.withLock { state -> (any ConnectingLoad)? in
            guard let index = state.loads[origin]?.firstIndex(where: { $0 === load }) else { return nil }
            let removed = state.loads[origin]?.remove(at: index)
            if state.loads[origin]?.isEmpty == true { state.loads[origin] = nil }
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    /// Returns why an origin's certificate chain was rejected, and clears the reason.
    func takeRejection(_ origin: HTTPOrigin) -> TrustRejection? {
        state.withLock { state in state.rejections.removeValue(forKey: origin) }
    }

    /// Whether the program accepted the origin's latest certificate chain despite its errors.
    func isOverridden(_ origin: HTTPOrigin) -> Bool { state.withLock { state in state.overridden.contains(origin) } }

    // MARK: Connections

    /// Sets two blocks for the connections to an origin. One verifies the server's certificates, and the other supplies
    /// a client identity. Both ask the program. Without a delegate, the default handling applies.
    ///
    /// All connections to an origin share the same blocks. Therefore they can resume each other's TLS sessions (RFC
    /// 8446 §2.2), and the program is asked only once.
    func install(in options: sec_protocol_options_t, for origin: HTTPOrigin) {
        let template = state.withLock { state in
            if let known = state.templates[origin] { return known }
            let template = makeTemplate(for: origin)
            if state.templates.count == Self.templateLimit { state.templates = [:] }
            state.templates[origin] = template
            return template
        }
        options.update { values in (values.peer.verify, values.challenge) = (template.peer.verify, template.challenge) }
    }

    /// Forgets the program's answers. Later connections ask the program again about server certificates and client
    /// identities.
    func forgetAnswers() { state.withLock { state in state.templates = [:] } }

    /// Makes the next connection to an origin ask the program again about the server's certificates and the client
    /// identity.
    private func forgetAnswer(_ origin: HTTPOrigin) { state.withLock { state in state.templates[origin] = nil } }

    private func makeTemplate(for origin: HTTPOrigin) -> SecProtocolOptionValues {
        let options = sec_protocol_options_t()
        sec_protocol_options_set_verify_block(
            options,
            { [weak self] _, trust, complete in
                let complete = Unchecked(complete)
                guard let self else { return complete.value(false) }
                verify(trust.trust, origin) { complete.value($0) }
            }, queue)
        sec_protocol_options_set_challenge_block(
            options,
            { [weak self] metadata, complete in
                let complete = Unchecked(complete)
                guard let self else { return complete.value(nil) }
                identify(metadata.values.distinguishedNames, origin) { complete.value($0) }
            }, queue)
        return options.values
    }

    /// Returns the load that has waited longest for a connection to the origin.
    func first(_ origin: HTTPOrigin) -> (any ConnectingLoad)? {
        state.withLock { state in state.loads[origin]?.first }
    }

    private func verify(_ trust: SecTrust, _ origin: HTTPOrigin, _ complete: @escaping @Sendable (Bool) -> Void) {
        let space = URLProtectionSpace(
            host: origin.host, port: Int(origin.port), trust: trust, distinguishedNames: nil)
        ask(space, origin) { [self] disposition, credential in
            if let rejection = TrustRejection(of: trust, disposition, credential) {
                state.withLock { state in state.rejections[origin] = rejection }
                return complete(false)
            }
            noteAcceptance(of: trust, origin, byProgram: disposition == .useCredential)
            complete(true)
        }
    }

    private func noteAcceptance(of trust: SecTrust, _ origin: HTTPOrigin, byProgram: Bool) {
        let isOverridden = byProgram && !SecTrustEvaluateWithError(trust, nil)
        state.withLock { state in
            if isOverridden { state.overridden.insert(origin) } else { state.overridden.remove(origin) }
        }
        // The program accepted an invalid certificate chain. Ask the program again for the next connection, because its
        // answer may then be different.
        if isOverridden { forgetAnswer(origin) }
    }

    private func identify(
        _ names: [Data], _ origin: HTTPOrigin, _ complete: @escaping @Sendable (sec_identity_t?) -> Void
    ) {
        let space = URLProtectionSpace(
            host: origin.host, port: Int(origin.port), trust: nil, distinguishedNames: names)
        ask(space, origin) { [self] disposition, credential in
            // Create new verification and challenge blocks for later connections. With the old blocks, later
            // connections could resume this TLS session. They would then use its client identity without asking the
            // program.
            forgetAnswer(origin)
            complete(disposition == .useCredential ? credential?.securityIdentity : nil)
        }
    }

    /// Passes the challenge to one task: the task of the load that has waited longest. If this task ends without an
    /// answer, default handling applies.
    private func ask(_ space: URLProtectionSpace, _ origin: HTTPOrigin, _ answer: @escaping ChallengeAnswer) {
        let once = ChallengeOnce(answer)
        guard let load = first(origin) else { return once.give(.performDefaultHandling, nil) }
        ConnectionQuestion(load: load, space: space).ask(once)
    }
}

/// A rejected certificate chain.
struct TrustRejection: Sendable {
    var trust: SecTrust
    /// The evaluation result; `nil` if the program rejected the chain.
    var failure: NWError?
    /// Whether the chain leads to no trusted authority.
    var lacksKnownRoot = false

    /// Evaluates a certificate chain according to the program's answer to the challenge. Returns `nil` if the chain is
    /// accepted.
    init?(of trust: SecTrust, _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        if disposition == .useCredential, credential?.trust === trust { return nil }
        self.trust = trust
        switch disposition {
        case .useCredential, .performDefaultHandling:
            var error: CFError?
            if SecTrustEvaluateWithError(trust, &error) { return nil }
            failure = error?.underlyingError
        case .cancelAuthenticationChallenge, .rejectProtectionSpace: failure = nil
        }
        lacksKnownRoot = failure != nil && trust.lacksKnownRoot
    }
}

extension URLCredential {
    /// The TLS identity as a security object; `nil` if the credential has no identity.
    var securityIdentity: sec_identity_t? {
        identity.flatMap { sec_identity_create_with_certificates($0, certificates) }
    }
}

/// Forwards the answer to a challenge. Only the first call has an effect.
final class ChallengeOnce: Sendable {
    private let answer: LockedValue<ChallengeAnswer?>

    init(_ answer: @escaping ChallengeAnswer) { self.answer = LockedValue(answer) }

    func give(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        let answer = answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
        answer?(disposition, credential)
    }
}
