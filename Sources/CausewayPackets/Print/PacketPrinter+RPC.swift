/// Parses the remote procedure call fields (RFC 5531) that NFS needs.
extension PacketPrinter {
    /// The NFS server port.
    static let nfsPort: UInt16 = 2049

    private enum Kind {
        static let call: UInt32 = 0
        static let reply: UInt32 = 1
    }

    /// Reasons why a server rejects a call: `reject_stat` (RFC 5531 §9).
    private enum RejectStatus {
        static let versionMismatch: UInt32 = 0
        static let authenticationError: UInt32 = 1
    }

    /// Results for an accepted call: `accept_stat` (RFC 5531 §9).
    private enum AcceptStatus {
        static let success: UInt32 = 0
        static let systemError: UInt32 = 5
    }

    /// Identifies a call until its reply arrives. A reply contains only its call's number, not the procedure.
    struct RemoteCall: Hashable {
        var transaction: UInt32
        var isIPv6: Bool
        var clientHigh, clientLow, serverHigh, serverLow: UInt64
    }

    /// A call's procedure.
    struct RemoteProcedure {
        var version: UInt32
        var number: UInt32
    }

    /// Prints an NFS message, which is a whole datagram or a record in a stream. Returns `false` if the bytes are not
    /// an NFS message.
    mutating func nfs(
        _ p: borrowing ByteView, _ length: Int, _ ports: (source: UInt16, destination: UInt16), _ carrier: Carrier,
        _ before: StaticString = ""
    ) throws(WireError) -> Bool {
        guard let transaction = try? p.u32(0), let kind = try? p.u32(4) else { return false }
        let isCall = ports.destination == Self.nfsPort && kind == Kind.call
        guard isCall || ports.source == Self.nfsPort && kind == Kind.reply else { return false }
        part = "nfs"
        out.put(before)
        put(isCall ? "NFS request xid " : "NFS reply xid ", transaction, " ")
        if isCall {
            try nfsRequest(p, length, carrier)
        } else {
            try nfsReply(p, length, carrier)
        }
        return true
    }

    /// Prints the NFS message in a TCP segment that begins with a record (RFC 5531 §11). A segment that begins inside a
    /// record is not recognized.
    mutating func nfsRecord(
        _ p: borrowing ByteView, _ length: Int, _ ports: (source: UInt16, destination: UInt16), _ carrier: Carrier
    ) throws(WireError) {
        guard let mark = try? p.u32(0) else { return }
        _ = try nfs(p.from(4), min(Int(mark & 0x7FFF_FFFF), length - 4), ports, carrier, ": ")
    }

    mutating func remember(_ transaction: UInt32, _ procedure: RemoteProcedure, _ carrier: Carrier) {
        if remoteCalls.count >= Self.conversationLimit { remoteCalls.removeAll(keepingCapacity: true) }
        let (client, server) = (carrier.source, carrier.destination)
        remoteCalls[
            RemoteCall(
                transaction: transaction, isIPv6: carrier.isIPv6, clientHigh: client.0, clientLow: client.1,
                serverHigh: server.0, serverLow: server.1)] = procedure
    }

    /// Returns the procedure of the call to which a reply belongs. Returns `nil` if the capture does not contain the
    /// call.
    func procedure(of transaction: UInt32, _ carrier: Carrier) -> RemoteProcedure? {
        let (client, server) = (carrier.destination, carrier.source)
        return remoteCalls[
            RemoteCall(
                transaction: transaction, isIPv6: carrier.isIPv6, clientHigh: client.0, clientLow: client.1,
                serverHigh: server.0, serverLow: server.1)]
    }

    /// Returns the offset to a call's arguments, after the credentials and the verifier (RFC 5531 §9); `nil` if their
    /// lengths are invalid.
    mutating func argumentsOfCall(_ p: borrowing ByteView, _ length: Int) throws(WireError) -> Int? {
        guard let verifier = try authentication("credentials length", p, 24, length) else { return nil }
        return try authentication("verifier length", p, verifier, length)
    }

    /// Skips an authentication field. Returns the next field's offset; `nil` if the length is invalid.
    private mutating func authentication(
        _ what: StaticString, _ p: borrowing ByteView, _ offset: Int, _ length: Int
    ) throws(WireError) -> Int? {
        let count = Int(try p.u32(offset + 4))
        guard count <= length else {
            broken(what, count, ">", length)
            return nil
        }
        return offset + 8 + (count + 3) / 4 * 4
    }

    /// Prints the reason why a server rejected a call (RFC 5531 §9).
    mutating func rejection(_ p: borrowing ByteView) throws(WireError) {
        switch try p.u32(12) {
        case RejectStatus.versionMismatch:
            put("RPC Version mismatch (", try p.u32(16))
            put("-", try p.u32(20), ")")
        case RejectStatus.authenticationError:
            let reason = try p.u32(16)
            out.put("Auth ")
            if reason < Self.authenticationFailures.count {
                out.put(Self.authenticationFailures[Int(reason)])
            } else {
                put("Invalid failure code ", reason)
            }
        case let reason: put("Unknown reason for rejecting rpc message ", reason)
        }
    }

    private static let authenticationFailures: [StaticString] = [
        "OK", "Bogus Credentials (seal broken)", "Rejected Credentials (client should begin new session)",
        "Bogus Verifier (seal broken)", "Verifier expired or was replayed", "Credentials are too weak",
        "Bogus response verifier", "Unknown failure",
    ]

    /// Returns the offset to an accepted call's results. If there are none, prints the reason and returns `nil`.
    mutating func results(_ p: borrowing ByteView, _ length: Int) throws(WireError) -> Int? {
        let count = Int(try p.u32(16))
        guard count < length else { throw .invalid("verifier length", at: 16) }
        let offset = 20 + (count + 3) / 4 * 4
        switch try p.u32(offset) {
        case AcceptStatus.success: return offset + 4
        case let status where status <= AcceptStatus.systemError: out.put(Self.acceptStatus[Int(status) - 1])
        case let status: put(" ar_stat ", status)
        }
        return nil
    }

    private static let acceptStatus: [StaticString] = [
        " PROG_UNAVAIL", " PROG_MISMATCH", " PROC_UNAVAIL", " GARBAGE_ARGS", " SYSTEM_ERR",
    ]
}
