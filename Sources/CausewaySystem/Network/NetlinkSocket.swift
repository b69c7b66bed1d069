import CCausewayLinux
package import CausewayWire

/// Sole owner of a routing socket (rtnetlink(7)): lists the kernel's network state, or hears of its changes.
///
/// A socket belongs to the network namespace of the thread that opened it, and stays there.
package struct NetlinkSocket: ~Copyable, Sendable {
    /// What to be told about without asking.
    package struct Groups: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        package static let links = Groups(rawValue: UInt32(CW_NETLINK_LINKS.rawValue))
        package static let addresses = Groups(rawValue: UInt32(CW_NETLINK_ADDRESSES.rawValue))
        package static let routes = Groups(rawValue: UInt32(CW_NETLINK_ROUTES.rawValue))
        package static let rules = Groups(rawValue: UInt32(CW_NETLINK_RULES.rawValue))
        /// What routers advertise that the kernel itself has no use for.
        package static let userOptions = Groups(rawValue: UInt32(CW_NETLINK_USER_OPTIONS.rawValue))
        /// All that decides which peers can be reached.
        package static let all: Groups = [.links, .addresses, .routes, .rules]
    }

    /// What one receive gave.
    package enum Reception: Equatable, Sendable {
        /// The datagram fills this many bytes of the buffer.
        case datagram(Int)
        /// The datagram has this many bytes, more than the buffer: its end is lost.
        case truncated(Int)
        /// The kernel had more to tell than the socket had room for: some of it is lost.
        case overrun
        /// Nothing is there. On a blocking socket: nothing came within 5 seconds.
        case nothing
    }

    /// As large as the kernel makes a datagram of a listing; notifications are far smaller.
    package static let bufferSize = 32 * 1024
    /// How often a listing is asked for again because the state changed meanwhile.
    static let attemptLimit = 10
    /// How many datagrams one ``drainChanges()`` takes at most.
    static let drainLimit = 256

    private let descriptor: Descriptor
    private let vocabulary: NetlinkDecoder.Vocabulary
    private var sequence: UInt32 = 0

    /// Opens a socket.
    ///
    /// - Parameters:
    ///   - groups: What to hear of; none for a socket that only asks.
    ///   - blocking: Whether ``receive(into:)`` waits. ``list(_:pick:)`` needs a socket that does.
    package init(groups: Groups = [], blocking: Bool = true) throws(SystemError) {
        descriptor = Descriptor(
            adopting: try check(cw_netlink_open(groups.rawValue, !blocking, false), "netlink socket"))
        vocabulary = .routing
    }

    /// Opens a socket that asks families of generic netlink.
    package init(generic: Void) throws(SystemError) {
        descriptor = Descriptor(adopting: try check(cw_netlink_open(0, false, true), "netlink socket"))
        vocabulary = .generic
    }

    /// The number to wait for readiness with. It stays this value's property.
    package var rawValue: CInt { descriptor.rawValue }

    /// Gives the descriptor to somebody else.
    package consuming func release() -> Descriptor { descriptor }

    /// Sends a request numbered `sequence`.
    package borrowing func send(_ request: NetlinkRequest, sequence: UInt32) throws(SystemError) {
        let bytes = request.encoded(sequence: sequence)
        try check(cw_netlink_send(descriptor.rawValue, bytes, bytes.count), "netlink send")
    }

    /// Receives one datagram from the kernel. Those that other processes send are dropped.
    package borrowing func receive(into buffer: inout [UInt8]) throws(SystemError) -> Reception {
        while true {
            var isFromKernel = false
            let length = cw_netlink_receive(descriptor.rawValue, &buffer, buffer.count, &isFromKernel)
            switch length {
            case 0...:
                guard isFromKernel else { continue }
                return length > buffer.count ? .truncated(length) : .datagram(length)
            case Int(-EAGAIN): return .nothing
            case Int(-ENOBUFS): return .overrun
            default: throw SystemError(errno: CInt(truncatingIfNeeded: -length), call: "netlink receive")
            }
        }
    }

    /// Asks for a listing and returns what `pick` keeps of it.
    ///
    /// If the listed state changes while it is being listed, the kernel says so, and the listing starts again. Under
    /// change that does not end the last attempt's result is returned: every entry of it was true at some moment.
    ///
    /// - Parameter pick: Called for each message, and again from the first one when the listing starts again.
    /// - Throws: The kernel's refusal, or `ETIMEDOUT` where something swallows requests.
    package mutating func list<Value>(
        _ request: NetlinkRequest, pick: (NetlinkMessage) -> Value?
    ) throws(SystemError) -> [Value] {
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        var attempt = 1
        while true {
            sequence &+= 1
            var listing = NetlinkListing<Value>(sequence: sequence, vocabulary)
            try send(request, sequence: sequence)
            let isWhole = try collect(&listing, &buffer, pick)
            if isWhole && (!listing.isInconsistent || attempt == Self.attemptLimit) { return listing.values }
            guard attempt < Self.attemptLimit else { throw SystemError(errno: EBADMSG, call: "netlink listing") }
            // The rest of a broken answer may still be on its way to this socket.
            if !isWhole { self = try NetlinkSocket() }
            attempt += 1
        }
    }

    /// Returns whether the answer came whole.
    private borrowing func collect<Value>(
        _ listing: inout NetlinkListing<Value>, _ buffer: inout [UInt8], _ pick: (NetlinkMessage) -> Value?
    ) throws(SystemError) -> Bool {
        while true {
            switch try receive(into: &buffer) {
            case .datagram(let count):
                switch listing.adopt(buffer.span.extracting(first: count), pick: pick) {
                case .more: continue
                case .complete: return true
                case .failed(let code): throw SystemError(errno: code, call: "netlink listing")
                case .broken: return false
                }
            case .truncated(let count):
                buffer = [UInt8](repeating: 0, count: count)
                return false
            case .overrun: return false
            case .nothing: throw SystemError(errno: ETIMEDOUT, call: "netlink receive")
            }
        }
    }

    /// Asks the kernel where it would send a packet.
    ///
    /// - Returns: The route as it applies to the packet: with the interface, the router and the source address.
    /// - Throws: The reason why there is no way, `ENETUNREACH` for instance.
    package mutating func way(
        to destination: InternetAddress, from source: InternetAddress? = nil, over interfaceIndex: Int? = nil
    ) throws(SystemError) -> NetlinkRoute {
        sequence &+= 1
        try send(.way(to: destination, from: source, over: interfaceIndex), sequence: sequence)
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        while case .datagram(let count) = try receive(into: &buffer) {
            var decoder = NetlinkDecoder(buffer.span.extracting(first: count), vocabulary)
            guard let frame = try? decoder.next(), frame.header.sequence == sequence else { continue }
            switch frame.message {
            case .route(let route): return route
            case .error(let status): throw SystemError(errno: 0 &- status, call: "netlink route")
            default: continue
            }
        }
        throw SystemError(errno: ETIMEDOUT, call: "netlink route")
    }

    /// Has the kernel change something, and waits until it has: microseconds.
    ///
    /// - Throws: The kernel's refusal, `EPERM` for instance.
    package mutating func perform(_ request: NetlinkRequest) throws(SystemError) {
        sequence &+= 1
        try send(request, sequence: sequence)
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        while case .datagram(let count) = try receive(into: &buffer) {
            var decoder = NetlinkDecoder(buffer.span.extracting(first: count), vocabulary)
            guard let frame = try? decoder.next(), frame.header.sequence == sequence,
                case .error(let status) = frame.message
            else { continue }
            if status == 0 { return }
            throw SystemError(errno: 0 &- status, call: "netlink change")
        }
        throw SystemError(errno: ETIMEDOUT, call: "netlink change")
    }

    /// Takes what has arrived and returns whether it may change which peers can be reached.
    ///
    /// An overrun counts as a change, since what it lost is unknown. At most ``drainLimit`` datagrams are taken: when
    /// more wait, the socket stays readable.
    package borrowing func drainChanges() throws(SystemError) -> Bool {
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        var changed = false
        for _ in 0..<Self.drainLimit {
            switch try receive(into: &buffer) {
            case .datagram(let count):
                changed = changed || NetlinkMessage.affectReachability(buffer.span.extracting(first: count))
            case .truncated, .overrun: changed = true
            case .nothing: return changed
            }
        }
        return changed
    }

    /// Takes what has arrived, at most ``drainLimit`` datagrams: when more wait, the socket stays readable.
    ///
    /// What was lost, or cannot be taken apart, is not told.
    package borrowing func drain(_ body: (NetlinkMessage) -> Void) throws(SystemError) {
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        for _ in 0..<Self.drainLimit {
            switch try receive(into: &buffer) {
            case .datagram(let count):
                var decoder = NetlinkDecoder(buffer.span.extracting(first: count), vocabulary)
                while let frame = try? decoder.next() { body(frame.message) }
            case .truncated, .overrun: continue
            case .nothing: return
            }
        }
    }
}
