internal import Causeway
internal import CausewayHTTPProtocols
package import CausewayTypes
package import FoundationEssentials

/// The byte stream under a connection. Callbacks may run on any thread. A method's callback may run before the method
/// returns.
protocol HTTPTransport: Sendable {
    /// The ALPN protocol (RFC 7301) for which the transport can send early data. Empty for early data without ALPN;
    /// `nil` if the transport cannot send early data.
    var earlyProtocol: String? { get }
    /// Sends bytes as early data, before the transport is established (RFC 8446 §2.3). The server may receive early
    /// data twice, so the bytes must be safe to repeat. Bytes that the server does not accept as early data are sent
    /// after the handshake. Call at most once, before ``start(_:)``.
    func sendEarly(_ content: Data)
    /// Starts the transport. Calls `report` for each state change.
    func start(_ report: @escaping @Sendable (HTTPTransportEvent) -> Void)
    /// Receives at least one byte. Calls the completion exactly once; on a closed transport, with the error `ECANCELED`.
    func receive(atMost limit: Int, _ completion: @escaping @Sendable (HTTPArrival) -> Void)
    /// Sends bytes. Calls the completion when the kernel has accepted the bytes, or with the error.
    func send(_ content: Data, _ completion: @escaping @Sendable (NWError?) -> Void)
    /// Ends the sending direction when all content has been sent. Then calls the completion.
    func sendEnd(_ completion: @escaping @Sendable (NWError?) -> Void)
    /// Closes the stream. Aborts it if `isInterrupted` is `true`.
    func close(isInterrupted: Bool)
}

/// A state change of a transport.
enum HTTPTransportEvent: Sendable {
    case ready(HTTPTransportFacts)
    /// There is no usable path. The transport continues when there is one.
    case waiting(NWError)
    /// The transport cannot be established, or was established and failed.
    case failed(NWError)
}

/// Properties of an established transport.
struct HTTPTransportFacts: Sendable {
    /// The ALPN protocol (RFC 7301); `nil` for none.
    var applicationProtocol: String?
    /// The proxy that forwards the requests. `nil` for a direct connection, and for a tunnel through a proxy.
    var forwardProxy: ForwardProxy?
    /// Returns the connection's properties. The arguments are the connection's identifier in its pool and its ALPN
    /// protocol name.
    var makeDetails: @Sendable (PoolConnectionID, String) -> HTTPConnectionDetails = {
        HTTPConnectionDetails(id: $0, protocolName: $1)
    }
}

/// The result of one receive.
package struct HTTPArrival: Sendable {
    package var content: Data?
    /// Whether the peer ended the stream.
    package var isEnd = false
    package var error: NWError?

    package init(content: Data? = nil, isEnd: Bool = false, error: NWError? = nil) {
        self.content = content
        self.isEnd = isEnd
        self.error = error
    }
}
