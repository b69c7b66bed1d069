internal import Causeway
internal import CausewaySystem
internal import Foundation

/// The implementation of a task: its state, its current loader, and the callbacks to the program.
///
/// Messages from loaders and from the program go through the mailbox. One thread at a time handles the messages, in
/// order. No lock is held while a loader or the program is called.
final class TaskCore: Sendable {
    /// The maximum number of undelivered bytes before the loader must pause.
    static let maximumPending = 64 * 1024
    /// The memory cost, in bytes, of a response that waits in the task's message queue. It counts as undelivered
    /// content. Each part of `multipart/x-mixed-replace` content begins with a response. Without this cost, a server
    /// could fill the memory with many empty parts.
    static let responseCost = 512

    let identifier: Int
    let session: URLSession
    let plan: TaskPlan
    let originalRequest: URLRequest?
    let created = Date()
    let calls: CallList
    /// Whether the task writes files when it handles its events.
    private let writesFiles: Bool
    let state: LockedValue<TaskState>
    /// The public object; `nil` after the task has completed. The reference is strong, because a weak reference would
    /// slow down every use of the object.
    private let object = LockedValue<URLSessionTask?>(nil)

    init(identifier: Int, session: URLSession, request: URLRequest?, plan: consuming TaskPlan) {
        self.identifier = identifier
        self.session = session
        writesFiles = plan.writesFiles
        self.plan = plan
        originalRequest = request
        calls = CallList(session.core.callPlace)
        let limit = TaskClock.idleLimit(
            request: request?.timeoutInterval ?? 60, session: session.core.settings.timeouts.request)
        // Create the state directly in the lock. If it were a local variable, it would have to be copied.
        state = LockedValue(TaskState(clock: TaskClock(idle: limit)))
        let expected = Self.expectedToSend(request, self.plan)
        state.withLock { state in
            state.currentRequest = request
            state.load.upload = self.plan.upload
            state.counts.expectedToSend = expected
            switch self.plan.outlet {
            case .delegate, .bytes, .webSocket, .stream: break
            case .handler, .file: state.options.prefersIncrementalDelivery = false
            }
        }
    }

    /// The public object; `nil` after the task has completed.
    var task: URLSessionTask? { object.withLock { $0 } }

    /// Sets the public object.
    func attach(_ task: URLSessionTask) { object.withLock { $0 = task } }

    /// Releases the public object after the task has completed.
    func detach() {
        let task = object.withLock { $0.take() }
        withExtendedLifetime(task) {}
    }

    /// Returns the body size in bytes if it is known before sending.
    private static func expectedToSend(_ request: URLRequest?, _ plan: TaskPlan) -> Int64 {
        switch plan.source {
        case .data(let data): return Int64(data.count)
        case .file(let url): return (try? FileFacts.size(of: url)) ?? 0
        case .form(let content): return content.count
        case .stream: break
        case .request:
            if let body = request?.httpBody { return Int64(body.count) }
            if request?.httpBodyStream == nil { return 0 }
        }
        return request?.value(forHTTPHeaderField: "Content-Length").flatMap { Int64(digits: $0) }
            ?? NSURLSessionTransferSizeUnknown
    }

    // MARK: Operations of the program

