internal import CausewayProtocols
internal import CausewaySystem

/// The socket to one DNS server, and the exchanges waiting for its answers. Confined to a loop.
struct DNSTransportSocket {
    /// The socket's descriptor; `nil` before the socket is open, and after it was closed.
    private(set) var descriptor: CInt?
    private(set) var registration: Registration?
    private var awaited: [UInt16: DNSClient.ExchangeID] = [:]

    /// Whether no exchange waits for an answer.
    var isIdle: Bool { awaited.isEmpty }

    mutating func open(_ socket: consuming Descriptor, _ registration: Registration) {
        self.registration = registration
        descriptor = socket.release()
    }

    mutating func close(on loop: any EventLoop) {
        guard let descriptor = descriptor.take(), let registration = registration.take() else { return }
        loop.close(registration, Descriptor(adopting: descriptor))
    }

    mutating func await(_ id: UInt16, for exchange: DNSClient.ExchangeID) { awaited[id] = exchange }

    mutating func forget(_ id: UInt16) { awaited[id] = nil }

    /// Returns the exchange that a message answers, by the ID in the message header (RFC 1035 §4.1.1); `nil` if no
    /// exchange waits for this message.
    func exchange(answeredBy message: [UInt8]) -> DNSClient.ExchangeID? {
        message.count >= 12 ? awaited[UInt16(message[0]) << 8 | UInt16(message[1])] : nil
    }
}
