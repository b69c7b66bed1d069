/// The `HELLO` frame, which each side sends first on a control link.
package struct Hello: Equatable, Sendable {
    package struct Version: Comparable, Sendable {
        package var major: UInt8
        package var minor: UInt8
        package static let current = Version(major: 1, minor: 0)
        package static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor) < (right.major, right.minor)
        }
    }

    /// Capabilities, one bit each. Unknown bits are ignored.
    package struct Features: OptionSet, Sendable {
        package let rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }
        package static let resume = Features(rawValue: 1)
        package static let lanes = Features(rawValue: 2)
        package static let udp = Features(rawValue: 4)
        package static let streams = Features(rawValue: 8)
        package static let verification = Features(rawValue: 16)
        package static let relay = Features(rawValue: 32)
        package static let actors = Features(rawValue: 64)
        package static let current: Features = [.resume, .lanes, .udp, .streams, .verification]
    }

    /// The session that the dialler connects to.
    package struct Target: Equatable, Sendable {
        /// The other side's session handle.
        package var handle: SessionHandle
        /// How many numbered frames this side has received from the target session. Present only on a link that
        /// replaces a broken link.
        ///
        /// Numbered frames are acknowledged, and retransmitted if necessary.
        package var received: UInt64?
        /// The token from the other side's ``ConnectionData``.
        package var token: [UInt8]?

        package init(handle: SessionHandle, received: UInt64? = nil, token: [UInt8]? = nil) {
            (self.handle, self.received, self.token) = (handle, received, token)
        }
    }

    package var version = Version.current
    /// The lowest version that the sender supports.
    package var lowest = Version(major: 1, minor: 0)
    package var features = Features.current
    package var peer: PeerInfo
    /// The sender's session handle, or ``SessionHandle/none``.
    package var handle: SessionHandle
    package var target: Target?
    /// A proof that binds the frame to its TLS connection; see ``proof(exporter:isDialler:handle:publicKey:)``.
    package var proof: [UInt8] = []
    /// The sender's listener port, or 0.
    package var port: UInt16 = 0
    /// The sender's own list of its addresses. The list has at most 4 addresses, and each has 4 or 16 bytes. They can
    /// differ from the remote address of the connection.
    package var addresses: [[UInt8]] = []
    /// Proves knowledge of a pairing secret (``PairingTable/Proof``); empty without a secret.
    package var pairing: [UInt8] = []

    package init(peer: PeerInfo, handle: SessionHandle, target: Target? = nil) {
        (self.peer, self.handle, self.target) = (peer, handle, target)
    }

    /// Returns the message authentication code (MAC) for a HELLO frame. It binds the frame to one TLS connection and to
    /// the sender's role.
    ///
    /// The exporter value prevents a replay on another connection. The role prevents that an attacker sends the HELLO
    /// back to its sender.
    package static func proof(exporter: [UInt8], isDialler: Bool, handle: SessionHandle, publicKey: [UInt8]) -> [UInt8]
    {
        let role: UInt8 = isDialler ? 1 : 2
        return PeerDigest.hmac(key: exporter, Array("cw-peers/1 hello".utf8) + [role] + handle.bytes + publicKey)
    }

    package var frame: PeerFrame {
        var fields = PeerFields()
        fields.append(1, [version.major, version.minor])
        fields.append(2, [lowest.major, lowest.minor])
        fields.append(3, features.rawValue)
        fields.append(4, peer.key.id)
        fields.append(5, peer.publicKey)
        fields.append(6, peer.name)
        fields.append(7, handle.bytes)
        if let received = target?.received { fields.append(8, received) }
        fields.append(9, proof)
        fields.append(10, peer.agent)
        if let target { fields.append(11, target.handle.bytes) }
        if let token = target?.token { fields.append(12, token) }
        fields.append(13, port)
        for address in addresses { fields.append(14, address) }
        if !pairing.isEmpty { fields.append(15, pairing) }
        return PeerFrame(.hello, fields: fields)
    }

    package init(_ payload: [UInt8]) throws(PeerFields.Malformed) {
        let fields = try PeerFields(payload)
        version = try Self.version(fields, 1, "version")
        lowest = try Self.version(fields, 2, "lowest version")
        features = Features(rawValue: try fields.integer(3) ?? 0)
        let id: UInt64 = try fields.require(try fields.integer(4), "peer id")
        let publicKey = try fields.require(fields[5], "public key")
        guard (1...1024).contains(publicKey.count) else { throw PeerFields.Malformed(message: "public key") }
        peer = PeerInfo(
            key: PeerKey(id: id, publicKey: publicKey), name: try fields.text(6) ?? "", publicKey: publicKey,
            agent: try fields.text(10) ?? "")
        handle = try fields.require(SessionHandle(fields[7] ?? []), "session handle")
        proof = try fields.require(fields[9], "proof")
        port = try fields.integer(13) ?? 0
        addresses = Array(fields.all(14).filter { $0.count == 4 || $0.count == 16 }.prefix(4))
        pairing = fields[15] ?? []
        target = try Self.target(fields)
    }

    private static func target(_ fields: PeerFields) throws(PeerFields.Malformed) -> Target? {
        guard let bytes = fields[11] else { return nil }
        let handle = try fields.require(SessionHandle(bytes), "target handle of 16 bytes")
        if let token = fields[12], token.count != 16 { throw PeerFields.Malformed(message: "token") }
        return Target(handle: handle, received: try fields.integer(8), token: fields[12])
    }

    private static func version(_ fields: PeerFields, _ tag: UInt8, _ name: String) throws(PeerFields.Malformed)
        -> Version
    {
        guard let bytes = fields[tag], bytes.count == 2 else { throw PeerFields.Malformed(message: name) }
        return Version(major: bytes[0], minor: bytes[1])
    }

    /// Whether both sides support a common version.
    package var isCompatible: Bool { lowest <= .current && version.major >= Version.current.major }

    /// Returns at most 4 endpoints at which the sender can be reached.
    ///
    /// The first endpoint has the address that was observed on the link.
    package func endpoints(observed: [UInt8]) -> [PeerEndpoint] {
        var found: [PeerEndpoint] = []
        for address in [observed] + addresses {
            guard let endpoint = PeerEndpoint(address: address, port: port), !found.contains(endpoint) else { continue }
            found.append(endpoint)
        }
        return Array(found.prefix(4))
    }
}
