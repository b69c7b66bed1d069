internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import Synchronization

/// Delays the `.ready` report until `start` has returned and the network state has been read, so that viability and
/// path are reported together with `.ready`.
extension ConnectionDriver {
    /// Performs the transition for a call to `start`, on the program's thread. Otherwise this method works like
    /// ``transition(_:)``. The program receives the `ready` report only after `start` has returned, because the program
    /// may finish its set-up after the call to `start`.
    func begin(_ body: (inout Progress) -> [Lifecycle.Action]) {
        let mustPerform = progress.withLock { progress in
            let mustPerform = progress.actions.add(body(&progress))
            if mustPerform { progress.startCall = .inProgress }
            return mustPerform
        }
        guard mustPerform else { return }
        performActions()
        progress.withLock { progress in progress.startCall = .returned }
    }

    /// How many times a thread with a `ready` report yields the processor while `start` is in progress. After that, the
    /// thread waits 1 ms at a time.
    private static let startPatience = 1_000
    /// The maximum number of times that the thread waits 1 ms for `start` to return.
    private static let longPatience = 1_000

    /// Whether `start` is in progress.
    package var isStarting: Bool { progress.withLock { progress in progress.startCall == .inProgress } }

    /// Waits until `start` has returned. Call this on the program's queue only.
    ///
    /// A report wakes the queue's thread, which can preempt the thread that is about to return from `start`. The
    /// preempted thread needs the processor for less than another microsecond, so a short wait is usually enough.
    func awaitStart() {
        for attempt in 0..<(Self.startPatience + Self.longPatience) {
            guard isStarting else { return }
            // Yield the processor first, then wait 1 ms at a time. On a busy computer, the thread in `start` can be
            // without a processor for several milliseconds.
            if attempt < Self.startPatience { System.giveWay() } else { System.pauseBriefly() }
        }
    }

    /// Performs `first`, then all queued actions, including those that transitions add in the meantime.
    func performActions(from first: Lifecycle.Action? = nil) {
        var following = first
        while let action = following ?? progress.withLock({ progress in progress.actions.next() }) {
            following = nil
            if action == .report(.ready), awaitsModel(before: action) { return }
            perform(action)
        }
    }

    /// Starts an accepted connection. If there are protocols above the transport, the connection is ready when their
    /// handshakes are complete. Otherwise it is ready at once.
    func acceptPeer() {
        if let channel {
            attachAccepted()
            flow.begin()
            progress.withLock { progress in progress.beginAgreement() }
            return beginHandshake(channel)
        }
        // Report `ready` on the event loop, which delivers no content during the report. If another thread reported
        // `ready`, a pending receive call could deliver content to the program before this report.
        guard progress.withLock({ progress in progress.delivery != nil }), wantsPathReports || flow.hasRequests else {
            return becomeReady()
        }
        flow.loop.execute { self.becomeReady() }
    }

    private func becomeReady() { transition { progress in progress.lifecycle.established() } }

    func reportReady() {
        attachAccepted()
        report(.ready)
        if wantsPathReports || canMove { followPath() }
        channel?.readyIsTold()
    }

    private var wantsPathReports: Bool { progress.withLock { progress in progress.observer }?.wantsPathReports == true }

    // MARK: The network

    /// How long the `ready` report waits for the first reading of the network state. Connections must work even if the
    /// kernel does not answer queries about the network. On a busy computer, the first reading takes more than 50 ms.
    private static let modelPatience = Duration.seconds(1)

    /// Returns whether the `ready` report must wait because the program has path handlers and the network state has not
    /// been read yet. In that case, `action` and the queued actions are performed when the monitor has read the state,
    /// or after ``modelPatience``.
    private func awaitsModel(before action: Lifecycle.Action) -> Bool {
        guard wantsPathReports, NetworkStateMonitor.shared.followed == nil else { return false }
        let wait = ModelWait { watch in
            self.perform(action)
            // Cancel this subscription only now. `action` has created the connection's own subscription to the monitor,
            // so the monitor stays active and need not read the network again.
            watch?.cancel()
            self.performActions()
        }
        wait.begin(.shared, on: flow.loop, limit: Self.modelPatience)
        return true
    }
}

/// Waits for the first reading of the network state, for a limited time.
///
/// The reading can be complete, on another thread, before ``begin(_:on:limit:)`` has returned.
final class ModelWait: Sendable {
    typealias Continuation = @Sendable (NetworkStateMonitor.Subscription?) -> Void

    private enum State: Sendable {
        case waiting(Continuation, NetworkStateMonitor.Subscription?, TimerID?)
        case over
    }

    private let state: LockedValue<State>

    /// - Parameter continuation: Called once on the loop. Its argument is the subscription to network changes, which
    ///   the continuation must cancel; `nil` if there is none.
    init(_ continuation: @escaping Continuation) { state = LockedValue(.waiting(continuation, nil, nil)) }

    func begin(_ monitor: NetworkStateMonitor, on loop: any EventLoop, limit: Duration) {
        let timer = loop.schedule(after: limit) { self.end(on: loop) }
        let watch = monitor.subscribe { _ in loop.execute { self.end(on: loop) } }
        let isLate = state.withLock { state in
            guard case .waiting(let continuation, _, _) = state else { return true }
            state = .waiting(continuation, watch, timer)
            return false
        }
        guard isLate else { return }
        watch.cancel()
        loop.cancel(timer)
    }

    private func end(on loop: any EventLoop) {
        let last = state.withLock { state in
            defer { state = .over }
            return state
        }
        guard case .waiting(let continuation, let watch, let timer) = last else { return }
        if let timer { loop.cancel(timer) }
        continuation(watch)
    }
}
