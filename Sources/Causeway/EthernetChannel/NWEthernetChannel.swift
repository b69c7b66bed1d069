internal import CausewaySystem
public import CausewayTypes
internal import CausewayWire
public import Dispatch
public import FoundationEssentials

/// Sends and receives Ethernet frames with one EtherType on one interface. Not implemented.
///
/// A channel fails with `.posix(.ENOTSUP)` when it is started, and each send completes with this error.
///
/// All callbacks run on the queue given to ``start(queue:)``, in order. No callback follows `cancelled`. All members
/// may be used from any thread.
///
/// Counterpart: macOS 10.15.
public final class NWEthernetChannel: CustomDebugStringConvertible, Sendable {
    /// Receives a frame's content, VLAN tag, local address and remote address.
    typealias ReceiveHandler = @Sendable (Data, UInt16, EthernetAddress, EthernetAddress) -> Void

    /// The EtherType of the frames.
    public let etherType: UInt16
    /// The channel's interface.
    public let interface: NWInterface
    /// The parameters given to the initializer; `nil` if none were given.
    package let parameters: NWParameters?

    private let lifecycle = QueuedState(State.setup)
    private let receiver = LockedValue<ReceiveHandler?>(nil)

    /// Creates a channel. It does nothing until ``start(queue:)`` is called.
    ///
    /// - Parameters:
    ///   - interface: The Ethernet interface.
    ///   - etherType: An EtherType that the system itself does not use.
    public convenience init(on interface: NWInterface, etherType: UInt16) {
        self.init(on: interface, etherType: etherType, options: nil)
    }

    /// Creates a channel with parameters. It does nothing until ``start(queue:)`` is called.
    ///
    /// Counterpart: macOS 13.
    public convenience init(on interface: NWInterface, etherType: UInt16, parameters: NWParameters) {
        self.init(on: interface, etherType: etherType, options: parameters)
    }

    private init(on interface: NWInterface, etherType: UInt16, options: NWParameters?) {
        self.interface = interface
        self.etherType = etherType
        parameters = options
    }

    /// Starts the channel, which fails with `.posix(.ENOTSUP)`. All callbacks run on `queue`. Only the first call has an effect.
    public func start(queue: DispatchQueue) {
        guard lifecycle.start(on: queue) else { return }
        lifecycle.move(to: .failed(.posix(.ENOTSUP)))
    }

    /// Closes the channel. The state `cancelled` is the final callback.
    public func cancel() {
        lifecycle.end(in: .cancelled) { [self] in receiveHandler = nil }
    }

    /// The current state. May be read from any thread.
    public var state: NWEthernetChannel.State { lifecycle.current }

    /// The queue passed to ``start(queue:)``; `nil` before the start.
    public var queue: DispatchQueue? { lifecycle.queue }

    /// Maximum size of a frame's content, in bytes. 0 before the channel is ready.
    ///
    /// Counterpart: macOS 13.
    public var maximumPayloadSize: Int { 0 }

    /// Called on the channel's queue at each state change. Set this before ``start(queue:)``.
    @preconcurrency public var stateUpdateHandler: (@Sendable (_ state: NWEthernetChannel.State) -> Void)? {
        get { lifecycle.handler }
        set { lifecycle.handler = newValue }
    }

    /// Called on the channel's queue with each received frame. Set this before ``start(queue:)``.
    @preconcurrency public var receiveHandler:
        (
            @Sendable (
                _ content: Data, _ vlanTag: UInt16, _ localAddress: NWEthernetChannel.EthernetAddress,
                _ remoteAddress: NWEthernetChannel.EthernetAddress
            ) -> Void
        )?
    {
        get { receiver.withLock { $0 } }
        set {
            let old = receiver.withLock { handler in
                defer { handler = newValue }
                return handler
            }
            withExtendedLifetime(old) {}
        }
    }

    /// Sends one frame.
    ///
    /// - Parameters:
    ///   - content: The payload, which follows the frame's header.
    ///   - remoteAddress: The destination address.
    ///   - vlanTag: The VLAN tag; 0 for none.
    ///   - completion: Called once on the channel's queue, with `.posix(.ENOTSUP)`, or with `.posix(.ECANCELED)` after ``cancel()``.
    @preconcurrency public func send(
        content: Data, to remoteAddress: NWEthernetChannel.EthernetAddress, vlanTag: UInt16,
        completion: @escaping @Sendable (_ error: NWError?) -> Void
    ) {
        lifecycle.call { [lifecycle] in completion(.posix(lifecycle.hasEnded ? .ECANCELED : .ENOTSUP)) }
    }

    /// The channel's interface, EtherType and state, as text.
    public var debugDescription: String {
        "[ethernet channel on \(interface.name) 0x\(String(etherType, radix: 16)), \(state)]"
    }
}

extension NWEthernetChannel {
    /// The state of a channel.
    ///
    /// Counterpart: macOS 10.15.
    public enum State: Equatable, Sendable {
        /// The channel is not started.
        case setup
        /// The interface is currently not usable.
        case waiting(NWError)
        /// The channel is opening the interface.
        case preparing
        /// The channel sends and receives frames.
        case ready
        /// An error ended the channel. The program must still cancel it.
        case failed(NWError)
        /// The channel has ended. No callback follows.
        case cancelled
    }

    /// The MAC address of a network interface.
    ///
    /// Counterpart: macOS 10.15.
    public struct EthernetAddress: Hashable, CustomDebugStringConvertible, Sendable {
        private let bytes: [UInt8]

        /// Creates an address from six bytes; `nil` for any other number of bytes.
        public init?(_ rawValue: Data) {
            guard rawValue.count == 6 else { return nil }
            bytes = Array(rawValue)
        }

        /// Parses six hexadecimal numbers separated by colons, for example `02:00:5e:10:00:ff`; `nil` for any other text.
        public init?(_ string: String) {
            let parts = string.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let bytes = parts.compactMap { part -> UInt8? in
                // The parser of the standard library also accepts a sign before the digits. An address cannot contain a
                // sign, so refuse it here.
                guard (1...2).contains(part.count), part.first != UInt8(ascii: "+"), part.first != UInt8(ascii: "-")
                else { return nil }
                return UInt8(String(decoding: part, as: UTF8.self), radix: 16)
            }
            guard parts.count == 6, bytes.count == 6 else { return nil }
            self.bytes = bytes
        }

        /// The six bytes of the address.
        public var rawValue: Data { Data(bytes) }

        /// The bytes as two hexadecimal digits each, separated by colons.
        public var debugDescription: String { Hexadecimal.colonSeparated(bytes) }
    }
}
