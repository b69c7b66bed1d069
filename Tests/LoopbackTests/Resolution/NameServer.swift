import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire
import Dispatch
import FoundationEssentials

/// A DNS server on this host, over UDP and TCP, that sends the answers that a test provides.
final class NameServer: Sendable {
    /// Returns the server's answer to a query; `nil` if the server sends none.
    typealias Answer = @Sendable (DNSMessage, DNSCarrier) -> DNSMessage?

    struct Heard: Sendable {
        var question: DNSQuestion
        var carrier: DNSCarrier
        var port: UInt16
    }

    private let socket: RawSocket
    private let listener: RawSocket
    // SAFETY: after `init`, only `deinit` uses this property.
    nonisolated(unsafe) private let source: any DispatchSourceRead
    private let answer: Answer
    private let log = Log()
    /// Returns forged responses, which the server sends before the real answer. The server sends them from the socket
    /// that received the query.
    typealias Forgeries = @Sendable (DNSMessage) -> [DNSMessage]

    private final class Log: Sendable {
        let heard = LockedValue<[Heard]>([])
    }

    let port: UInt16

    init(forging forge: @escaping Forgeries = { _ in [] }, _ answer: @escaping Answer) throws {
        (socket, listener) = try Self.open()
        port = socket.port
        self.answer = answer
        source = DispatchSource.makeReadSource(fileDescriptor: socket.fd, queue: DispatchQueue(label: "name-server"))
        source.setEventHandler { [socket, log] in
            var reader = PacketReader(blockCount: 16)
            while let count = try? reader.receive(socket.fd, wantsPeer: true), count > 0 {
                for index in 0..<count {
                    guard let peer = reader[index].peer else { continue }
                    let bytes = reader.withBytes(of: index) { [UInt8]($0) }
                    if let query = try? DNSMessage(parsing: bytes.span) {
                        for forgery in forge(query) { Self.send(forgery.encoded(), to: peer, socket.fd) }
                    }
                    guard let reply = Self.reply(to: bytes, .udp, peer.port, log, answer) else { continue }
                    Self.send(reply, to: peer, socket.fd)
                }
            }
        }
        source.resume()
    }

    deinit { source.cancel() }

    /// Accepts TCP connections, one at a time, until the task is cancelled.
    func serveStreams() async throws {
        while !Task.isCancelled {
            let stream = try await listener.accept()
            // One read may return several queries, or only a part of a query (RFC 7766 §8).
            var heard: [UInt8] = []
            while let piece = try? await stream.read(atMost: 65_536), !piece.isEmpty {
                heard += piece
                while heard.count >= 2 {
                    let count = 2 + (Int(heard[0]) << 8 | Int(heard[1]))
                    guard heard.count >= count else { break }
                    let reply = Self.reply(to: [UInt8](heard[2..<count]), .tcp, 0, log, answer)
                    heard.removeFirst(count)
                    guard let reply else { continue }
                    let head = [UInt8(reply.count >> 8), UInt8(truncatingIfNeeded: reply.count)]
                    try await stream.write(Data(head + reply))
                }
            }
        }
    }

    /// Accepts a TCP connection, and floods it with DNS messages that answer no query. First sends some long messages,
    /// then millions of empty messages, until the peer closes the connection.
    ///
    /// - Parameter begun: Called when the peer has read some of the long messages. Together, the long messages are
    ///   larger than the kernel's buffers, but they cost the peer little work. A slow peer might give up before it has
    ///   read as many bytes of empty messages.
    func floodStream(_ begun: @Sendable () -> Void) async throws {
        let stream = try await listener.accept()
        let long = Data([0xFF, 0xFF]) + Data(count: 0xFFFF)
        for _ in 0..<128 { try await stream.write(long) }
        begun()
        while !Task.isCancelled { try await stream.write(Data(count: 1 << 20)) }
    }

    var heard: [Heard] { log.heard.withLock { $0 } }

    /// Opens a datagram socket and a stream socket on the same port. This may take several attempts.
    private static func open() throws -> (RawSocket, RawSocket) {
        for _ in 0..<50 {
            let datagrams = try RawSocket.bound(.udp4)
            let stream = RawSocket(try Socket.open(.ipv4, .stream))
            guard (try? Socket.bind(stream.fd, to: .ipv4(bits: 0x7F00_0001, port: datagrams.port))) != nil else {
                continue
            }
            try Socket.listen(stream.fd, backlog: 16)
            return (datagrams, stream)
        }
        throw SystemError(errno: Errno.addressInUse, call: "bind")
    }

