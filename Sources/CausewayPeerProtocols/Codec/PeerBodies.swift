/// Payloads of invitation, certificate and closing frames.
package enum PeerBodies {
    /// `INVITE`: field 1, once or twice, holds the invitation's context in parts of at most 32 KiB. Without a context,
    /// field 1 is absent.
    ///
    /// Field 2 says how many milliseconds the inviter waits. Field 3 names the service type with which the inviter found the peer.
    package static func invite(_ context: [UInt8]?, timeout: Duration, service: String = "") -> PeerFrame {
        var fields = PeerFields().with(2, timeout.clampedMilliseconds)
        if !service.isEmpty { fields.append(3, service) }
        guard let context else { return PeerFrame(.invite, fields: fields) }
        fields.append(1, Array(context.prefix(32 << 10)))
        if context.count > 32 << 10 { fields.append(1, Array(context.dropFirst(32 << 10))) }
        return PeerFrame(.invite, fields: fields)
    }

    /// Returns the time for which the inviter waits for an answer: 30 s by default, at most 5 minutes.
    package static func timeout(_ payload: [UInt8]) throws(PeerFields.Malformed) -> Duration {
        let milliseconds: UInt32 = try PeerFields(payload).integer(2) ?? 30_000
        return .milliseconds(Int64(min(milliseconds, 300_000)))
    }

    /// Returns the invitation's context from an `INVITE`, at most 64 KiB; `nil` if there is none.
    package static func context(_ payload: [UInt8]) throws(PeerFields.Malformed) -> [UInt8]? {
        let parts = try PeerFields(payload).all(1)
        guard !parts.isEmpty else { return nil }
        let context = parts.flatMap { $0 }
        guard context.count <= PeerLimits.context else { throw PeerFields.Malformed(message: "context") }
        return context
    }

    /// The body of an `ACCEPT` frame. Field 1 is the invited peer's session handle.
    package static func accept(_ handle: SessionHandle) -> PeerFrame {
        PeerFrame(.accept, fields: PeerFields().with(1, handle.bytes))
    }

    package static func handle(_ payload: [UInt8]) throws(PeerFields.Malformed) -> SessionHandle {
        let fields = try PeerFields(payload)
        return try fields.require(SessionHandle(fields[1] ?? []), "session handle")
    }

    /// `BYE`, `DECLINE`, `CANCEL`, `STREAM_RESET`: field 1 is the reason. Local reasons (0x80 and above) are sent as ``PeerReason/left``.
    package static func reason(_ type: PeerFrameType, _ reason: PeerReason, channel: UInt16 = 0) -> PeerFrame {
        PeerFrame(type, channel: channel, fields: PeerFields().with(1, reason.rawValue < 0x80 ? reason.rawValue : 0))
    }

    package static func reason(_ payload: [UInt8]) -> PeerReason {
        let fields = try? PeerFields(payload)
        return PeerReason(wire: fields?[1]?.bigEndianInteger ?? 0)
    }

    /// Returns a `CERTIFICATE` frame. Each field 1 contains a certificate of the chain, leaf first, and field 2
    /// contains the signature. Without a certificate, the frame has no fields.
    package static func certificate(_ chain: [[UInt8]], _ proof: [UInt8]) -> PeerFrame {
        var fields = PeerFields()
        for certificate in chain { fields.append(1, certificate) }
        if !chain.isEmpty { fields.append(2, proof) }
        return PeerFrame(.certificate, fields: fields)
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded down and limited to the range of `UInt32`.
    var clampedMilliseconds: UInt32 {
        let (seconds, attoseconds) = min(max(self, .zero), .milliseconds(UInt32.max)).components
        return UInt32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }
}
