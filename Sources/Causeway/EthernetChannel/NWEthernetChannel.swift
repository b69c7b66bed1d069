internal import CausewaySystem
public import CausewayTypes
public import Dispatch
public import FoundationEssentials

/// Ethernet frames of one type on one interface.
///
/// Channels are declared and not implemented: a channel fails with `.posix(.ENOTSUP)` when it is started, and what it is
/// asked to send completes with the same error.
///
/// Every callback comes on the queue given to ``start(queue:)``, in order, `cancelled` last.
///
/// Counterpart: macOS 10.15.
public final class NWEthernetChannel: CustomDebugStringConvertible, Sendable {
    /// Gets the content of a frame, its VLAN tag, the local and the remote address.
    typealias ReceiveHandler = @Sendable (Data, UInt16, EthernetAddress, EthernetAddress) -> Void

    /// The type of the frames.
    public let etherType: UInt16
    /// The interface.
    public let interface: NWInterface
    /// As given at creation.
    package let parameters: NWParameters?

    private let lifecycle = QueuedState(State.setup)
    private let receiver = LockedValue<ReceiveHandler?>(nil)

    /// Makes a channel. Nothing happens until ``start(queue:)``.
    ///
    /// - Parameters:
    ///   - interface: The Ethernet interface.
    ///   - etherType: A type that the system itself does not use.
    public convenience init(on interface: NWInterface, etherType: UInt16) {
        self.init(on: interface, etherType: etherType, options: nil)
    }

    /// Makes a channel with parameters. Nothing happens until ``start(queue:)``.
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

    /// Begins. `queue` takes every callback from now on. Only the first call counts.
    public func start(queue: DispatchQueue) {
        guard lifecycle.start(on: queue) else { return }
        lifecycle.move(to: .failed(.posix(.ENOTSUP)))
    }

    /// Ends the channel; `cancelled` is the last callback.
    public func cancel() {
        lifecycle.end(in: .cancelled) { [self] in receiveHandler = nil }
    }

    /// The current state. Readable from any thread.
    public var state: NWEthernetChannel.State { lifecycle.current }

    /// The queue given to ``start(queue:)``; `nil` before.
    public var queue: DispatchQueue? { lifecycle.queue }

    /// The most bytes of a frame's content; 0 before the channel is ready.
    ///
    /// Counterpart: macOS 13.
    public var maximumPayloadSize: Int { 0 }

    /// Called at each change of state. Set it before ``start(queue:)``.
    @preconcurrency public var stateUpdateHandler: (@Sendable (_ state: NWEthernetChannel.State) -> Void)? {
        get { lifecycle.handler }
        set { lifecycle.handler = newValue }
    }

    /// Called with each received frame. Set it before ``start(queue:)``.
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
    ///   - content: What follows the frame's header.
    ///   - remoteAddress: The receiver.
    ///   - vlanTag: The tag of the virtual network; 0 for none.
    ///   - completion: Called once, on the queue of the channel.
    @preconcurrency public func send(
        content: Data, to remoteAddress: NWEthernetChannel.EthernetAddress, vlanTag: UInt16,
        completion: @escaping @Sendable (_ error: NWError?) -> Void
    ) {
        lifecycle.call { [lifecycle] in completion(.posix(lifecycle.hasEnded ? .ECANCELED : .ENOTSUP)) }
    }

    /// The interface, the type of the frames and the state.
    public var debugDescription: String {
        "[ethernet channel on \(interface.name) 0x\(String(etherType, radix: 16)), \(state)]"
    }
}

extension NWEthernetChannel {
    /// Where a channel is in its life.
    ///
    /// Counterpart: macOS 10.15.
    public enum State: Equatable, Sendable {
        /// Made and not started.
        case setup
        /// The interface cannot be used now.
        case waiting(NWError)
        /// Being opened.
        case preparing
        /// Frames flow.
        case ready
        /// Ended by an error. The program still has to cancel it.
        case failed(NWError)
        /// Ended. Nothing more is delivered.
        case cancelled
    }

    /// The address of a network adapter.
    ///
    /// Counterpart: macOS 10.15.
    public struct EthernetAddress: Hashable, CustomDebugStringConvertible, Sendable {
        private let bytes: [UInt8]

        /// Makes an address of bytes; `nil` unless there are six.
        public init?(_ rawValue: Data) {
            guard rawValue.count == 6 else { return nil }
            bytes = Array(rawValue)
        }

        /// Reads six hexadecimal numbers between colons, such as `02:00:5e:10:00:ff`; `nil` for anything else.
        public init?(_ string: String) {
            let parts = string.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let bytes = parts.compactMap { part -> UInt8? in
                // The standard library's parser would take a sign.
                guard (1...2).contains(part.count), part.first != UInt8(ascii: "+"), part.first != UInt8(ascii: "-")
                else { return nil }
                return UInt8(String(decoding: part, as: UTF8.self), radix: 16)
            }
            guard parts.count == 6, bytes.count == 6 else { return nil }
            self.bytes = bytes
        }

        /// The six bytes.
        public var rawValue: Data { Data(bytes) }

        /// Two hexadecimal digits for each byte, between colons.
        public var debugDescription: String {
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xf, radix: 16) }.joined(separator: ":")
        }
    }
}
