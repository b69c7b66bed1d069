import Foundation
import Testing

@testable import CausewayURLLoading

extension Loopback {
    @Suite("URLSession: NTLM for proxies (MS-NTHT, MS-NLMP)")
    struct URLSessionNTLMProxyTests {
        @Test("§22: a proxy gets its messages before the first request of a connection; the delegate answers once")
        func proxies() async throws {
            let log = NTLMRig.Log()
            let proxy = try NTLMRig.proxy(log)
            let delegate = NTLMRig.delegate()
            let session = NTLMRig.session(delegate, through: proxy)
            defer { session.invalidateAndCancel() }
            for host in ["one.test", "two.test", "one.test"] {
                #expect(try await NTLMRig.text(session, "http://\(host)/") == "200 GET by ann")
            }
            #expect(NTLMRig.challenges(delegate) == ["challenge NTLM 0"])
            // The request to the other host uses the connection that is already authenticated.
            #expect(log.messages == [0, 1, 3])
            #expect(log.all.map(\.connection) == [1, 2, 2])
            #expect(log.all.map(\.request.method) == ["GET", "OPTIONS", "OPTIONS"])
        }

        @Test("§22: twelve loads at the same time; a wrong password is counted, and the next challenge is offered")
        func proxyCases() async throws {
            let log = NTLMRig.Log()
            let proxy = try NTLMRig.proxy(log)
            let session = NTLMRig.session(NTLMRig.delegate(), through: proxy)
            defer { session.invalidateAndCancel() }
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for host in 0..<12 {
                    group.addTask { try await NTLMRig.text(session, "http://h\(host).test/") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts == Array(repeating: "200 GET by ann", count: 12))
            let refusing = try NTLMRig.proxy(NTLMRig.Log(), others: ["Basic realm=\"r\""])
            let delegate = EventDelegate { challenge in
                if challenge.previousFailureCount == 1 { return (.rejectProtectionSpace, nil) }
                return (.useCredential, URLCredential(user: "ann", password: "wrong", persistence: .none))
            }
            let other = NTLMRig.session(delegate, through: refusing)
            defer { other.invalidateAndCancel() }
            #expect(try await NTLMRig.text(other, "http://one.test/") == "200 GET by -")
            #expect(
                NTLMRig.challenges(delegate) == ["challenge NTLM 0", "challenge NTLM 1", "challenge HTTPBasic 0"])
        }

        @Test("§22: without MD4 the error of a proxy says what to install")
        func missing() async throws {
            let log = NTLMRig.Log()
            let proxy = try NTLMRig.proxy(log)
            for delegate in [NTLMRig.delegate(), EventDelegate()] {
                let session = NTLMRig.session(delegate, through: proxy, change: NTLMRig.removeFunctions)
                defer { session.invalidateAndCancel() }
                let error = await failure { _ = try await NTLMRig.text(session, "http://one.test/") }
                #expect(
                    error?.userInfo[NSLocalizedFailureReasonErrorKey] as? String
                        == "The proxy 127.0.0.1 demands NTLM, which is not available. NTLM needs MD4. Install it: package-x."
                )
            }
            #expect(log.messages.allSatisfy { $0 == 0 })
        }
    }
}
