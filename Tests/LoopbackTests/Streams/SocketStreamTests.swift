import Causeway
import CausewayStreams
import CausewaySystem
import Foundation
import Testing

extension Loopback {
    /// Streams over a socket that the program accepted itself, like `CFStreamCreatePairWithSocket`.
    @Suite("Streams over a socket")
    struct SocketStreamTests {
        /// Returns the two raw sockets of a TCP connection. The second one was accepted.
        private static func connected() async throws -> (near: RawSocket, accepted: CInt) {
            let listener = try RawSocket.listening(.tcp4)
            let near = try await RawSocket.connected(to: .ipv4(bits: 0x7F00_0001, port: listener.port))
            let socket = try await listener.accept()
            // A separate descriptor that no other code closes.
            let accepted = withExtendedLifetime(socket) { dup(socket.fd) }
            return (near, try #require(accepted >= 0 ? accepted : nil))
        }

        /// Creates the stream pair with the C function `CFStreamCreatePairWithSocket`.
        private static func pair(_ descriptor: CInt, closes: Bool?) throws -> (input: InputStream, output: OutputStream)
        {
            var (readStream, writeStream): (Unmanaged<CFReadStream>?, Unmanaged<CFWriteStream>?)
            CFStreamCreatePairWithSocket(kCFAllocatorDefault, descriptor, &readStream, &writeStream)
            let input = try #require(readStream).takeRetainedValue() as InputStream
            let output = try #require(writeStream).takeRetainedValue() as OutputStream
            if let closes {
                let key = CFStreamPropertyKey(rawValue: kCFStreamPropertyShouldCloseNativeSocket)
                #expect(CFReadStreamSetProperty(input, key, closes ? kCFBooleanTrue : kCFBooleanFalse))
            }
            for stream in [input, output] as [Stream] { stream.open() }
            return (input, output)
        }

        private static func read(_ input: InputStream, _ count: Int) -> String {
            String(decoding: bytes(input, count), as: UTF8.self)
        }

        private static func bytes(_ input: InputStream, _ count: Int) -> Data {
            var all = Data()
            var block = [UInt8](repeating: 0, count: min(count, 65_536))
            while all.count < count {
                let found = input.read(&block, maxLength: min(block.count, count - all.count))
                guard found > 0 else { break }
                all += block[..<found]
            }
            return all
        }

        /// Identifies the socket of a descriptor; `nil` if the descriptor is closed. After a close, another test may
        /// get the descriptor's number at once, but never this identity.
        private static func identity(_ descriptor: CInt) -> [UInt64]? {
            var status = stat()
            return fstat(descriptor, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
        }

        private static func becomesClosed(_ descriptor: CInt, _ identity: [UInt64]) async throws {
            try await within {
                while Self.identity(descriptor) == identity { try await Task.sleep(for: .milliseconds(1)) }
            }
        }

        @Test(
            "Content flows in both directions, and closing the streams keeps the socket open",
            arguments: [nil, false])
        func unowned(closes: Bool?) async throws {
            let (near, accepted) = try await Self.connected()
            let socket = try #require(Self.identity(accepted))
            defer { Descriptor(adopting: accepted).close() }
            let (input, output) = try Self.pair(accepted, closes: closes)
            try await near.write(Data("ping"))
            #expect(Self.read(input, 4) == "ping")
            #expect(output.write([UInt8]("pong".utf8), maxLength: 4) == 4)
            await withCheckedContinuation { sent in output.close(whenSent: { sent.resume() }) }
            input.close()
            #expect(try await near.read() == Data("pong"))
            #expect(Self.identity(accepted) == socket)
            // The program can still use the socket.
            #expect(Data("more").withUnsafeBytes { Socket.send(accepted, $0) } == .moved(4))
            #expect(try await near.read() == Data("more"))
            try await near.write(Data("yes"))
            let own = RawSocket(Descriptor(adopting: dup(accepted)))
            #expect(try await own.read() == Data("yes"))
        }

        @Test("Streams that own the socket end their own direction, and close the socket when both are closed")
        func owned() async throws {
            let (near, accepted) = try await Self.connected()
            let socket = try #require(Self.identity(accepted))
            let (input, output) = try Self.pair(accepted, closes: true)
            #expect(output.write([UInt8]("bye".utf8), maxLength: 3) == 3)
            output.close()
            #expect(try await near.readAll() == Data("bye"))
            #expect(Self.identity(accepted) == socket)
            try await near.write(Data("well"))
            #expect(Self.read(input, 4) == "well")
            near.close()
            #expect(Self.read(input, 1).isEmpty && input.streamStatus == .atEnd)
            input.close()
            try await Self.becomesClosed(accepted, socket)
        }

        @Test("Streams that were never opened close the socket they own")
        func unopened() async throws {
            let (_, accepted) = try await Self.connected()
            let socket = try #require(Self.identity(accepted))
            let (input, output) = Stream.streams(overSocket: accepted, closingSocket: true)
            input.close()
            output.close()
            try await Self.becomesClosed(accepted, socket)
        }

        @Test("Megabytes arrive completely, and a reader that stops blocks the peer")
        func bulk() async throws {
            let (near, accepted) = try await Self.connected()
            let socket = try #require(Self.identity(accepted))
            let (input, output) = try Self.pair(accepted, closes: true)
            let content = Data.pattern(4_000_000)
            async let sent: Void = near.write(content)
            nonisolated(unsafe) let reader = input
            let received = await Task.detached { Self.bytes(reader, content.count) }.value
            try await sent
            #expect(received == content)
            nonisolated(unsafe) let writer = output
            let writing = Task.detached {
                var rest = content[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes {
                        $0.withMemoryRebound(to: UInt8.self) { writer.write($0.baseAddress!, maxLength: $0.count) }
                    }
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
                writer.close()
            }
            #expect(try await near.readAll() == content)
            await writing.value
            input.close()
            try await Self.becomesClosed(accepted, socket)
        }

        @Test("The end and a reset by the peer are events on a queue")
        func events() async throws {
            for isReset in [false, true] {
                let (near, accepted) = try await Self.connected()
                let socket = try #require(Self.identity(accepted))
                let (input, output) = Stream.streams(overSocket: accepted, closingSocket: true)
                let events = Mailbox<Stream.Event>()
                let delegate = Recorder(events)
                input.delegate = delegate
                CFReadStreamSetDispatchQueue(input, DispatchQueue(label: "events"))
                input.open()
                output.open()
                try await events.expect(.openCompleted)
                if isReset { near.reset() } else { near.close() }
                try await events.expect(isReset ? .errorOccurred : .endEncountered)
                if isReset { #expect((input.streamError as NSError?)?.code == Int(ECONNRESET)) }
                input.close()
                output.close()
                try await Self.becomesClosed(accepted, socket)
                withExtendedLifetime(delegate) {}
            }
        }

        @Test("The properties describe the socket; properties of connections are refused")
        func properties() async throws {
            let (near, accepted) = try await Self.connected()
            let (input, output) = try Self.pair(accepted, closes: true)
            let handle = input.property(forKey: .socketNativeHandle) as? Data
            #expect(handle == withUnsafeBytes(of: accepted) { Data($0) })
            #expect((output.property(forKey: .shouldCloseNativeSocket) as? NSNumber)?.boolValue == true)
            #expect(!input.setProperty(kCFBooleanTrue, forKey: .noCellular))
            #expect(!input.setProperty("yes" as AnyObject, forKey: .shouldCloseNativeSocket))
            input.close()
            output.close()
            withExtendedLifetime(near) {}
        }
    }
}

private final class Recorder: NSObject, StreamDelegate {
    private let events: Mailbox<Stream.Event>

    init(_ events: Mailbox<Stream.Event>) { self.events = events }

    func stream(_ stream: Stream, handle event: Stream.Event) { events.put(event) }
}
