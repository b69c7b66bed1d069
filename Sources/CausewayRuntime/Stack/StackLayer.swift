package import CausewayProtocols

/// One protocol in a connection's stack, in its initial state. Each attempt begins with this state.
package struct StackLayer: Sendable {
    package var stage: any ProtocolStage
    package var delegate: (any StageDelegate)?

    package init(_ stage: any ProtocolStage, _ delegate: (any StageDelegate)? = nil) {
        self.stage = stage
        self.delegate = delegate
    }
}

/// Handles a stage's events on behalf of the program.
package protocol StageDelegate: AnyObject, Sendable {
    /// Handles a question or a notification from the stage. Called without a lock, one event at a time, on the
    /// connection's queue. If there is no queue, called on the event loop or a global queue. The program may answer a
    /// question later, on any thread.
    func stageReported(_ event: any StageEvent, from place: StagePlace)

    /// Whether ``stageReported(_:from:)`` calls the program's code directly. If `false`, it posts a call to a queue.
    ///
    /// The program's code may take a long time. If it is called directly, the channel must work on a queue and not on
    /// the event loop.
    var callsProgram: Bool { get }

    /// Whether the program reported that its protocol failed. Such a failure ends the connection. After any other
    /// failure, the next attempt follows.
    var hasGivenUp: Bool { get }
}

extension StageDelegate {
    package var callsProgram: Bool { true }
    package var hasGivenUp: Bool { false }
}

/// A reference to a stage in a running protocol stack. After the connection attempt has ended, the reference's methods
/// do nothing.
package struct StagePlace: Sendable {
    package let id: ProtocolStack.StageID
    private let channel: StackChannel
    private let attempt: UInt64

    init(_ id: ProtocolStack.StageID, in channel: StackChannel, _ attempt: UInt64) {
        self.id = id
        self.channel = channel
        self.attempt = attempt
    }

    /// Calls `body` with the stage under the stack's lock, then schedules the work that has become possible. `body` may
    /// call only the stage.
    ///
    /// - Parameters:
    ///   - type: The stage's type.
    ///   - isAnswer: Whether the program has answered a question. If so, the full time limit for the handshakes begins
    ///     again. Other calls do not extend the time. Otherwise a peer that sends one byte at a time could keep a
    ///     handshake open forever.
    ///   - body: Reads or mutates the stage.
    /// - Returns: The result of `body`; `nil` if the attempt is over.
    @discardableResult
    package func withStage<Stage: ProtocolStage, Result: Sendable>(
        as type: Stage.Type, isAnswer: Bool, _ body: @Sendable (inout Stage) -> Result
    ) -> Result? {
        channel.withStage(id, attempt, as: type, isAnswer: isAnswer, body)
    }

    /// Calls `body` with this layer's stage, for example to pass the program's answer to the stage.
    @discardableResult
    package func withStage<Stage: ProtocolStage, Result: Sendable>(
        as type: Stage.Type, _ body: @Sendable (inout Stage) -> Result
    ) -> Result? {
        withStage(as: type, isAnswer: true, body)
    }

    /// Inserts another protocol above this stage. This is possible only until this stage is ready. Returns a reference
    /// to the inserted stage. Returns `nil` if this stage is already ready, or if the attempt is over.
    package func insertAbove(_ layer: StackLayer) -> StagePlace? {
        channel.insert(layer, above: id, attempt).map { StagePlace($0, in: channel, attempt) }
    }

    /// Calls `body` on the connection's queue, after all work queued earlier.
    package func onQueue(_ body: @escaping @Sendable () -> Void) { channel.onQueue(body) }

    /// The flow below the stack.
    package var flow: Flow { channel.flow }
}
