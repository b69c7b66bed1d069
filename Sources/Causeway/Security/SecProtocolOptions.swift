internal import CausewaySystem
public import Dispatch
internal import Synchronization

/// The completion handler of a verify block. The argument is `true` if the peer is trusted.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_verify_complete_t = (Bool) -> Void
/// A block that decides whether to trust a peer. The block replaces the default validation of the peer's certificates.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_verify_t = (
    sec_protocol_metadata_t, sec_trust_t, @escaping sec_protocol_verify_complete_t
) -> Void

/// The completion handler of a challenge block. The argument is the client's identity, or `nil` for none.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_challenge_complete_t = (sec_identity_t?) -> Void
/// A block that selects a client's identity when the server requests one.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_challenge_t = (
    sec_protocol_metadata_t, @escaping sec_protocol_challenge_complete_t
) -> Void

/// The completion handler of a key update block. The program calls the handler when the program is ready for new keys.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_key_update_complete_t = () -> Void
/// A block that is called when keys must change.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_key_update_t = (
    sec_protocol_metadata_t, @escaping sec_protocol_key_update_complete_t
) -> Void

/// The completion handler of a pre-shared key selection block. The argument is the identity of the key, or `nil` for none.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_pre_shared_key_selection_complete_t = (DispatchData?) -> Void
/// A block that selects a pre-shared key by the server's hint.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias sec_protocol_pre_shared_key_selection_t = (
    sec_protocol_metadata_t, DispatchData?, @escaping sec_protocol_pre_shared_key_selection_complete_t
) -> Void

private let blockCount = Atomic<UInt64>(0)

/// A program's block, and the queue on which the block is called.
package struct SecProtocolBlock<Block>: Sendable, Equatable {
    package let block: Unchecked<Block>
    package let queue: DispatchQueue
    /// The number that identifies the block in the settings of the TLS engine. The number is unique in this process.
    package let number: UInt64

    package init(_ block: Block, _ queue: DispatchQueue) {
        self.block = Unchecked(block)
        number = blockCount.wrappingAdd(1, ordering: .relaxed).newValue
        self.queue = queue
    }

    /// Whether both values have the same block, which one call has set. A copy of an options object keeps this block
    /// until the program sets another block.
    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.block === rhs.block }
}

/// The TLS settings of an ``NWProtocolTLS/Options``, for the `sec_protocol_options_*` functions.
///
/// Thread-safe. The settings are read when a connection or listener is created.
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
        // Release the previous option values outside the lock. They may hold the last reference to an object from the
        // program, and this object's `deinit` may run code that needs the lock.
        let old = storage.withLock { values in
            let old = values
            body(&values)
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// Returns a deep copy.
    package func copy() -> sec_protocol_options_t { sec_protocol_options_t(values) }
}
