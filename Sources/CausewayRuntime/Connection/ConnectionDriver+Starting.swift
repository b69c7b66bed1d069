internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import Synchronization

/// Delays the `.ready` report until `start` has returned and the network state has been read, so that viability and
/// path are reported together with `.ready`.
extension ConnectionDriver {
    /// Performs the state transition when the program calls `start`. Runs on the program's thread.
    ///
    /// The program gets the `ready` report only after `start` has returned. The program may finish its set-up after the
    /// call. In all other ways, this method works like ``transition(_:)``.
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

    /// How often a thread yields the processor while it waits for a running `start` call to return.
    ///
    /// The thread has a `ready` report to deliver. After that number, it sleeps for 1 ms at a time.
    private static let startPatience = 1_000
    /// The maximum number of 1 ms waits in which the thread waits for `start` to return.
    private static let longPatience = 1_000

    /// Whether `start` is in progress.
    package var isStarting: Bool { progress.withLock { progress in progress.startCall == .inProgress } }

    /// Waits until `start` has returned. Call this only on the program's queue.
    ///
    /// A report wakes the queue's thread. This thread can preempt the thread that is about to return from `start`. That
    /// thread needs less than one more microsecond of processor time, so a short wait is usually enough.
    func awaitStart() {
        for attempt in 0..<(Self.startPatience + Self.longPatience) {
            guard isStarting else { return }
            // The first attempts only yield the processor. Each later attempt waits 1 ms. On a busy computer, the
            // thread that runs `start` may get no processor time for several milliseconds.
            if attempt < Self.startPatience { System.giveWay() } else { System.pauseBriefly() }
        }
    }

    /// Performs `first`, and then all queued actions. Transitions may add more actions in the meantime.
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
        // Report `ready` on the event loop, because the loop delivers no content during the report. Another thread
        // could report it too late: a pending receive call could already have delivered content to the program.
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

    /// The maximum time that the `ready` report waits for the first reading of the network state. The time is limited
    /// because connections must work even if the kernel does not answer queries about the network. On a busy computer,
    /// the first reading takes more than 50 ms.
    private static let modelPatience = Duration.seconds(1)

    /// Returns whether the `ready` report must wait until the network state has been read for the first time. It waits
    /// only if the program has path handlers, and if this state is not known yet.
    ///
    /// If it waits, `action` and the queued actions are performed later: when the state has been read, or after
    /// ``modelPatience``.
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

/// Waits until the network state has been read for the first time, or until a time limit.
///
/// The state can be read on another thread, even before ``begin(_:on:limit:)`` has returned.
final class ModelWait: Sendable {
    typealias Continuation = @Sendable (NetworkStateMonitor.Subscription?) -> Void

    private enum State: Sendable {
        case waiting(Continuation, NetworkStateMonitor.Subscription?, TimerID?)
        case over
    }

    private let state: LockedValue<State>

    /// - Parameter continuation: Called once on the loop. The argument is the subscription to network changes, or `nil`
    ///   if there is none. The continuation must cancel the subscription.
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
