import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Detection of captive networks")
    struct CaptiveNetworkProbeTests {
        /// Runs a probe against a server, and returns its outcome. The server sends the bytes in `answer`; if `answer`
        /// is `nil`, it sends nothing.
        private func outcome(
            _ answer: String?, expecting expectation: CaptiveNetworkProbe.Expectation = .status(204),
            within limit: Duration = .seconds(7_200)
        ) async throws -> CaptiveNetworkProbe.Outcome {
            let server = try RawSocket.listening(.tcp4)
            async let served: RawSocket? = {
                // A silent server accepts nothing. The kernel connects the probe, unless the limit ends the probe
                // before.
                guard let answer else { return nil }
                let peer = try await server.accept()
                try await peer.write(Data(answer.utf8))
                return peer
            }()
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/204"))
            let probe = try CaptiveNetworkProbe(url: url, expecting: expectation)
            let outcome = await probe.run(within: limit)
            _ = try await served
            withExtendedLifetime(server) {}
            return outcome
        }

        @Test("An answer of the server, of a captive network, and none")
        func outcomes() async throws {
            #expect(try await outcome("HTTP/1.1 204 No Content\r\n\r\n") == .open)
            #expect(
                try await outcome("HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n")
                    .portal?.hasSuffix("/login") == true)
            #expect(
                try await outcome("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n")
                    == .captive(portal: nil))
            #expect(
                try await outcome("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nSuccess", expecting: .text("Success"))
                    == .open)
            #expect(try await outcome("220 mail\r\n\r\n") == .failed(.posix(.EPROTO)))
            #expect(try await outcome(nil, within: .milliseconds(200)) == .failed(.posix(.ETIMEDOUT)))
        }

        @Test("A missing server, and a cancelled task")
        func failures() async throws {
            let socket = try RawSocket.refusing(.tcp4)
            let probe = try CaptiveNetworkProbe(url: try #require(URL(string: "http://127.0.0.1:\(socket.port)")))
            #expect(await probe.run() == .failed(.posix(.ECONNREFUSED)))
            withExtendedLifetime(socket) {}
            let listening = try RawSocket.listening(.tcp4)
            let silent = try CaptiveNetworkProbe(url: try #require(URL(string: "http://127.0.0.1:\(listening.port)")))
            let task = Task { await silent.run() }
            task.cancel()
            #expect(await task.value == .failed(.posix(.ECANCELED)))
        }

        @Test(
            "Only unencrypted URLs are accepted, because a captive network can answer those",
            arguments: ["https://example.com", "ftp://x", "/204"])
        func refused(address: String) throws {
            let url = try #require(URL(string: address))
            #expect(throws: NWError.posix(.EINVAL)) { try CaptiveNetworkProbe(url: url) }
        }
    }
}

extension CaptiveNetworkProbe.Outcome {
    fileprivate var portal: String? {
        guard case .captive(let portal) = self else { return nil }
        return portal?.absoluteString
    }
}
