import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

/// A message that a group received.
struct GroupMessage: Sendable {
    var message: NWConnectionGroup.Message
    var content: Data?
    var isComplete: Bool

    var text: String { String(decoding: content ?? Data(), as: UTF8.self) }
}

/// A group under test on the loopback interface. Records its reports.
final class GroupProbe: Sendable {
    /// An address that no other program on a test machine uses (RFC 2365 §6.2).
    static let host = NWEndpoint.Host("239.255.77.7")

    let group: NWConnectionGroup
    let queue = DispatchQueue(label: "group")
    let states = Mailbox<NWConnectionGroup.State>()
    let messages = Mailbox<GroupMessage>()

    init(
        _ descriptor: any NWGroupDescriptor, maximum: Int = .max, rejects: Bool = true,
        _ tune: (NWParameters) -> Void = { _ in }
    ) {
        Backend.choose()
        let parameters = NWParameters.udp
        // Use loopback, because the host may have no other interface. Loopback carries multicast groups only if the
        // program requires it.
        parameters.requiredInterfaceType = .loopback
        parameters.allowLocalEndpointReuse = true
        tune(parameters)
        group = NWConnectionGroup(with: descriptor, using: parameters)
        group.stateUpdateHandler = { [states] state in states.put(state) }
        group.setReceiveHandler(maximumMessageSize: maximum, rejectOversizedMessages: rejects) {
            [messages, queue] message, content, isComplete in
            dispatchPrecondition(condition: .onQueue(queue))
            messages.put(GroupMessage(message: message, content: content, isComplete: isComplete))
        }
    }

    /// Returns a free port.
    static func freePort() throws -> NWEndpoint.Port {
        let socket = try Socket.open(.ipv4, .datagram)
        try Socket.bind(socket.rawValue, to: .ipv4(bits: 0, port: 0))
        return NWEndpoint.Port(rawValue: try #require(Socket.localAddress(socket.rawValue)).port) ?? .any
    }

    /// Whether the kernel holds no unread datagram of the IPv4 sockets that are bound to a port.
    static func hasRead(_ port: NWEndpoint.Port) -> Bool {
        guard let table = FileManager.default.contents(atPath: "/proc/net/udp") else { return false }
        // A line has a number, the local address with its port, the remote address, the state, and the size of both
        // queues.
        let lines = String(decoding: table, as: UTF8.self).split(separator: "\n")
        return lines.dropFirst().allSatisfy { line in
            let fields = line.split(separator: " ")
            guard fields.count > 4, let local = fields[1].split(separator: ":").last,
                UInt16(local, radix: 16) == port.rawValue
            else { return true }
            return fields[4].hasSuffix(":00000000")
        }
    }

    @discardableResult
    func start() -> GroupProbe {
        group.start(queue: queue)
        return self
    }

    func ready(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        start()
        try await states.expect(.ready, sourceLocation: sourceLocation)
    }

    func cancel(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        group.cancel()
        try await states.first(sourceLocation: sourceLocation) { $0 == .cancelled }
    }

    func send(
        _ text: String, to endpoint: NWEndpoint? = nil, _ message: NWConnectionGroup.Message = .default
    ) -> Mailbox<NWError?> {
        let outcomes = Mailbox<NWError?>()
        group.send(content: Data(text.utf8), to: endpoint, message: message) { outcomes.put($0) }
        return outcomes
    }

    func deliver(
        _ text: String, to endpoint: NWEndpoint? = nil, _ message: NWConnectionGroup.Message = .default,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = try await send(text, to: endpoint, message).next(sourceLocation: sourceLocation)
        #expect(error == nil, sourceLocation: sourceLocation)
    }
}