    func resume() {
        let now = MonotonicTime.now
        let startsHere = startsHere
        let (consequence, isFirst, beginsHere, mustDrain) = state.withLock {
            state -> (TaskLife.Consequence, Bool, Bool, Bool) in
            let isFirst = !state.life.hasRun
            let consequence = state.life.resume()
            if consequence != .none { state.clock.goOn(after: .suspension, at: now) }
            if consequence == .goOn, state.load.interruption.isWaiting {
                state.load.interruption.isWaiting = false
                return (consequence, isFirst, false, state.mailbox.post(.run { [self] in loadRest() }))
            }
            guard consequence == .begin else { return (consequence, isFirst, false, false) }
            if startsHere, state.mailbox.claimIfIdle() { return (consequence, isFirst, true, false) }
            return (consequence, isFirst, false, state.mailbox.post(.begin))
        }
        // A task can be suspended before it has begun. Its next resumption then has the consequence `begin` a second
        // time. Notify the observers only of the first time.
        if consequence == .begin, isFirst { notifyObserversOfStart() }
        if consequence != .none { plan.transfer?.noteSuspension(of: self) }
        if beginsHere {
            begin(at: now)
            // Messages that arrived while the task began can cause writes to a file. The program's thread must not wait
            // for these writes. So another thread handles the messages.
            if !writesFiles { drain() } else if state.withLock({ $0.mailbox.endClaim() }) { drainLater() }
        }
        if mustDrain { drainLater() }
        guard consequence == .goOn else { return }
        session.core.watch(self)
        demandChanged()
    }

    func suspend() {
        let wasRunning = state.withLock { state in
            let wasRunning = state.life.suspend()
            if wasRunning {
                state.clock.pause(for: .suspension)
                state.load.interruption.wasSuspended = true
            }
            return wasRunning
        }
        guard wasRunning else { return }
        plan.transfer?.noteSuspension(of: self)
        demandChanged()
    }

    func cancel() { end(early: LoadFailure(.cancelled)) }

    /// Ends the task early. Content that has not been delivered is discarded.
    func end(early failure: LoadFailure) {
        let isCancellation = failure.cause == .cancelled
        let mustDrain = state.withLock { state in
            // After the load has ended, a timeout does nothing. A cancellation still counts until the task's final
            // callback has run.
            guard isCancellation || !state.outcome.hasEnded else { return false }
            return state.life.cancel() && state.mailbox.interrupt(with: .end(failure))
        }
        if mustDrain { drainLater() }
    }

    // MARK: Messages

    /// Receives an event from a loader. Events from earlier loaders are ignored.
    func receive(_ event: LoadEvent, from attempt: LoadAttempt) {
        // If the event contains the whole response, it ends the load. The idle timeout then ends too, so the current
        // time is not needed.
        let now = event.isWhole ? nil : MonotonicTime.now
        // If an event writes to a file, handle it on another thread, because a slow disk would delay the connections'
        // event loop. Exception: the thread that reports an event from a program's `URLProtocol` object also handles
        // it. Only if this thread waits for the disk does the object pause.
        let isHandledHere = !writesFiles || attempt.isFromProgram
        let (isCurrent, isNext, mustDrain) = state.withLock { state -> (Bool, Bool, Bool) in
            guard state.load.attempt === attempt else { return (false, false, false) }
            guard !state.life.isOver else { return (true, false, false) }
            if case .data(let data) = event { state.counts.pending += data.count }
            if let now { state.clock.noteActivity(at: now) } else { state.clock.endIdle() }
            // If this thread can handle the event at once, the event does not enter the message queue. Until this event
            // has been handled, other threads handle no messages. So no other load attempt can begin in the meantime.
            if isHandledHere, state.mailbox.claimIfIdle() { return (true, true, false) }
            state.counts.pending += event.waitingCost
            return (true, false, state.mailbox.post(.load(event, attempt)))
        }
        guard isCurrent else { return forward(event, from: attempt) }
        if mustDrain, !isHandledHere { return drainLater() }
        if isNext { handle(event) }
        if isNext || mustDrain { drain() }
    }

    /// Passes an event to the download task that has taken over this data task's load. The loader found the data task
    /// before the takeover, so it still reports the event here.
    private func forward(_ event: LoadEvent, from attempt: LoadAttempt) {
        let owner = attempt.task
        if owner !== self { owner.receive(event, from: attempt) }
    }

    /// Whether the loader should deliver more content: the task is running, and its buffer is not full.
    var wantsBytes: Bool {
        state.withLock { $0.life.state == .running && !$0.isFull }
    }

    /// Whether the task is running.
    var isRunning: Bool { state.withLock { $0.life.state == .running } }

