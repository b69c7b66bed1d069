package import CausewayProtocols

/// One protocol of a connection's stack, at the beginning of an attempt.
package struct StackLayer: Sendable {
    package var stage: any ProtocolStage
    package var delegate: (any StageDelegate)?

    package init(_ stage: any ProtocolStage, _ delegate: (any StageDelegate)? = nil) {
        self.stage = stage
        self.delegate = delegate
    }
}

/// Answers what a stage cannot decide: the program's code stands behind it.
package protocol StageDelegate: AnyObject, Sendable {
    /// The stage asks or tells something. Called on the connection's queue, one event at a time, never under a lock; the answer may come
    /// later, from any thread.
    func stageReported(_ event: any StageEvent, from place: StagePlace)

    /// Whether ``stageReported(_:from:)`` calls the program's code itself, not by way of a queue: code that may take its time.
    var callsProgram: Bool { get }

    /// Whether the program has said that its protocol failed. Then no other attempt is made, as one is after other failures.
    var hasGivenUp: Bool { get }
}

extension StageDelegate {
    package var callsProgram: Bool { true }
    package var hasGivenUp: Bool { false }
}

/// A stage in a running stack, and the way to act on it. Once the attempt is over, nothing happens any more.
package struct StagePlace: Sendable {
    package let id: ProtocolStack.StageID
    private let channel: StackChannel
    private let attempt: UInt64

    init(_ id: ProtocolStack.StageID, in channel: StackChannel, _ attempt: UInt64) {
        self.id = id
        self.channel = channel
        self.attempt = attempt
    }

    /// Calls `body` with the stage under the stack's lock, then performs what this enables. Returns `nil` if the attempt is over.
    ///
    /// `body` calls the stage and nothing else.
    ///
    /// - Parameter isAnswer: Whether the program has answered a question. The peer then has its full time again. Other calls do not extend the
    ///   time, or a peer that sends one byte at a time could keep a handshake open for ever.
    @discardableResult
    package func withStage<Stage: ProtocolStage, Result: Sendable>(
        as type: Stage.Type, isAnswer: Bool, _ body: @Sendable (inout Stage) -> Result
    ) -> Result? {
        channel.withStage(id, attempt, as: type, isAnswer: isAnswer, body)
    }

    /// Acts on the stage with an answer of the program's.
    @discardableResult
    package func withStage<Stage: ProtocolStage, Result: Sendable>(
        as type: Stage.Type, _ body: @Sendable (inout Stage) -> Result
    ) -> Result? {
        withStage(as: type, isAnswer: true, body)
    }

    /// Puts another protocol above this stage, which is not ready yet. Returns its place, or `nil` if it is too late.
    package func insertAbove(_ layer: StackLayer) -> StagePlace? {
        channel.insert(layer, above: id, attempt).map { StagePlace($0, in: channel, attempt) }
    }

    /// Calls `body` on the connection's queue, after what is queued there.
    package func onQueue(_ body: @escaping @Sendable () -> Void) { channel.onQueue(body) }

    /// What the connection leads to and comes from, as socket addresses of the attempt; `nil` when it is over.
    package var flow: Flow { channel.flow }
}
