internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes

/// Fetches one proxy script and evaluates it for one destination.
///
/// Thread-safe. The completion is called once, and not after ``cancel()``.
final class PACRun: Sendable {
    struct Report: Sendable {
        /// The script's result string.
        var result: Result<String, RouteProblem>
        var fetchDuration: Duration = .zero
        var evaluation: PACEvaluation.Report?
    }

    private struct State {
        var cancellation: (@Sendable () -> Void)?
        var completion: (@Sendable (Report) -> Void)?
    }

    private let source: PACSource
    private let subject: PACSubject
    private let parameters: NWParameters
    private let settings: SocketSettings
    private let scripts: PACStore
    private let loop: any EventLoop
    private let state: LockedValue<State>

    init(
        _ source: PACSource, _ subject: PACSubject, _ parameters: NWParameters, _ settings: SocketSettings,
        from scripts: PACStore, on loop: any EventLoop, _ completion: @escaping @Sendable (Report) -> Void
    ) {
        self.source = source
        self.subject = subject
        self.parameters = parameters
        self.settings = settings
        self.scripts = scripts
        self.loop = loop
        state = LockedValue(State(completion: completion))
    }

    func start() {
        switch source {
        case .text(let script): evaluate(script, after: .zero)
        case .location(let location):
            let started = System.now
            let cancel = scripts.find(location, parameters) { outcome in
                let duration = System.now - started
                switch outcome {
                case .success(let document): self.evaluate(document.content, after: duration)
                case .failure(let problem): self.end(Report(result: .failure(problem), fetchDuration: duration))
                }
            }
            hold(cancel, unlessHeld: true)
        }
    }

    func cancel() {
        let cancel = state.withLock { state in
            state.completion = nil
            return state.cancellation.take()
        }
        cancel?()
    }

    /// Stores a closure that cancels the current step of this run. If the run has already ended or was cancelled, calls
    /// the closure immediately.
    ///
    /// - Parameter unlessHeld: Whether to keep a closure that is already stored. Pass `true` if the next step may
    ///   already have stored its own closure.
    private func hold(_ cancel: @escaping @Sendable () -> Void, unlessHeld: Bool = false) {
        let isWanted = state.withLock { state in
            guard state.completion != nil else { return false }
            if state.cancellation == nil || !unlessHeld { state.cancellation = cancel }
            return true
        }
        if !isWanted { cancel() }
    }

    private func evaluate(_ content: [UInt8], after duration: Duration) {
        guard content.count <= PACSource.limit else {
            let problem = RouteProblem(Failure(.posix(.EFBIG)), "the proxy script is longer than 1 MiB")
            return end(Report(result: .failure(problem), fetchDuration: duration))
        }
        // Replace malformed UTF-8. Also remove a byte order mark, which is not part of the JavaScript.
        var script = Array(String(decoding: content, as: UTF8.self).utf8)
        if script.starts(with: [0xEF, 0xBB, 0xBF]) { script.removeFirst(3) }
        let evaluation = PACEvaluation(PACEvaluation.Job(script, for: subject, settings), on: loop) { report in
            let result = report.result.mapError { RouteProblem($0.failure, $0.reason) }
            self.end(Report(result: result, fetchDuration: duration, evaluation: report))
        }
        hold { evaluation.cancel() }
        guard state.withLock({ $0.completion != nil }) else { return }
        evaluation.start()
    }

    private func end(_ report: Report) {
        let completion = state.withLock { state in
            state.cancellation = nil
            return state.completion.take()
        }
        completion?(report)
    }
}

extension PACProblem {
    /// The error that programs receive for this problem with a proxy script.
    var failure: Failure {
        switch self {
        case .noEngine: Failure(.posix(.ELIBACC))
        case .unconfined: Failure(.posix(.EPERM))
        case .failed, .tooManyLookups: Failure(.posix(.ENOEXEC))
        case .tooSlow, .died: Failure(.posix(.ETIMEDOUT))
        case .broken: Failure(.posix(.EPROTO))
        case .cancelled: Failure(.posix(.ECANCELED))
        case .noProcess(let code): Failure(errno: code)
        }
    }
}
