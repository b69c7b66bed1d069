internal import CausewaySystem
public import CausewayTypes

/// What connections, streams and datagram flows of the structured interface have in common: a state, and the ways to send
/// and receive that the top of the stack allows.
///
/// Channels are declared and not implemented: the first operation ends in the state `.failed(.posix(.ENOTSUP))`, and all
/// throw that error.
///
/// Counterpart: macOS 26, iOS 26.
// SAFETY: all stored properties are immutable and `Sendable`, or behind a lock; subclasses add only such.
public class NetworkChannel<ApplicationProtocol>: CustomDebugStringConvertible, Identifiable, Hashable,
    @unchecked Sendable
where ApplicationProtocol: NetworkProtocolOptions {
    /// A name that no other channel of the process has.
    public typealias ID = String

    /// Where a channel is in its life.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum State: Equatable, Sendable {
        /// Made and not used.
        case setup
        /// There is no usable network now.
        case waiting(NWError)
        /// Being established.
        case preparing
        /// Established.
        case ready
        /// Ended by an error.
        case failed(NWError)
        /// Ended.
        case cancelled
    }

    private let number = ChannelNumber.next()
    private let progress = Guarded(State.setup)

    /// As given when the channel was made.
    public let parameters: NWParameters

    package init(parameters: NWParameters) {
        self.parameters = parameters
    }

    /// A name that no other channel of the process has.
    public var id: String { "C\(number)" }

    /// The current state. Readable from any thread.
    public var state: NetworkChannel<ApplicationProtocol>.State { progress.withLock { $0 } }

    /// The most octets of one datagram; 0 before the channel is ready, and on a stream.
    public var maximumDatagramSize: Int { 0 }

    /// The metadata of one protocol of the stack. `nil` before the channel is ready.
    public func metadata(definition: NWProtocolDefinition) -> NWProtocolMetadata? { nil }

    /// How the channel came about. Starts it if need be.
    public func establishmentReport() async throws -> NWConnection.EstablishmentReport { try await use() }

    /// What the channel has transferred since this was called. Starts it if need be.
    public func dataTransferReport() async throws -> NWConnection.DataTransferReport { try await use() }

    /// The name, the stack and the state.
    public var debugDescription: String { "[\(id) \(parameters.defaultProtocolStack.summary), \(state)]" }

    public static func == (lhs: NetworkChannel, rhs: NetworkChannel) -> Bool { lhs === rhs }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Tells the program of a change of state. Connections do.
    func report(_ state: State) async {}

    /// Goes to another state, unless the channel has ended.
    ///
    /// - Returns: Whether it did.
    func move(to state: State) -> Bool {
        progress.withLock { current in
            switch current {
            case .cancelled: return false
            case .failed where state != .cancelled: return false
            default: break
            }
            current = state
            return true
        }
    }

    /// Stands for every operation: the channel starts, and that fails.
    ///
    /// - Throws: `.posix(.ECANCELED)` once the channel is cancelled, `.posix(.ENOTSUP)` otherwise.
    func use<Result>() async throws(NWError) -> Result {
        let failure = NWError.posix(.ENOTSUP)
        if move(to: .failed(failure)) { await report(.failed(failure)) }
        throw state == .cancelled ? .posix(.ECANCELED) : failure
    }

    /// The same, for operations without a result.
    func use() async throws(NWError) {
        let _: Never? = try await use()
    }

    /// As ``use()``, for operations that report nothing.
    func useUnheard() {
        let failure = NWError.posix(.ENOTSUP)
        // The handler may belong to an actor: only a task gets there.
        if move(to: .failed(failure)) { Task { await report(.failed(failure)) } }
    }
}

/// Counts the channels of the process.
private enum ChannelNumber {
    private static let last = Guarded(0)

    static func next() -> Int {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
