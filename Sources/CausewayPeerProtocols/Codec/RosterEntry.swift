/// A member announced by another member, in `ROSTER` and `INTRODUCE`.
package struct RosterEntry: Equatable, Sendable {
    package var key: PeerKey
    package var name: String
    package var handle: SessionHandle
    /// Addresses and ports on which the member listens, at most 4.
    package var endpoints: [PeerEndpoint]

    package init(key: PeerKey, name: String, handle: SessionHandle, endpoints: [PeerEndpoint]) {
        (self.key, self.name, self.handle, self.endpoints) = (key, name, handle, endpoints)
    }

    package var fields: PeerFields {
        var fields = PeerFields()
        fields.append(1, key.id)
        fields.append(2, key.digestBytes)
        fields.append(3, handle.bytes)
        fields.append(4, name)
        for endpoint in endpoints.prefix(4) { fields.append(5, endpoint.address + endpoint.port.bigEndianBytes) }
        return fields
    }

    package init(_ payload: [UInt8]) throws(PeerFields.Malformed) {
        let fields = try PeerFields(payload)
        let id: UInt64 = try fields.require(try fields.integer(1), "peer id")
        let digest = try fields.require(fields[2], "digest")
        guard digest.count == 16 else { throw PeerFields.Malformed(message: "digest of \(digest.count) bytes") }
        key = PeerKey(id: id, high: digest[0..<8].bigEndianInteger, low: digest[8..<16].bigEndianInteger)
        handle = try fields.require(SessionHandle(fields[3] ?? []), "session handle")
        name = try fields.text(4) ?? ""
        endpoints = fields.all(5).prefix(4).compactMap { value in
            PeerEndpoint(
                address: Array(value.dropLast(2)), port: UInt16(truncatingIfNeeded: value.suffix(2).bigEndianInteger))
        }
    }

    /// Encodes a `ROSTER`. Entries beyond 32 are left out.
    package static func rosterFrame(_ entries: [RosterEntry], epoch: UInt64) -> PeerFrame {
        var fields = PeerFields().with(1, epoch)
        for entry in entries.prefix(PeerLimits.members) { fields.append(2, entry.fields.bytes) }
        return PeerFrame(.roster, fields: fields)
    }

    /// Decodes a `ROSTER`'s entries, at most 32.
    package static func roster(_ payload: [UInt8]) throws(PeerFields.Malformed) -> [RosterEntry] {
        let all = try PeerFields(payload).all(2)
        guard all.count <= PeerLimits.members else { throw PeerFields.Malformed(message: "\(all.count) members") }
        var entries: [RosterEntry] = []
        for value in all { entries.append(try RosterEntry(value)) }
        return entries
    }
}
