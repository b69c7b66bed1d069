internal import Causeway
internal import CausewayHTTP
internal import CausewayProtocols
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// A task's WebSocket: runs a ``WebSocketConversation`` over the upgraded connection.
///
/// The channel is created together with the task. After the handshake it replaces the HTTP loader as the task's
/// ``Loader``. The conversation's state changes under one lock. A change can produce actions, for example to send
/// bytes. One thread at a time performs the actions in order, without the lock.
final class WebSocketChannel: Loader {
    private struct State: SequencedState {
        var conversation = WebSocketConversation()
        var line = ActionLine<WebSocketConversation.Action>(keepsStorage: true)
        var owners = Owners()

        mutating func queueActions() -> Bool { line.move(&conversation.actions) }
    }

    /// The objects that perform the actions of the conversation.
    private struct Owners {
        var stream: HTTPUpgradedStream?
        /// The task; `nil` after its end.
        var core: TaskCore?
        var calls: CallList?
    }

    private let state = LockedValue(State())

    /// Sets the task.
    func attach(_ core: TaskCore) {
        state.withLock { state in
            state.owners.core = core
            state.owners.calls = core.calls
        }
    }

    /// Sets the upgraded HTTP stream that carries the WebSocket, and the codec that compresses the messages. Call
    /// ``start()`` afterwards.
    func attach(_ stream: HTTPUpgradedStream, _ codec: (any WebSocketCodec)?) {
        state.withLock { state in
            state.owners.stream = stream
            if let codec { state.conversation.machine.compress(with: codec) }
        }
    }

    // MARK: Calls of the program

    func send(
        _ message: URLSessionWebSocketTask.Message, _ handler: @escaping WebSocketConversation.SendHandler
    ) {
        apply { $0.send(message, handler) }
    }

    func receive(_ handler: @escaping WebSocketConversation.MessageHandler) { apply { $0.receive(handler) } }

    func ping(_ handler: @escaping WebSocketConversation.SendHandler) { apply { $0.ping(handler) } }

    func limitMessages(to size: Int) { apply { $0.limitMessages(to: size) } }

    /// Starts to close the WebSocket. Returns `false` if the WebSocket is not open; the caller must then end the task.
    func close(_ report: WebSocketCloseReport) -> Bool { apply { $0.close(report) } }

    /// The close code and reason; `nil` if the WebSocket is not closed.
    var closing: WebSocketCloseReport? { state.withLock { state in state.conversation.closing } }

    // MARK: Loader

    func start() { apply { $0.opened() } }

    func demandChanged() {
        guard let core = state.withLock({ state in state.owners.core }) else { return }
        var isRunning: Bool
        repeat {
            isRunning = core.isRunning
            apply { $0.setPaused(!isRunning) }
            // Another thread may have suspended or resumed the task since the loop read its state, so check the state
            // again.
        } while core.isRunning != isRunning
    }

    func stop() { apply { $0.stop() } }

    /// Ends all operations of the conversation with the task's error.
    func end(_ error: (any Error)?) {
        apply { $0.end(error) }
        let core = state.withLock { state in state.owners.core.take() }
        withExtendedLifetime(core) {}
    }

    // MARK: Actions

    private func apply<Result: Sendable>(_ body: (inout WebSocketConversation) -> Result) -> Result {
        state.change({ state in body(&state.conversation) }, perform: perform)
    }

    private func perform(_ action: WebSocketConversation.Action) {
        let owners = state.withLock { state in state.owners }
        switch action {
        case .send(let content): send(content, over: owners.stream)
        case .receive(let limit):
            owners.stream?.receive(atMost: limit) { [self] arrival in apply { $0.arrived(arrival) } }
        case .call(let body): owners.calls?.add(body)
        case .reportClosed(let report): owners.core?.webSocketClosed(report)
        case .end(let error): owners.core?.webSocketEnded(error)
        case .limitClosing: limitClosing()
        case .disconnect(let isInterrupted):
            state.withLock { state in state.owners.stream = nil }
            owners.stream?.close(isInterrupted: isInterrupted)
        }
    }

    private func send(_ content: Data, over stream: HTTPUpgradedStream?) {
        let count = content.count
        stream?.send(content) { [self] error in apply { $0.sent(count, error) } }
    }

    private func limitClosing() {
        DispatchQueue.global().call(after: WebSocketConversation.closingTime) { [weak self] in
            self?.apply { $0.closingTimedOut() }
        }
    }
}
