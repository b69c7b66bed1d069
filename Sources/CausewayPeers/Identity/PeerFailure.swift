/// Why an operation with a peer failed, or why a peer left.
public struct PeerFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure. The first twelve kinds are also sent to peers, as numbers.
    public struct Code: Hashable, Sendable {
        /// The reason's number in the protocol (CWP/1). Numbers of 256 and above are never sent.
        package let number: UInt16

        package init(_ number: UInt16) {
            self.number = number
        }

        /// The peer left the session.
        public static let left = Code(0)
        /// The peer declined the invitation.
        public static let declined = Code(1)
        /// The session has its maximum number of peers.
        public static let full = Code(2)
        /// A deadline passed: the peer did not answer, did not complete a handshake, or sent nothing for too long.
        public static let timedOut = Code(3)
        /// Another link to the same peer is in use.
        public static let duplicate = Code(4)
        /// The peer violated the protocol.
        public static let violation = Code(5)
        /// The peer supports no common protocol version.
        public static let version = Code(6)
        /// The peer's key differs from the key pinned at first use.
        public static let identityChanged = Code(7)
        /// The peer's certificate or code was rejected.
        public static let unverified = Code(8)
        /// The peer sent more than a limit allows.
        public static let excess = Code(9)
        /// The peer's program is shutting down.
        public static let closing = Code(10)
        /// The peer does not support the operation.
        public static let unsupported = Code(11)
        /// The peer is not connected.
        public static let notConnected = Code(256)
        /// An argument is invalid.
        public static let invalid = Code(257)
        /// Too much data is already queued.
        public static let congested = Code(258)
        /// The program or the peer cancelled the operation.
        public static let cancelled = Code(259)
        /// The network failed; ``PeerFailure/message`` has the error.
        public static let network = Code(260)
        /// A file cannot be read or written.
        public static let file = Code(261)
    }

    /// The kind of failure.
    public let code: Code
    /// What failed, in one line.
    public let message: String

    package init(_ code: Code, _ message: String? = nil) {
        self.code = code
        self.message = message ?? code.text
    }

    /// Returns whether the codes are equal. The messages may differ.
    public static func == (lhs: PeerFailure, rhs: PeerFailure) -> Bool { lhs.code == rhs.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// The message.
    public var description: String { message }
}

extension PeerFailure.Code {
    /// A description in one line.
    var text: String {
        switch self {
        case .left: "the peer left the session"
        case .declined: "the peer declined the invitation"
        case .full: "the session has its maximum number of peers"
        case .timedOut: "the peer did not answer in time"
        case .duplicate: "another link to this peer is in use"
        case .violation: "the peer violated the protocol"
        case .version: "the peer supports no common version of the protocol"
        case .identityChanged: "the key of the peer differs from the pinned key"
        case .unverified: "the certificate or the code of the peer was rejected"
        case .excess: "the peer exceeded a limit"
        case .closing: "the program of the peer is shutting down"
        case .unsupported: "the operation is not supported"
        case .notConnected: "the peer is not connected"
        case .invalid: "invalid argument"
        case .congested: "too much data is queued for the peer"
        case .cancelled: "the operation was cancelled"
        case .network: "the network failed"
        case .file: "the file cannot be read or written"
        default: "failure \(number)"
        }
    }
}
