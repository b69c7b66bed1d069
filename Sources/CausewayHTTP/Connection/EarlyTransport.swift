internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// An HTTP transport that uses TLS early data (RFC 8446 §2.3). It sends its first content before it is established.
///
/// All later content is sent after the handshake, because an attacker could replay early data.
///
/// Received content is also delivered only after the handshake. Each response is reported together with the properties
/// of the connection, and these are not known earlier.
final class EarlyTransport: HTTPTransport {
    private enum Phase {
        /// Nothing was sent yet. The first content that is sent becomes early data.
        case early
        case establishing
        case established
        case failed(NWError)
        case closed
    }

    private struct Pending {
        let limit: Int
        let completion: @Sendable (HTTPArrival) -> Void
    }

    private struct State {
        var phase = Phase.early
        var details: HTTPConnectionDetails
        var receive: Pending?
        var hasFailed = false
    }

    private let base: any HTTPTransport
    private let state: LockedValue<State>

    init(_ base: any HTTPTransport, _ id: PoolConnectionID, protocolName: String) {
        self.base = base
        state = LockedValue(State(details: HTTPConnectionDetails(id: id, protocolName: protocolName)))
    }

    var earlyProtocol: String? { nil }
    /// The connection's properties. They are incomplete until the transport is established.
    var details: HTTPConnectionDetails { state.withLock { state in state.details } }
    /// Whether the handshake failed.
    var hasFailed: Bool { state.withLock { state in state.hasFailed } }

    func sendEarly(_ content: Data) { base.sendEarly(content) }

    func start(_ report: @escaping @Sendable (HTTPTransportEvent) -> Void) {
        let isOpen = state.withLock { state in
            if case .early = state.phase { state.phase = .establishing }
            if case .closed = state.phase { return false }
            return true
        }
        if isOpen { base.start(report) }
    }

    func establish(_ details: HTTPConnectionDetails) {
        let pending = state.withLock { state -> Pending? in
            (state.phase, state.details) = (.established, details)
            return state.receive.take()
        }
        if let pending { base.receive(atMost: pending.limit, pending.completion) }
    }

    /// Closes a transport that could not be established. A waiting receive call gets the error.
    func fail(_ error: NWError) {
        let pending = state.withLock { state -> Pending? in
            (state.phase, state.hasFailed) = (.failed(error), true)
            return state.receive.take()
        }
        base.close(isInterrupted: true)
        pending?.completion(HTTPArrival(error: error))
    }

    func receive(atMost limit: Int, _ completion: @escaping @Sendable (HTTPArrival) -> Void) {
        let (isEstablished, failure) = state.withLock { state -> (Bool, NWError?) in
            switch state.phase {
            case .established: return (true, nil)
            case .failed(let error): return (false, error)
            case .closed: return (false, .posix(.ECANCELED))
            case .early, .establishing:
                state.receive = Pending(limit: limit, completion: completion)
                return (false, nil)
            }
        }
        if isEstablished { return base.receive(atMost: limit, completion) }
        if let failure { completion(HTTPArrival(error: failure)) }
    }

    func send(_ content: Data, _ completion: @escaping @Sendable (NWError?) -> Void) {
        let isFirst = state.withLock { state in
            guard case .early = state.phase else { return false }
            state.phase = .establishing
            return true
        }
        guard isFirst else { return base.send(content, completion) }
        base.sendEarly(content)
        completion(nil)
    }

    func sendEnd(_ completion: @escaping @Sendable (NWError?) -> Void) { base.sendEnd(completion) }

    func close(isInterrupted: Bool) {
        let (wasEstablished, pending) = state.withLock { state -> (Bool, Pending?) in
            defer { state.phase = .closed }
            if case .established = state.phase { return (true, nil) }
            return (false, state.receive.take())
        }
        // Close the transport. If its handshake is still running, abort it.
        base.close(isInterrupted: isInterrupted || !wasEstablished)
        pending?.completion(HTTPArrival(error: .posix(.ECANCELED)))
    }
}

/// Supplies the properties of an HTTP connection. They are already known, or a transport will know them after its
/// handshake.
enum HTTPDetailsSource: Sendable {
    case known(HTTPConnectionDetails)
    /// The properties are known after the handshake.
    case early(EarlyTransport)

    var details: HTTPConnectionDetails {
        switch self {
        case .known(let details): details
        case .early(let transport): transport.details
        }
    }
}
