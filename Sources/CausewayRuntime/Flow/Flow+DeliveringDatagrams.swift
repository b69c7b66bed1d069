internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials
internal import Synchronization

// How datagrams reach the program: a closure's on its queue, one after the other in one item of the delivery; a task's at once, while
// there are some.

extension Flow {
    /// Datagrams that one item of a delivery hands over before the queue's other connections get their turn.
    private static var deliveryBudget: Int { 64 }
    /// Datagrams that a task is given in a row without a suspension.
    static var immediateBudget: Int { 64 }

    /// Calls the program's closures with what has arrived, on its queue. Returns how many were called.
    func deliverDatagrams() -> Int {
        var count = 0
        state.withLock { state in state.beginDelivering() }
        while count < Self.deliveryBudget, let call = state.withLock({ state in state.takeDatagramCall() }) {
            count += 1
            call.perform()
        }
        var deferred = DeferredActions()
        let (delivery, plan) = state.withLock { state -> (Delivery?, ReadPlan?) in
            state.endDelivering(&deferred)
            return (state.delivery, state.beginRead())
        }
        deferred.perform(delivery, on: loop)
        // The kernel may hold more of a socket of the flow's own.
        if let plan { pumpReads(plan) }
        return count
    }

    /// The next datagram, where it waits already and nothing stands before the caller: no suspension, and one lock.
    package func takeDatagram() -> ReceivedContent? {
        state.withLock { state in
            guard state.kind == .datagram, state.mayTransfer, state.waiters.isEmpty, state.closing == nil,
                state.failure == nil, !state.datagrams.isEmpty
            else { return nil }
            return state.datagrams[0].takeImmediately()
        }
    }
}

/// A closure of the program's and what it is called with.
enum DatagramCall {
    case receive(ReceiveCompletion, ReceivedContent)
    case batch(BatchCompletion, DatagramBatch?, Failure?)

    func perform() {
        switch self {
        case .receive(let completion, let content): completion(content)
        case .batch(let completion, let batch, let failure): completion(batch, failure)
        }
    }
}

extension Flow.State {
    /// Has the program's queue take out what is there.
    mutating func postDatagrams(of flow: Flow, on delivery: Delivery, _ deferred: inout DeferredActions) {
        // The queue is at it, or will be.
        if datagrams[0].isPosted || datagrams[0].isDelivering && delivery.isDraining { return }
        datagrams[0].isPosted = true
        if delivery.add(.datagrams(flow)) { deferred.mustDispatch = true }
    }

    fileprivate mutating func beginDelivering() {
        guard kind == .datagram, !datagrams.isEmpty else { return }
        datagrams[0].isPosted = false
        datagrams[0].isDelivering = true
    }

    fileprivate mutating func takeDatagramCall() -> DatagramCall? {
        guard mayTransfer, closing == nil, phase == .open, let waiter = waiters.first, waiter.isOfQueue,
            let answer = takeDatagramAnswer()
        else { return nil }
        switch (waiter, answer) {
        case (.callback(let completion), .content(let content)): return .receive(completion, content)
        case (.batch(let completion), .batch(let batch)): return .batch(completion, batch, nil)
        case (.batch(let completion), .content(let content)): return .batch(completion, nil, content.error)
        default: return nil
        }
    }

    /// What is left is for the next turn, or for a task behind the closures.
    fileprivate mutating func endDelivering(_ deferred: inout DeferredActions) {
        guard kind == .datagram, !datagrams.isEmpty else { return }
        datagrams[0].isDelivering = false
        guard closing == nil, phase == .open else { return }
        match(nil, &deferred)
    }
}

extension Flow.State.DatagramSide {
    /// Whether a receive would be answered.
    var hasAnswer: Bool { refusal != nil || !inbox.isEmpty }

    fileprivate mutating func takeImmediately() -> ReceivedContent? {
        guard refusal == nil, immediateCount < Flow.immediateBudget,
            let (data, mark, isWhole) = inbox.next(maximum: .max)
        else { return nil }
        immediateCount += 1
        return ReceivedContent(data: data, packet: mark, isComplete: isWhole)
    }
}

extension ReceiveWaiter {
    /// A closure that is called on the program's queue.
    var isOfQueue: Bool {
        switch self {
        case .callback, .batch: true
        case .channel, .stack, .task, .distantTask, .contentTask, .batchTask: false
        }
    }

    /// Whether it takes all datagrams at once.
    var takesBatch: Bool {
        switch self {
        case .batch, .batchTask: true
        case .callback, .channel, .stack, .task, .distantTask, .contentTask: false
        }
    }
}
