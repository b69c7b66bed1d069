import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("URLSession: stream task (§15)")
    struct URLSessionStreamTests {
        private static func task(
            _ server: ScriptedServer, _ medium: Medium = .tcp4, _ session: URLSession = privateSession()
        ) throws -> URLSessionStreamTask {
            let port = try #require(URL(string: server.uri())?.port)
            let task = session.streamTask(withHostName: medium == .tcp6 ? "::1" : "127.0.0.1", port: port)
            task.resume()
            return task
        }

        @Test("Lines in both directions, half-close by us, then by the peer", arguments: Medium.internetStreams)
        func lines(_ medium: Medium) async throws {
            let server = try ScriptedServer(medium) { peer in
                try await peer.write("hello\r\n")
                let all = try await peer.socket.readAll()
                try await peer.write("got \(all.count)")
            }
            let delegate = StreamTaskDelegate()
            let session = privateSession(delegate)
            let task = try Self.task(server, medium, session)
            #expect(await task.hear(7) == "hello\r\n")
            #expect(await task.say("12345") == nil)
            task.closeWrite()
            #expect(await task.say("late") == URLError.networkConnectionLost.rawValue)
            #expect(await task.hear(100) == "got 5.")
            await delegate.end.wait()
            #expect(delegate.events.last == "completed")
            #expect(Set(delegate.events) == ["write closed", "read closed", "completed"])
            #expect(task.state == .completed && task.error == nil)
            #expect(task.countOfBytesReceived == 12 && task.countOfBytesSent == 5)
            session.finishTasksAndInvalidate()
        }

        @Test("A write larger than all buffers waits for the peer, and arrives whole")
        func largeWrite() async throws {
            let gate = Gate()
            let line = Data((0..<10_007).map { UInt8(truncatingIfNeeded: $0 >> 5) })
            let data = Data((0..<1_600).map { _ in line }.joined())
            let server = try ScriptedServer { peer in
                await gate.wait()
                let all = try await peer.socket.readAll()
                try await peer.write("\(all == data)")
            }
            let task = try Self.task(server)
            let done = LockedValue(false)
            task.write(data, timeout: 0) { error in done.withLock { $0 = error == nil } }
            #expect(!done.withLock { $0 })
            gate.open()
            task.closeWrite()
            #expect(await task.hear(1_000) == "true.")
            #expect(done.withLock { $0 })
        }

        @Test("The end of the peer is reported without a read; we can still write")
        func peerCloses() async throws {
            let server = try ScriptedServer { peer in
                try await peer.write("bye")
                _ = shutdown(peer.socket.fd, CInt(SHUT_WR))
                #expect(try await peer.read(count: 4) == "more")
            }
            let delegate = StreamTaskDelegate()
            let task = try Self.task(server, .tcp4, privateSession(delegate))
            await delegate.readClosed.wait()
            #expect(await task.say("more") == nil)
            #expect(await task.hear() == "bye.")
            #expect(await task.hear() == ".")
            task.closeWrite()
            await delegate.end.wait()
            #expect(delegate.events == ["read closed", "write closed", "completed"])
        }

        @Test("A peer that resets fails the operations and the task")
        func reset() async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.read(count: 1)
                peer.socket.reset()
            }
            let delegate = StreamTaskDelegate()
            let task = try Self.task(server, .tcp4, privateSession(delegate))
            // The reset can arrive before or after the result of the write. So this result is not checked.
            _ = await task.say("x")
            #expect(await task.hear() == "-1005")
            await delegate.end.wait()
            #expect(delegate.events.last == "completed -1005")
            #expect(await task.hear() == "-1005")
        }

        @Test("Refused connections, names without addresses, and ports out of range")
        func unreachable() async throws {
            let session = privateSession()
            // A socket that is bound and does not listen. No other test can get its port.
            let unused = RawSocket(try Socket.open(.ipv4, .stream))
            try Socket.bind(unused.fd, to: Medium.tcp4.socketAddress(port: 0))
            for (host, port, code) in [
                ("127.0.0.1", Int(unused.port), URLError.Code.cannotConnectToHost),
                ("name.invalid", 80, .cannotFindHost), ("", 80, .badURL), ("127.0.0.1", 70_000, .badURL),
            ] {
                let task = session.streamTask(withHostName: host, port: port)
                task.resume()
                #expect(await task.hear() == "\(code.rawValue)", "\(host) \(port)")
            }
            unused.close()
        }

        @Test("cancel() and the invalidation of the session fail all operations", arguments: [true, false])
        func cancelled(_ invalidates: Bool) async throws {
            let server = try ScriptedServer { peer in _ = try await peer.socket.readAll() }
            let session = privateSession()
            let task = try Self.task(server, .tcp4, session)
            #expect(await task.say("x") == nil)
            async let first = task.hear()
            async let second = task.hear()
            if invalidates { session.invalidateAndCancel() } else { task.cancel() }
            #expect(await [first, second] == ["-999", "-999"])
            #expect(await task.say("late") == -999)
        }

        // MARK: Streams

        @Test("Captured streams continue after the bytes that were read")
        func capture() async throws {
            let server = try ScriptedServer { peer in
                try await peer.write("head\nbody")
                #expect(try await peer.read(count: 6) == "answer")
                try await peer.write(" end")
            }
            let delegate = StreamTaskDelegate()
            let task = try Self.task(server, .tcp4, privateSession(delegate))
            #expect(await task.hear(5, 5) == "head\n")
            task.captureStreams()
            await delegate.captured.wait()
            let streams = delegate.streams
            let text = await Task.detached { () -> String in
                guard let (input, output) = streams.value else { return "" }
                input.open()
                output.open()
                _ = output.write(Array("answer".utf8), maxLength: 6)
                var all: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 100)
                while case let count = input.read(&buffer, maxLength: 100), count > 0 { all += buffer[..<count] }
                input.close()
                output.close()
                return String(decoding: all, as: UTF8.self)
            }.value
            #expect(text == "body end")
            #expect(delegate.events == ["became streams"])
            #expect(task.state == .completed)
        }

        // MARK: TLS

        private static func startTLS(_ authority: HTTPAuthority) throws -> ScriptedServer {
            try ScriptedServer { peer in
                try await peer.write("220 ready\r\n")
                #expect(try await peer.read(line: ()) == "STARTTLS")
                try await peer.write("220 go ahead\r\n")
                let secure = try await SecurePeer(peer.socket, authority.serverOptions([]))
                let name = try await secure.read(line: ())
                try await secure.write("250 \(name)")
                try await secure.write(String(repeating: "z", count: 200_000), isFinal: true)
                _ = try await peer.socket.readAll()
            }
        }

        @Test("STARTTLS: the same connection continues with TLS, and the delegate is asked")
        func startTLS() async throws {
            let authority = try HTTPAuthority()
            let server = try Self.startTLS(authority)
            let delegate = StreamTaskDelegate { challenge in
                guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
                SecTrustSetAnchorCertificates(trust, [authority.anchor] as CFArray)
                return (.performDefaultHandling, nil)
            }
            let task = try Self.task(server, .tcp4, privateSession(delegate))
            #expect(await task.hear(11) == "220 ready\r\n")
            #expect(await task.say("STARTTLS\r\n") == nil)
            #expect(await task.hear(14) == "220 go ahead\r\n")
            task.startSecureConnection()
            #expect(await task.say("HELO there\r\n") == nil)
            #expect(await task.hear(16, 16) == "250 HELO there\r\n")
            #expect(await task.hear(200_001, 300_000) == String(repeating: "z", count: 200_000) + ".")
            task.closeWrite()
            await delegate.end.wait()
            #expect(delegate.events.first == "challenge ServerTrust 127.0.0.1")
            #expect(delegate.events.last == "completed")
        }

        @Test("STARTTLS: a chain without a known root fails the task and later operations", arguments: [true, false])
        func untrusted(_ hasDelegate: Bool) async throws {
            let server = try Self.startTLS(HTTPAuthority())
            let delegate = StreamTaskDelegate()
            let task = try Self.task(server, .tcp4, privateSession(hasDelegate ? delegate : nil))
            #expect(await task.say("STARTTLS\r\n") == nil)
            #expect(await task.hear(25) == "220 ready\r\n220 go ahead\r\n")
            task.startSecureConnection()
            #expect(await task.say("secret") == URLError.serverCertificateHasUnknownRoot.rawValue)
            #expect(await task.hear() == "\(URLError.serverCertificateHasUnknownRoot.rawValue)")
        }

        @Test("Plain bytes that an attacker inserts before the handshake are not read as secure bytes")
        func injected() async throws {
            let authority = try HTTPAuthority()
            let server = try ScriptedServer { peer in
                try await peer.write("220 go ahead\r\n250 injected\r\n")
                _ = try? await SecurePeer(peer.socket, authority.serverOptions([]))
            }
            let task = try Self.task(server)
            #expect(await task.hear(14, 14) == "220 go ahead\r\n")
            task.startSecureConnection()
            #expect(await task.hear() == "\(URLError.secureConnectionFailed.rawValue)")
        }

        @Test("Streams captured from a secure connection are secure")
        func captureSecure() async throws {
            let authority = try HTTPAuthority()
            let server = try Self.startTLS(authority)
            let delegate = StreamTaskDelegate { challenge in
                (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
            }
            let task = try Self.task(server, .tcp4, privateSession(delegate))
            #expect(await task.say("STARTTLS\r\n") == nil)
            #expect(await task.hear(25) == "220 ready\r\n220 go ahead\r\n")
            task.startSecureConnection()
            task.captureStreams()
            await delegate.captured.wait()
            let streams = delegate.streams
            let count = await Task.detached { () -> Int in
                guard let (input, output) = streams.value else { return 0 }
                input.open()
                output.open()
                _ = output.write(Array("HELO\r\n".utf8), maxLength: 6)
                var (all, buffer) = (0, [UInt8](repeating: 0, count: 10_000))
                while case let count = input.read(&buffer, maxLength: 10_000), count > 0 { all += count }
                input.close()
                output.close()
                return all
            }.value
            #expect(count == 200_010)
        }
    }
}
