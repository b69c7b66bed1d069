import Causeway
import Dispatch

/// An event of a listener: a state change or a new connection.
enum ListenerEvent: Sendable {
    case state(NWListener.State)
    case connection(NWConnection)
}

extension NWListener {
    /// Starts the listener and returns its events in order. The sequence ends after `.cancelled`.
    ///
    /// Connections wait in the sequence: set ``NWListener/newConnectionLimit`` if the consumer may be slow.
    func events() -> AsyncStream<ListenerEvent> {
        let (events, feed) = AsyncStream<ListenerEvent>.makeStream()
        stateUpdateHandler = { state in
            feed.yield(.state(state))
            if state == .cancelled { feed.finish() }
        }
        newConnectionHandler = { feed.yield(.connection($0)) }
        start(queue: DispatchQueue(label: "nw.listener", target: .global()))
        return events
    }
}
