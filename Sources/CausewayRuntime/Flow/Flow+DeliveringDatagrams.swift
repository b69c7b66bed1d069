internal import CausewayProtocols
package import CausewaySystem
internal import CausewayTypes
package import FoundationEssentials
internal import Synchronization

// Delivers datagrams to the program. For closures, one block on the program's queue makes several calls, one after
// another. A task receives datagrams without suspending while some are waiting.

extension Flow {
    /// The maximum number of datagrams that a flow delivers in a row on the program's queue. After that many, the queue
    /// delivers to other connections first.
    private static var deliveryBudget: Int { 64 }
    /// The maximum number of datagrams that a task receives without suspending.
    static var immediateBudget: Int { 64 }

    /// Calls the program's closures with the waiting datagrams. Must run on the program's queue. Returns the number of
    /// calls.
    func deliverDatagrams() -> Int {
        var count = 0
        state.withLock { state in state.beginDelivering() }
        while count < Self.deliveryBudget {
            if let (completion, data, mark, isWhole) = state.withLock({ state in state.takeDatagramForCallback() }) {
                completion(ReceivedContent(data: data, packet: mark, isComplete: isWhole))
            } else if let call = state.withLock({ state in state.takeDatagramCall() }) {
                call.perform()
            } else {
                break
            }
            count += 1
        }
        var deferred = DeferredActions()
        let (delivery, plan) = state.withLock { state -> (Delivery?, ReadPlan?) in
            state.endDelivering(&deferred)
            return (state.delivery, state.beginRead())
        }
        deferred.perform(delivery, on: loop)
        // Read again. More datagrams may wait in the kernel if this flow has a socket that it does not share.
        if let plan { pumpReads(plan) }
        return count
    }

    /// Returns the next datagram and its header fields. Returns `nil` if an earlier receive call is still waiting. The
    /// method takes one lock and does not suspend.
    package func takeDatagram() -> (data: Data, mark: PacketMark)? {
        state.withLock { state in
            guard state.kind == .datagram, state.link.mayTransfer, state.reading.receives.waiters.isEmpty,
                !state.link.isEnding,
                state.failure == nil
            else { return nil }
            return state.datagrams[0].takeImmediately()
        }
    }
}

/// A call of the program's closure that is still to be made, with the closure's arguments.
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
    /// Queues a receive call if the program made it inside a callback that is being delivered now. The same delivery
    /// completes the call. Returns `false` for all other receive calls, and does not queue them.
    mutating func joinDelivery(_ waiter: ReceiveWaiter, _ demand: (inout ReceiveQueue) -> Void) -> Bool {
        guard waiter.isOfQueue, failure == nil, datagrams[0].isDelivering, delivery?.isDraining == true else {
            return false
        }
        reading.receives.append(waiter, demand)
        return true
    }

    /// Schedules the delivery of waiting datagrams on the program's queue.
    mutating func postDatagrams(of flow: Flow, on delivery: Delivery, _ deferred: inout DeferredActions) {
        // Do nothing if the queue is delivering datagrams now, or if a delivery is already scheduled.
        if datagrams[0].isPosted || datagrams[0].isDelivering && delivery.isDraining { return }
        datagrams[0].isPosted = true
        if delivery.add(.calls { flow.deliverDatagrams() }) { deferred.mustDispatch = true }
    }

    fileprivate mutating func beginDelivering() {
        guard kind == .datagram, !datagrams.isEmpty else { return }
        datagrams[0].isPosted = false
        datagrams[0].isDelivering = true
    }

    /// Removes an arrived datagram and the closure that waits for it, and returns both. This is the usual case.
    ///
    /// In all other cases, returns `nil`. The caller then uses ``takeDatagramCall()``, whose result ``DatagramCall``
    /// has many fields and is expensive to copy.
    fileprivate mutating func takeDatagramForCallback() -> (ReceiveCompletion, Data, PacketMark, isWhole: Bool)? {
        guard link.mayTransfer, link.isOpen, case .callback(let completion)? = reading.receives.waiters.first,
            let demand = reading.receives.queue.oldest, datagrams[0].refusal == nil,
            let (data, mark, isWhole) = datagrams[0].inbox.next(maximum: demand.maximum)
        else { return nil }
        reading.receives.queue.dropOldest()
        reading.receives.waiters.dropFirst()
        return (completion, data, mark, isWhole)
    }

    fileprivate mutating func takeDatagramCall() -> DatagramCall? {
        guard link.mayTransfer, link.isOpen, reading.receives.waiters.first?.isOfQueue == true,
            let (waiter, answer) = takeDatagramAnswer()
        else { return nil }
        switch (waiter, answer) {
        case (.callback(let completion), .content(let content)): return .receive(completion, content)
        case (.batch(let completion), .batch(let batch)): return .batch(completion, batch, nil)
        case (.batch(let completion), .content(let content)): return .batch(completion, nil, content.error)
        default: return nil
        }
    }

    /// Ends a delivery of datagrams on the program's queue.
    ///
    /// If datagrams remain, the oldest waiting receive call determines what follows. If a closure waits for the result,
    /// another delivery is scheduled. If a task waits for it, the call is completed.
    fileprivate mutating func endDelivering(_ deferred: inout DeferredActions) {
        guard kind == .datagram, !datagrams.isEmpty else { return }
        datagrams[0].isDelivering = false
        releaseHold(&deferred)
        guard link.isOpen else { return }
        match(nil, &deferred)
    }
}

extension ReceiveWaiter {
    /// Whether the receive call's result goes to a closure on the program's queue.
    var isOfQueue: Bool {
        switch self {
        case .callback, .batch: true
        case .channel, .stack, .task, .distantTask, .contentTask, .batchTask: false
        }
    }

    /// Whether the closure or task accepts several datagrams at once.
    var takesBatch: Bool {
        switch self {
        case .batch, .batchTask: true
        case .callback, .channel, .stack, .task, .distantTask, .contentTask: false
        }
    }
}
