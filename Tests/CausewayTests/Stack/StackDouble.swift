import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTypes

@testable import Causeway

/// A protocol stack for tests. It has real stages and delegates, but no connection. The tests advance its clock, and
/// queued calls wait until a test calls ``run()``.
final class StackDouble: Sendable {
    private struct State: Sendable {
        var stack: ProtocolStack
        var delegates: [ProtocolStack.StageID: any StageDelegate] = [:]
        var queued: [@Sendable () -> Void] = []
        var events: [ProtocolStack.Event] = []
        var answerCount = 0
    }

    struct Place: StageAccess {
        let id: ProtocolStack.StageID
        let double: StackDouble

        func withStage<Stage: ProtocolStage, Result: Sendable>(
            as type: Stage.Type, _ body: @Sendable (inout Stage) -> Result
        ) -> Result? {
            withStage(as: type, isAnswer: true, body)
        }

        func withStage<Stage: ProtocolStage, Result: Sendable>(
            as type: Stage.Type, isAnswer: Bool, _ body: @Sendable (inout Stage) -> Result
        ) -> Result? {
            double.state.withLock { state in
                if isAnswer { state.answerCount += 1 }
                guard !state.stack.hasEnded || type == FramerStage.self else { return nil }
                let result = state.stack.withStage(id, as: type, body)
                state.stack.resume(at: .zero)
                return result
            }
        }

        func insert(_ layer: StackLayer) -> Bool {
            double.state.withLock { state in
                guard let new = state.stack.insert(layer.stage, above: id) else { return false }
                state.delegates[new] = layer.delegate
                return true
            }
        }

        func onQueue(_ body: @escaping @Sendable () -> Void) { double.state.withLock { $0.queued.append(body) } }
    }

    private let state: LockedValue<State>

    /// Creates a stack and starts it.
    ///
    /// - Parameter layers: The layers, from the one nearest to the transport upward.
    init(_ layers: [StackLayer]) {
        var first = State(stack: ProtocolStack(layers.map(\.stage)))
        for (id, layer) in zip(first.stack.stageIDs, layers) { first.delegates[id] = layer.delegate }
        state = LockedValue(first)
        state.withLock { $0.stack.start(at: .zero) }
        run()
    }

    /// The events that the whole stack reported, as text.
    var events: [String] { state.withLock { $0.events.map { "\($0)" } } }
    /// The number of calls that restarted the peer's time limit.
    var answerCount: Int { state.withLock { $0.answerCount } }
    var stageCount: Int { state.withLock { $0.stack.stageIDs.count } }
    var deadline: Duration? { state.withLock { $0.stack.deadline } }

    /// Runs pending calls until none are left, without a lock.
    func run() {
        while step() {}
    }

    private func step() -> Bool {
        let (event, delegate, queued) = state.withLock { state in
            if let event = state.stack.nextEvent(at: .zero) {
                guard case .stage(let id, _) = event else {
                    state.events.append(event)
                    return (ProtocolStack.Event?.some(event), (any StageDelegate)?.none, [@Sendable () -> Void]())
                }
                return (event, state.delegates[id], [])
            }
            let queued = state.queued
            state.queued = []
            return (nil, nil, queued)
        }
        for body in queued { body() }
        if case .stage(let id, let event)? = event {
            (delegate as? any ProgramDelegate)?.handle(event, at: Place(id: id, double: self))
        }
        return event != nil || !queued.isEmpty
    }

    func receive(_ text: String, isFinal: Bool = false) {
        state.withLock { state in
            state.stack.receive(MessageChunk(Array(text.utf8), endsMessage: isFinal, isFinal: isFinal), at: .zero)
        }
        run()
    }

    func receive(_ bytes: ByteChain) {
        state.withLock { $0.stack.receive(MessageChunk(bytes, endsMessage: false), at: .zero) }
        run()
    }

    @discardableResult
    func send(_ text: String, _ context: NWConnection.ContentContext = .defaultMessage) -> Bool {
        let metadata = stageMetadata(of: context)
        let isTaken = state.withLock { state in
            state.stack.send(MessageChunk(Array(text.utf8), metadata: metadata), at: .zero)
        }
        run()
        return isTaken
    }

    /// Returns the next message for the program: its text, its context, and whether the message ends.
    func take() -> (text: String, context: NWConnection.ContentContext, endsMessage: Bool)? {
        let chunk = state.withLock { $0.stack.nextInbound(at: .zero) }
        run()
        guard let chunk else { return nil }
        let context = NWConnection.ContentContext.context(of: chunk.metadata, isFinal: chunk.isFinal)
        return (String(decoding: chunk.bytes.bytes, as: UTF8.self), context, chunk.endsMessage)
    }

    /// Removes and returns all output that the stack has ready.
    func output() -> ByteChain {
        var all = ByteChain()
        while let chunk = state.withLock({ $0.stack.nextOutbound(at: .zero) }) { all.append(chunk.bytes) }
        run()
        return all
    }

    var outputText: String { String(decoding: output().bytes, as: UTF8.self) }

    func advance(to time: Duration) {
        state.withLock { $0.stack.advance(to: time) }
        run()
    }

    func close() {
        state.withLock { $0.stack.close(at: .zero) }
        run()
    }

    func abort() {
        state.withLock { $0.stack.abort(.endedEarly) }
        run()
    }
}
