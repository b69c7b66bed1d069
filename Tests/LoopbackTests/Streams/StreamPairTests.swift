import Causeway
import CausewayStreams
import CausewaySystem
import Foundation
import Testing

extension Loopback {
    @Suite("Foundation streams")
    struct StreamPairTests {
        // MARK: Events

        @Test("Events on a queue: open first, bytes once until they are read, the end last")
        func events() async throws {
            try await StreamEnds.with { ends in
                ends.schedule(on: DispatchQueue(label: "streams"))
                #expect(ends.input.streamStatus == .notOpen && ends.output.streamStatus == .notOpen)
                ends.open()
                try await ends.inputEvents.expect(.openCompleted)
                try await ends.outputEvents.expect(.openCompleted, .hasSpaceAvailable)
                #expect(ends.input.streamStatus == .open && ends.output.hasSpaceAvailable)
                let peer = try await ends.peer()
                #expect(ends.write("hello") == 5)
                try await ends.outputEvents.expect(.hasSpaceAvailable)
                #expect(try await peer.receive(5, 5).text == "hello")
                try await peer.deliver(Data("one"))
                try await ends.inputEvents.expect(.hasBytesAvailable)
                #expect(ends.input.hasBytesAvailable)
                // The first bytes are still unread. More bytes therefore cause no second event.
                try await peer.deliver(Data("two"))
                #expect(ends.read(1) == "o")
                try await ends.inputEvents.expect(.hasBytesAvailable)
                #expect(await ends.readAll(5) == "netwo")
                try await peer.sendEnd()
                try await ends.inputEvents.first { $0 == .endEncountered }
                #expect(ends.input.streamStatus == .atEnd && ends.read(1)?.isEmpty == true)
                // Only the receiving direction has ended. The sending direction is still open.
                #expect(ends.write("bye") == 3)
                ends.output.close()
                #expect(try await peer.receive(3, 3).text == "bye")
                #expect(try await peer.receive().isFinal)
                #expect(ends.output.streamStatus == .closed && ends.write("x") == -1)
            }
        }

        @Test("An answer before a reset is read, then the error", arguments: [100, 90_000])
        func answerBeforeReset(count: Int) async throws {
            let listener = try RawSocket.listening(.tcp4)
            let ends = StreamEnds(try StreamEnds.pair(to: try #require(NWEndpoint.Port(rawValue: listener.port))))
            ends.schedule(on: DispatchQueue(label: "streams"))
            ends.open()
            let peer = try await listener.accept()
            try await ends.outputEvents.first { $0 == .hasSpaceAvailable }
            #expect(ends.write("a question that is not read") > 0)
            _ = try await peer.read(atMost: 1)
            try await peer.write(Data(repeating: 97, count: count))
            // Wait until the kernel has sent all bytes, because a close discards unsent bytes.
            while Socket.bytesUnsent(peer.fd) > 0 { await Task.yield() }
            peer.close()
            try await Task.sleep(for: .milliseconds(20))
            #expect(await ends.readAll(count) == String(repeating: "a", count: count))
            try await ends.inputEvents.first { $0 == .errorOccurred }
            try await ends.outputEvents.first { $0 == .errorOccurred }
            #expect(ends.read(1) == nil && ends.write("x") == -1)
            ends.input.close()
            ends.output.close()
        }

        @Test("Events in a run loop, and a close from within an event")
        func runLoop() async throws {
            try await StreamEnds.with { ends in
                let transcript = Mailbox<[Stream.Event]>()
                nonisolated(unsafe) let (input, output) = (ends.input, ends.output)
                Thread.detachNewThread {
                    let delegate = ClosingDelegate(input, output)
                    (input.delegate, output.delegate) = (delegate, delegate)
                    input.schedule(in: .current, forMode: .default)
                    output.schedule(in: .current, forMode: .default)
                    input.open()
                    output.open()
                    while !delegate.isDone, RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 60))
                    {}
                    transcript.put(delegate.events)
                }
                let peer = try await ends.peer()
                #expect(try await peer.receive(5, 5).text == "hello")
                try await peer.deliver(Data("hello yourself"))
                let events = try await transcript.next()
                #expect(events.filter { $0 == .openCompleted }.count == 2)
                #expect(events.last == .hasBytesAvailable)
                #expect(input.streamStatus == .closed && output.streamStatus == .closed)
                #expect(try await peer.receive().isFinal)
            }
        }

