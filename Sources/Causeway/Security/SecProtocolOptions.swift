internal import CausewaySystem
public import Dispatch
package import FoundationEssentials
internal import Synchronization

/// Told whether a verify block trusts the peer.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_verify_complete_t = (Bool) -> Void
/// Decides whether to trust a peer, instead of the evaluation by the system.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_verify_t = (
    sec_protocol_metadata_t, sec_trust_t, @escaping sec_protocol_verify_complete_t
) -> Void

/// Told with which identity a client answers; `nil` for none.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_challenge_complete_t = (sec_identity_t?) -> Void
/// Chooses a client's identity when the server asks for one.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_challenge_t = (
    sec_protocol_metadata_t, @escaping sec_protocol_challenge_complete_t
) -> Void

/// Told that the program is ready for new keys.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_key_update_complete_t = () -> Void
/// Called when keys have to change.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_key_update_t = (
    sec_protocol_metadata_t, @escaping sec_protocol_key_update_complete_t
) -> Void

/// Told which pre-shared key identity to use; `nil` for none.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_pre_shared_key_selection_complete_t = (DispatchData?) -> Void
/// Chooses a pre-shared key by the server's hint.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_pre_shared_key_selection_t = (
    sec_protocol_metadata_t, DispatchData?, @escaping sec_protocol_pre_shared_key_selection_complete_t
) -> Void

private let blockCount = Atomic<UInt64>(0)

/// A block of the program's and the queue to call it on.
package struct SecProtocolBlock<Block>: Sendable, Equatable {
    package let block: Unchecked<Block>
    package let queue: DispatchQueue
    /// Of no other block in this process.
    package let number: UInt64

    package init(_ block: Block, _ queue: DispatchQueue) {
        self.block = Unchecked(block)
        number = blockCount.wrappingAdd(1, ordering: .relaxed).newValue
        self.queue = queue
    }

    /// Whether both are from the same call.
    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.block === rhs.block }
}

/// What `sec_protocol_options_*` functions have set. `nil` and empty mean "as the TLS engine does by itself".
package struct SecProtocolOptionValues: Sendable, Equatable {
    package struct PreSharedKey: Sendable, Equatable {
        package var key: Data
        package var identity: Data
    }

    package var localIdentity: sec_identity_t?
    package var cipherSuites: [tls_ciphersuite_t] = []
    package var cipherSuiteGroups: [tls_ciphersuite_group_t] = []
    package var minimumVersion: tls_protocol_version_t?
    package var maximumVersion: tls_protocol_version_t?
    /// Bytes that are no text are legal (RFC 7301 §3.1), but a C string brings none.
    package var applicationProtocols: [String] = []
    package var serverName: String?
    package var preSharedKeys: [PreSharedKey] = []
    package var preSharedKeyIdentityHint: Data?
    package var ticketsEnabled: Bool?
    package var isFallbackAttempt = false
    package var resumptionEnabled: Bool?
    package var falseStartEnabled: Bool?
    package var ocspEnabled: Bool?
    package var sctEnabled: Bool?
    package var renegotiationEnabled: Bool?
    package var earlyDataEnabled = false
    /// `nil`: a client asks for the server's certificate, a server not for the client's.
    package var peerAuthentication: PeerAuthentication?
    package var trustRules = NWProtocolTLS.Options.TrustRules()
    package var verify: SecProtocolBlock<sec_protocol_verify_t>?
    package var challenge: SecProtocolBlock<sec_protocol_challenge_t>?
    package var keyUpdate: SecProtocolBlock<sec_protocol_key_update_t>?
    package var preSharedKeySelection: SecProtocolBlock<sec_protocol_pre_shared_key_selection_t>?

    /// Whether the peer has to prove who it is.
    package enum PeerAuthentication: Sendable, Equatable {
        case none, optional, required
    }

    package init() {}

    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.localIdentity === rhs.localIdentity && lhs.cipherSuites == rhs.cipherSuites
            && lhs.cipherSuiteGroups == rhs.cipherSuiteGroups && lhs.minimumVersion == rhs.minimumVersion
            && lhs.maximumVersion == rhs.maximumVersion && lhs.applicationProtocols == rhs.applicationProtocols
            && lhs.serverName == rhs.serverName && lhs.preSharedKeys == rhs.preSharedKeys
            && lhs.preSharedKeyIdentityHint == rhs.preSharedKeyIdentityHint && lhs.switches == rhs.switches
            && lhs.peerAuthentication == rhs.peerAuthentication && lhs.trustRules == rhs.trustRules
            && lhs.verify == rhs.verify && lhs.challenge == rhs.challenge && lhs.keyUpdate == rhs.keyUpdate
            && lhs.preSharedKeySelection == rhs.preSharedKeySelection
    }

    private var switches: [Bool?] {
        [
            ticketsEnabled, isFallbackAttempt, resumptionEnabled, falseStartEnabled, ocspEnabled, sctEnabled,
            renegotiationEnabled, earlyDataEnabled,
        ]
    }
}

/// The TLS settings of one ``NWProtocolTLS/Options``, as `sec_protocol_options_*` functions take them.
///
/// They may be read and written from any thread, and are read when a connection or listener is made.
///
/// Counterpart: macOS 10.14, iOS 12.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public final class sec_protocol_options_t: Sendable {
    private let storage: LockedValue<SecProtocolOptionValues>

    package init(_ values: SecProtocolOptionValues = SecProtocolOptionValues()) {
        storage = LockedValue(values)
    }

    package var values: SecProtocolOptionValues { storage.withLock { $0 } }

    package func update(_ body: @Sendable (inout SecProtocolOptionValues) -> Void) {
        // What is replaced may hold the last reference to something of the program's: it is released outside the lock.
        let old = storage.withLock { values in
            let old = values
            body(&values)
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// A deep copy.
    package func copy() -> sec_protocol_options_t { sec_protocol_options_t(values) }
}
