import CCausewayLinux
package import CausewayWire

/// A netlink socket. It lists the kernel's state, or receives notifications about changes. The protocol is routing
/// (rtnetlink(7)) or generic netlink.
///
/// A socket always belongs to the network namespace of the thread that opened it.
package struct NetlinkSocket: ~Copyable, Sendable {
    /// The notification groups to subscribe to.
    package struct Groups: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        package static let links = Groups(rawValue: UInt32(CW_NETLINK_LINKS.rawValue))
        package static let addresses = Groups(rawValue: UInt32(CW_NETLINK_ADDRESSES.rawValue))
        package static let routes = Groups(rawValue: UInt32(CW_NETLINK_ROUTES.rawValue))
        package static let rules = Groups(rawValue: UInt32(CW_NETLINK_RULES.rawValue))
        /// Router advertisement options, which the kernel passes on to user space.
        package static let userOptions = Groups(rawValue: UInt32(CW_NETLINK_USER_OPTIONS.rawValue))
        /// All groups except ``userOptions``. Their notifications can mean that other peers have become reachable or
        /// unreachable.
        package static let all: Groups = [.links, .addresses, .routes, .rules]
    }

    /// The result of one receive call.
    package enum Reception: Equatable, Sendable {
        /// A datagram is in the buffer. The value is the datagram's length in bytes.
        case datagram(Int)
        /// A datagram was longer than the buffer, and the bytes that did not fit are lost. The value is the datagram's
        /// byte count.
        case truncated(Int)
        /// The socket's receive buffer overflowed: some datagrams are lost.
        case overrun
        /// No datagram is available. On a blocking socket: none arrived within 5 seconds.
        case nothing
    }

    /// The maximum datagram size in a listing, in bytes; notifications are much smaller.
    package static let bufferSize = 32 * 1024
    /// The maximum number of attempts for a listing that changes while it is read.
    static let attemptLimit = 10
    /// The maximum number of datagrams that one call of ``drainChanges()`` reads.
    static let drainLimit = 256

    private let descriptor: Descriptor
    private let vocabulary: NetlinkDecoder.Vocabulary
    private var sequence: UInt32 = 0

    /// Opens a socket.
    ///
    /// - Parameters:
    ///   - groups: The notifications to receive; empty for a socket that only sends requests.
    ///   - blocking: Whether ``receive(into:)`` waits. ``list(_:pick:)`` needs a blocking socket.
    package init(groups: Groups = [], blocking: Bool = true) throws(SystemError) {
        descriptor = Descriptor(
            adopting: try check(cw_netlink_open(groups.rawValue, !blocking, false), "netlink socket"))
        vocabulary = .routing
    }

    /// Opens a socket for generic netlink requests.
    package init(generic: Void) throws(SystemError) {
        descriptor = Descriptor(adopting: try check(cw_netlink_open(0, false, true), "netlink socket"))
        vocabulary = .generic
    }

    /// The file descriptor to wait on. The socket still owns the descriptor.
    package var rawValue: CInt { descriptor.rawValue }

    /// Transfers ownership of the descriptor to the caller.
    package consuming func release() -> Descriptor { descriptor }

    /// Sends a request with the sequence number `sequence`.
    package borrowing func send(_ request: NetlinkRequest, sequence: UInt32) throws(SystemError) {
        let bytes = request.encoded(sequence: sequence)
        try check(cw_netlink_send(descriptor.rawValue, bytes, bytes.count), "netlink send")
    }

    /// Receives one datagram from the kernel. Datagrams from other processes are dropped.
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

    /// Requests a listing from the kernel and returns the values that `pick` extracts from it.
    ///
    /// If the network state changes during the listing, the kernel reports this, and the listing starts again. If the
    /// state keeps changing, the result of the final attempt is returned. Each entry in it was valid at some moment.
    ///
    /// - Parameters:
    ///   - request: The listing request.
    ///   - pick: Called for each message, and again from the first message if the listing starts again.
    /// - Throws: The kernel's error, `ETIMEDOUT` if no reply arrives, or `EBADMSG` if the final attempt's reply is
    ///   incomplete or malformed.
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
            // The rest of the interrupted reply may still arrive on the old socket. Therefore use a new socket.
            if !isWhole { self = try reopened() }
            attempt += 1
        }
    }

    /// Opens another socket for requests of the same protocol.
    borrowing func reopened() throws(SystemError) -> NetlinkSocket {
        switch vocabulary {
        case .routing: return try NetlinkSocket()
        case .generic: return try NetlinkSocket(generic: ())
        }
    }

    /// Reads the reply to a listing request. Returns `false` if the reply is incomplete or malformed.
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

    /// Requests a packet's route from the kernel.
    ///
    /// - Returns: The route with its interface, router and source address.
    /// - Throws: The kernel's error, for example `ENETUNREACH`.
    package mutating func way(
        to destination: InternetAddress, from source: InternetAddress? = nil, over interfaceIndex: Int? = nil
    ) throws(SystemError) -> NetlinkRoute {
        try look(up: .way(to: destination, from: source, over: interfaceIndex), "netlink route") { message in
            guard case .route(let route) = message else { return nil }
            return route
        }
    }

    /// Requests a neighbour's entry in the neighbour table from the kernel.
    ///
    /// - Throws: The kernel's error: `ENOENT` if the table has no such entry, `EOPNOTSUPP` before Linux 5.0.
    package mutating func neighbour(
        _ address: InternetAddress, on interfaceIndex: Int
    ) throws(SystemError) -> NetlinkNeighbour {
        try look(up: .neighbour(address, on: interfaceIndex), "netlink neighbour") { message in
            guard case .neighbour(let neighbour) = message else { return nil }
            return neighbour
        }
    }

    /// Sends a request whose reply is a single message. Returns the value that `pick` reads from the reply.
    private mutating func look<Value>(
        up request: NetlinkRequest, _ call: String, pick: (NetlinkMessage) -> Value?
    ) throws(SystemError) -> Value {
        sequence &+= 1
        try send(request, sequence: sequence)
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        while case .datagram(let count) = try receive(into: &buffer) {
            var decoder = NetlinkDecoder(buffer.span.extracting(first: count), vocabulary)
            guard let frame = try? decoder.next(), frame.header.sequence == sequence else { continue }
            if case .error(let status) = frame.message { throw SystemError(errno: 0 &- status, call: call) }
            if let value = pick(frame.message) { return value }
        }
        throw SystemError(errno: ETIMEDOUT, call: call)
    }

    /// Sends a change and waits some microseconds until the kernel confirms it.
    ///
    /// - Throws: The kernel's error, for example `EPERM`.
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

    /// Reads the pending notifications. Returns whether the changes in them may affect which peers can be reached.
    ///
    /// Lost notifications count as such a change, because their content is unknown. At most ``drainLimit`` datagrams
    /// are read. If there are more, the socket stays readable.
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

    /// Reads pending notifications, at most ``drainLimit`` datagrams. If more are pending, the socket stays readable.
    ///
    /// Lost and malformed messages are not reported.
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
