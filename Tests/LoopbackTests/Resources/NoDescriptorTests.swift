import Causeway
import CausewayLines
import CausewayRuntime
import CausewayStreams
import CausewaySystem
import Foundation
import Testing

extension Loopback {
    /// Tests in which too few descriptors are free. If Dispatch cannot open the descriptors that it needs, it traps. So
    /// each test runs in a separate process.
    @Suite("Too few free descriptors")
    struct NoDescriptorTests {
        /// Opens files until almost all of the 64 permitted descriptors are used. Ends the process after five minutes.
        ///
        /// Four descriptors stay free, which may be too few for a Dispatch source. Dispatch also opens files for its
        /// threads, and traps if it cannot. So this function first waits until Dispatch has run a block.
        @discardableResult
        private static func fillTable() async -> [CInt] {
            Watchdog.arm(seconds: 300)
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
                // Fill the socket's send buffer, so that the stream's write must wait. A write needs a descriptor only
                // if it waits.
                while send(sockets[0], "x", 1, Int32(MSG_DONTWAIT)) == 1 {}
                input.open()
                output.open()
                var byte: UInt8 = 0
                #expect(input.read(&byte, maxLength: 1) == -1)
                #expect((input.streamError as NSError?)?.code == Int(EMFILE))
                // The stream accepts bytes into its buffer until a write to the socket has failed. So write until this
                // happens.
                while output.write(&byte, maxLength: 1) > 0 {}
                #expect((output.streamError as NSError?)?.code == Int(EMFILE))
            }
        }

        @Test("A line transport over sockets that has to wait fails with EMFILE")
        func lines() async {
            await #expect(processExitsWith: .success) {
                let listener = try RawSocket.listening(.tcp4)
                let port = try #require(NWEndpoint.Port(rawValue: listener.port))
                // Opening the connection needs no Dispatch source. So it works before the descriptor table is full.
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
                // The loop opened its clock's descriptor when it was created, so it can still set a timer.
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
