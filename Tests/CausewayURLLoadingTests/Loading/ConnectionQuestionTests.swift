import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Challenges of connections")
struct ConnectionQuestionTests {
    /// Records how challenges were answered.
    private final class Answers: Sendable {
        private let list = LockedValue<[URLSession.AuthChallengeDisposition]>([])

        var given: [URLSession.AuthChallengeDisposition] { list.withLock { $0 } }

        func makeChallenge() -> ChallengeOnce {
            ChallengeOnce { [self] disposition, _ in list.withLock { $0.append(disposition) } }
        }
    }

    private let load = FakeLoad(challenges: [])
    private let answers = Answers()

    private func ask() {
        let space = URLProtectionSpace(host: "example.com", port: 443, trust: nil, distinguishedNames: [])
        ConnectionQuestion(load: load, space: space).ask(answers.makeChallenge())
    }

    private var waitingCount: Int { load.withState { $0.stopped().challenges.count } }

    @Test("The task's answer reaches the connection, once")
    func answered() {
        load.repeatExchange()
        ask()
        #expect(load.words == ["challenge"] && answers.given.isEmpty)
        load.answer(.cancelAuthenticationChallenge)
        load.answer(.useCredential)
        #expect(answers.given == [.cancelAuthenticationChallenge])
        #expect(waitingCount == 0)
    }

    @Test("Default handling applies without a delegate, and if the load waits for no connection")
    func unanswered() {
        ask()
        load.repeatExchange()
        load.hasDelegate = false
        ask()
        #expect(load.words.isEmpty && answers.given == [.performDefaultHandling, .performDefaultHandling])
        #expect(waitingCount == 0)
    }

    @Test("A load that ends returns its open challenges; a later answer of the task has no effect")
    func ended() {
        load.repeatExchange()
        ask()
        let open = load.withState { $0.stopped().challenges }
        for challenge in open { challenge.give(.performDefaultHandling, nil) }
        load.answer(.useCredential)
        #expect(open.count == 1 && answers.given == [.performDefaultHandling])
    }

    @Test("The load that has waited longest is asked")
    func order() {
        let challenges = load.network.challenges
        let (origin, other) = (load.origin, FakeLoad(challenges: []))
        for waiting in [load, other] { challenges.add(waiting, origin) }
        challenges.remove(load, origin)
        // If the load was already removed, another removal changes nothing.
        challenges.remove(load, origin)
        challenges.add(load, origin)
        #expect(challenges.first(origin) === other)
        challenges.remove(other, origin)
        #expect(challenges.first(origin) === load)
        challenges.remove(load, origin)
        #expect(challenges.first(origin) == nil)
    }
}
