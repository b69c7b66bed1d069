/// Data with which another device can connect to this session. The program itself sends the data to that device, for
/// example with its own discovery. The device can also prove that it received the data.
package struct ConnectionData: Equatable, Sendable {
    package var entry: RosterEntry
    /// 16 random bytes that authorize one peer. The session accepts this token only from the peer ID for which it
    /// created this data.
    package var token: [UInt8]

    package init(entry: RosterEntry, token: [UInt8]) { (self.entry, self.token) = (entry, token) }

    package var bytes: [UInt8] {
        PeerFields().with(0, UInt8(1)).with(1, entry.fields.bytes).with(2, token).bytes
    }

    /// Decodes the data. Throws for more than 16 KiB, and for a version other than 1.
    package init(_ bytes: [UInt8]) throws(PeerFields.Malformed) {
        guard bytes.count <= PeerLimits.framePayload else {
            throw PeerFields.Malformed(message: "\(bytes.count) bytes")
        }
        let fields = try PeerFields(bytes)
        guard fields[0] == [1] else { throw PeerFields.Malformed(message: "version") }
        entry = try RosterEntry(try fields.require(fields[1], "peer"))
        token = try fields.require(fields[2], "token")
        guard token.count == 16 else { throw PeerFields.Malformed(message: "token") }
    }
}
