/// The bodies of the frames of an invitation, and of the ends of links.
package enum PeerBodies {
    /// `INVITE`: the context in fields 1, concatenated; none if there is no context.
    ///
    /// Field 2 is the number of milliseconds for which the inviter waits.
    /// Field 3 is the service type with which the inviter found the peer.
    package static func invite(_ context: [UInt8]?, timeout: Duration, service: String = "") -> PeerFrame {
        var fields = PeerFields().with(2, UInt32(clamping: timeout.milliseconds))
        if !service.isEmpty { fields.append(3, service) }
        guard let context else { return PeerFrame(.invite, fields: fields) }
        fields.append(1, Array(context.prefix(32 << 10)))
        if context.count > 32 << 10 { fields.append(1, Array(context.dropFirst(32 << 10))) }
        return PeerFrame(.invite, fields: fields)
    }

    /// How long the inviter waits, at most 5 minutes.
    package static func timeout(_ payload: [UInt8]) throws(PeerFields.Malformed) -> Duration {
        let milliseconds: UInt32 = try PeerFields(payload).integer(2) ?? 30_000
        return .milliseconds(Int64(min(milliseconds, 300_000)))
    }

    package static func context(_ payload: [UInt8]) throws(PeerFields.Malformed) -> [UInt8]? {
        let parts = try PeerFields(payload).all(1)
        guard !parts.isEmpty else { return nil }
        let context = parts.flatMap { $0 }
        guard context.count <= PeerLimits.context else { throw PeerFields.Malformed(message: "context") }
        return context
    }

    /// `ACCEPT`: field 1 is the handle of the session that the invited peer joins with.
    package static func accept(_ handle: SessionHandle) -> PeerFrame {
        PeerFrame(.accept, fields: PeerFields().with(1, handle.bytes))
    }

    package static func handle(_ payload: [UInt8]) throws(PeerFields.Malformed) -> SessionHandle {
        let fields = try PeerFields(payload)
        return try fields.require(SessionHandle(fields[1] ?? []), "session handle")
    }

    /// `BYE`, `DECLINE`, `CANCEL`, `STREAM_RESET`: field 1 is the reason.
    package static func reason(_ type: PeerFrameType, _ reason: PeerReason, channel: UInt16 = 0) -> PeerFrame {
        PeerFrame(type, channel: channel, fields: PeerFields().with(1, reason.rawValue < 0x80 ? reason.rawValue : 0))
    }

    package static func reason(_ payload: [UInt8]) -> PeerReason {
        let fields = try? PeerFields(payload)
        return PeerReason(wire: fields?[1]?.bigEndianInteger ?? 0)
    }

    /// `CERTIFICATE`: fields 1 are the chain, field 2 is the proof.
    package static func certificate(_ chain: [[UInt8]], _ proof: [UInt8]) -> PeerFrame {
        var fields = PeerFields()
        for certificate in chain { fields.append(1, certificate) }
        if !chain.isEmpty { fields.append(2, proof) }
        return PeerFrame(.certificate, fields: fields)
    }
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