        @Test("A refused connection is an error of both streams, with the system's error number")
        func refused() async throws {
            Backend.choose()
            let socket = try RawSocket.refusing(.tcp4)
            let ends = StreamEnds(try StreamEnds.pair(to: try #require(NWEndpoint.Port(rawValue: socket.port))))
            ends.schedule(on: DispatchQueue(label: "streams"))
            ends.open()
            try await ends.inputEvents.expect(.errorOccurred)
            try await ends.outputEvents.expect(.errorOccurred)
            let error = try #require(ends.input.streamError as NSError?)
            #expect(error.domain == NSPOSIXErrorDomain && error.code == Int(ECONNREFUSED))
            #expect(ends.input.streamStatus == .error && ends.read(1) == nil && ends.write("x") == -1)
            withExtendedLifetime(socket) {}
        }

        // MARK: Blocking

        /// Each read is small, so the buffer is nearly always full. As a result, the reader and the connection's queue
        /// request content at the same time.
        @Test("Without a schedule, reads and writes block: 2 MiB in each direction")
        func blocking() async throws {
            try await StreamEnds.with { ends in
                nonisolated(unsafe) let (input, output) = (ends.input, ends.output)
                let content = Data.pattern(2 << 20)
                let written = Mailbox<Int>()
                let received = Mailbox<Data>()
                Thread.detachNewThread {
                    output.open()
                    var offset = 0
                    while offset < content.count {
                        let count = content[offset...].withUnsafeBytes { bytes in
                            output.write(bytes.bindMemory(to: UInt8.self).baseAddress!, maxLength: bytes.count)
                        }
                        guard count > 0 else { break }
                        offset += count
                    }
                    output.close()
                    written.put(offset)
                }
                Thread.detachNewThread {
                    input.open()
                    var all = Data()
                    var block = [UInt8](repeating: 0, count: 300)
                    while case let count = input.read(&block, maxLength: block.count), count > 0 {
                        all += block[..<count]
                    }
                    received.put(all)
                }
                let peer = try await ends.peer()
                while true {
                    let piece = try await peer.receive()
                    if let data = piece.data { peer.send(data) }
                    if piece.isFinal { break }
                }
                try await peer.sendEnd()
                #expect(try await written.next() == content.count)
                let all = try await received.next()
                #expect(all.count == content.count)
                #expect(all == content)
            }
        }

        @Test("A peer that does not read blocks the writer, and an event reports when writing is possible again")
        func outboundPressure() async throws {
            try await StreamEnds.with { ends in
                ends.schedule(on: DispatchQueue(label: "streams"))
                ends.open()
                let peer = try await ends.peer()
                try await ends.outputEvents.expect(.openCompleted, .hasSpaceAvailable)
                let block = String(repeating: "x", count: 30_000)
                var written = 0
                // Write until the stream has had no space for a while.
                while await ends.outputEvents.take(within: Patience.silence) != nil || ends.output.hasSpaceAvailable {
                    while ends.output.hasSpaceAvailable { written += max(0, ends.write(block)) }
                    #expect(written < 64 << 20)
                }
                #expect(written > 64 << 10)
                var received = 0
                while received < written { received += try await peer.receive().data?.count ?? 0 }
                #expect(received == written && ends.output.hasSpaceAvailable)
                #expect(ends.outputEvents.history.last == .hasSpaceAvailable)
            }
        }

        @Test("A reader that does not read blocks its peer")
        func inboundPressure() async throws {
            try await StreamEnds.with { ends in
                ends.schedule(on: DispatchQueue(label: "streams"))
                ends.open()
                let peer = try await ends.peer()
                // The content is the letter `a`, repeated, so that it is valid text.
                let content = Data(repeating: 97, count: 32 << 20)
                let outcome = peer.send(content)
                #expect(await outcome.take(within: Patience.silence) == nil)
                #expect(await ends.readAll(content.count)?.utf8.count == content.count)
                #expect(try await outcome.next() == nil)
            }
        }

        // MARK: Life

        @Test("Released streams end their connection after the written content")
        func released() async throws {
            let listener = try ListenerProbe(.tcp4)
            try await listener.listen()
            defer { listener.listener.cancel() }
            weak var watched: InputStream?
            do {
                let ends = StreamEnds(try StreamEnds.pair(to: listener.port))
                watched = ends.input
                ends.schedule(on: DispatchQueue(label: "streams"))
                ends.open()
                try await ends.outputEvents.expect(.openCompleted, .hasSpaceAvailable)
                #expect(ends.write("last words") == 10)
            }
            #expect(await eventually { watched == nil })
            let peer = try await listener.connections.next().start()
            #expect(try await peer.receive(10, 10).text == "last words")
            #expect(try await peer.receive().isFinal)
            try await peer.cancel()
        }

        @Test("Streams over a connection of a listener")
        func accepted() async throws {
            let listener = try ListenerProbe(.tcp4)
            let accepted = Mailbox<NWConnection>()
            listener.listener.newConnectionHandler = { accepted.put($0) }
            try await listener.listen()
            defer { listener.listener.cancel() }
            let client = Probe(to: listener.endpoint, using: .tcp).start()
            defer { client.connection.cancel() }
            let ends = StreamEnds(Stream.streams(over: try await accepted.next()))
            ends.schedule(on: DispatchQueue(label: "streams"))
            ends.open()
            try await client.deliver(Data("hello"))
            try await ends.inputEvents.expect(.openCompleted, .hasBytesAvailable)
            #expect(ends.read(9) == "hello" && ends.write("there") == 5)
            #expect(try await client.receive(5, 5).text == "there")
        }

        @Test("Streams go through the SOCKS proxy of their property", arguments: [true, false])
        func socks(_ hasVersion: Bool) async throws {
            let listener = try ListenerProbe(.tcp4)
            let accepted = Mailbox<NWConnection>()
            listener.listener.newConnectionHandler = { accepted.put($0) }
            try await listener.listen()
            defer { listener.listener.cancel() }
            let target = listener.endpoint
            try await TestProxy.with(.socks(), route: { _ in target }) { proxy in
                guard case .hostPort(_, let port) = proxy.endpoint else { return }
                let ends = StreamEnds(Stream.streams(to: .hostPort(host: "inner.test", port: 7)))
                var settings: [String: Any] = [
                    kCFStreamPropertySOCKSProxyHost: "127.0.0.1", kCFStreamPropertySOCKSProxyPort: Int(port.rawValue),
                ]
                if hasVersion { settings[kCFStreamPropertySOCKSVersion] = kCFStreamSocketSOCKSVersion5 }
                #expect(ends.input.setProperty(settings as AnyObject, forKey: .socksProxyConfigurationKey))
                ends.schedule(on: DispatchQueue(label: "streams"))
                ends.open()
                _ = try await accepted.next()
                #expect(try await proxy.requests.next() == "inner.test:7")
                // A stream that closes before the proxy's reply has arrived must reset the connection.
                try await ends.inputEvents.expect(.openCompleted)
                ends.input.close()
                ends.output.close()
            }
        }

        @Test(
            "A SOCKS property that cannot be used is refused, and the streams do not bypass the proxy",
            arguments: 0..<4)
        func unusableProxy(_ kind: Int) async throws {
            try await StreamEnds.with { ends in
                let (key, value): (Stream.PropertyKey, Any) =
                    switch kind {
                    case 0: (.socksProxyConfigurationKey, [kCFStreamPropertySOCKSProxyHost: "127.0.0.1"])
                    case 1: (.socksProxyConfigurationKey, "127.0.0.1:9050")
                    case 2: (.init(rawValue: kCFStreamPropertySOCKSProxyHost), "127.0.0.1")
                    default:
                        (
                            .socksProxyConfigurationKey,
                            [
                                kCFStreamPropertySOCKSProxyHost: "127.0.0.1", kCFStreamPropertySOCKSProxyPort: "9050",
                                kCFStreamPropertySOCKSVersion: kCFStreamSocketSOCKSVersion4,
                            ]
                        )
                    }
                #expect(!ends.input.setProperty(value as AnyObject, forKey: key))
                ends.schedule(on: DispatchQueue(label: "streams"))
                ends.open()
                try await ends.inputEvents.first { $0 == .errorOccurred }
            }
        }

        @Test("An invalid port has no streams", arguments: [0, -1, 65_536])
        func noPort(_ port: Int) {
            var (input, output): (InputStream?, OutputStream?) = (InputStream(data: Data()), nil)
            Stream.getStreamsToHost(withName: "localhost", port: port, inputStream: &input, outputStream: &output)
            #expect(input == nil && output == nil)
        }

        // MARK: TLS

        @Test("TLS by the properties of streams: an untrusted server is refused")
        func security() async throws {
            for (isChecked, isTrusted) in [(true, false), (false, true)] {
                let server = NWParameters(tls: try TestIdentity.options(isServer: true))
                server.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: .any)
                let listener = ListenerProbe(try NWListener(using: server))
                listener.listener.newConnectionHandler = { connection in
                    connection.start(queue: DispatchQueue(label: "server"))
                    connection.receive(minimumIncompleteLength: 5, maximumLength: 5) { content, _, _, _ in
                        connection.send(content: content, completion: .idempotent)
                    }
                }
                try await listener.listen()
                defer { listener.listener.cancel() }
                let ends = StreamEnds(try StreamEnds.pair(to: listener.port))
                let level = StreamSocketSecurityLevel.negotiatedSSL.rawValue
                #expect(ends.input.setProperty(level as AnyObject, forKey: .socketSecurityLevelKey))
                if !isChecked {
                    let settings: [String: Any] = ["kCFStreamSSLValidatesCertificateChain": false]
                    #expect(ends.output.setProperty(settings as AnyObject, forKey: .tlsSettings))
                }
                ends.schedule(on: DispatchQueue(label: "streams"))
                ends.open()
                #expect(!ends.input.setProperty(level as AnyObject, forKey: .socketSecurityLevelKey))
                guard isTrusted else {
                    try await ends.inputEvents.expect(.errorOccurred)
                    #expect((ends.input.streamError as NSError?)?.domain == "NSOSStatusErrorDomain")
                    continue
                }
                try await ends.outputEvents.expect(.openCompleted, .hasSpaceAvailable)
                #expect(ends.write("hello") == 5)
                try await ends.inputEvents.expect(.openCompleted, .hasBytesAvailable)
                #expect(ends.read(5) == "hello")
            }
        }

        @Test("Obsolete versions of SSL and unknown security levels are refused")
        func refusedProperties() throws {
            let ends = StreamEnds(try StreamEnds.pair(to: 9))
            for level in [StreamSocketSecurityLevel.ssLv2, .ssLv3] {
                #expect(!ends.input.setProperty(level.rawValue as AnyObject, forKey: .socketSecurityLevelKey))
            }
            let settings: [String: Any] = ["kCFStreamSSLCertificates": []]
            #expect(!ends.input.setProperty(settings as AnyObject, forKey: .tlsSettings))
            #expect(!ends.input.setProperty(nil, forKey: .socksProxyConfigurationKey))
            #expect(ends.input.property(forKey: .socketSecurityLevelKey) == nil)
        }

        // MARK: Bound pairs

        @Test("A bound pair buffers as much as its size, and ends in order")
        func bound() async throws {
            var (input, output): (InputStream?, OutputStream?)
            Stream.getBoundStreams(withBufferSize: 8, inputStream: &input, outputStream: &output)
            let ends = StreamEnds((try #require(input), try #require(output)))
            ends.schedule(on: DispatchQueue(label: "streams"))
            ends.open()
            try await ends.outputEvents.expect(.openCompleted, .hasSpaceAvailable)
            try await ends.inputEvents.expect(.openCompleted)
            #expect(ends.write("0123456789") == 8 && !ends.output.hasSpaceAvailable)
            try await ends.inputEvents.expect(.hasBytesAvailable)
            #expect(ends.read(3) == "012")
            try await ends.outputEvents.expect(.hasSpaceAvailable)
            #expect(ends.write("89") == 2)
            ends.output.close()
            #expect(ends.read(99) == "3456789")
            try await ends.inputEvents.first { $0 == .endEncountered }
        }

        @Test("The writer of a bound pair is notified that its reader has closed")
        func boundReaderGone() async throws {
            var (input, output): (InputStream?, OutputStream?)
            Stream.getBoundStreams(withBufferSize: 8, inputStream: &input, outputStream: &output)
            let ends = StreamEnds((try #require(input), try #require(output)))
            ends.schedule(on: DispatchQueue(label: "streams"))
            ends.open()
            try await ends.outputEvents.expect(.openCompleted, .hasSpaceAvailable)
            ends.input.close()
            try await ends.outputEvents.expect(.errorOccurred)
            #expect(ends.write("x") == -1 && (ends.output.streamError as NSError?)?.code == Int(EPIPE))
        }
    }
}

/// A pair of streams with a record of their events.
private final class StreamEnds {
    private final class Recorder: StreamDelegate, Sendable {
        let events = Mailbox<Stream.Event>()

        func stream(_ stream: Stream, handle event: Stream.Event) { events.put(event) }
    }

    let input: InputStream
    let output: OutputStream
    private let recorders = (Recorder(), Recorder())
    private var listener: ListenerProbe?

    init(_ streams: (input: InputStream, output: OutputStream)) {
        (input, output) = streams
        (input.delegate, output.delegate) = recorders
    }

    var inputEvents: Mailbox<Stream.Event> { recorders.0.events }
    var outputEvents: Mailbox<Stream.Event> { recorders.1.events }

    static func pair(to port: NWEndpoint.Port) throws -> (input: InputStream, output: OutputStream) {
        var (input, output): (InputStream?, OutputStream?)
        Stream.getStreamsToHost(
            withName: "127.0.0.1", port: Int(port.rawValue), inputStream: &input, outputStream: &output)
        return (try #require(input), try #require(output))
    }

    static func with(_ body: (StreamEnds) async throws -> Void) async throws {
        let listener = try ListenerProbe(.tcp4)
        try await listener.listen()
        defer { listener.listener.cancel() }
        let ends = StreamEnds(try pair(to: listener.port))
        ends.listener = listener
        try await body(ends)
        ends.input.close()
        ends.output.close()
    }

    /// Returns the listener's connection from the streams. Waits until the streams have connected.
    func peer() async throws -> Probe { try await #require(listener).connections.next().start() }

    func schedule(on queue: DispatchQueue) { for stream in [input, output] as [Stream] { stream.schedule(on: queue) } }

    func open() {
        input.open()
        output.open()
    }

    func write(_ text: String) -> Int {
        let bytes = [UInt8](text.utf8)
        return output.write(bytes, maxLength: bytes.count)
    }

    /// Reads at most `limit` bytes, and returns them as text. Returns `nil` after an error.
    func read(_ limit: Int) -> String? {
        var block = [UInt8](repeating: 0, count: limit)
        let count = input.read(&block, maxLength: limit)
        return count < 0 ? nil : String(decoding: block[..<count], as: UTF8.self)
    }

    /// Reads `count` bytes, and returns them as text. Returns `nil` if they do not arrive in time.
    func readAll(_ count: Int) async -> String? {
        var all = ""
        var left = count
        while left > 0 {
            if !input.hasBytesAvailable {
                guard await inputEvents.take(within: Patience.limit) != nil else { return nil }
            }
            guard input.hasBytesAvailable else { continue }
            guard let piece = read(min(left, 100_000)) else { return nil }
            left -= piece.utf8.count
            all += piece
        }
        return all
    }
}

/// A delegate that sends a greeting as soon as it can write. When the answer arrives, the delegate closes both streams
/// in its event handler.
private final class ClosingDelegate: StreamDelegate {
    private let input: InputStream
    private let output: OutputStream
    private(set) var events: [Stream.Event] = []
    private(set) var isDone = false
    private var hasGreeted = false

    init(_ input: InputStream, _ output: OutputStream) { (self.input, self.output) = (input, output) }

    func stream(_ stream: Stream, handle event: Stream.Event) {
        events.append(event)
        if event == .hasSpaceAvailable, !hasGreeted {
            hasGreeted = true
            _ = output.write([UInt8]("hello".utf8), maxLength: 5)
        }
        if event == .hasBytesAvailable {
            input.close()
            output.close()
            isDone = true
        }
    }
}
