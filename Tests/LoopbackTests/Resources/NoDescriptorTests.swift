import Causeway
import CausewayLines
import CausewayRuntime
import CausewayStreams
import CausewaySystem
import Foundation
import Testing

extension Loopback {
    /// Dispatch traps if it cannot open its own descriptors. Each test runs in a separate process.
    @Suite("Too few free descriptors")
    struct NoDescriptorTests {
        /// Opens files up to a limit of 64, once Dispatch has opened what its threads need. Ends the process after ten seconds.
        ///
        /// Four descriptors stay free, fewer than a source may need: Dispatch also opens files for its threads, and traps if it cannot.
        @discardableResult
        private static func fillTable() async -> [CInt] {
            Watchdog.arm(seconds: 10)
            await withCheckedContinuation { started in
                DispatchQueue.global().asyncAfter(deadline: .now()) { started.resume() }
            }
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            var opened: [CInt] = []
            while case let number = dup(0), number >= 0 { opened.append(number) }
            for _ in 0..<4 { close(opened.removeLast()) }
            return opened
        }

        @Test("Streams over a socket that have to wait fail with EMFILE")
        func streams() async {
            await #expect(processExitsWith: .success) {
                var sockets: [CInt] = [-1, -1]
                precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
                let (input, output) = Stream.streams(overSocket: sockets[0], closingSocket: true)
                await Self.fillTable()
                // A socket with room in its send buffer takes bytes without a wait, which needs no descriptor.
                while send(sockets[0], "x", 1, Int32(MSG_DONTWAIT)) == 1 {}
                input.open()
                output.open()
                var byte: UInt8 = 0
                #expect(input.read(&byte, maxLength: 1) == -1)
                #expect((input.streamError as NSError?)?.code == Int(EMFILE))
                // The stream buffers bytes until the write to the socket has failed.
                while output.write(&byte, maxLength: 1) > 0 {}
                #expect((output.streamError as NSError?)?.code == Int(EMFILE))
            }
        }

        @Test("A line transport over sockets that has to wait fails with EMFILE")
        func lines() async {
            await #expect(processExitsWith: .success) {
                let listener = try RawSocket.listening(.tcp4)
                let port = try #require(NWEndpoint.Port(rawValue: listener.port))
                // Resolving the name and connecting over loopback needs no source.
                let transport = try await LineTransportKind.sockets.connect(to: "127.0.0.1", port: port)
                try await transport.open()
                await Self.fillTable()
                await #expect(throws: NWError.posix(.EMFILE)) { try await transport.next() }
            }
        }

        @Test("Goodbyes before a signal are refused with EMFILE, and installed once descriptors are free")
        func goodbyes() async {
            await #expect(processExitsWith: .success) {
                let opened = await Self.fillTable()
                #expect(throws: SystemError(errno: EMFILE, call: "eventfd")) {
                    try BonjourEngine.farewell(before: SIGUSR1)
                }
                for number in opened { close(number) }
                try BonjourEngine.farewell(before: SIGUSR1)
            }
        }

        @Test("The Dispatch loop is not created, and a loop that exists refuses descriptors, with EMFILE")
        func dispatchLoop() async {
            await #expect(processExitsWith: .success) {
                let loop = DispatchLoop(name: "few")
                let watched = dup(1)
                await Self.fillTable()
                let error = SystemError(errno: EMFILE, call: "eventfd")
                #expect(throws: error) { try DispatchLoop.checked(name: "none") }
                #expect(throws: error) { try loop.register(watched, for: .readable, IgnoredReadiness()) }
                // The loop opened the descriptor of its clock when it was created.
                await withCheckedContinuation { done in
                    _ = loop.schedule(after: .milliseconds(1)) { done.resume() }
                }
            }
        }
    }
}

private final class IgnoredReadiness: ReadinessHandler {
    func ready(for readiness: Readiness) {}
}
