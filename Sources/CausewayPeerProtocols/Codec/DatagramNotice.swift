/// A `UDP` frame's payload: offers or ends a datagram lane, a DTLS connection for unreliable messages.
package enum DatagramNotice: Equatable, Sendable {
    /// Offers a UDP port. The sender waits there for the receiver's DTLS handshake.
    package struct Offer: Equatable, Sendable {
        package var port: UInt16
        /// 16 random bytes.
        package var token: [UInt8]

        package init(port: UInt16, token: [UInt8]) { (self.port, self.token) = (port, token) }
    }

    case offer(Offer)
    /// The DTLS connection with this token could not be opened, or has failed.
    case ended(token: [UInt8], PeerReason)

    package static let tokenByteCount = 16

    package var frame: PeerFrame {
        switch self {
        case .offer(let offer): PeerFrame(.udp, fields: PeerFields().with(1, offer.port).with(2, offer.token))
        case .ended(let token, let reason):
            PeerFrame(
                .udp,
                fields: PeerFields().with(2, token).with(
                    3, reason.rawValue < 0x80 ? reason.rawValue : PeerReason.timedOut.rawValue))
        }
    }

    package init(_ payload: [UInt8]) throws(PeerFields.Malformed) {
        let fields = try PeerFields(payload)
        let token = try fields.require(fields[2], "token")
        guard token.count == Self.tokenByteCount else { throw PeerFields.Malformed(message: "token") }
        if let reason: UInt8 = try fields.integer(3) {
            self = .ended(token: token, PeerReason(wire: UInt64(reason)))
            return
        }
        let port: UInt16 = try fields.require(try fields.integer(1), "port")
        guard port != 0 else { throw PeerFields.Malformed(message: "port 0") }
        self = .offer(Offer(port: port, token: token))
    }
}