    private static func reply(
        to bytes: [UInt8], _ carrier: DNSCarrier, _ port: UInt16, _ log: Log, _ answer: Answer
    ) -> [UInt8]? {
        guard let query = try? DNSMessage(parsing: bytes.span), let question = query.questions.first else {
            return nil
        }
        log.heard.withLock { $0.append(Heard(question: question, carrier: carrier, port: port)) }
        return answer(query, carrier)?.encoded()
    }

    private static func send(_ bytes: [UInt8], to peer: SocketAddress, _ fd: CInt) {
        bytes.withUnsafeBytes { bytes in
            var piece = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            withUnsafePointer(to: &piece) { pointer in
                let packet = OutgoingPacket(
                    pieces: UnsafeBufferPointer(start: pointer, count: 1), segmentByteCount: 0, trafficClass: nil)
                withUnsafePointer(to: packet) {
                    _ = Socket.send(fd, UnsafeBufferPointer(start: $0, count: 1), to: peer, from: nil)
                }
            }
        }
    }
}

extension DNSMessage {
    /// Returns a response of a recursive server to this query.
    func response(_ code: DNSResponseCode = .noError, _ answers: [DNSRecord] = []) -> DNSMessage {
        var message = DNSMessage()
        message.id = id
        message.flags = [.isResponse, .recursionDesired, .recursionAvailable]
        message.responseCode = code
        message.questions = questions
        message.answers = answers
        return message
    }

    /// Returns a response with 127.0.0.1 for every IPv4 query, and no address for IPv6.
    func loopbackResponse(timeToLive: UInt32 = 60) -> DNSMessage {
        guard let question = questions.first, question.type == .a else { return response() }
        return response(.noError, [DNSRecord(question.name, .a, timeToLive: timeToLive, .ipv4(.loopback))])
    }
}

/// The configuration files of a resolver, in a temporary directory.
final class ResolverDirectory {
    let url: URL
    let files: ResolverFiles

    init(resolv: String = "nameserver 127.0.0.1", hosts: String = "", order: String = "hosts: files dns") throws {
        url = FileManager.default.temporaryDirectory.appending(path: "causeway-resolver-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        files = ResolverFiles(
            configuration: url.appending(path: "resolv.conf").path, hosts: url.appending(path: "hosts").path,
            order: url.appending(path: "nsswitch.conf").path)
        try write(resolv, files.configurationPath)
        try write(hosts, files.hostsPath)
        try write(order, files.orderPath)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    /// Writes a new file, and then moves it to the path of the old file. Text editors save files in this way.
    func replace(_ text: String, _ path: String) throws {
        try write(text, path + ".new")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: path + ".new", toPath: path)
    }
}

/// What a lookup has reported, after its end.
struct LookupOutcome: Sendable {
    var addresses: [SocketAddress] = []
    var origins: [AddressOrigin] = []
    var problem: NameProblem?
}

extension ResolverEngine {
    func outcome(of name: String, families: Set<NameLookup.Family> = [.ipv4, .ipv6], allowsExpired: Bool = false) async
        -> LookupOutcome
    {
        let (events, feed) = AsyncStream<NameEvent>.makeStream()
        let request = NameRequest(name, families: families, allowsExpired: allowsExpired)
        let resolution = resolve(request) { event in
            feed.yield(event)
            if case .ended = event { feed.finish() }
        }
        var outcome = LookupOutcome()
        for await event in events {
            switch event {
            case .found(let addresses, _, let origin):
                outcome.addresses += addresses
                outcome.origins.append(origin)
            case .ended(let problem): outcome.problem = problem
            case .settled, .answered: break
            }
        }
        withExtendedLifetime(resolution) {}
        return outcome
    }
}

/// Waits until a condition holds. Fails the test if the usual time limit passes first.
func eventually(_ what: String, _ isTrue: () async -> Bool) async throws {
    let end = System.now + Patience.limit
    while System.now < end {
        if await isTrue() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    throw SystemError(errno: Errno.timedOut, call: what)
}
