internal import Foundation

/// A delegate's response to an authentication challenge.
private typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

extension TaskCore {
    /// Returns whether a challenge belongs to the connection, not to the request.
    private static func isOfConnection(_ challenge: URLAuthenticationChallenge) -> Bool {
        switch challenge.protectionSpace.authenticationMethod {
        case NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust:
            true
        default: false
        }
    }

    /// Asks the delegates to respond to a challenge. If the challenge belongs to the connection, the session-level method is tried first,
    /// then the task-level method.
    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeAnswer) {
        let candidates = delegates
        let hold = hold()
        // A delegate answers by calling its completion handler or the challenge's sender.
        let once = ChallengeOnce { [self] disposition, credential in
            release(hold) { [self] in
                answer(disposition, credential)
                if disposition == .cancelAuthenticationChallenge { finish(LoadFailure(.cancelled)) }
            }
        }
        let answered: @Sendable (Answer) -> Void = { once.give($0.0, $0.1) }
        let challenge = URLAuthenticationChallenge(
            authenticationChallenge: challenge, sender: ConnectionChallengeSender { once.give($0, $1) })
        calls.add { [self] in
            guard Self.isOfConnection(challenge) else { return askTask(challenge, candidates, answered) }
            let question = DelegateQuestion<any URLSessionDelegate, Answer?>(
                method: .sessionChallenge,
                ask: { [session] delegate, answer in
                    delegate.urlSession(session, didReceive: challenge) { answer(($0, $1)) }
                },
                asyncMethod: .sessionChallengeAsync,
                askAsync: { [session] in await $0.urlSession(session, didReceive: challenge) })
            // `result` is `nil` if no delegate implements the session-level method.
            question.put(to: candidates.map(\.session), fallback: nil) { [self] result in
                if let result { return answered(result) }
                calls.add { [self] in askTask(challenge, candidates, answered) }
            }
        }
    }

    private func askTask(
        _ challenge: URLAuthenticationChallenge, _ candidates: [DelegateViews],
        _ answered: @escaping @Sendable (Answer) -> Void
    ) {
        guard let task else { return answered((.performDefaultHandling, nil)) }
        let question = DelegateQuestion<any URLSessionTaskDelegate, Answer>(
            method: .taskChallenge,
            ask: { [session] delegate, answer in
                delegate.urlSession(session, task: task, didReceive: challenge) { answer(($0, $1)) }
            },
            asyncMethod: .taskChallengeAsync,
            askAsync: { [session] in await $0.urlSession(session, task: task, didReceive: challenge) })
        question.put(to: candidates.compactMap(\.task), fallback: (.performDefaultHandling, nil), answered: answered)
    }
}
