internal import Causeway
internal import CausewaySystem
internal import CausewayTypes
internal import Dispatch

/// Asks questions on the terminal, one after another, each with a time limit.
final class TerminalQuestions: Sendable {
    /// Called before a question appears. The function must call `appear` to show the question.
    typealias Preparation = @Sendable (_ appear: @escaping @Sendable () -> Void) -> Void

    /// A question to the user that is waiting to be shown or answered.
    final class Question: Sendable {
        fileprivate let text: PrintableText
        fileprivate let willAsk: Preparation
        private let reply: LockedValue<(@Sendable (Bool) -> Void)?>

        fileprivate init(
            _ text: PrintableText, _ willAsk: @escaping Preparation,
            _ reply: @escaping @Sendable (Bool) -> Void
        ) {
            (self.text, self.willAsk) = (text, willAsk)
            self.reply = LockedValue(reply)
        }

        fileprivate func answer(_ isYes: Bool) { reply.withLock { $0.take() }?(isYes) }
        /// Whether the user has not answered the question yet.
        var isOpen: Bool { reply.withLock { $0 != nil } }
    }

    private struct State: Sendable {
        var waiting: [Question] = []
        var current: Question?
        var terminal: (any Terminal)?
    }

    static let shared = TerminalQuestions { TerminalDevice() }
    /// Maximum number of waiting questions, so that a flood of invitations cannot fill the screen.
    private static let maximumWaiting = 16

    private let openTerminal: @Sendable () -> (any Terminal)?
    private let state = LockedValue(State())
    let queue = DispatchQueue(label: "causeway.multipeer.questions", target: .global())

    init(openTerminal: @escaping @Sendable () -> (any Terminal)?) { self.openTerminal = openTerminal }

    /// Asks a yes-or-no question.
    ///
    /// - Parameters:
    ///   - text: The question.
    ///   - seconds: The time limit from this call. After it, the answer is no.
    ///   - willAsk: Called before the question appears. This closure must call its argument to show the question.
    ///   - reply: Called once, on any thread. Without a terminal, or with 16 questions waiting, the answer is no.
    /// - Returns: The question, for ``withdraw(_:)``.
    @discardableResult
    func ask(
        _ text: PrintableText, within seconds: Int, willAsk: @escaping Preparation = { $0() },
        _ reply: @escaping @Sendable (Bool) -> Void
    ) -> Question {
        let question = Question(text, willAsk, reply)
        let fits = state.withLock { state in
            guard state.waiting.count < Self.maximumWaiting else { return false }
            state.waiting.append(question)
            return true
        }
        guard fits else {
            question.answer(false)
            return question
        }
        queue.call(after: .seconds(seconds)) { [weak question] in question.map { self.withdraw($0) } }
        queue.async { self.next() }
        return question
    }

    /// If a question is still open, answers it with "no".
    func withdraw(_ question: Question) { queue.async { self.end(question, false) } }

    private func next() {
        let question = state.withLock { state -> Question? in
            guard state.current == nil else { return nil }
            state.waiting.removeAll { !$0.isOpen }
            guard !state.waiting.isEmpty else { return nil }
            state.current = state.waiting.removeFirst()
            return state.current
        }
        guard let question else { return }
        guard let terminal = openTerminal() else { return end(question, false) }
        state.withLock { $0.terminal = terminal }
        question.willAsk { [queue] in queue.async { self.show(question) } }
    }

    private func show(_ question: Question) {
        // The question may end before it is shown. For example, its time limit may have passed.
        guard let terminal = state.withLock({ $0.current === question ? $0.terminal : nil }) else { return }
        terminal.write(question.text + " [y/N] ")
        terminal.beginReading(isRaw: false) { [queue] line in
            queue.async { self.end(question, Self.isYes(line)) }
        }
    }

    private func end(_ question: Question, _ isYes: Bool) {
        let (isCurrent, terminal) = state.withLock { state -> (Bool, (any Terminal)?) in
            state.waiting.removeAll { $0 === question }
            guard state.current === question else { return (false, nil) }
            state.current = nil
            return (true, state.terminal.take())
        }
        terminal?.endReading()
        question.answer(isYes)
        if isCurrent { next() }
    }

    /// Whether a line is `y` or `yes`, in lower or upper case. Returns `false` at the end of input, where the line is
    /// empty.
    static func isYes(_ line: [UInt8]) -> Bool {
        let word = String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace }.lowercased()
        return word == "y" || word == "yes"
    }
}
