import CausewaySystem
import CausewayTypes
import Foundation
import Testing

@testable import MultipeerConnectivity

@Suite("The questions of the advertiser assistant")
struct AssistantTests {
    private let terminal = FakeTerminal()
    private let questions: TerminalQuestions
    private let core: AssistantCore
    private let advertiser: MCNearbyServiceAdvertiser
    private let answers = Answers()

    private final class Answers: Sendable {
        private let list = LockedValue<[Bool]>([])
        var all: [Bool] { list.withLock { $0 } }
        func add(_ answer: Bool) { list.withLock { $0.append(answer) } }
    }

    init() {
        let peer = MCPeerID(displayName: "me")
        let terminal = terminal
        questions = TerminalQuestions { terminal }
        core = AssistantCore(MCSession(peer: peer), service: "abc", questions: questions)
        advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: nil, serviceType: "abc")
    }

    private func invite(_ count: Int) {
        for number in 0..<count {
            core.advertiser(
                advertiser, didReceiveInvitationFromPeer: MCPeerID(displayName: "p\(number)"), withContext: nil
            ) { [answers] isAccepted, _ in answers.add(isAccepted) }
        }
        settle()
    }

    /// Waits until all work that is queued now has run.
    private func settle() { questions.queue.sync {} }

    @Test("Stopping declines the question on the terminal and all that wait, also after others were refused")
    func stop() {
        invite(1)
        invite(16)
        #expect(answers.all == [])
        invite(20)
        #expect(answers.all == [Bool](repeating: false, count: 20))
        core.stop()
        settle()
        #expect(answers.all == [Bool](repeating: false, count: 37))
        // All earlier invitations have been refused. The program is asked about the next invitation again.
        invite(1)
        #expect(answers.all.count == 37)
        core.stop()
        settle()
        #expect(answers.all.count == 38)
    }

    @Test("Only the first answer of the program's own decision counts")
    func decision() {
        core.decision = { _, _, answer in
            answer(true)
            answer(false)
        }
        invite(1)
        #expect(answers.all == [true])
    }

    @Test("The end of a terminal's input is no to the question, and Escape in the list")
    func endOfInput() async {
        let isYes = await withCheckedContinuation { answer in
            questions.ask("Accept?", within: 30) { appear in
                appear()
            } _: {
                answer.resume(returning: $0)
            }
            // The first `settle()` takes the question, and the second one shows it.
            settle()
            settle()
            terminal.type([])
        }
        #expect(!isYes && !terminal.isReading)
        let screen = PickerScreen(terminal)
        let key = await withCheckedContinuation { pressed in
            screen.begin { pressed.resume(returning: $0) }
            terminal.type([])
        }
        #expect(key == .cancel)
        screen.end()
    }
}