    /// Whether the session's task lists contain this task.
    var isListed: Bool { state.withLock { $0.life.isListed } }

    /// The task's priority.
    var priority: Float { state.withLock { $0.options.priority } }

    /// Records that content was delivered, and asks a paused loader for more content.
    func took(_ byteCount: Int) {
        let isBelow = state.withLock { state in
            let wasFull = state.isFull
            state.counts.pending -= byteCount
            guard wasFull, !state.isFull else { return false }
            state.clock.noteActivity(at: MonotonicTime.now)
            return true
        }
        guard isBelow else { return }
        session.core.watch(self)
        demandChanged()
    }

    /// Passes a changed priority to the loader.
    func priorityChanged() { state.withLock { $0.load.loader }?.priorityChanged() }

    private func demandChanged() { state.withLock { $0.load.loader }?.demandChanged() }

    /// Schedules the handling of the queued messages on the session's queue. The caller's thread must not handle them.
    /// It may belong to the program, and handling a message can read files or call the program's code.
    func drainLater() { session.core.work.async { [self] in drain() } }

    private func drain() {
        while let message = state.withLock({ $0.mailbox.next() }) { handle(message) }
    }

    /// Whether the task can start on the thread on which the program calls `resume()`. This is so if the start calls no
    /// code of the program and reads no file.
    private var startsHere: Bool {
        guard !session.core.hasProgramProtocols, let policy = originalRequest?.cachePolicy else { return false }
        switch plan.source {
        case .file, .form, .stream: return false
        case .request, .data: break
        }
        // Code from the program must not be called here. A subclass of `URLCache` is such code, so check that the cache
        // is not a subclass.
        guard session.core.settings.stores.cache?.isPlain != false else { return false }
        return policy != .returnCacheDataElseLoad && policy != .returnCacheDataDontLoad
            && session.core.settings.cachePolicy == .useProtocolCachePolicy
    }

    /// Permits that the callbacks of a task without a delegate run on any thread. This is possible, because such
    /// callbacks only resume the Swift task that waits for the result.
    func callAnywhere() {
        if !hasDelegate { calls.move(to: .anywhere) }
    }

    /// Lets later callbacks run on the delegate queue, because they may call the program's code.
    func callOnDelegateQueue() { calls.move(to: session.core.callPlace) }

    private func handle(_ message: TaskMessage) {
        switch message {
        case .begin: begin()
        case .load(let event, let attempt):
            if event.waitingCost > 0 { took(event.waitingCost) }
            if state.withLock({ $0.load.attempt === attempt }) {
                handle(event)
            } else if case .data(let data) = event {
                // This content comes from an earlier loader, so do not deliver it. It must also no longer count as
                // pending. Otherwise the next loader would pause forever.
                took(data.count)
            }
        case .end(let failure): finish(failure)
        case .run(let body): body()
        }
    }

    /// Holds back all messages until the program responds. The idle timeout is paused during this time.
    func hold() -> Mailbox<TaskMessage>.Hold {
        state.withLock { state in
            state.clock.pause(for: .question)
            return state.mailbox.hold()
        }
    }

    /// Ends a pause in message handling after the program has responded. The task handles `next` first, and then the
    /// messages that were held back.
    ///
    /// Can be called from any thread. A late call has no effect.
    func release(_ hold: Mailbox<TaskMessage>.Hold, _ next: @escaping @Sendable () -> Void) {
        let now = MonotonicTime.now
        let mustDrain = state.withLock { state in
            guard !state.life.isOver else { return false }
            let mustDrain = state.mailbox.release(hold, with: .run(next))
            // If this call is late, another question may hold back the messages again. In this case, the idle timeout
            // stays paused.
            if !state.mailbox.isOnHold { state.clock.goOn(after: .question, at: now) }
            return mustDrain
        }
        session.core.watch(self)
        if mustDrain { drainLater() }
    }
}

/// The monotonic clock for timeouts.
enum MonotonicTime {
    static var now: Duration { System.now }
}
